"""`cragraph ask`: a cited, verified answer from the store."""

from pathlib import Path
from typing import Annotated

import typer

from cragraph.cli.console import ABSTAINED, complain, emit
from cragraph.cli.options import (
    ConfigOption,
    JsonOption,
    JudgeOption,
    ModelOption,
    PolicyOption,
    QuietOption,
    StoreOption,
    ThresholdOption,
    WhereOption,
    settings_from,
)
from cragraph.errors import InputError


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    source: Annotated[list[Path] | None, typer.Option("--source", help="Ingest this first; repeatable.")] = None,
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
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Answer a question from the store, with citations, a verdict on every claim and a confidence.

    Example: `cragraph ask "What was revenue in 2023?" --source report.pdf`
    """
    from cragraph.cli.render import show_answer
    from cragraph.cli.run import run_crag

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
        show_claims=True if show_claims or not json else None,
    )
    if source:
        from cragraph.api import ingest_paths
        from cragraph.cli.progress import ingesting

        with ingesting(shown=not quiet) as advance:
            report = ingest_paths(settings, source, progress=advance)
        for path, reason in report.failed:
            complain(f"{path}: {reason}")
        if not (report.added or report.changed or report.unchanged):
            raise InputError("Nothing could be read from --source: give files or folders that `cragraph ingest` takes.")
    response = run_crag(settings, question, quiet=quiet, stream_tokens=not json)
    if json:
        emit(response)
    else:
        show_answer(response)
    if response["abstained"]:
        raise typer.Exit(ABSTAINED)
