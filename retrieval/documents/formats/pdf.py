"""PDF: the text of each page, by PDFium."""

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import pypdfium2
from cragraph.errors import DocumentError
from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.writer import Writer

# PDFium keeps global state and is not safe to call from two threads.
_ONE_AT_A_TIME = Lock()


def read(path: Path) -> Iterator[Draft]:
    """The whole file as one draft with page starts."""
    with _ONE_AT_A_TIME:
        try:
            pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise DocumentError(_why(path, str(error))) from error
        try:
            draft = _draft(pdf)
        finally:
            pdf.close()
    if not draft.text.strip():
        raise DocumentError(
            f"{path} has {len(draft.page_starts)} pages without text, so it holds pictures of pages; run it through "
            "text recognition (OCR) first, for example with ocrmypdf."
        )
    yield draft


def _draft(pdf: Any) -> Draft:
    writer = Writer()
    for page in pdf:
        writer.page()
        for line in page.get_textpage().get_text_range().splitlines():
            writer.paragraph(line)
    metadata = {key.lower(): value for key, value in pdf.get_metadata_dict().items() if key in ("Title", "Author")}
    return writer.draft(metadata)


def _why(path: Path, error: str) -> str:
    if "password" in error.lower():
        return f"{path} is encrypted and asks for a password; save a copy without one."
    return f"{path} is not a readable PDF ({error}); open it in a viewer and save or print it as PDF again."
