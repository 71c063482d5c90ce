"""The pairs of earlier and later texts that the additions to the reading network learn from: their form."""

import json
from pathlib import Path
from random import Random

import pytest

from cragraph.answers.candidates import claim_of
from lab.training.quotations import answering, rows
from lab.training.reading.written import FOLDERS, parsed

ITEM = """## Rules 2021 > Boats | Minutes, 4 March
old: A boat is hired for £8. Keys are with Ada.
? what does a boat cost => £8
+ Boats. Ten from now on.
- Canoes go up to ten.
"""
FOLDER = """## rules | Rules of the boathouse, 2021
A boat is hired for £8.
Keys are with Ada.

? what does a boat cost => £8

## table | Hire 2024
Thing,Price £
Boat,10
Canoe,6

? what is a canoe => Canoe :: 6
"""


def test_a_later_passage_belongs_to_the_question_above_it(tmp_path: Path) -> None:
    path = tmp_path / "clubs.txt"
    path.write_text(ITEM, encoding="utf-8")
    [item] = rows.items(path)
    assert item.heading == "Minutes, 4 March"
    [asked] = item.asked
    later = ((True, "Boats. Ten from now on."), (False, "Canoes go up to ten."))
    assert asked == ("what does a boat cost", "£8", later)


def test_a_marked_line_of_a_table_is_read_as_the_table_is(tmp_path: Path) -> None:
    folder, path = tmp_path / "folder.txt", tmp_path / "marks.txt"
    folder.write_text(FOLDER, encoding="utf-8")
    path.write_text("> hire of a boat | A boat is hired for £8. | Boat,10\n", encoding="utf-8")
    [mark] = rows.marks(path, list(parsed(folder)))
    assert (mark.old, mark.new, mark.later, mark.changes) == (0, 1, "Thing: Boat | Price £: 10", True)
    assert claim_of(mark.question, mark.earlier) == "hire of a boat? A boat is hired for £8."


@pytest.mark.parametrize("line", ["+ a text of nobody's", "> a | b", "> hire | A boat is sold. | Boat,10"])
def test_a_line_that_does_not_keep_to_the_form_is_named(tmp_path: Path, line: str) -> None:
    folder, path = tmp_path / "folder.txt", tmp_path / "marks.txt"
    folder.write_text(FOLDER, encoding="utf-8")
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"marks\.txt"):
        rows.marks(path, list(parsed(folder)))
    path.write_text(f"## a | b\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"marks\.txt"):
        rows.items(path)


def test_all_that_was_written_keeps_to_the_form() -> None:
    for path in rows.TEXTS.glob("*.txt"):
        assert len(rows.items(path)) >= 80, path.name
    for path in rows.MARKS.glob("*.txt"):
        marks = rows.marks(path, list(parsed(FOLDERS / path.name)))
        assert {mark.changes for mark in marks} == {True, False}, path.name


def test_each_question_also_has_a_passage_that_changes_something_else() -> None:
    every = rows.items(rows.TEXTS / "clubs.txt")
    found = list(rows._of_items("clubs", every, Random(1)))
    asked = [one for item in every for one in item.asked]
    assert len(found) == sum(len(one.later) for one in asked) + rows.OTHERS * len(asked)
    assert sum(e.is_so for e in found) == sum(yes for one in asked for yes, _ in one.later)


def test_a_careless_answer_is_a_row_and_a_doubtful_question_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "club" / "files"
    files.mkdir(parents=True)
    sentences = [
        "A boat is hired for £8.",
        "Lockers are painted green.",
        "Keys are with Ada.",
        "The quay floods in March.",
    ]
    text = "# Rules of the boathouse\n\n" + "\n\n".join(sentences + [f"Boat {n} was hired in May." for n in range(30)])
    (files / "rules.md").write_text(text, encoding="utf-8")
    known = {"answer": [["£8"]], "wrong": [], "old": "", "beside": "", "line": ["A boat is hired for £8."]}
    asked = [
        {"question": "what is a boat hired for", "near": ["Lockers are painted green."], "doubt": "", **known},
        {"question": "what does the boat cost to hire", "near": [], "doubt": "two answers are right", **known},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in asked)
    (tmp_path / "club" / "questions.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setattr(answering, "MISLEADING", tmp_path)
    found = [row for row in answering.misleading(Random(1)) if row.task == "answers"]
    assert [row.claim.endswith("A boat is hired for £8.") for row in found if row.is_so] == [True]
    assert [row for row in found if row.claim.endswith("Lockers are painted green.") and not row.is_so]
    assert all("cost to hire" not in row.claim for row in found)
