"""`cragraph exam`: the measured worth of a chat model."""

import sys
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from cragraph import exam as examination
from cragraph.build import Parts
from cragraph.cli.ask import stopping_calls
from cragraph.cli.console import err, show
from cragraph.cli.options import JsonOption, QuietOption, option, with_settings


@with_settings("base_url")
def exam(
    settings_of: Any,
    model: Annotated[
        str | None,
        typer.Argument(
            help="Chat model, e.g. ollama:llama3.2. Default: the model of the settings.", show_default=False
        ),
    ] = None,
    every: Annotated[bool, option("Ask all 30 questions instead of 12.", "--all")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how reliable a chat model is when it judges, answers or declines.

    The model judges 60 claims in six calls and answers 12 questions, or 30 with --all, in one call each. The result is
    kept for this version of the model and is used from the next run on. An examination that was stopped continues.

    Example: `cragraph exam ollama:llama3.2`
    """
    count = len(examination.questions()) if every else examination.SAMPLE
    parts = Parts(settings_of(model=model))
    with stopping_calls(), ExitStack() as shows:
        progress: Any = {}
        if not quiet:
            progress = {"progress": _progress(shows)}
        done = examination.examine(parts, count=count, **progress)
    show(json, done.to_dict() | {"line": done.line()}, lambda row: row["line"])


def _progress(shows: ExitStack) -> Any:
    """A callback for progress: a bar on a terminal, else a line for each call."""
    if not sys.stderr.isatty():
        return lambda task, made, every: err().print(f"{task}: call {made + 1} of {every}")
    from rich.progress import Progress

    bar = shows.enter_context(Progress(console=err(), transient=True))
    row = bar.add_task("examination")
    return lambda task, made, every: bar.update(row, description=task, completed=made, total=every)
