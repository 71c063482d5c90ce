"""Measure retrieval, grounding and answers on labelled data: `python -m lab.evals grounding|retrieval|answers`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.build import Parts
from cragraph.cli.console import progress_bar, show
from cragraph.cli.options import JsonOption, QuietOption, with_settings
from cragraph.loop import graph_of
from lab.evals import answers as asking
from lab.evals import grounding as judging
from lab.evals import report as reports
from lab.evals import retrieval as searching

PlotOption = Annotated[
    Path | None, typer.Option("--plot", help="File for the plot, PNG or SVG; needs `pip install 'cragraph[report]'`.")
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Rows, or questions, a file at most.")]

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)


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
    closest window) are the baselines.

    Example: `python -m lab.evals grounding dev/*.jsonl --judge coverage,lexical,encoder`
    """
    settings = settings_of()
    names = [name.strip() for name in judge.split(",") if name.strip()]
    verifier = Parts(settings).verifier
    verifier = replace(verifier, judges={**judging.simple_judges(verifier.embeddings), **verifier.judges})
    with progress_bar("rows", shown=not quiet) as progress:
        result = judging.run(files, names, verifier, policy=settings.policy, limit=limit, progress=progress)
    if report is not None:
        reports.write_report(result, report)
    show(json, result, reports.grounding_table)


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

    Example: `python -m lab.evals retrieval data/cranfield`
    """
    embeddings = Parts(settings_of()).embeddings
    with progress_bar("queries", shown=not quiet) as progress:
        result = searching.run(folder, embeddings, limit=limit, progress=progress, foreign=retriever)
    if plot is not None:
        reports.plot_retrieval(result, plot)
    show(json, result, reports.retrieval_table)


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

    Example: `python -m lab.evals answers ../shared/data/qa/dev/squad2_train_500.jsonl --noise some,only --baseline`
    """
    parts = Parts(settings_of(store=""))
    sets = asking.question_sets(files, noise.split(","), limit)
    with progress_bar("questions", shown=not quiet) as progress:
        graph = graph_of(parts).compile()
        answerers = {"cragraph": asking.graph_answerer(graph, parts.ranker)}
        if baseline:
            simple = asking.simple_answerer(parts.embeddings.embed_documents, sets)
            answerers["nearest sentence, tuned here"] = simple
        result = asking.run(sets, answerers, progress)
    if plot is not None:
        reports.plot_answers(result, plot)
    show(json, result, reports.answers_table, reports.causes_table)


if __name__ == "__main__":
    app()
