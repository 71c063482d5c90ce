"""`cragraph ask`: a cited, verified answer from the store."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import ABSTAINED, complain, emit, err, status
from cragraph.cli.options import (
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
from cragraph.errors import InputError, StoreMissingError
from cragraph.types import IDK, Passage


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    source: Annotated[
        list[Path] | None, typer.Option("--source", metavar="PATH", help="Ingest this first; repeatable.")
    ] = None,
    store: StoreOption = None,
    model: ModelOption = None,
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
    from cragraph.cli.render import show_answer

    settings = settings_from(
        config,
        store=store,
        model=model,
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
    )
    if source:
        from cragraph.api import ingest_paths
        from cragraph.cli.progress import ingesting

        with ingesting(shown=not quiet) as advance:
            read = ingest_paths(settings, source, progress=advance)
        for path, reason in read.failed:
            complain(f"{path}: {reason}")
        if not (read.added or read.changed or read.unchanged):
            raise InputError("Nothing could be read from --source: give files or folders that `cragraph ingest` takes.")
    response, passages = run_crag(settings, question, quiet=quiet, stream_tokens=not json)
    if report is not None:
        from contextlib import nullcontext

        from cragraph.api import opened
        from cragraph.report import Report

        with nullcontext() if settings.retriever else opened(settings) as held:
            beside = (lambda passage: held.adjacent(passage, 1, 1)) if held else None
            Report(response, passages, neighbours=beside).save(report)
    if json:
        emit(response)
    else:
        show_answer(response)
    if response["abstained"]:
        raise typer.Exit(ABSTAINED)


def run_crag(settings: Any, question: str, *, quiet: bool, stream_tokens: bool) -> tuple[dict[str, Any], list[Passage]]:
    """Answer a question; says on stderr what each node did. Also returns the passages that were read."""
    from cragraph.build import create_graph
    from cragraph.graph.state import CragOutput

    graph = create_graph(settings).compile()
    modes: Any = ["updates", "values"] + (["messages"] if settings.model else [])
    response: dict[str, Any] = {}
    read: dict[str, Passage] = {}
    taken: dict[str, float] = {}
    tokens = TokenPrinter(shown=stream_tokens and not quiet and sys.stderr.isatty())
    with stopping_calls():
        events: Any = graph.stream({"question": question}, stream_mode=modes)
        for kind, event in events:
            if kind == "values":
                response = event
                read |= {p["chunk_id"]: p for attempt in event.get("attempts", []) for p in attempt.get("context", [])}
            elif kind == "messages":
                tokens.write(event[0])
            elif not quiet:
                tokens.end()
                for node, update in event.items():
                    status(described(node, update or {}, taken))
                    taken |= (update or {}).get("timings_ms", {})
    if response["halted"] and not response["attempts"]:
        raise StoreMissingError(response["halted"])
    return {name: response[name] for name in CragOutput.model_fields}, [*read.values()]


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


class TokenPrinter:
    """Prints a model's words on stderr as they come: stdout gets the checked answer only."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self.open = False

    def write(self, chunk: Any) -> None:
        """Print one piece of a message."""
        if self.shown and isinstance(chunk.content, str) and chunk.content:
            err().print(chunk.content, end="", style="dim")
            self.open = True

    def end(self) -> None:
        """Close the line of the last message."""
        if self.open:
            err().print()
            self.open = False


def described(node: str, update: dict[str, Any], before: dict[str, float]) -> str:
    """One line on what a node did; `before` says what its earlier passes took."""
    ms = update.get("timings_ms", {}).get(node)
    took = f" · {ms - before.get(node, 0.0):.0f} ms" if ms is not None else ""
    return f"{node:<9} {_DETAILS.get(node, lambda _: '')(update)}{took}"


def _retrieved(update: dict[str, Any]) -> str:
    searched = update.get("searched") or []
    what = f" for {len(searched)} targeted queries" if len(searched) > 1 else ""
    return f"{len(update.get('held') or [])} passages{what}"


def _kept(update: dict[str, Any]) -> str:
    held: list[Passage] = update.get("held") or []
    beside = sum(len(passage.get("around", [])) for passage in held)
    new = update.get("new_passages", 0)
    return f"kept {len(held)}, {new} of them new" + (f", read with {beside} chunks beside them" if beside else "")


def _judged(update: dict[str, Any]) -> str:
    last = update["attempts"][-1]
    if last["answer"] == IDK:
        return "no answer to judge"
    if last["confidence"] is None:
        return "off"
    return f"{last['claims_supported']}/{last['claims_checked']} claims supported, confidence {last['confidence']:.2f}"


_DETAILS: dict[str, Any] = {
    "retrieve": _retrieved,
    "rerank": _kept,
    "generate": lambda update: f"{len(update.get('drafts') or [])} draft(s)",
    "verify": _judged,
    "requery": lambda update: "; ".join(update.get("queries") or []),
    "finalize": lambda update: "abstained" if update.get("abstained") else "answered",
}
