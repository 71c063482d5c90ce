"""Fits the probability of a reading: a logistic regression on the questions of the dev set and of those of new users.

Of each question that reads as one for a table, the best reading counts: right where what it comes to is what is wanted.
The questions of the sets of `lab.benchmarks.new_user` are mostly answered by texts, so that most readings of them are
wrong. Weights that would speak for a reading are cut at 0: everything but the bias is something that is lacking.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cragraph import load_settings
from cragraph.build import Parts
from cragraph.errors import CragError
from cragraph.protocols import Notes
from cragraph.run import Assistant
from cragraph.tables import compute
from cragraph.tables.reading import FEATURES, FLOOR, WEIGHTS, probability_of, read_query
from lab.benchmarks.computed.__main__ import HERE, NEW_USERS, documents, figure_of, holds, questions
from lab.benchmarks.new_user.__main__ import documents as new_user_documents

PRIOR = 1.0  # how strongly the weights are held at those that were set by hand
SETS = (("dev", HERE / "dev"), *((name, NEW_USERS / name) for name in (".", "second", "third", "fourth", "fifth")))


def examples(home: Path, folder: Path) -> list[tuple[str, dict[str, float], bool]]:
    """Of each question of a set its best reading's features, and whether that is right."""
    made = documents if (home / "made").exists() else new_user_documents
    settings = load_settings(store=str(folder / "store"))
    Assistant(settings).ingest([made(home, folder / "files")])
    parts, found = Parts(settings), []
    for row in questions(home):
        question = row["question"]
        held = parts.reranker(question, parts.retriever([question], 30, Notes()), Notes())[:5]
        tables = parts.compute.tables.about(question, held)
        for reading in read_query(question, tables, held, parts.near):
            try:
                computed: Any = compute(reading.query, reading.table)
            except CragError:
                continue
            said = figure_of(computed) if "kind" in row else computed["answer"]
            right = not row.get("refuse") and row.get("kind") != "other" and all(holds(e, said) for e in row["expect"])
            found.append((question, {**reading.features}, right))
            break
    return found


def fitted(rows: list[tuple[str, dict[str, float], bool]]) -> list[float]:
    """The weights, by gradient descent."""
    x = np.array([[features[name] for name in FEATURES] for _, features, _ in rows])
    y = np.array([float(right) for *_, right in rows])
    start = np.array(WEIGHTS)
    w = start.copy()
    for _ in range(4000):
        p = 1 / (1 + np.exp(-x @ w))
        w -= 0.5 * (x.T @ (p - y) / len(y) + PRIOR * (w - start) / len(y))
        w[1:] = np.minimum(w[1:], 0.0)
    return [round(float(one), 2) for one in w]


def fit() -> None:
    """Print the weights, and how many of the readings that reach the floor are right with them."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, home) in enumerate(SETS):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            own = examples(home, folder)
            right = sum(one[2] for one in own)
            print(f"{name}: {len(own)} questions read as one for a table, {right} of them right")
            rows += own
    weights = fitted(rows)
    print("WEIGHTS =", tuple(weights))
    for what, probabilities in (
        ("as it is", [probability_of(features) for _, features, _ in rows]),
        ("fitted", [probability_of(features, weights) for _, features, _ in rows]),
    ):  # fmt: skip
        kept = [(c, right, q) for c, (q, _, right) in zip(probabilities, rows, strict=True) if c >= FLOOR]
        stated = sum(c for c, *_ in kept) / max(len(kept), 1)
        print(f"{what}: {len(kept)} reach {FLOOR}, {sum(r for _, r, _ in kept)} right; stated {stated:.2f}")
        for probability, right, question in sorted(kept):
            if not right:
                print(f"    {probability:.2f}  {question}")
    for question, features, right in rows:
        told = {k: round(v, 2) for k, v in features.items() if v and k != "bias"}
        print("right" if right else "wrong", question, told)
