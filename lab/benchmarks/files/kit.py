"""Writers of small files: pages, books, and PDFs whose every sign has a place."""

import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab.benchmarks.files.case import text_file

Write = Callable[[Path], Path]


def page(name: str, body: str) -> Write:
    """A page in HTML."""
    return text_file(name, f"<html><body>{body}</body></html>")


def book(name: str, body: str) -> Write:
    """An EPUB of one chapter."""
    parts = {
        "META-INF/container.xml": "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
        "<rootfile full-path='book.opf' media-type='application/oebps-package+xml'/></rootfiles></container>",
        "book.opf": "<package xmlns='http://www.idpf.org/2007/opf'><metadata/><manifest><item id='c' href='c.xhtml' "
        "media-type='application/xhtml+xml'/></manifest><spine><itemref idref='c'/></spine></package>",
        "c.xhtml": f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>",
    }

    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w") as packed:
            for part, text in parts.items():
                packed.writestr(part, text)
        return folder / name

    return write


def shown(
    x: float, y: float, words: str, size: float = 11, font: str = "F1", *, turn: float = 0, rise: float = 0
) -> str:
    """Drawing of words at a place in points from the bottom left; `turn` in degrees."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {c:.5f} {s:.5f} {-s:.5f} {c:.5f} {x} {y} Tm {rise} Ts ({escaped}) Tj ET\n"


def coded(x: float, y: float, codes: Sequence[int], size: float = 11, font: str = "F9") -> str:
    """Drawing of glyphs by their numbers."""
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm <{''.join(f'{code:04X}' for code in codes)}> Tj ET\n"


def pdf(
    name: str, pages: Sequence[str], objects: Mapping[int, str | bytes] | None = None, *,
    catalog: str = "", about: str = "", fonts: str = "",
) -> Write:  # fmt: skip
    """A PDF of pages of drawings; `objects` from 10 on are more of it, `about` stands in each page's dictionary."""
    held: dict[int, str | bytes] = {1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>", **(objects or {})}
    for number, font in ((3, "Helvetica"), (4, "Helvetica-Bold")):
        held[number] = f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>"
    kids = range(100, 100 + 2 * len(pages), 2)
    for number, drawing in zip(kids, pages, strict=True):
        held[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R {about} "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R {fonts} >> >> >>"
        )
        held[number + 1] = stream(drawing)
    held[2] = f"<< /Type /Pages /Kids [{' '.join(f'{n} 0 R' for n in kids)}] /Count {len(kids)} >>"

    def write(folder: Path) -> Path:
        data, places = b"%PDF-1.7\n", {}
        for number, body in sorted(held.items()):
            places[number] = len(data)
            data += b"%d 0 obj\n%s\nendobj\n" % (number, body if isinstance(body, bytes) else body.encode("cp1252"))
        start = len(data)
        rows = (b"%d 1\n%010d 00000 n \n" % place for place in places.items())
        data += b"xref\n0 1\n0000000000 65535 f \n" + b"".join(rows)
        data += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (max(held) + 1, start)
        (folder / name).write_bytes(data)
        return folder / name

    return write


def stream(text: str, about: str = "") -> bytes:
    """A stream object of a PDF."""
    data = text.encode("cp1252")
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (about.encode(), len(data), data)


def glyphs(letters: str) -> dict[int, str | bytes]:
    """The objects 10 to 13 of a font `10 0 R` whose glyphs 1, 2, … stand for these letters; without, for none."""
    flags = "/Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80"
    held: dict[int, str | bytes] = {
        10: "<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Own /Encoding /Identity-H /DescendantFonts [11 0 R] "
        f"{'/ToUnicode 13 0 R' if letters else ''} >>",
        11: "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Own /CIDSystemInfo << /Registry (Adobe) "
        "/Ordering (Identity) /Supplement 0 >> /FontDescriptor 12 0 R /DW 500 >>",
        12: f"<< /Type /FontDescriptor /FontName /ABCDEF+Own {flags} >>",
    }
    if letters:
        pairs = "".join(f"<{code:04X}> <{ord(letter):04X}>\n" for code, letter in enumerate(letters, start=1))
        held[13] = stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            f"1 begincodespacerange <0000> <FFFF> endcodespacerange\n{len(letters)} beginbfchar\n{pairs}endbfchar\n"
            "endcmap CMapName currentdict /CMap defineresource pop end end"
        )
    return held
