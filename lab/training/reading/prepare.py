"""Write the training arrays of both tasks: claims with their passages, questions with their windows.

    python -m lab.training.reading.prepare DATA OUT [--claims 90000] [--questions 64000]

OUT gets judge.npz, reader.npz and idf.npy. DATA is the folder with grounding, entail and qa.

Word pieces are numbered as BERT numbers them; the trunk raises them by four. Rows are left out until the share of a
claim's or question's words that its text holds gives nothing away (`evenly`).
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cragraph.models.grounding import PieceReader
from lab.training.judge import prepare as judge
from lab.training.judge.metrics import auroc
from lab.training.judge.mix import count_by_source
from lab.training.judge.prepare import minilm
from lab.training.judge.rows import SUPPORTED
from lab.training.reader import prepare as reader
from lab.training.reader.rows import OVERSAMPLED
from lab.training.reading import everyday, written
from lab.training.reading.rows import claim_examples

Array = NDArray[Any]
HUMAN = 6
"""How often a question counts that people wrote so that its paragraph does not answer it."""
TABLES = 6000
EVERYDAY, WRITTEN = 0.04, 0.42
"""Shares of the questions that are about made-up notices, and about the texts of `texts/`."""

STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999, 1.01)
"""Edges of the shares between which both sides are made equally many; all words held is a step of its own."""


def covered(table: Mapping[str, Array], read: PieceReader) -> Array:
    """(rows,): the share, by idf, of the first text's words that the second holds in any form."""
    first, both = table["sizes"][:, 0], table["sizes"].sum(1)
    shares = np.zeros(len(both))
    for row, start in enumerate(np.cumsum(both) - both):
        ids = table["ids"][start : start + both[row]].astype(np.int64)
        own, other = ids[: first[row]], ids[first[row] :]
        weight = np.where(read.wordlike[own], read.idf[own], 0.0)
        held = np.isin(read.stems[own], read.stems[other])
        shares[row] = float((weight * held).sum() / max(float(weight.sum()), 1e-6))
    return shares


def evenly(shares: Array, yes: Array, rng: np.random.Generator) -> Array:
    """Numbers of rows, rising, of which between two `STEPS` as many are `yes` as not: all of the fewer side.

    Else a network learns that what shares words follows and answers, and what is said in other words does not.
    """
    kept = []
    for low, high in pairwise(STEPS):
        sides = [np.flatnonzero((low <= shares) & (shares < high) & (yes == side)) for side in (True, False)]
        most = min(map(len, sides))
        kept += [rng.permutation(side)[:most] for side in sides]
    return np.sort(np.concatenate(kept))


def chosen(table: Mapping[str, Array], rows: Array, tagged: int) -> dict[str, Array]:
    """Some rows of ragged arrays; `tags` are those of the first or the second text's pieces (`tagged` 0 or 1)."""
    sizes = table["sizes"]
    lengths = {"ids": sizes.sum(1), "tags": sizes[:, tagged]}
    found = {name: values[rows] for name, values in table.items() if name not in lengths}
    for name, length in lengths.items():
        ends = np.cumsum(length)
        found[name] = np.concatenate([table[name][ends[row] - length[row] : ends[row]] for row in rows])
    return found


def main() -> None:
    """Prepare both tasks and print what is in them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--claims", type=int, default=90_000)
    parser.add_argument("--questions", type=int, default=64_000)
    parser.add_argument("--seed", type=int, default=17)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = minilm() / "tokenizer.json"
    idf = judge.count_idf(judge.reader(tokenizer), sorted((given.data / "grounding" / "train").glob("*.jsonl")))
    np.save(given.out / "idf.npy", idf)
    claims = claim_examples(given.data, given.claims, given.seed)
    print(json.dumps(count_by_source(claims), indent=0), flush=True)
    read, drawn = judge.reader(tokenizer, idf), np.random.default_rng(given.seed)

    def write(name: str, table: dict[str, Array], yes: Array, tagged: int) -> None:
        shares = covered(table, read)
        kept = evenly(shares, yes, drawn)
        np.savez(given.out / f"{name}.npz", **chosen(table, kept, tagged))
        pieces = table["sizes"][kept].sum() / len(kept)
        told, left = auroc(shares, yes), auroc(shares[kept], yes[kept])
        print(f"{name}: {len(kept)} of {len(yes)} rows, {pieces:.0f} pieces each", flush=True)
        print(f"what the share of words gives away: AUROC {told:.3f} of all rows, {left:.3f} of these", flush=True)

    table = judge.arrays(claims, read, Random(given.seed))
    write("judge", table, table["labels"] == SUPPORTED, 0)
    OVERSAMPLED["squad2_train_500"] = HUMAN
    rng = Random(given.seed)
    made = list(everyday.questions(round(EVERYDAY * given.questions), rng))
    made += written.enough(written.questions, round(WRITTEN * given.questions), rng)
    questions = reader.examples(sorted((given.data / "qa" / "train").glob("*.jsonl")), rng, TABLES)
    questions = questions[: given.questions - len(made)] + made
    rng.shuffle(questions)
    print(json.dumps(Counter(f"{e.made or 'real'} {'+' if e.answerable else '-'}" for e in questions), indent=0))
    table = reader.arrays(questions, tokenizer, rng)
    write("reader", table, table["answer"] > 0, 1)


if __name__ == "__main__":
    main()
