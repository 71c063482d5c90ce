"""Pages, books and PDFs as people have them, by kind of fault: what is read is what the file says."""

import re
from pathlib import Path

import pytest

from cragraph.documents import load
from lab.benchmarks.files.case import Case
from lab.benchmarks.files.pages import CASES

READ = [case for case in CASES if not case.doubt]


@pytest.mark.parametrize("case", READ, ids=[case.name for case in READ])
def test_what_is_read_holds_the_right_figure_and_no_wrong_one(tmp_path: Path, case: Case) -> None:
    text = "\n".join(document.text for document in load(case.write(tmp_path)))
    assert re.search(case.right, text, re.IGNORECASE)
    assert not case.wrong or not re.search(case.wrong, text, re.IGNORECASE)
