"""Pages, books and PDFs as people have them, by kind of fault: what is read is what the file says."""

from pathlib import Path

import pytest

from cragraph.documents import load
from cragraph.documents.clean import clean
from cragraph.documents.signs import raised, settled, tex
from lab.benchmarks.files.case import Case
from lab.benchmarks.files.layouts import COLUMNS
from lab.benchmarks.files.pages import CASES
from lab.benchmarks.files.readers import read_rightly
from tests.support.cases import cases

READ = [case for case in (*CASES, *COLUMNS) if not case.doubt]


@pytest.mark.parametrize("case", READ, ids=[case.name for case in READ])
def test_what_is_read_holds_the_right_figure_and_no_wrong_one(tmp_path: Path, case: Case) -> None:
    text = "\n".join(document.text for document in load(case.write(tmp_path)))
    assert read_rightly(case, text)


@pytest.mark.parametrize(("sign", "before", "line"), cases("documents/pages", "raised signs"))
def test_raised_signs_are_no_part_of_a_figure(sign: str, before: str, line: str) -> None:
    assert raised(sign, before) == line


@pytest.mark.parametrize(("source", "line"), cases("documents/pages", "a formula in tex"))
def test_a_formula_in_tex_is_one_readable_line(source: str, line: str) -> None:
    assert tex(source) == line


@pytest.mark.parametrize(("written", "read"), cases("documents/pages", "words struck out go"))
def test_words_struck_out_go_and_a_note_stands_where_none_follow(written: str, read: str) -> None:
    assert settled(written) == read


@pytest.mark.parametrize(("written", "read"), cases("documents/pages", "dots that lead"))
def test_dots_that_lead_to_a_price_stand_for_a_colon(written: str, read: str) -> None:
    assert clean(written) == read
