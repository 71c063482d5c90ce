"""What was measured, as a table for a terminal, a page, and plots."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import InputError, SettingsError
from cragraph.evals.metrics import reliability

if TYPE_CHECKING:
    from rich.table import Table

_STYLE: Final = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd}
td:nth-child(n+3),th:nth-child(n+3){text-align:right}tr.mean{font-weight:600}img{max-width:100%}"""

_COLUMNS: Final = {
    "rows": ("rows", "rows"),
    "balanced_accuracy": ("bal.acc", "balanced accuracy"),
    "f1_unsupported": ("F1 uns.", "F1 unsupported"),
    "auroc": ("AUROC", "AUROC"),
    "ece": ("ECE", "ECE"),
    "confidence_auroc": ("conf.AUROC", "AUROC of the confidence"),
    "confidence_ece": ("conf.ECE", "ECE of the confidence"),
    "span_f1": ("span F1", "span F1"),
    "span_f1_new_words": ("(new words)", "span F1 of new words"),
    "ms_p50": ("p50 ms", "p50 ms"),
    "ms_p95": ("p95 ms", "p95 ms"),
}
"""The figures of a grounding evaluation with their headings, for a terminal and for a page."""


def grounding_table(result: Mapping[str, Any]) -> "Table":
    """The figures of a grounding evaluation for a terminal, a line per judge and data set."""
    from rich.table import Table

    sample = f", {result['limit']} rows a file" if result["limit"] else ""
    shown = Table("judge", "data set", title=f"Grounding, policy {result['policy']}{sample}")
    for heading, _ in _COLUMNS.values():
        shown.add_column(heading, justify="right")
    for judge, found in result["judges"].items():
        for name, figures in _lines(found):
            shown.add_row(judge, name, *(_cell(figures.get(key)) for key in _COLUMNS), end_section=name == "macro core")
    return shown


def _lines(found: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of one judge: its data sets, then their means."""
    yield from found["data_sets"].items()
    for name in ("macro", "macro_core"):
        times = {key: found[key] for key in ("ms_p50", "ms_p95")}
        yield name.replace("_", " "), found[name] | times | {"rows": f"{found[name]['data_sets']:.0f} sets"}


ANSWERS: Final = {
    "rows": "rows",
    "utility": "utility",
    "oracle": "oracle",
    "right": "right",
    "refused_answerable": "refused, answerable",
    "refused_unanswerable": "refused, not answerable",
    "precision": "precision",
    "auroc": "AUROC",
    "auroc_answered": "AUROC answered",
    "ece": "ECE",
    "in_passages": "in the passages",
    "ms_p95": "p95 ms",
}
"""The figures of an evaluation of answers with their headings."""


def answers_table(result: Mapping[str, Any]) -> "Table":
    """The figures of an evaluation of answers for a terminal, a line per answerer and set, and their means."""
    from rich.table import Table

    shown = Table("answers by", "questions", title="Answers")
    for heading in ANSWERS.values():
        shown.add_column(heading, justify="right")
    for name, found in result.items():
        for title, figures in (*found["sets"].items(), ("mean of sets", found["pooled"])):
            cells = (_cell(figures.get(key)) for key in ANSWERS)
            shown.add_row(name, title, *cells, end_section=title == "mean of sets")
    return shown


def causes_table(result: Mapping[str, Any]) -> "Table":
    """What became of the questions of every set, most frequent first."""
    from rich.table import Table

    shown = Table("answers by", "what became of the questions", title="Where answers are lost")
    for name, found in result.items():
        sets = found["sets"]
        every = Counter({cause: 0 for figures in sets.values() for cause in figures["causes"]})
        for figures in sets.values():
            every.update(figures["causes"])
        if not shown.columns[2:]:
            for title in (*sets, "all"):
                shown.add_column(title, justify="right")
        for cause, count in every.most_common():
            cells = (str(figures["causes"].get(cause, 0)) for figures in sets.values())
            shown.add_row(name, cause, *cells, str(count))
    return shown


def plot_answers(result: Mapping[str, Any], path: Path) -> None:
    """Precision by the share of questions that are answered, and how often answers are right by their confidence."""
    pyplot = _pyplot()
    figure, (by_coverage, by_confidence) = pyplot.subplots(1, 2, figsize=(10, 4))
    for name, found in result.items():
        outcomes = [o for figures in found["sets"].values() for o in figures["outcomes"]]
        ranked = sorted(outcomes, key=lambda o: -o["confidence"])
        right, shares, precisions = 0, [], []
        for number, outcome in enumerate(ranked, 1):
            right += outcome["right"]
            shares.append(number / len(ranked))
            precisions.append(right / number)
        by_coverage.plot(shares, precisions, label=name)
        curve = reliability([o["right"] for o in outcomes], [o["confidence"] for o in outcomes])
        by_confidence.plot([b.score for b in curve], [b.supported for b in curve], marker="o", label=name)
    by_confidence.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    by_coverage.set(xlabel="share of questions answered", ylabel="share of them right", xlim=(0, 1), ylim=(0, 1))
    by_confidence.set(xlabel="confidence", ylabel="share right", xlim=(0, 1), ylim=(0, 1))
    by_coverage.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def write_report(result: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write `grounding.json`, `reliability.png`, `auroc.png` and `index.html` into a folder; returns their paths.

    Raises SettingsError where matplotlib is not installed.
    """
    pyplot = _pyplot()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / name for name in ("grounding.json", "reliability.png", "auroc.png", "index.html")]
    paths[0].write_text(json.dumps(result, indent=2, ensure_ascii=False), encoding="utf-8")
    _reliability(pyplot, result, paths[1])
    _auroc(pyplot, result, paths[2])
    paths[3].write_text(page(result), encoding="utf-8")
    return paths


def page(result: Mapping[str, Any]) -> str:
    """The report as HTML; the pictures lie beside it."""
    rows = [
        _row(judge, name, figures, "mean" if name.startswith("macro") else "")
        for judge, found in result["judges"].items()
        for name, figures in _lines(found)
    ]
    heads = "".join(
        f"<th>{escape(head)}</th>" for head in ("judge", "data set", *(long for _, long in _COLUMNS.values()))
    )
    sample = f", at most {result['limit']} rows a file" if result["limit"] else ""
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Grounding</title><style>{_STYLE}</style>"
        f"<h1>Grounding</h1><p>Policy {escape(result['policy'])}{sample}. A mean is over the data sets with both "
        "labels; the core leaves out those labelled by correctness and those not in English.</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "<h2>Reliability</h2><img src='reliability.png' alt='Share of supported rows by score, a line a judge'>"
        "<h2>AUROC</h2><img src='auroc.png' alt='AUROC by data set and judge'></html>"
    )


def pooled(sets: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, float, int]]:
    """The reliability curves of several data sets as one: mean score, share supported, rows, a bin each."""
    bins: dict[float, list[Mapping[str, Any]]] = {}
    for figures in sets.values():
        # One-sided data sets would bend the curve by their label alone.
        if figures["supported"] and figures["unsupported"]:
            for one in figures["reliability"]:
                bins.setdefault(one["low"], []).append(one)
    curve = []
    for low in sorted(bins):
        rows = sum(one["count"] for one in bins[low])
        score = sum(one["count"] * one["score"] for one in bins[low]) / rows
        curve.append((score, sum(one["count"] * one["supported"] for one in bins[low]) / rows, rows))
    return curve


def _row(judge: str, name: str, figures: Mapping[str, Any], kind: str = "") -> str:
    cells = "".join(f"<td>{_cell(figures.get(key))}</td>" for key in _COLUMNS)
    return f"<tr class='{kind}'><td>{escape(judge)}</td><td>{escape(name)}</td>{cells}</tr>"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))


def _reliability(pyplot: Any, result: Mapping[str, Any], path: Path) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 6))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="--", label="as it should be")
    for judge, found in result["judges"].items():
        curve = pooled(found["data_sets"])
        if curve:
            axes.plot([point[0] for point in curve], [point[1] for point in curve], marker="o", label=judge)
    axes.set(xlabel="score of the judge", ylabel="share of supported rows", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _auroc(pyplot: Any, result: Mapping[str, Any], path: Path) -> None:
    judges = result["judges"]
    names = list(dict.fromkeys(n for j in judges.values() for n, f in j["data_sets"].items() if f["auroc"] is not None))
    figure, axes = pyplot.subplots(figsize=(8, 1.5 + 0.3 * max(len(names), 1) * max(len(judges), 1)))
    height = 0.8 / max(len(judges), 1)
    for number, (judge, found) in enumerate(judges.items()):
        places = [index + number * height for index in range(len(names))]
        axes.barh(places, [found["data_sets"][name]["auroc"] or 0.0 for name in names], height, label=judge)
    axes.set_yticks([index + 0.4 - height / 2 for index in range(len(names))], names)
    axes.axvline(0.5, color="grey", linewidth=1, linestyle="--")
    axes.set(xlabel="AUROC", xlim=(0, 1))
    axes.invert_yaxis()
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise SettingsError("the report's plots need matplotlib: pip install 'cragraph[report]'.") from error
    # Files only: no window, whatever the machine's default is.
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


STAGE_COLUMNS: Final = ("ndcg@10", "recall@10", "recall@100", "mrr", "ms_p50", "ms_p95")


def retrieval_table(result: Mapping[str, Any]) -> "Table":
    """A rich table: a stage a row, the yardsticks first."""
    from rich.table import Table

    title = (
        f"{result['collection']}: {result['passages']} passages, {result['queries']} queries, "
        f"{result['embeddings']}, reranker {result['reranker']}"
    )
    shown = Table(title=title, title_justify="left")
    shown.add_column("stage")
    for column in STAGE_COLUMNS:
        shown.add_column(column, justify="right")
    for name, row in result["baselines"].items():
        shown.add_row(f"plain {name}", *map(_figure, STAGE_COLUMNS, (row[c] for c in STAGE_COLUMNS)), style="dim")
    for name, row in result["stages"].items():
        shown.add_row(name, *map(_figure, STAGE_COLUMNS, (row[c] for c in STAGE_COLUMNS)))
    return shown


def write_plot(result: Mapping[str, Any], path: Path) -> None:
    """Draw nDCG@10, recall@10 and MRR of every stage as bars into a file (PNG, SVG or PDF by its ending).

    Raises:
        InputError: matplotlib is not installed, or the file's ending names no format that it writes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("A plot needs matplotlib, which is not installed: pip install 'cragraph[report]'.") from error

    stages = {f"plain {name}": row for name, row in result["baselines"].items()} | dict(result["stages"])
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for shift, column in enumerate(("ndcg@10", "recall@10", "mrr")):
        places = [index + (shift - 1) * 0.27 for index in range(len(stages))]
        bars = axes.bar(places, [row[column] for row in stages.values()], width=0.25, label=column)
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.set_xticks(range(len(stages)), list(stages))
    axes.set_ylim(0, 1.05)
    axes.set_title(f"{result['collection']}: {result['passages']} passages, {result['queries']} queries")
    axes.legend(ncols=3, loc="lower right")
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(f"The plot cannot be written to {path} ({error}): name a .png, .svg or .pdf file.") from error


def _figure(column: str, value: float) -> str:
    return f"{value:.1f}" if column.startswith("ms") else f"{value:.3f}"
