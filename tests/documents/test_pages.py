"""Pages, books and PDFs as people have them, by kind of fault: what is read is what the file says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.documents import Document, load, split
from cragraph.documents.clean import clean
from cragraph.documents.signs import raised, settled, tex
from lab.benchmarks.files.case import Case
from lab.benchmarks.files.pages import CASES
from lab.benchmarks.files.readers import read_rightly
from tests.support.cases import cases

Read = Callable[..., Document]
READ = [case for case in CASES if not case.doubt]


@pytest.mark.parametrize("case", READ, ids=[case.name for case in READ])
def test_what_is_read_holds_the_right_figure_and_no_wrong_one(tmp_path: Path, case: Case) -> None:
    text = "\n".join(document.text for document in load(case.write(tmp_path)))
    assert read_rightly(case, text)


def test_a_date_that_only_the_header_of_a_page_holds_heads_what_stands_there(document: Read, tmp_path: Path) -> None:
    case = next(case for case in CASES if "another on each page" in case.name)
    [loaded] = load(case.write(tmp_path))
    dates = [f"Minutes of {day} March 2025" for day in (14, 21, 28, 30)]
    assert [heading.title for heading in loaded.headings] == dates
    page = "<header><nav>Menu</nav><h1>Minutes of 14 March</h1></header><header>Logo</header><main><p>words</p></main>"
    assert document("a.html", page).text == "Minutes of 14 March\n\nwords"


def test_a_page_of_letters_without_a_meaning_is_in_doubt_and_the_page_beside_it_is_not(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name.endswith("the page beside it"))
    [loaded] = load(case.write(tmp_path))
    readable, doubtful = split(loaded)
    assert "doubts" not in readable["metadata"]
    [doubt] = doubtful["metadata"]["doubts"]
    assert doubt.startswith("page 2 is set in a font that does not say which letters")


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


def test_line_numbers_go_and_numbers_of_a_list_stay(pdf: Callable[..., bytes], document: Read) -> None:
    lines = ["The mill was built", "in the year of the", "great flood, and it", "has been mended", "twice since then."]
    numbered = [(30, 100 + 15 * n, str(n + 7)) for n in range(5)] + [(60, 100 + 15 * n, s) for n, s in enumerate(lines)]
    assert document("a.pdf", pdf([numbered])).text == " ".join(lines)
    names = ["Ada", "Ben", "Cara", "Dan", "Eva"]
    listed = [(30, 100 + 15 * n, str(n + 1)) for n in range(5)] + [(60, 100 + 15 * n, s) for n, s in enumerate(names)]
    assert all(str(n) in document("b.pdf", pdf([listed])).text for n in range(1, 6))
