"""`cragraph exam`: what a chat model's words are worth, measured."""

import sys
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from cragraph import exam as examination
from cragraph.build import Parts
from cragraph.cli.ask import stopping_calls
from cragraph.cli.console import emit, err, out
from cragraph.cli.options import JsonOption, QuietOption, with_settings


@with_settings("base_url")
def exam(
    settings_of: Any,
    model: Annotated[
        str | None,
        typer.Argument(help="Chat model, e.g. ollama:llama3.2; else that of the settings.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Put all 30 questions, in place of 12.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Examine a chat model: how far it is believed when it judges, writes and says that it does not know.

    60 claims in six calls, and 12 questions with a call each; --all puts 30. The result is kept by the model's digest
    and counts from the next run on. What was cut off goes on where it was.

    Example: `cragraph exam ollama:llama3.2`
    """
    count = len(examination.questions()) if every else examination.SAMPLE
    parts = Parts(settings_of(model=model))
    with stopping_calls(), ExitStack() as shows:
        progress: Any = {}
        if not quiet:
            progress = {"progress": _told(shows)}
        done = examination.examine(parts, count=count, **progress)
    if json:
        emit(done.to_dict() | {"line": done.line()})
    else:
        out().print(done.line())


def _told(shows: ExitStack) -> Any:
    """What tells how far it is: a bar on a terminal, else a line for each call."""
    if not sys.stderr.isatty():
        return lambda task, made, every: err().print(f"{task}: call {made + 1} of {every}")
    from rich.progress import Progress

    bar = shows.enter_context(Progress(console=err(), transient=True))
    row = bar.add_task("examination")
    return lambda task, made, every: bar.update(row, description=task, completed=made, total=every)
