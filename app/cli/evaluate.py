"""`cragraph eval` and `cragraph calibrate`: what labelled data says of retrieval, grounding and answers."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cragraph.cli.console import show, status
from cragraph.cli.options import (
    ConfigOption,
    JsonOption,
    JudgeOption,
    ModelOption,
    PolicyOption,
    QuietOption,
    settings_from,
)
from cragraph.cli.progress import counting

app = typer.Typer(help="Measure retrieval and grounding on labelled data.", no_args_is_help=True)


@app.command()
def grounding(
    files: Annotated[list[Path], typer.Argument(help="JSONL files of labelled answers.", show_default=False)],
    judge: Annotated[str, typer.Option("--judge", help="One or more judges, comma-separated.")] = "auto",
    policy: PolicyOption = None,
    model: ModelOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Rows a file at most.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Folder for the HTML and JSON report.")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """How well judges tell supported answers from unsupported ones.

    Beside the judges, `coverage` (share of the claim's words that the passages hold) and `similarity` (cosine to the
    closest window) are the baselines. Example: `cragraph eval grounding dev/*.jsonl --judge coverage,lexical,encoder`
    """
    from dataclasses import replace

    from cragraph.build import make_verifier
    from cragraph.evals.grounding import run, simple_judges
    from cragraph.evals.report import grounding_table, write_report

    settings = settings_from(config, policy=policy, model=model)
    names = [name.strip() for name in judge.split(",") if name.strip()]
    verifier = make_verifier(settings)
    verifier = replace(verifier, judges={**simple_judges(verifier.embeddings), **verifier.judges})
    with counting("rows", shown=not quiet) as progress:
        result = run(files, names, verifier, policy=settings.policy, limit=limit, progress=progress)
    if report is not None:
        write_report(result, report)
    show(json, result, grounding_table)


@app.command()
def retrieval(
    folder: Annotated[Path, typer.Argument(help="Folder with corpus.jsonl, queries.jsonl, qrels.tsv.")],
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Queries at most.")] = None,
    retriever: Annotated[
        str | None, typer.Option("--retriever", help="module:name of a LangChain retriever to measure beside ours.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="File for the plot (PNG).")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """How well each stage of retrieval finds what was judged relevant.

    Example: `cragraph eval retrieval data/cranfield`
    """
    from cragraph.build import Parts
    from cragraph.evals.report import plot_retrieval, retrieval_table
    from cragraph.evals.retrieval import run

    settings = settings_from(config)
    with counting("queries", shown=not quiet) as progress:
        result = run(folder, Parts(settings).embeddings, limit=limit, progress=progress, foreign=retriever)
    if plot is not None:
        plot_retrieval(result, plot)
    show(json, result, retrieval_table)


@app.command()
def answers(
    files: Annotated[list[Path], typer.Argument(help="JSONL files of questions, or folders.", show_default=False)],
    noise: Annotated[
        str, typer.Option("--noise", help="Also ask with 5 passages (`some`), and with none that answers (`only`).")
    ] = "none",
    baseline: Annotated[bool, typer.Option("--baseline", help="Also the sentence nearest in meaning, tuned.")] = False,
    model: ModelOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Questions a file at most.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="File for the plot (PNG or SVG).")] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """How many questions are answered right, or refused where nothing answers, and what the confidence is worth.

    Example: `cragraph eval answers ../shared/data/qa/dev/squad2_train_500.jsonl --noise some,only --baseline`
    """
    from cragraph.build import Parts, graph_of
    from cragraph.evals.answers import graph_answerer, question_sets, run, tuned_simple_answerer
    from cragraph.evals.report import answers_table, causes_table, plot_answers

    settings = settings_from(config, model=model, store="")
    sets = question_sets(files, noise.split(","), limit)
    parts = Parts(settings)
    with counting("questions", shown=not quiet) as progress:
        answerers = {"cragraph": graph_answerer(graph_of(parts).compile(), parts.ranker)}
        if baseline:
            answerers["nearest sentence, tuned here"] = tuned_simple_answerer(parts.embeddings.embed_documents, sets)
        result = run(sets, answerers, progress)
    if plot is not None:
        plot_answers(result, plot)
    show(json, result, answers_table, causes_table)


def calibrate(
    rows: Annotated[Path, typer.Argument(help="JSONL file of labelled answers.", show_default=False)],
    judge: JudgeOption = None,
    refused_good: Annotated[
        float | None, typer.Option("--refused-good", min=0.05, max=0.5, help="Share of good answers to refuse at most.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only; write nothing.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
    config: ConfigOption = None,
) -> None:
    """Fit what the confidence means, and where to accept, to your own labelled answers; a hundred help.

    A row is `{"answer", "passages": [text…], "label": "supported" or "unsupported"}`. The fit goes into the settings
    file. Example: `cragraph calibrate labelled.jsonl`
    """
    from dataclasses import asdict, replace

    from cragraph.build import make_verifier
    from cragraph.evals.calibrate import calibrate as fit
    from cragraph.evals.calibrate import store
    from cragraph.evals.data import read_rows
    from cragraph.settings import config_path

    settings = settings_from(config, judge=judge, refused_good=refused_good)
    file = config_path() or Path("cragraph.yaml")
    verifier = make_verifier(settings.model_copy(update={"calibration": {}}))
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
    found = fit(read_rows(rows), verifier, settings.judge, refused=settings.refused_good, threshold=settings.threshold)
    if not dry_run:
        store(found, file)
    table = Table("of rows not fitted on", "before", "after")
    for name in found.before:
        table.add_row(name.replace("_", " "), f"{found.before[name]:.3f}", f"{found.after[name]:.3f}")
    gain = (
        f"{found.rows} rows, {found.good} good. Balanced accuracy gained: {found.gained:+.3f} "
        f"(95 %: {found.least:+.3f} to {found.most:+.3f})"
    )
    shown = "." if found.least > 0 else ": no gain is shown, more rows would tell."
    show(json, asdict(found) | {"file": None if dry_run else str(file)}, lambda _: table, lambda _: gain + shown)
    if not quiet and not json:
        status("nothing was written" if dry_run else f"the judge {found.judge} is calibrated in {file}")
