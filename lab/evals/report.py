"""What was measured, as tables for a terminal, as plots, and as a page with both."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cragraph.errors import InputError, SettingsError
from lab.evals.metrics import reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUNDING: Final = {
    "rows": "rows", "balanced_accuracy": "bal.acc", "f1_unsupported": "F1 uns.", "auroc": "AUROC", "ece": "ECE",
    "confidence_auroc": "conf.AUROC", "confidence_ece": "conf.ECE", "span_f1": "span F1",
    "span_f1_new_words": "(new words)", "ms_p50": "p50 ms", "ms_p95": "p95 ms",
}  # fmt: skip
ANSWERS: Final = {
    "rows": "rows", "utility": "utility", "oracle": "oracle", "right": "right",
    "refused_answerable": "refused, answerable", "refused_unanswerable": "refused, not answerable",
    "precision": "precision", "auroc": "AUROC", "auroc_answered": "AUROC answered", "ece": "ECE",
    "in_passages": "in the passages", "ms_p95": "p95 ms",
}  # fmt: skip
STAGES: Final = {name: name for name in ("ndcg@10", "recall@10", "recall@100", "mrr", "ms_p50", "ms_p95")}
"""The figures of each evaluation with their headings."""

Row = tuple[Sequence[str], Mapping[str, Any]]


def grounding_table(result: Mapping[str, Any]) -> Table:
    """A line per judge and data set, and the means over data sets."""
    rows: list[Row] = []
    for judge, measured in result["judges"].items():
        rows += [((judge, name), figures) for name, figures in measured["data_sets"].items()]
        times = {key: measured[key] for key in ("ms_p50", "ms_p95")}
        for name in ("macro", "macro_core"):
            counted = {"rows": f"{measured[name]['data_sets']:.0f} sets"}
            rows.append(((judge, name.replace("_", " ")), measured[name] | times | counted))
    title = f"Grounding, policy {result['policy']}" + (f", {result['limit']} rows per file" if result["limit"] else "")
    return _table(title, ("judge", "data set"), GROUNDING, rows, last="macro core")


def answers_table(result: Mapping[str, Any]) -> Table:
    """A line per answerer and set of questions, and the means over sets."""
    rows = [
        ((name, title), figures)
        for name, measured in result.items()
        for title, figures in (*measured["sets"].items(), ("mean of sets", measured["pooled"]))
    ]
    return _table("Answers", ("answers by", "questions"), ANSWERS, rows, last="mean of sets")


def causes_table(result: Mapping[str, Any]) -> Table:
    """What became of the questions of every set, most frequent first."""
    rows: list[Row] = []
    names = list(dict.fromkeys(title for measured in result.values() for title in measured["sets"]))
    for name, measured in result.items():
        sets: dict[str, Counter[str]] = {title: Counter(row["causes"]) for title, row in measured["sets"].items()}
        every = sum(sets.values(), Counter[str]())
        for cause, count in every.most_common():
            rows.append(((name, cause), {"all": count} | {title: own[cause] for title, own in sets.items()}))
    heads = ("answers by", "what became of the questions")
    return _table("Where answers are lost", heads, {title: title for title in (*names, "all")}, rows)


def retrieval_table(result: Mapping[str, Any]) -> Table:
    """A line per stage, the baselines first."""
    size = f"{result['passages']} passages, {result['queries']} queries"
    title = f"{result['collection']}: {size}, {result['embeddings']}, reranker {result['reranker']}"
    return _table(title, ("stage",), STAGES, [((name,), figures) for name, figures in _stages(result).items()])


def _stages(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {**{f"plain {name}": figures for name, figures in result["baselines"].items()}, **result["stages"]}


def _table(title: str, names: Sequence[str], columns: Mapping[str, str], rows: Iterable[Row], last: str = "") -> Table:
    shown = Table(*names, title=title, title_justify="left")
    for heading in columns.values():
        shown.add_column(heading, justify="right")
    for name, figures in rows:
        cells = (_cell(key, figures.get(key)) for key in columns)
        shown.add_row(*map(escape, name), *cells, end_section=name[-1] == last)
    return shown


def _cell(key: str, value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.{1 if key.startswith('ms') else 3}f}" if isinstance(value, float) else str(value)


# -- plots -----------------------------------------------------------------------------------------------------


def plot_retrieval(result: Mapping[str, Any], path: Path) -> None:
    """nDCG@10, recall@10 and MRR of every stage as bars."""
    stages = _stages(result)
    figure, [axes] = _figure(1)
    for shift, key in enumerate(("ndcg@10", "recall@10", "mrr")):
        places = [index + (shift - 1) * 0.27 for index in range(len(stages))]
        bars = axes.bar(places, [row[key] for row in stages.values()], width=0.25, label=key)
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.set_xticks(range(len(stages)), list(stages))
    axes.set(ylim=(0, 1.05), title=f"{result['collection']}: {result['passages']} passages")
    axes.legend(ncols=3, loc="lower right")
    _save(figure, path)


def plot_answers(result: Mapping[str, Any], path: Path) -> None:
    """Precision by the share of questions that are answered, and how often answers are right by their confidence."""
    figure, (by_coverage, by_confidence) = _figure(2)
    for name, measured in result.items():
        outcomes = [outcome for figures in measured["sets"].values() for outcome in figures["outcomes"]]
        surest = sorted(outcomes, key=lambda outcome: -outcome["confidence"])
        answered = np.arange(1, len(surest) + 1)
        precision = np.cumsum([outcome["right"] for outcome in surest]) / answered
        by_coverage.plot(answered / len(surest), precision, label=name)
        curve = reliability([o["right"] for o in outcomes], [o["confidence"] for o in outcomes])
        by_confidence.plot([b.score for b in curve], [b.supported for b in curve], marker="o", label=name)
    by_coverage.set(xlabel="share of questions answered", ylabel="share of them right", xlim=(0, 1), ylim=(0, 1))
    by_coverage.legend()
    _diagonal(by_confidence, "confidence", "share right")
    _save(figure, path)


def write_report(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write a grounding evaluation as `grounding.json`, and as `index.html` with its table and plots."""
    folder.mkdir(parents=True, exist_ok=True)
    data, page = folder / "grounding.json", folder / "index.html"
    data.write_text(json.dumps(result, indent=2, ensure_ascii=False), encoding="utf-8")
    figure, (curves, bars) = _figure(2)
    judges: Mapping[str, Any] = result["judges"]
    for number, (judge, measured) in enumerate(judges.items()):
        curve = pooled(measured["data_sets"])
        curves.plot([score for score, *_ in curve], [share for _, share, _ in curve], marker="o", label=judge)
        ranked = [(name, row["auroc"]) for name, row in measured["data_sets"].items() if row["auroc"] is not None]
        places = [index + 0.8 * number / len(judges) for index in range(len(ranked))]
        bars.barh(places, [auroc for _, auroc in ranked], 0.8 / len(judges), label=judge)
        bars.set_yticks(places, [name for name, _ in ranked])
    _diagonal(curves, "score of the judge", "share of supported rows")
    curves.legend()
    bars.set(xlabel="AUROC", xlim=(0, 1))
    bars.invert_yaxis()
    picture = BytesIO()
    figure.savefig(picture, dpi=120)
    console = Console(record=True, width=180, file=StringIO())
    console.print(grounding_table(result))
    shown = f"<img alt='Reliability and AUROC' src='data:image/png;base64,{b64encode(picture.getvalue()).decode()}'>"
    page.write_text(console.export_html().replace("</body>", f"{shown}</body>"), encoding="utf-8")
    return [data, page]


def pooled(sets: Mapping[str, Mapping[str, Any]]) -> list[tuple[float, float, int]]:
    """The reliability curves of several data sets as one: mean score, share supported and rows of each bin.

    Data sets with one label only would bend the curve by that label alone, and are left out.
    """
    bins: dict[float, list[Mapping[str, Any]]] = {}
    for figures in sets.values():
        if figures["supported"] and figures["unsupported"]:
            for one in figures["reliability"]:
                bins.setdefault(one["low"], []).append(one)
    curve = []
    for low in sorted(bins):
        rows = sum(one["count"] for one in bins[low])
        score, share = (sum(one["count"] * one[key] for one in bins[low]) / rows for key in ("score", "supported"))
        curve.append((score, share, rows))
    return curve


def _diagonal(axes: "Axes", score: str, share: str) -> None:
    """Name the axes of a reliability curve, and draw where it would lie at best."""
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
    axes.set(xlabel=score, ylabel=share, xlim=(0, 1), ylim=(0, 1))


def _figure(columns: int) -> tuple["Figure", "Sequence[Axes]"]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingsError("A plot needs matplotlib: pip install 'cragraph[report]'.") from error
    figure = Figure(figsize=(10, 4), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _save(figure: "Figure", path: Path) -> None:
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(f"The plot cannot be written to {path} ({error}): name a .png, .svg or .pdf file.") from error
