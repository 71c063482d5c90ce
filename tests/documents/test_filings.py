"""Real filings, as PDF: what comes out of them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pypdfium2
import pytest

from cragraph.documents import Document, load, split
from tests.support.cases import cases


@cache
def filing(path: Path, first: int = 1, last: int = 10_000) -> Document:
    """Some pages of a filing, counted from 1; the whole takes seconds."""
    with TemporaryDirectory() as folder, pypdfium2.PdfDocument(path) as whole, pypdfium2.PdfDocument.new() as some:
        some.import_pages(whole, list(range(first - 1, min(last, len(whole)))))
        some.save(Path(folder, path.name))
        [document] = load(Path(folder, path.name))
    return document


def page(document: Document, number: int) -> str:
    ends = (*document.page_starts[1:], len(document.text))
    return document.text[document.page_starts[number - 1] : ends[number - 1]]


@pytest.mark.parametrize(("name", "number", "row"), cases("documents/filings", "statements are rows"))
def test_statements_are_rows_with_their_years(filings: Path, name: str, number: int, row: str) -> None:
    assert row in page(filing(filings / f"{name}.pdf", number - 3, number + 3), 4).splitlines()


@pytest.mark.parametrize("name", ["AMCOR_2023_10K", "BESTBUY_2024Q2_10Q", "ULTABEAUTY_2023Q4_EARNINGS"])
def test_offsets_of_filings_are_exact_and_pages_in_range(filings: Path, name: str) -> None:
    document = filing(filings / f"{name}.pdf", 10, 30)
    for passage in split(document):
        start, text = passage["start_index"], passage["text"]
        assert document.text[start : start + len(text)] == text
        assert passage["page"] is not None
        assert 1 <= passage["page"] <= len(document.page_starts)


def test_parts_and_items_of_a_filing_are_its_outline(filings: Path) -> None:
    paths = {p["metadata"].get("heading", "") for p in split(filing(filings / "BOEING_2022_10K.pdf", 1, 16))}
    assert any(path.startswith("PART I > Item 1A. Risk Factors") for path in paths)


def test_letters_lost_in_ligatures_are_put_back(filings: Path) -> None:
    text = filing(filings / "AMCOR_2023_10K.pdf", 10, 30).text
    assert text.count("affect") > 30  # of 31 on these pages
    assert " af ect" not in text
