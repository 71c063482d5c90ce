"""`cragraph eval` and `cragraph calibrate`: what labelled data says of retrieval, grounding and answers."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

import cragraph.evals.answers
import cragraph.evals.calibrate
import cragraph.evals.data
import cragraph.evals.grounding
import cragraph.evals.mine
import cragraph.evals.report
import cragraph.evals.retrieval
from cragraph.build import Parts
from cragraph.cli.console import CHANGED, FAILURE, progress_bar, show, status
from cragraph.cli.options import JsonOption, QuietOption, with_settings
from cragraph.errors import InputError
from cragraph.language.words import shortened
from cragraph.loop import graph_of
from cragraph.run import Assistant
from cragraph.settings import config_path

PlotOption = Annotated[
    Path | None, typer.Option("--plot", help="File for the plot, PNG or SVG; needs `pip install 'cragraph[report]'`.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Rows, or questions, a file at most.")]

app = typer.Typer(
    help="Measure retrieval, grounding and answers on labelled data; `mine` tests your own documents.",
    no_args_is_help=True,
)


@app.command()
@with_settings("policy", "model")
def grounding(
    settings_of: Any,
    files: Annotated[list[Path], typer.Argument(help="JSONL files of labelled answers.", show_default=False)],
    judge: Annotated[str, typer.Option("--judge", help="One or more judges, comma-separated.")] = "auto",
    limit: LimitOption = None,
    report: Annotated[Path | None, typer.Option("--report", help="Folder for the HTML and JSON report.")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """How well judges tell supported answers from unsupported ones.

    Beside the judges, `coverage` (share of the claim's words that the passages hold) and `similarity` (cosine to the
    closest window) are the baselines. Example: `cragraph eval grounding dev/*.jsonl --judge coverage,lexical,encoder`
    """
    settings = settings_of()
    names = [name.strip() for name in judge.split(",") if name.strip()]
    verifier = Parts(settings).verifier
    verifier = replace(
        verifier, judges={**cragraph.evals.grounding.simple_judges(verifier.embeddings), **verifier.judges}
    )
    with progress_bar("rows", shown=not quiet) as progress:
        result = cragraph.evals.grounding.run(
            files, names, verifier, policy=settings.policy, limit=limit, progress=progress
        )
    if report is not None:
        cragraph.evals.report.write_report(result, report)
    show(json, result, cragraph.evals.report.grounding_table)


@app.command()
@with_settings()
def retrieval(
    settings_of: Any,
    folder: Annotated[Path, typer.Argument(help="Folder with corpus.jsonl, queries.jsonl, qrels.tsv.")],
    limit: LimitOption = None,
    retriever: Annotated[
        str | None, typer.Option("--retriever", help="module:name of a LangChain retriever to measure beside ours.")
    ] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """How well each stage of retrieval finds what was judged relevant.

    Example: `cragraph eval retrieval data/cranfield`
    """
    embeddings = Parts(settings_of()).embeddings
    with progress_bar("queries", shown=not quiet) as progress:
        result = cragraph.evals.retrieval.run(folder, embeddings, limit=limit, progress=progress, foreign=retriever)
    if plot is not None:
        cragraph.evals.report.plot_retrieval(result, plot)
    show(json, result, cragraph.evals.report.retrieval_table)


@app.command()
@with_settings("model")
def answers(
    settings_of: Any,
    files: Annotated[list[Path], typer.Argument(help="JSONL files of questions, or folders.", show_default=False)],
    noise: Annotated[
        str, typer.Option("--noise", help="Also ask with 5 passages (`some`), and with none that answers (`only`).")
    ] = "none",
    baseline: Annotated[bool, typer.Option("--baseline", help="Also the sentence nearest in meaning, tuned.")] = False,
    limit: LimitOption = None,
    plot: PlotOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """How many questions are answered right, or refused where nothing answers, and what the confidence is worth.

    Example: `cragraph eval answers ../shared/data/qa/dev/squad2_train_500.jsonl --noise some,only --baseline`
    """
    parts = Parts(settings_of(store=""))
    sets = cragraph.evals.answers.question_sets(files, noise.split(","), limit)
    with progress_bar("questions", shown=not quiet) as progress:
        graph = graph_of(parts).compile()
        answerers = {"cragraph": cragraph.evals.answers.graph_answerer(graph, parts.ranker)}
        if baseline:
            simple = cragraph.evals.answers.simple_answerer(parts.embeddings.embed_documents, sets)
            answerers["nearest sentence, tuned here"] = simple
        result = cragraph.evals.answers.run(sets, answerers, progress)
    if plot is not None:
        cragraph.evals.report.plot_answers(result, plot)
    show(json, result, cragraph.evals.report.answers_table, cragraph.evals.report.causes_table)


@app.command()
@with_settings("store", "model", "base_url", "mode", "judge")
def mine(
    settings_of: Any,
    accept: Annotated[
        bool, typer.Option("--accept", help="Compare with what is answered now from here on, except where it is wrong.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask the questions again that you kept (`cragraph log --keep N`), and say what changed.

    Each is same, changed, refused (it was answered), wrong (it lacks what is expected) or failed. Exit code 0 where all
    are the same, 6 where something changed, 1 where one could not be asked.

    Example: `cragraph ingest docs/ && cragraph eval mine`
    """
    assistant = Assistant(settings_of())
    kept = assistant.history.entries(kept=True) if assistant.history else []
    if not kept:
        raise InputError("No question is kept: `cragraph log` lists what was asked, `cragraph log --keep N` keeps one.")
    with progress_bar("questions", shown=not quiet) as progress:
        result = cragraph.evals.mine.run(assistant, kept, renew=accept, progress=progress)
    show(json, result.to_dict(), rows_told)
    if not result.all_same:
        raise typer.Exit(FAILURE if any(row.status == "failed" for row in result.rows) else CHANGED)


def rows_told(result: Mapping[str, Any]) -> str:
    """The counts, and below them each question of which something changed, with both answers."""
    counts = ", ".join(f"{result[name]} {name}" for name in cragraph.evals.mine.STATUSES if result[name])
    lines = [f"{result['kept']} kept: {counts}"]
    for row in result["rows"]:
        if row["status"] != "same":
            lines += [f"{row['status']:<8} {row['number']}. {row['question']}", f"         {row['why']}"]
            lines += [f"         expected: {row['expect']}"] if row["expect"] else []
            lines += [f"         before:   {shortened(row['before'])}", f"         now:      {shortened(row['now'])}"]
    return "\n".join(lines)


@with_settings("judge")
def calibrate(
    settings_of: Any,
    rows: Annotated[Path, typer.Argument(help="JSONL file of labelled answers.", show_default=False)],
    refused_good: Annotated[
        float, typer.Option("--refused-good", help="Share of good answers to refuse at most.", min=0.05, max=0.5)
    ] = 0.2,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only; write nothing.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit what the confidence means, and where to accept, to your own labelled answers; a hundred help.

    A row is `{"answer", "passages": [text…], "label": "supported" or "unsupported"}`. The fit goes into the settings
    file, unless it was measured as worse than what is in force (exit code 1).

    Example: `cragraph calibrate labelled.jsonl`
    """
    settings = settings_of()
    file = config_path() or Path("cragraph.yaml")
    verifier = Parts(settings.model_copy(update={"calibration": {}})).verifier
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
    fit = cragraph.evals.calibrate.calibrate(
        cragraph.evals.data.read_rows(rows),
        verifier,
        settings.judge,
        refused=refused_good,
        threshold=settings.threshold,
        in_force=settings.calibration,
    )
    written = not dry_run and not fit.worse
    if written:
        cragraph.evals.calibrate.store(fit, file)
    table = Table("of rows not fitted on", "before", "after")
    for name in fit.before:
        table.add_row(name.replace("_", " "), f"{fit.before[name]:.3f}", f"{fit.after[name]:.3f}")
    gain = (
        f"{fit.rows} rows, {fit.good} good. Balanced accuracy gained: {fit.gained:+.3f} "
        f"(95 %: {fit.least:+.3f} to {fit.most:+.3f})"
    )
    shown = "." if fit.least > 0 else ": no gain is shown, more rows would tell."
    show(json, asdict(fit) | {"file": str(file) if written else None}, lambda _: table, lambda _: gain + shown)
    if not quiet and not json:
        told = "nothing was written" + ": the fit is worse than what is in force" * fit.worse
        status(f"the judge {fit.judge} is calibrated in {file}" if written else told)
    if fit.worse and not dry_run:
        raise typer.Exit(FAILURE)
