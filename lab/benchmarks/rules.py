"""What each rule beside the judge's network is worth: claims judged with it and without it.

    python -m lab.benchmarks.rules DATA                 every rule, on 40 answers of each dev file and on the blind sets
    python -m lab.benchmarks.rules DATA --rows 80 --only roles negation

DATA holds grounding/dev. The network reads each claim once, whatever is left out beside it. Printed for each rule is
the balanced accuracy and the AUROC without it, less what they are with it: below zero, the rule helps. Dev is a macro
mean over files that no network was trained on; `blind` and `false80` are those of `benchmarks.blind`, `reworded` and
`reworded-second` are tests of the verification, `cells` are values of new users' tables, half of them another row's;
nothing is tuned on them.
"""

import argparse
import csv
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from cragraph.build import Parts
from cragraph.models.grounding import Grounding, GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.verification.verifier import Verifier
from lab.benchmarks.blind.__main__ import HERE as BLIND
from lab.evals.data import read_rows
from lab.evals.metrics import auroc

USERS: Final = Path(__file__).parent / "new_user"
TESTS: Final = Path(__file__).parents[2] / "tests" / "verification"
APART: Final = ("financebench", "xnli_ko")
VERIFICATION: Final = "cragraph.verification."


def nothing(*_: object, **__: object) -> None:
    """No finding."""


def never(*_: object, **__: object) -> bool:
    """No."""
    return False


def empty(*_: object, **__: object) -> Any:
    """Nothing that could be looped over."""
    return ()


RULES: Final[Mapping[str, Mapping[str, Callable[..., Any]]]] = {
    "negation": {
        f"{VERIFICATION}reading.negation_differs": never,
        f"{VERIFICATION}reading.denied_stretches": empty,
        f"{VERIFICATION}conflicts._negation": nothing,
    },
    "opposite words": {f"{VERIFICATION}reading.opposite_words": nothing, f"{VERIFICATION}conflicts._opposite": nothing},
    "figures reckoned": {f"{VERIFICATION}reading.reckoned": lambda *_: ""},
    "words of another row": {f"{VERIFICATION}reading.Readings._misplaced": lambda *_: frozenset()},
    "any conflict but figures": {
        f"{VERIFICATION}conflicts._negation": nothing,
        f"{VERIFICATION}conflicts._opposite": nothing,
    },
    "support by words": {f"{VERIFICATION}judges.embedded.support_of": lambda *_: 0.5},
    "copied sentences": {f"{VERIFICATION}judges.embedded.is_copied": never},
}  # fmt: skip
"""What is put in the place of which functions to leave a rule out."""

Rows = Sequence[tuple[str, tuple[str, ...], bool]]


def sets(data: Path, count: int, seed: int) -> Iterator[tuple[str, Rows]]:
    """The answers of each set: answer, passages, whether it is supported."""
    for path in sorted((data / "grounding" / "dev").glob("*.jsonl")):
        if not path.name.startswith(APART):
            rows = [row for row in read_rows(path) if len(row.answer) < 1200]
            chosen = random.Random(seed).sample(rows, min(count, len(rows)))
            if len({row.supported for row in chosen}) == 2:
                yield f"dev/{path.stem}", [(row.answer, row.passages, row.supported) for row in chosen]
    others = {name: BLIND / f"{name}.jsonl" for name in ("claims", "false80")}
    others["observatory"] = BLIND / "observatory" / "claims.jsonl"
    others |= {name: TESTS / f"{name}.jsonl" for name in ("reworded", "reworded-second")}
    for name, path in others.items():
        yield name, [(r.answer, r.passages, r.supported) for r in read_rows(path)]
    yield "cells", list(cells(seed))


def cells(seed: int, count: int = 8) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Claims on cells of new users' tables: a row with its own value, and with that of another row of the column."""
    rng = random.Random(seed)
    for path in sorted(USERS.glob("**/files/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))[:25]
        named = next((name for name in rows[0] if len({row[name] for row in rows}) == len(rows)), None)
        others = [name for name in rows[0] if name != named]
        text = "\n".join("; ".join(f"{name}: {value}" for name, value in row.items() if value) for row in rows)
        for _ in range(count if named else 0):
            (row, other), column = rng.sample(rows, 2), rng.choice(others)
            if row[column] and other[column] and row[column] != other[column]:
                for value, supported in ((row[column], True), (other[column], False)):
                    yield f"The {column.replace('_', ' ')} of {row[str(named)]} is {value}.", (text,), supported


@contextmanager
def remembered() -> Iterator[None]:
    """The network reads each claim with the same text once."""
    known: dict[tuple[str, str], Grounding] = {}
    judge = GroundingModel.judge

    def once(self: GroundingModel, claims: Sequence[str], texts: Sequence[str]) -> list[Grounding]:
        pairs = list(zip(claims, texts, strict=True))
        if new := [pair for pair in dict.fromkeys(pairs) if pair not in known]:
            known.update(zip(new, judge(self, [claim for claim, _ in new], [text for _, text in new]), strict=True))
        return [known[pair] for pair in pairs]

    with patch.object(GroundingModel, "judge", once):
        yield


def measured(rows: Rows, verifier: Verifier) -> tuple[float, float]:
    """Balanced accuracy and AUROC of the support on one set."""
    truth, passed, scores = [], [], []
    for answer, passages, supported in rows:
        came = verifier("", answer, as_passages(list(passages)), Notes(), judge="encoder", policy="calibrated")
        truth.append(supported)
        passed.append(came.supported_by_passages)
        scores.append(came.confidence)
    true, kept = np.array(truth), np.array(passed)
    return float((kept[true].mean() + (~kept[~true]).mean()) / 2), float(auroc(truth, scores) or 0.5)


def table(every: Sequence[tuple[str, Rows]], verifier: Verifier) -> dict[str, tuple[float, float]]:
    """The figures of each set; those of dev as one mean."""
    found = {name: measured(rows, verifier) for name, rows in every}
    dev = [found.pop(name) for name in list(found) if name.startswith("dev/")]
    means = (float(np.mean([value[n] for value in dev])) for n in (0, 1))
    return {"dev": tuple(means), **found}  # type: ignore[dict-item]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=40, help="answers of each dev file")
    parser.add_argument("--only", nargs="*", help="beginnings of the rules' names")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    every, verifier = list(sets(options.data, options.rows, options.seed)), Parts(load_settings()).verifier
    verifier = replace(verifier, options=replace(verifier.options, cache_size=0))  # a verdict is of the rules at hand
    wanted = [name for name in RULES if not options.only or name.startswith(tuple(options.only))]
    with remembered():
        whole = table(every, verifier)
        print(f"| left out | {' | '.join(whole)} |")
        print(f"| --- |{' --- |' * len(whole)}")
        print("| nothing | " + " | ".join(f"{a:.3f}, {b:.3f}" for a, b in whole.values()) + " |", flush=True)
        for name in wanted:
            with ExitStack() as stack:
                for place, other in RULES[name].items():
                    stack.enter_context(patch(place, other))
                without = table(every, verifier)
            differences = (f"{without[n][0] - whole[n][0]:+.3f}, {without[n][1] - whole[n][1]:+.3f}" for n in whole)
            print(f"| {name} | {' | '.join(differences)} |", flush=True)


if __name__ == "__main__":
    main()
