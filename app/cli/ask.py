"""`cragraph ask`: a cited, verified answer from the store."""

import gc
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cragraph.cli.console import ABSTAINED, complain, emit, err, status
from cragraph.cli.options import (
    BaseUrlOption,
    ConfigOption,
    JsonOption,
    JudgeOption,
    ModelOption,
    PolicyOption,
    QuietOption,
    ReportOption,
    StoreOption,
    ThresholdOption,
    WhereOption,
    settings_from,
)
from cragraph.errors import InputError

if TYPE_CHECKING:
    from cragraph.run import Event


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--source", metavar="PATH", help="Answer from this file or folder alone, ingested first; repeatable."
        ),
    ] = None,
    store: StoreOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    mode: Annotated[str | None, typer.Option("--mode", help="low, balanced or high.")] = None,
    judge: JudgeOption = None,
    policy: PolicyOption = None,
    threshold: ThresholdOption = None,
    max_attempts: Annotated[int | None, typer.Option("--max-attempts", help="Corrections at most.")] = None,
    top_k: Annotated[int | None, typer.Option("--top-k", help="Passages to answer from.")] = None,
    min_chunks: Annotated[int | None, typer.Option("--min-chunks", help="Abstain on fewer passages.")] = None,
    passage_window: Annotated[
        str | None, typer.Option("--passage-window", help="Chunks read on each side of a passage, or section.")
    ] = None,
    where: WhereOption = None,
    on_low_confidence: Annotated[
        str | None, typer.Option("--on-low-confidence", help="abstain, flag or prune.")
    ] = None,
    best_of: Annotated[int | None, typer.Option("--best-of", help="Write N answers, keep the best.")] = None,
    deadline: Annotated[float | None, typer.Option("--deadline", help="Seconds for the whole run.")] = None,
    show_claims: Annotated[bool, typer.Option("--show-claims", help="Put the claims into the JSON too.")] = False,
    report: ReportOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Answer a question from the store, with citations, a verdict on every claim and a confidence.

    Example: `cragraph ask "What was revenue in 2023?" --source report.pdf`
    """
    from cragraph.models.weights import open_ahead

    open_ahead(("encoder", "reader"))
    gc.disable()  # what is imported stays: looking for garbage in it takes a tenth of a cold answer
    from cragraph.cli.render import show_answer
    from cragraph.run import Assistant

    gc.freeze()
    gc.enable()
    settings = settings_from(
        config,
        store=store,
        model=model,
        base_url=base_url,
        mode=mode,
        judge=judge,
        policy=policy,
        confidence_threshold=threshold,
        max_crag_attempts=max_attempts,
        top_k=top_k,
        min_chunks=min_chunks,
        passage_window=passage_window,
        where=where,
        on_low_confidence=on_low_confidence,
        best_of=best_of,
        deadline_s=deadline,
        show_claims=True if show_claims or report or not json else None,
        sources=tuple(str(path.absolute()) for path in source) if source else None,
    )
    assistant = Assistant(settings)
    if source:
        from cragraph.cli.progress import ingesting

        with ingesting(shown=not quiet) as advance:
            read = assistant.ingest(source, progress=advance)
        for path, reason in read.failed:
            complain(f"{path}: {reason}")
        if not (read.added or read.changed or read.unchanged):
            raise InputError("Nothing could be read from --source: give files or folders that `cragraph ingest` takes.")
    if settings.model is None and not quiet and sys.stderr.isatty():
        from cragraph.models.servers import ollama_hint

        if hint := ollama_hint(settings.ollama_host):
            status(hint)
    run = assistant.ask(question, context={"show_claims": settings.show_claims})
    searched = "" if assistant.parts.foreign else settings.store or ""
    if searched and "://" not in searched and not Path(searched).exists():
        assistant.parts.store  # noqa: B018  (says what is missing, before anything seems to run)
    done = shown(run, quiet=quiet, stream_tokens=not json)
    response = done.response
    if report is not None:
        assistant.report(done).save(report)
        if not quiet:
            status(f"wrote {report}")
    if json:
        emit(response)
    else:
        show_answer(response)
    if response["abstained"]:
        raise typer.Exit(ABSTAINED)


def shown(run: "Iterator[Event]", *, quiet: bool, stream_tokens: bool = True) -> "Event":
    """Follow a run to its end; says on stderr what is going on, and what each node did."""
    live = stream_tokens and not quiet and sys.stderr.isatty()
    waiting = Waiting(shown=live)
    with stopping_calls(), waiting:
        for event in run:
            if event.kind == "begin":
                waiting.on(event.node)
            elif event.kind == "token":
                waiting.write(event.text)
            elif event.kind == "node":
                waiting.end()
                if not quiet:
                    status(f"{event.node:<9} {event.text}")
            else:
                return event
    raise AssertionError("a run ends with its response")


@contextmanager
def stopping_calls() -> Iterator[None]:
    """Let Ctrl-C end the model calls that are under way: the graph waits for its nodes before it gives up."""

    def interrupt(_number: int, _frame: Any) -> None:
        if "cragraph.models.chat" in sys.modules:
            from cragraph.models.chat import stop_all_calls

            stop_all_calls()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


UNCHECKED: Final = "draft, not checked yet: "


class Waiting:
    """Shows on a terminal's stderr what runs and for how long, and a model's words as they come.

    They are not checked yet, and say so; stdout gets the checked answer only.
    """

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self.open = False
        self._status: Any = None

    def __enter__(self) -> "Waiting":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def on(self, node: str) -> None:
        """Say that a node runs."""
        self.end()
        if self.shown:
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn(f"[dim]{node}"), TimeElapsedColumn())
            self._status = Progress(*columns, console=err(), transient=True)
            self._status.add_task(node)
            self._status.start()

    def write(self, text: str) -> None:
        """Print one piece of a message."""
        if self.shown:
            if not self.open:
                self.end()
                err().print(UNCHECKED, end="", style="yellow")
            err().print(text, end="", style="dim")
            self.open = True

    def end(self) -> None:
        """Take away what runs, and close the line of the last message."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self.open:
            err().print()
            self.open = False
