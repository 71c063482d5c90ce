"""The rows of the trap folders, of their talks and of the examination agree with the texts that they ask about."""

import json
import operator
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import cragraph.models
from lab.benchmarks import traps
from lab.benchmarks.traps import is_right, stands_in

TRAPS = Path(traps.__file__).parent
EXAM = Path(cragraph.models.__file__).parent / "exam"
FOLDERS = ("allotments", "choir", "hall", "laundry")
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def texts(folder: str) -> dict[str, str]:
    """What a reader sees of each file: without tags or asterisks, and with its cells apart."""
    seen = {}
    for file in sorted((TRAPS / folder / "files").iterdir()):
        text = re.sub(r"<[^>]+>|\*", "", file.read_text(encoding="utf-8"))
        seen[file.name] = " ".join((text.replace(",", ", ") if file.suffix == ".csv" else text).split())
    return seen


def result(calculation: str) -> Decimal:
    """The value of a calculation, worked from left to right."""
    first, *rest = calculation.split()
    value = Decimal(first)
    for sign, figure in zip(rest[::2], rest[1::2], strict=True):
        value = OPERATIONS[sign](value, Decimal(figure))
    return value


def figures(calculation: str) -> list[str]:
    """The figures that a text must give; a small whole number may be a count or a share that the text has in words."""
    return [figure for figure in calculation.split() if re.search(r"\d", figure) and not re.fullmatch(r"\d|10", figure)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_question_is_answered_by_its_file_or_by_none(folder: str) -> None:
    files, faults = texts(folder), []
    for row in rows(TRAPS / folder / "questions.jsonl"):
        answer = row["answer"]
        where = " ".join(files[name] for name in filter(None, row["where"].split(", ")))
        if answer is None:
            everything = " ".join(files.values()).casefold()
            faults += [(row["id"], "stands in a file", text) for text in row["absent"] if text.casefold() in everything]
            continue
        if "sum" in row:
            if not is_right(f"{result(row['sum']):.2f}", answer):
                faults.append((row["id"], "is not the sum", result(row["sum"])))
            faults += [(row["id"], "no such figure", n) for n in figures(row["sum"]) if not stands_in(where, n)]
        else:
            faults += [(row["id"], "not in its file", each) for each in answer if not is_right(where, [each])]
        faults += [(row["id"], "right and wrong", text) for text in row["wrong"] if is_right(text, answer)]
    assert faults == []


def test_a_figure_is_right_only_as_a_whole() -> None:
    assert is_right("The rent rose by £8.00.", [["8"]])
    assert not is_right("from £48.00 to £58", [["8"]])
    assert not is_right("It is £8.10", [["8"]])
    assert not is_right("another hour", [["no ", "no,"]])


def test_half_the_claims_of_the_examination_are_true_and_no_order_counts() -> None:
    claims = rows(EXAM / "claims.jsonl")
    assert Counter(row["supported"] for row in claims) == {True: 30, False: 30}
    assert len({row["claim"] for row in claims}) == len({row["id"] for row in claims}) == 60
    assert all(1 <= len(row["passages"]) <= 3 for row in claims)
    assert Counter(row["supported"] for row in claims if row["kind"] == "order") == {True: 3, False: 3}
