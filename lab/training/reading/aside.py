"""Claims made of passages that training never saw, as grounding rows, for the steps of fitting to measure on.

python -m lab.training.reading.aside DATA/qa/dev OUT     OUT gets asked_dev.jsonl and turned_dev.jsonl
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

from lab.training.judge.asked import FILES, asked_examples, rows_of
from lab.training.judge.rows import SUPPORTED, Example
from lab.training.judge.turned import turned_examples

SEED = 7


def write(examples: Sequence[Example], path: Path) -> None:
    """Grounding rows of two labels."""
    with path.open("w", encoding="utf-8") as out:
        for number, e in enumerate(examples):
            label = "supported" if e.label == SUPPORTED else "unsupported"
            row = {"id": str(number), "question": None, "passages": e.passages, "answer": e.claim, "label": label}
            out.write(json.dumps(row | {"spans": [list(span) for span in e.spans or ()]}) + "\n")


def main() -> None:
    """Make and write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=400, help="claims of each file at most")
    options = parser.parse_args()
    rng = Random(SEED)
    asked = list(asked_examples(options.folder, rng))
    write(rng.sample(asked, min(options.limit, len(asked))), options.out / "asked_dev.jsonl")
    passages = [tuple(row["passages"]) for name in (*FILES, "neg_same_doc") for row in rows_of(options.folder, name)]
    turned = turned_examples(list(dict.fromkeys(passages)), 100 * options.limit, rng)
    turned = [e for e in turned if not e.source.endswith(("stronger", "plain"))]
    write(rng.sample(turned, min(options.limit, len(turned))), options.out / "turned_dev.jsonl")


if __name__ == "__main__":
    main()
