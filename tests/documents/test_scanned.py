"""Pages that are pictures, made by drawing a page of text and keeping only the picture."""

import sys
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest

from cragraph.documents import load, split
from cragraph.documents.formats.pdf import can_recognise
from cragraph.store import ingest, open_store
from cragraph.testing import HashEmbeddings
from tests.documents.conftest import pdf_bytes

TYPED = "The first page was typed in May, and has its words in it."
ROWS = (
    "Harbour office, annual report",
    "The harbour handled 4,120 ships in 2023.",
    "Revenue rose by 12% to $3.4 million.",
)


@pytest.fixture
def scanned(tmp_path: Path) -> Path:
    """A PDF of a page of text and a page that is a picture."""
    drawn = pypdfium2.PdfDocument(pdf_bytes([[(72, 100 + 40 * n, row, "F1", 14.0) for n, row in enumerate(ROWS)]]))
    picture, page = BytesIO(), drawn[0]
    page.render(scale=150 / 72).to_pil().save(picture, "PDF", resolution=150)
    whole = pypdfium2.PdfDocument(pdf_bytes([[(72, 100, TYPED)]]))
    whole.import_pages(pypdfium2.PdfDocument(picture))
    whole.save(tmp_path / "scanned.pdf")
    return tmp_path / "scanned.pdf"


@pytest.mark.slow
@pytest.mark.skipif(not can_recognise(), reason="needs the extra: pip install 'cragraph[ocr]'")
def test_a_page_that_is_a_picture_is_read(scanned: Path) -> None:
    [document] = load(scanned)
    assert document.text == "\n\n".join((TYPED, *ROWS))
    assert [passage["page"] for passage in split(document, chunk_size=120, chunk_overlap=0)] == [1, 2]
    assert "unread_pages" not in document.metadata


def test_without_the_extra_ingest_says_which_pages_are_missing_and_what_to_install(
    scanned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    report = ingest(scanned, open_store(tmp_path / "store", HashEmbeddings()), limits=None)
    [(path, reason)] = report.partial
    assert (path, report.added) == (str(scanned), [str(scanned)])
    assert "without page 2" in reason
    assert "pip install 'cragraph[ocr]'" in reason
