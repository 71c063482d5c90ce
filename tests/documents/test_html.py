from collections.abc import Callable

import pytest

from cragraph.documents import Document
from tests.support.cases import cases

Read = Callable[..., Document]


def test_what_a_reader_sees_is_kept_in_order(document: Read) -> None:
    page = """<!doctype html><html lang="en"><head><title>The  page</title><meta name="Author" content="Ada">
    <style>p {}</style></head><body><nav>Menu</nav><h1>One</h1><p>First <b>bold</b>,<br>second line.</p>
    <ul><li>alpha<ul><li>inner</li></ul></li><li><p>beta</p></li></ul><ol start="3"><li>three</li><li>four</li></ol>
    <pre>a = 1

b = 2</pre><div>Loose <i>words</i><p>Para</p> tail</div><script>alert(1)</script><footer>Foot</footer></body></html>"""
    loaded = document("a.html", page)
    assert loaded.text == (
        "One\n\nFirst bold,\nsecond line.\n\n- alpha\n- inner\n- beta\n3. three\n4. four\n\na = 1\nb = 2\n\n"
        "Loose words\n\nPara\n\ntail"
    )
    assert loaded.metadata == {"title": "The page", "author": "Ada", "language": "en"}
    assert [(heading.level, heading.title) for heading in loaded.headings] == [(1, "One")]


@pytest.mark.parametrize(("headings", "labels"), cases("documents/html", "a date is cut"))
def test_a_date_is_cut_to_its_year_where_that_tells_the_columns_apart(
    document: Read, headings: tuple[str, str], labels: tuple[str, str]
) -> None:
    first, second = headings
    page = (
        f"<table><tr><th></th><th>{first}</th><th>{second}</th></tr><tr><td>Sales</td><td>5</td><td>4</td></tr></table>"
    )
    assert document("a.html", page).text.splitlines() == [
        f"{first} | {second}",
        f"Sales | {labels[0]}: 5 | {labels[1]}: 4",
    ]


@pytest.mark.parametrize(("page", "text"), cases("documents/html", "what is shown of a page"))
def test_what_is_shown_of_a_page_is_read_with_what_its_footer_says(document: Read, page: str, text: str) -> None:
    assert document("a.html", page).text == text
