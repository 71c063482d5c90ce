"""How often accepted quotations are right, without a model, over three kinds of folders, and with other ratios.

    python -m lab.benchmarks.quoted ask --out rows.jsonl
    python -m lab.benchmarks.quoted table rows.jsonl

`traps` holds folders that were written to mislead, `new_user` folders that were looked at while the reader was made,
`blind` folders by others. `ALONE` of `cragraph.verification.evidence` is the ratio at which nine of ten accepted
quotations are right over the last kind and over all together; smaller ones cost many right answers for few wrong ones.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from cragraph import load_settings
from cragraph.run import Assistant
from cragraph.verification.evidence import ALONE
from lab.benchmarks.blind import __main__ as blind
from lab.benchmarks.large_model import TRAPS, found
from lab.benchmarks.new_user import __main__ as new_user
from lab.evals.metrics import auroc, calibration_error, reliability

KINDS: Final = ("traps", "new_user", "blind")
THRESHOLD: Final = 0.7
RATIOS: Final = (1.0, 0.82, 0.67, 0.6, 0.55, 0.45, 0.37)


def folders(scratch: Path) -> Iterator[tuple[str, Path, list[dict[str, Any]], Any]]:
    """The kind of each folder, its files, its questions, and the function that judges an answer."""
    for home in sorted(TRAPS.glob("*/files")):
        yield "traps", home, rows_of(home.parent / "questions.jsonl"), found
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


def ask(out: Path) -> None:
    """Ask every question, and write down what was shown: its confidence, and whether it is right."""
    with tempfile.TemporaryDirectory() as scratch, out.open("w", encoding="utf-8") as file:
        for number, (kind, files, rows, judge) in enumerate(folders(Path(scratch))):
            made = Assistant(load_settings(store=str(Path(scratch) / f"store-{number}")))
            made.ingest([files])
            for row in rows:
                response = [event for event in made.ask(row["question"]) if event.kind == "done"][-1].response
                if response["abstained"] or response["computed"]:
                    continue
                right = judge(row, response) == "right"
                told = {"kind": kind, "question": row["question"], "right": right, "said": response["confidence"]}
                file.write(json.dumps(told, ensure_ascii=False) + "\n")


def table(rows: Sequence[dict[str, Any]]) -> None:
    """Print a line for each ratio: of the accepted quotations of each kind so many are right."""
    print(f"| ratio | {' | '.join(f'{kind}: accepted, right; AUROC, error' for kind in KINDS)} |")
    print("| ---: |" + " --- |" * len(KINDS))
    right = np.array([row["right"] for row in rows], dtype=bool)
    kinds = np.array([row["kind"] for row in rows])
    said = np.array([min(0.99, max(0.01, row["said"])) for row in rows])
    for ratio in RATIOS:
        odds = said / (1 - said) * ratio / ALONE
        now = odds / (1 + odds)
        cells = []
        for kind in KINDS:
            own, truth = now[kinds == kind], right[kinds == kind]
            kept = own >= THRESHOLD
            share = truth[kept].mean() if kept.any() else 0.0
            error = calibration_error(reliability(truth, own))
            cells.append(f"{kept.sum()}, {truth[kept].sum()} ({share:.2f}); {auroc(truth, own):.2f}, {error:.2f}")
        print(f"| {ratio} | {' | '.join(cells)} |")


def main() -> None:
    """Ask, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("ask", help="ask every question, without a model").add_argument("--out", type=Path, required=True)
    verbs.add_parser("table", help="print a line for each ratio").add_argument("rows", type=Path)
    options = parser.parse_args()
    if options.verb == "ask":
        ask(options.out)
    else:
        table(rows_of(options.rows))


if __name__ == "__main__":
    main()
