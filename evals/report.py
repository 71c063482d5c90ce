"""A report of a grounding evaluation: the figures as JSON, reliability and AUROC as PNG, and a page that shows both."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from cragraph.errors import SettingsError

_STYLE: Final = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd}
td:nth-child(n+3),th:nth-child(n+3){text-align:right}tr.mean{font-weight:600}img{max-width:100%}"""

_COLUMNS: Final = {
    "rows": "rows",
    "balanced_accuracy": "balanced accuracy",
    "f1_unsupported": "F1 unsupported",
    "auroc": "AUROC",
    "ece": "ECE",
    "confidence_auroc": "AUROC of the confidence",
    "confidence_ece": "ECE of the confidence",
    "span_f1": "span F1",
    "span_f1_new_words": "span F1 of new words",
    "ms_p50": "p50 ms",
    "ms_p95": "p95 ms",
}


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
    rows = []
    for judge, found in result["judges"].items():
        rows += [_row(judge, name, figures) for name, figures in found["data_sets"].items()]
        times = {key: found[key] for key in ("ms_p50", "ms_p95")}
        rows += [
            _row(
                judge,
                title.replace("_", " "),
                found[title] | times | {"rows": f"{found[title]['data_sets']:.0f} sets"},
                "mean",
            )
            for title in ("macro", "macro_core")
        ]
    heads = "".join(f"<th>{escape(head)}</th>" for head in ("judge", "data set", *_COLUMNS.values()))
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
