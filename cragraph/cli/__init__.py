"""The `cragraph` command: parsing and printing only; each command has its own file here."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import typer
from typer.core import TyperGroup

from cragraph import __version__
from cragraph.cli.console import FAILURE, INTERRUPTED, USAGE, complain, status
from cragraph.errors import CragError, InputError, SettingsError
from cragraph.lazy import exports

if TYPE_CHECKING:
    from cragraph.cli import render as render

__getattr__ = exports(__name__)

COMMANDS: Final = {
    "ingest": "store", "ask": "ask", "chat": "chat", "verify": "verify", "calibrate": "evaluate", "search": "store",
    "serve": "serve", "mcp": "serve", "docs": "store", "forget": "store", "graph": "about", "config": "about",
    "collections": "collections", "doctor": "doctor", "log": "log", "stats": "about", "eval": "evaluate",
}  # fmt: skip
"""The file that each command is in."""

SHARED: Final[dict[str, Any]] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
}


class Commands(TyperGroup):
    """Imports a command when it is called or listed, so that none waits for what the others need."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            module, alone = import_module(f"cragraph.cli.{COMMANDS[cmd_name]}"), typer.Typer(**SHARED)
            if hasattr(module, cmd_name):
                alone.command(cmd_name)(getattr(module, cmd_name))
            else:
                alone.add_typer(module.app, name=cmd_name)
            self.commands |= typer.main.get_group(alone).commands
        return self.commands.get(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; says what an interrupted ingest kept, since the parser drops the notes of an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            for note in getattr(stop, "__notes__", ()):
                status(note)
            raise


app = typer.Typer(
    name="cragraph",
    cls=Commands,
    help="Cited answers from your own documents, every claim checked, on your own machine.\n\n"
    "Exit codes: 0 answered or done, 1 failure (of one file or row, too), 2 bad usage, 3 abstained, "
    "4 below --fail-under, 5 answered, but doubtful, 6 a kept question is answered otherwise, 130 interrupted.",
    no_args_is_help=True,
    **SHARED,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and leave.", is_eager=True)) -> None:
    """Cited answers from your own documents, every claim checked, on your own machine."""
    if version:
        typer.echo(f"cragraph {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; every error becomes one message on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except CragError as error:
        complain(str(error))
        code = USAGE if isinstance(error, SettingsError | InputError) else FAILURE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        sys.stderr.close()
        code = FAILURE
    except Exception as error:
        # The parser's own errors, whose classes are private to it.
        if not hasattr(error, "format_message"):
            raise
        if message := error.format_message():
            many = "--source takes one path, give it again for each; " * ("extra" in message and "--source" in sys.argv)
            complain(f"{message.rstrip('.')}: {many}see `cragraph --help`.")
        code = USAGE
    if code == INTERRUPTED:
        complain("interrupted; what was complete is kept")
    sys.exit(code if isinstance(code, int) else 0)
