"""Files to read, made on the spot: among them PDFs written by hand, so that every position is known."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cragraph.documents import Document, load

Text = tuple[float, float, str]
Styled = tuple[float, float, str, str, float]


def pdf_bytes(
    pages: Sequence[Sequence[Text | Styled]], *, title: str = "", rotate: int = 0, upwards: bool = False
) -> bytes:
    """A PDF of text at positions (x from the left, y from the top, in points on a letter page).

    A text is (x, y, text) in 10 point Helvetica, or (x, y, text, "F1" or "F2" for bold, size). `rotate` is the page's
    own turn in degrees; with `upwards`, the text reads from the bottom to the top of the page.
    """
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    for name in (b"Helvetica", b"Helvetica-Bold"):
        objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /" + name + b" /Encoding /WinAnsiEncoding >>")
    objects.append(b"<< /Title (" + _escaped(title) + b") >>")
    kids: list[bytes] = []
    for texts in pages:
        stream = b"".join(_shown(text, upwards) for text in texts)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate %d /Contents %d 0 R /Resources "
            b"<< /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (rotate, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % len(kids)
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (size, table, size, len(data))
    )


def _shown(text: Text | Styled, upwards: bool) -> bytes:
    x, y, words, font, size = text if len(text) == 5 else (*text, "F1", 10.0)
    matrix = (0, 1, -1, 0, y, x) if upwards else (1, 0, 0, 1, x, 792 - y)
    place = " ".join(f"{number:g}" for number in matrix).encode()
    return b"BT /%s %g Tf %s Tm (%s) Tj ET\n" % (font.encode(), size, place, _escaped(words))


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


@pytest.fixture
def pdf() -> Callable[..., bytes]:
    """Writes a PDF; see `pdf_bytes`."""
    return pdf_bytes


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., Document]:
    """Writes a file and loads its only document."""

    def read(name: str, content: str | bytes) -> Document:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        [loaded] = load(path)
        return loaded

    return read


@pytest.fixture(scope="session")
def filings() -> Path:
    """The folder with real filings."""
    data = Path(os.environ.get("CRAG_DATA", Path(__file__).parents[2] / "../shared/data"))
    folder = data / "finance"
    if not folder.is_dir():
        pytest.skip(f"no filings in {folder}; set CRAG_DATA to the folder with the data")
    return folder
