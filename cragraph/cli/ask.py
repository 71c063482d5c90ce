"""`cragraph ask`: a cited, verified answer from the store."""

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from cragraph.cli.console import ABSTAINED, DOUBTFUL, complain, err, ingesting, show, status
from cragraph.cli.log import when
from cragraph.cli.options import JsonOption, QuietOption, ReportOption, option, with_settings
from cragraph.cli.render import show_answer
from cragraph.documents import LEADS_OUT
from cragraph.errors import InputError
from cragraph.language.words import shortened
from cragraph.models.chat import stop_all_calls
from cragraph.models.examined import first_asked
from cragraph.models.servers import ollama_hint
from cragraph.private import check_output
from cragraph.run import Assistant, Event

DECIDING: Final = "finalize"
UNCHECKED: Final = "draft, not checked yet: "
EXITS: Final = {"refused": ABSTAINED, "doubtful": DOUBTFUL}
"""Exit codes by decision; any other answer exits with 0."""


@with_settings(
    "store", "model", "base_url", "mode", "judge", "policy", "confidence_threshold", "max_crag_attempts", "top_k",
    "min_chunks", "where", "collection", "on_low_confidence", "best_of", "deadline_s",
)  # fmt: skip
def ask(
    settings_of: Any,
    question: Annotated[str | None, typer.Argument(help="Question to answer.", show_default=False)] = None,
    source: Annotated[
        list[Path] | None,
        option("Ingest this file or folder, and answer from it alone. Repeatable.", "--source", metavar="PATH"),
    ] = None,
    again: Annotated[int | None, option("Ask question N of `cragraph log` again.", "--again", metavar="N")] = None,
    show_claims: Annotated[bool, option("With --json: also print the verdict on each claim.", "--show-claims")] = False,
    report: ReportOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Answer a question from the store, with citations, a verdict on each claim and a confidence.

    Example: `cragraph ask "What was revenue in 2023?" --source report.pdf`
    """
    if (question is None) is (again is None):
        raise InputError("ask needs a question, or --again N with an entry of `cragraph log`: give one of the two.")
    check_output(report)
    settings = settings_of(
        show_claims=True if show_claims else None,
        sources=tuple(str(path.absolute()) for path in source) if source else None,
    )
    assistant = Assistant(settings, "shell")
    before = None if again is None else asked_before(assistant, again)
    if source:
        with ingesting(shown=not quiet) as advance:
            read = assistant.ingest(source, progress=advance)
        leading_out = [each for each in read.skipped if each[1] == LEADS_OUT]
        for path, reason in read.failed + leading_out:
            complain(f"{path}: {reason}")
        if not (read.added or read.changed or read.unchanged):
            raise InputError("Nothing could be read from --source: give files or folders that `cragraph ingest` takes.")
    hinted = settings.model is None and not quiet and sys.stderr.isatty()
    if hinted and (hint := ollama_hint(settings.ollama_host)):
        status(hint)
    chat = assistant.parts.chat
    if chat is not None and not quiet and sys.stderr.isatty() and first_asked(chat.model, chat.title):
        status(
            f"{chat.title} was not examined; its size decides how far it is believed. Run: cragraph exam {chat.title}"
        )
    context = {"show_claims": settings.show_claims} if json and not report else {}
    if before is not None:  # with its former limits, unless others are given now
        context |= {name: value for name, value in before.narrowed.items() if getattr(settings, name, None) is None}
    given = (question or "", ()) if before is None else (before.question, before.messages)
    run = assistant.ask(given[0], messages=given[1], context=context)
    searched = "" if assistant.parts.foreign else settings.store or ""
    if searched and "://" not in searched and not Path(searched).exists():
        assistant.parts.store  # noqa: B018  (says what is missing, before anything seems to run)
    done = shown(run, quiet=quiet, stream_tokens=not json)
    response = done.response
    if report is not None:
        assistant.report(done).save(report)
        if not quiet:
            status(f"wrote {report}")
    show(json, response, show_answer)
    if before is not None and not quiet:
        then = "the same answer" if before.answer == response["answer"] else f"the answer “{shortened(before.answer)}”"
        status(f"entry {again} of the log, of {when(before.time)}, has {then}")
    outcome = response["decision"]["outcome"] if response["decision"] else "not verified"
    if outcome in EXITS:
        raise typer.Exit(EXITS[outcome])


def asked_before(assistant: Any, number: int) -> Any:
    """The entry of the log to ask again. Raises InputError for an unknown number."""
    if (history := assistant.history) is None:
        raise InputError(
            f"There is no entry {number}: no store was found, so there is no log. Run: cragraph ingest FOLDER"
        )
    return history.get(number)


def shown(run: Iterator[Event], *, quiet: bool, stream_tokens: bool = True) -> Event:
    """Follow a run to its end, with a line per node on stderr; a terminal shows a model's words as they come."""
    live = stream_tokens and not quiet and sys.stderr.isatty()
    writing = False
    with stopping_calls(), ExitStack() as shows:
        for event in run:
            if event.kind == "token" and event.node == DECIDING:
                continue  # the decided answer, which is printed whole
            if event.kind == "token":
                if live and not writing:
                    shows.close()
                    err().print(UNCHECKED, end="", style="yellow")
                    shows.callback(err().print)  # ends the line
                    writing = True
                if live:
                    err().print(event.text, end="", style="dim")
                continue
            shows.close()
            writing = False
            if event.kind == "begin" and live:
                from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

                columns = (SpinnerColumn(), TextColumn("[dim]{task.description}"), TimeElapsedColumn())
                shows.enter_context(Progress(*columns, console=err(), transient=True)).add_task(event.node)
            elif event.kind == "node" and not quiet:
                status(f"{event.node:<9} {event.text}")
            elif event.kind in ("review", "done"):
                return event
    raise AssertionError("a run ends with its response")


@contextmanager
def stopping_calls() -> Iterator[None]:
    """Let Ctrl-C cancel running model calls, as the graph waits for its nodes before it ends."""

    def interrupt(_number: int, _frame: Any) -> None:
        stop_all_calls()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
