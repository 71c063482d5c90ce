"""`cragraph doctor`: is everything here that a run needs?"""

from typing import Any

import typer
from rich.text import Text

from cragraph.cli.console import FAILURE, emit, out
from cragraph.cli.options import JsonOption, with_settings


@with_settings("store", "model")
def doctor(settings_of: Any, json: JsonOption = False) -> None:
    """Check Python, the embedded models, the store and the Ollama server; print what mends each fault.

    Exit code 0 when all is well, 1 when something is not.

    Example: `cragraph doctor --model ollama:llama3.2`
    """
    from cragraph.doctor import examine, healthy

    checks = examine(settings_of())
    if json:
        emit({"ok": healthy(checks), "checks": [check.to_dict() for check in checks]})
    else:
        console = out()
        for check in checks:
            mark = ("ok  ", "green") if check.ok else ("FAIL", "red")
            console.print(Text.assemble(mark, f" {check.name}: {check.detail}"))
            if check.fix:
                console.print(f"     mend it: {check.fix}")
    if not healthy(checks):
        raise typer.Exit(FAILURE)
