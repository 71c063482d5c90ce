"""Put the finished network where the package finds it, with the card that its loader checks and its model card.

python -m lab.training.reading.ship RUN [--out cragraph/models/data] [--before 30049] RUN: filled by the other steps
python -m lab.training.reading.ship RUN --heads FOLDER                        only the heads that `reader.fit` wrote

`--before` are the rows that the weights had seen which the run went on from. The heads stay until others come.
The additions of `training.quotations` fit one network alone: they are learned and exported anew for another.
"""

import argparse
import json
import shutil
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import torch

from cragraph.models.weights import DATA
from lab.training.reading.featurise import pack_idf
from lab.training.reading.fit import macro

TEMPLATE = Path(__file__).parent / "model_card.md"
VERSION = "7"


def card(run: Path, network: Path, heads: dict[str, Any]) -> dict[str, Any]:
    """The card of the weights: hash, what was chosen and fitted on them, the heads of questions, and idf."""
    head = json.loads((run / "head.json").read_text(encoding="utf-8"))
    return {
        "name": "cragraph-reading-int8",
        "version": VERSION,
        "source": "grown from the first layers of sentence-transformers/all-mpnet-base-v2 by lab/training/reading",
        "licence": "Apache-2.0",
        "files": {"reading.onnx": sha256(network.read_bytes()).hexdigest()},
        **head,
        "heads": heads,
        "idf": pack_idf(np.load(run / "idf.npy")),
    }


def figures(report: dict[str, Any], dev: Path, seen: int) -> dict[str, str]:
    """What the model card's template asks for."""
    judge = report["judge"]
    columns = [judge[name] for name in ("each", "network alone", "words alone", "coverage")]
    rows = [f"| {name} | " + " | ".join(_cell(column.get(name)) for column in columns) + " |" for name in judge["each"]]
    words = [
        f"| {name} | {found['model'][2]:.3f} | {found['words that do not occur'][2]:.3f} |"
        for name, found in report["words"].items()
    ]
    against = [f"| {name} | {value:.3f} |" for name, value in report["contradicted"].items()]
    means = {"alone": "network alone", "lexical": "words alone", "overlap": "coverage"}
    return {
        "seen": f"{seen:,}",
        "sample": f"Measured on {len(_rows(dev)):,} rows of dev.",
        "rows": "\n".join(rows),
        "words": "\n".join(words),
        "against": "\n".join(against),
        "macro": f"{judge['dev']:.3f}",
        "aside": f"{judge['aside']:.3f}",
        **{short: f"{macro(judge[name]):.3f}" for short, name in means.items()},
        "others": f"{judge['left out']:.3f}",
        "weakest": f"{judge['weakest']:.3f}",
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
    parser.add_argument("--out", type=Path, default=Path("cragraph/models/data"))
    parser.add_argument("--card", type=Path, default=Path("lab/training/MODEL_CARD.md"))
    parser.add_argument("--before", type=int, default=0)
    parser.add_argument("--heads", type=Path)
    options = parser.parse_args()
    network, shipped = options.out / "reading.onnx", options.out / "reading.json"
    before = json.loads((shipped if shipped.exists() else DATA / shipped.name).read_text(encoding="utf-8"))
    if options.heads:
        heads = json.loads((options.heads / "heads.json").read_text(encoding="utf-8"))
        shipped.write_text(json.dumps({**before, "heads": heads}, indent=1) + "\n", encoding="utf-8")
        return
    shutil.copyfile(options.run / "int8.onnx", network)
    written = card(options.run, network, before["heads"])
    shipped.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    seen = options.before + torch.load(options.run / "checkpoint.pt")["state"]["seen"]
    report = json.loads((options.run / "report.json").read_text(encoding="utf-8"))
    found = figures(report, options.run / "dev.npz", seen)
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(found)
    options.card.write_text(text, encoding="utf-8")
    print(f"{network}: {network.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
