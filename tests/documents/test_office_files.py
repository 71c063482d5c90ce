"""Office files as people have them: what is read of each file that `lab.benchmarks.files` asks about."""

from pathlib import Path

import pytest

from cragraph.documents import load, split
from lab.benchmarks.files.__main__ import CASES, ask
from tests.support.cases import cases

READ = dict(cases("documents/office_files", "read"))

BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_a_person_sees(name: str, tmp_path: Path) -> None:
    lines = [line for document in load(BY_NAME[name].write(tmp_path)) for line in document.text.splitlines()]
    assert READ[name] in "\n".join(filter(None, lines))


@pytest.mark.parametrize(("name", "word", "doubt"), cases("documents/office_files", "in doubt"))
def test_what_cannot_be_read_for_certain_is_said_with_its_row(name: str, word: str, doubt: str, tmp_path: Path) -> None:
    passages = [passage for document in load(BY_NAME[name].write(tmp_path)) for passage in split(document)]
    [about] = [passage["metadata"] for passage in passages if word in passage["text"]]
    assert any(doubt in sentence for sentence in about["doubts"])


def test_an_answer_of_a_row_that_was_never_calculated_is_not_accepted(tmp_path: Path) -> None:
    outcome, said = ask(BY_NAME["formulas without a kept value: a total"])
    assert (outcome, said.startswith("accepted")) == ("right", False)


def test_amounts_in_two_currencies_are_not_added_nor_is_another_column(tmp_path: Path) -> None:
    outcome, said = ask(BY_NAME["currency and unit in a format: mixed currencies are not added"])
    assert outcome == "right", said
    outcome, said = ask(BY_NAME["currency and unit in a format: one price"])
    assert outcome == "right", said
