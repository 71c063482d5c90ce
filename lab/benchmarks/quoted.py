"""How often accepted quotations are right, without a model, over five kinds of folders; the weights of their signs.

    python -m lab.benchmarks.quoted shipped --only unfitted
    python -m lab.benchmarks.quoted ask --out rows.jsonl
    python -m lab.benchmarks.quoted table rows.jsonl
    python -m lab.benchmarks.quoted fit rows.jsonl

`shipped` asks every question as a user does, and counts what is accepted, shown and refused, figures of tables too.
`traps` and `fresh` hold folders that were written to mislead, `unfitted` others of that kind, first asked when
everything was fitted, `new_user` folders that were looked at while the reader was made, `blind` folders by others.
`ask` (a part: `--only KIND`, `--share 0/2`) writes down each quotation with its confidence before any sign counts, the
readings and signs of `cragraph.answers.quotations`, and what later documents say. `table` counts with the weights that
ship, `fit` with a fit for each folder on all others: signs that say what is lacking are drawn to `LACKING`, the others
to 0.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from cragraph import load_settings
from cragraph.answers.later import Otherwise, ratio_of_later
from cragraph.answers.quotations import ALONE, MOST, READ, SIGNS, TOO_SURE, signs
from cragraph.nodes import verify
from cragraph.run import Assistant
from cragraph.types import Passage
from cragraph.verification.evidence import updated
from lab.benchmarks.blind import __main__ as blind
from lab.benchmarks.large_model import TRAPS, found
from lab.benchmarks.new_user import __main__ as new_user
from lab.evals.metrics import auroc, calibration_error, reliability

KINDS: Final = ("traps", "fresh", "unfitted", "new_user", "blind")
THRESHOLD: Final = 0.7
LINES: Final = (0.7, 0.75, 0.8, 0.83, 0.85, 0.9)
NAMES: Final = tuple(sign.__name__ for sign in SIGNS)
LACKS: Final = frozenset(
    ["without_figure", "of_another", "without_name", "reported", "asks_more", "of_another_year", "without_attribute"]
)
LACKING: Final = -1.5
PULL: Final = 3.0  # towards `LACKING` or 0: as much as some ten quotations
STEPS: Final = 40


def folders(scratch: Path) -> Iterator[tuple[str, Path, list[dict[str, Any]], Any]]:
    """The kind of each folder, its files, its questions, and the function that judges an answer."""
    for kind in ("traps", "fresh", "unfitted"):
        for home in sorted((TRAPS.parent / kind).glob("*/files")):
            yield kind, home, rows_of(home.parent / "questions.jsonl"), found
    for name in (".", "second", "third", "fourth", "fifth"):
        home, files = new_user.HERE / name, scratch / f"files-{name.strip('.')}"
        if (home / "manual.txt").exists():
            new_user.documents(home, files)
        else:
            shutil.copytree(home / "files", files)
        rows = [row for row in rows_of(home / "questions.jsonl") if "before" not in row]
        yield "new_user", files, rows, new_user.verdict
    for home in blind.FOLDERS.values():
        yield "blind", home / "files", rows_of(home / "questions.jsonl"), blind.verdict


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def shipped(only: Sequence[str], share: tuple[int, int] = (0, 1), named: Sequence[str] = ()) -> None:
    """Ask every question of some kinds of folders (of those, the `named` ones), and print for each kind how many are
    accepted, and right; answered rightly; wrong; of accepted figures of tables how many are right; and the AUROC of the
    confidence of all quotations that are shown."""
    counts: dict[str, Counter[str]] = {}
    quoted: dict[str, list[tuple[bool, float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, (kind, files, rows, judge) in enumerate(folders(Path(scratch))):
            if kind not in only or number % share[1] != share[0] or (named and files.parent.name not in named):
                continue
            made, count = Assistant(load_settings(store=str(Path(scratch) / f"store-{number}"))), Counter[str]()
            made.ingest([files])
            for row in rows:
                response = [event for event in made.ask(row["question"]) if event.kind == "done"][-1].response
                right, shown = judge(row, response) == "right", not response["abstained"]
                count["questions"] += 1
                count["right"] += right and shown
                count["wrong"] += shown and not right
                if shown and not response["computed"]:
                    quoted.setdefault(kind, []).append((right, response["confidence"]))
                for name in ("accepted", *(["figures"] if response["computed"] else [])):
                    accepted = shown and bool(response["accepted"])
                    count[name] += accepted
                    count[f"{name} right"] += accepted and right
            print(f"{kind}, {files.parent.name}: {count['accepted']}, {count['accepted right']}", flush=True)
            counts[kind] = counts.get(kind, Counter()) + count
    names = ("questions", "accepted", "accepted right", "right", "wrong", "figures", "figures right")
    print(f"| | {' | '.join(names)} | AUROC |\n| --- |{' --- |' * (len(names) + 1)}")
    for kind, count in counts.items():
        truth, said = np.array(quoted.get(kind, [])).reshape(-1, 2).T
        apart = f"{auroc(truth > 0, said):.2f}" if 0 < truth.sum() < len(truth) else "none"
        print(f"| {kind} | {' | '.join(str(count[name]) for name in names)} | {apart} |")


def ask(out: Path, only: Sequence[str], share: tuple[int, int] = (0, 1)) -> None:
    """Ask every question, and write down each quotation: its confidence without signs, its signs, whether it is
    right."""
    shown: dict[str, dict[str, Any]] = {}
    later: dict[str, float] = {}

    def noted(
        question: str,
        answer: str,
        passages: Sequence[Passage],
        said: float | None = None,
        read: float | None = None,
    ) -> float:
        names = [sign.__name__ for sign in signs(question, answer, passages)]
        shown[answer] = {"signs": names, "reader": said, "read": read}
        return 1.0

    def doubted(otherwise: Otherwise, _: float) -> float:
        later[[*shown][-1]] = otherwise.odds  # of the quotation whose signs were read just before
        return 1.0

    with (
        tempfile.TemporaryDirectory() as scratch,
        out.open("w", encoding="utf-8") as file,
        patch.object(verify, "ratio_of_quotation", noted),
        patch.object(verify, "ratio_of_later", doubted),
        patch.object(verify, "QUOTED", 0.0),
    ):
        for number, (kind, files, rows, judge) in enumerate(folders(Path(scratch))):
            if kind not in only or number % share[1] != share[0]:
                continue
            made = Assistant(load_settings(store=str(Path(scratch) / f"store-{number}")))
            made.ingest([files])
            for row in rows:
                shown.clear()
                later.clear()
                response = [event for event in made.ask(row["question"]) if event.kind == "done"][-1].response
                drafts = [attempt["answer"] for attempt in response["attempts"] if attempt["answer"] in shown]
                if response["abstained"] or response["computed"] or not drafts:
                    continue
                right = judge(row, response) == "right"
                told = {"kind": kind, "folder": files.parent.name, "question": row["question"], "right": right}
                told |= {"answer": drafts[-1]}
                told |= {"said": response["confidence"], **shown[drafts[-1]]}
                told |= {"later": later.get(drafts[-1])}
                file.write(json.dumps(told, ensure_ascii=False) + "\n")


def arrays(rows: Sequence[dict[str, Any]]) -> tuple[Any, Any, Any]:
    """The log odds before any sign, and the truth; a matrix of the signs, of what both readings say,
    of the logarithm of the probability that no later document changes the answer, and of ones."""
    said = np.clip([row["said"] for row in rows], 1 - MOST, MOST)
    reader = np.clip([row["reader"] for row in rows], 1 - MOST, MOST)
    kept = [0.0 if row["later"] is None else -np.logaddexp(0.0, row["later"]) for row in rows]
    shown = np.array([[name in row["signs"] for name in NAMES] for row in rows], dtype=float)
    read = np.array([row["read"] for row in rows])
    columns = (np.log(reader / (1 - reader)), read, np.array(kept), np.ones(len(rows)))
    return np.log(said / (1 - said)), np.column_stack([shown, *columns]), np.array([r["right"] for r in rows], float)


def fitted(rows: Sequence[dict[str, Any]]) -> Any:
    """The weights of the signs, of both readings, of later documents, and of a quotation as such, by a logistic
    regression beside the log odds."""
    odds, shown, right = arrays(rows)
    drawn = np.array([*(LACKING if name in LACKS else 0.0 for name in NAMES), 0.0, 0.0, 1.0, 0.0])
    pull = np.array([*[PULL] * (len(NAMES) + 3), 0.01])
    weights = drawn.copy()
    for _ in range(STEPS):
        now = 1 / (1 + np.exp(-odds - shown @ weights))
        slope = shown.T @ (now - right) + pull * (weights - drawn)
        weights -= np.linalg.solve((shown * (now * (1 - now))[:, None]).T @ shown + np.diag(pull), slope)
    return weights


def fit(rows: Sequence[dict[str, Any]]) -> None:
    """Print the weights, and how many quotations would be accepted with each folder left out of its own fit."""
    rows = [row for row in rows if row["kind"] != "unfitted"]
    named = zip([*NAMES, "too sure", "read", "later", "alone"], fitted(rows), strict=True)
    print({name: round(float(weight), 2) for name, weight in named})
    odds, shown, _ = arrays(rows)
    places = [f"{row['kind']} {row['folder']}" for row in rows]
    now = np.zeros(len(rows))
    for place in dict.fromkeys(places):
        own = np.array([one == place for one in places])
        weights = fitted([row for row, is_own in zip(rows, own, strict=True) if not is_own])
        now[own] = 1 / (1 + np.exp(-odds[own] - shown[own] @ weights))
    printed(rows, {f"left out, from {line}": (now, line) for line in LINES})


def table(rows: Sequence[dict[str, Any]]) -> None:
    """Print of each kind how many quotations are accepted, and how many of these are right."""
    odds, shown, _ = arrays(rows)
    weights = np.array([*SIGNS.values(), TOO_SURE, READ, 0.0, ALONE])
    now = 1 / (1 + np.exp(-odds - shown @ weights))
    for place, row in enumerate(rows):
        if row["later"] is not None:
            now[place] = updated(now[place], ratio_of_later(Otherwise("", "", row["later"]), now[place]))
    printed(rows, {"as it ships": (now, THRESHOLD), "without signs": (1 / (1 + np.exp(-odds)), THRESHOLD)})


def printed(rows: Sequence[dict[str, Any]], ways: Mapping[str, tuple[Any, float]]) -> None:
    """Print a line for each way: its confidences, and the line from which they are accepted."""
    kinds = np.array([row["kind"] for row in rows])
    there = [kind for kind in KINDS if (kinds == kind).any()]
    print(f"| | {' | '.join(f'{kind}: accepted, right; AUROC, error' for kind in there)} |")
    print("| --- |" + " --- |" * len(there))
    right = np.array([row["right"] for row in rows], dtype=bool)
    for name, (now, line) in ways.items():
        cells = []
        for kind in there:
            own, truth = now[kinds == kind], right[kinds == kind]
            kept = own >= line
            share = truth[kept].mean() if kept.any() else 0.0
            error = calibration_error(reliability(truth, own))
            cells.append(f"{kept.sum()}, {truth[kept].sum()} ({share:.2f}); {auroc(truth, own):.2f}, {error:.2f}")
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    """Ask, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask", help="ask every question, without a model, and write each quotation down")
    asking.add_argument("--out", type=Path, required=True)
    counting = verbs.add_parser("shipped", help="ask every question, and count what is accepted")
    counting.add_argument("--folder", action="append", default=[], help="only folders of this name")
    for asks in (asking, counting):
        asks.add_argument("--only", choices=KINDS, action="append")
        asks.add_argument("--share", default="0/1", help="which of how many shares of the folders")
    for verb in (table, fit):
        verbs.add_parser(verb.__name__, help=verb.__doc__).add_argument("rows", type=Path)
    options = parser.parse_args()
    if options.verb in ("ask", "shipped"):
        number, _, count = options.share.partition("/")
        only, share = options.only or KINDS, (int(number), int(count))
        if options.verb == "ask":
            ask(options.out, only, share)
        else:
            shipped(only, share, options.folder)
    else:
        # Where the second reading says nothing, the signs count alone.
        rows = [row for row in rows_of(options.rows) if row["read"] is not None]
        (table if options.verb == "table" else fit)(rows)


if __name__ == "__main__":
    main()
