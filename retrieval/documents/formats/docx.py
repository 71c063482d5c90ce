"""Word documents: headings by style, paragraphs, lists, tables and notes, in order."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table as WordTable
from docx.text.paragraph import Paragraph
from lxml import etree

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.document import Draft, Writer
from cragraph.retrieval.documents.tables import Table, guess_headers

UNPACKED_LIMIT: Final = 1 << 30
"""A package that unpacks to more than this many bytes is refused."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"^heading (\d)$", re.IGNORECASE)
_OLE = b"\xd0\xcf\x11\xe0"
_SHOWN = (f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}noBreakHyphen")
# Deleted and moved text is gone for the reader; a fallback repeats the drawing before it.
_GONE = {
    f"{_W}del",
    f"{_W}moveFrom",
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}


def read(path: Path) -> Iterator[Draft]:
    """The whole file as one draft."""
    _check(path)
    try:
        document = docx.Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError, etree.XMLSyntaxError, zipfile.BadZipFile) as error:
        raise DocumentError(
            f"{path} is not a readable .docx ({error}); open it in a word processor and save it again."
        ) from error
    writer = Writer()
    for part in document.iter_inner_content():
        if isinstance(part, Paragraph):
            _paragraph(writer, part)
        else:
            _table(writer, part)
    for note in _notes(document):
        writer.item(note, "")
    properties = document.core_properties
    metadata: dict[str, Any] = {"title": properties.title, "author": properties.author, "subject": properties.subject}
    draft = writer.draft({key: value for key, value in metadata.items() if value})
    if "title" not in draft.metadata and draft.headings:
        draft = Draft(
            draft.text, draft.blocks, draft.headings, (), {**draft.metadata, "title": draft.headings[0].title}
        )
    yield draft


def _check(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(4) == _OLE:
            raise DocumentError(f"{path} is encrypted, or an old .doc; save it as .docx without a password.")
    try:
        with zipfile.ZipFile(path) as package:
            size = sum(entry.file_size for entry in package.infolist())
    except zipfile.BadZipFile as error:
        raise DocumentError(
            f"{path} is not a .docx, or is cut short ({error}); open it in a word processor and save it again."
        ) from error
    if size > UNPACKED_LIMIT:
        raise DocumentError(f"{path} unpacks to {size} bytes, over the limit of {UNPACKED_LIMIT}; split it.")


def _paragraph(writer: Writer, paragraph: Paragraph) -> None:
    text = visible_text(paragraph._p)
    style = str(getattr(paragraph.style, "name", "") or "")
    heading = _HEADING.match(style)
    if heading or style == "Title":
        writer.heading(text, int(heading[1]) if heading else 1)
    elif style.lower().startswith("list") or paragraph._p.find(f"{_W}pPr/{_W}numPr") is not None:
        writer.item(text)
    elif "code" in style.lower() or style == "HTML Preformatted":
        writer.code(text)
    else:
        writer.paragraph(text)


def _table(writer: Writer, table: WordTable) -> None:
    rows: list[list[str]] = []
    for row in table.rows:
        cells: list[str] = []
        last = None
        for cell in row.cells:
            # A merged cell is handed out once for every place it covers.
            cells.append("" if cell._tc is last else " ".join(visible_text(cell._tc).split()))
            last = cell._tc
        rows.append(cells)
    rows = [row for row in rows if any(row)]
    if rows and max(len(row) for row in rows) == 1:
        for row in rows:
            writer.paragraph(row[0])
        return
    writer.table(Table(rows, headers=guess_headers(rows)))


def _notes(document: Any) -> Iterator[str]:
    """Foot- and endnotes, which lie in parts of their own."""
    for relation in document.part.rels.values():
        if relation.reltype.endswith(("/footnotes", "/endnotes")):
            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
            for note in root:
                text = visible_text(note)
                if text.strip():
                    yield text


def visible_text(element: Any) -> str:
    """The text below an element as a reader sees it: insertions and links in, deletions and hidden runs out."""
    parts: list[str] = []
    _collect(element, parts)
    return "".join(parts).strip()


def _collect(element: Any, parts: list[str]) -> None:
    for child in element:
        if child.tag in _GONE or (child.tag == f"{_W}r" and _is_hidden(child)):
            continue
        if child.tag in _SHOWN:
            parts.append(child.text or "" if child.tag == f"{_W}t" else _SIGNS[child.tag])
        else:
            _collect(child, parts)
            if child.tag == f"{_W}p":
                parts.append("\n")


_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def _is_hidden(run: Any) -> bool:
    vanish = run.find(f"{_W}rPr/{_W}vanish")
    return vanish is not None and vanish.get(f"{_W}val") not in ("0", "false")
