"""Zipped packages (Office files, electronic books): their parts as XML within limits, with errors in words."""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lxml import etree

from cragraph.documents.clean import Limits, one_line
from cragraph.documents.table_text import is_number, is_year
from cragraph.errors import DocumentError

_DC = "{http://purl.org/dc/elements/1.1/}"
_OLE = b"\xd0\xcf\x11\xe0"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")  # namespaces of Strict Open XML
_TREE = 10  # memory of a parsed part as a multiple of its XML, at least


@contextmanager
def package(path: Path, limits: Limits) -> Iterator["Package"]:
    """Open the package in a file. Raises DocumentError if it is encrypted, in the old format, no package, or cut
    off."""
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        if file.read(4) == _OLE:
            raise DocumentError(f"is encrypted, or an old {suffix[:4]}; save it as {suffix} without a password.")
    try:
        with Package(path) as parts:
            parts.limits = limits
            yield parts
    except (KeyError, etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DocumentError(
            f"is not a {suffix}, or is cut short ({error}); open it in the program that made it and save it again."
        ) from error


class Package(zipfile.ZipFile):
    """The parts of a package; pictures stay packed."""

    limits: Limits

    def bytes(self, name: str) -> bytes:
        """The bytes of a part. Raises KeyError if it is missing, DocumentError if it is too large to unpack."""
        self.limits.check("memory_mb", self.getinfo(name).file_size * _TREE >> 20, f"MB to unpack in {name}")
        return self.read(name)

    def xml(self, name: str) -> Any:
        """A part as an XML tree; no external entity is fetched or expanded."""
        data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", self.bytes(name))
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, huge_tree=True))

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The kinds and names of the parts that a part refers to, by id; '' is the package itself."""
        folder, name = posixpath.split(part)
        targets: dict[str, tuple[str, str]] = {}
        with suppress(KeyError):
            for one in self.xml(posixpath.join(folder, "_rels", f"{name}.rels")):
                target = posixpath.normpath(posixpath.join("/", folder, one.get("Target", "")))
                targets[one.get("Id", "")] = (one.get("Type", ""), target.lstrip("/"))
        return targets

    def related(self, part: str, *kinds: str) -> list[str]:
        """The parts of these kinds that a part refers to."""
        return [target for kind, target in self.relations(part).values() if kind.endswith(kinds)]

    def main(self) -> str:
        """The main part of an Office file."""
        for name in self.related("", "/officeDocument"):
            return name
        raise KeyError("it names no document")

    def properties(self) -> dict[str, Any]:
        """The properties of an Office file."""
        parts = self.related("", "/core-properties")
        return stated(self.xml(parts[0])) if parts else {}


def count_of(element: Any, name: str, *, least: int = 1, most: int = 10**9) -> int:
    """The number in an attribute, such as that of the columns a cell covers; 1 if there is none."""
    value = element.get(name) or "1"
    return max(least, min(int(value), most)) if value.isdecimal() and len(value) < 10 else 1


def grid_of(rows: Iterable[Iterable[tuple[str, int, bool]]], limits: Limits) -> list[list[str]]:
    """A grid from rows of cells: each a text, the number of spanned columns, and whether it continues the cell above.

    Words that span columns are repeated in each column; a figure stands once.
    """
    grid: list[list[str]] = []
    for row in rows:
        cells, above, given = list[str](), grid[-1] if grid else [], list(row)
        alone = sum(bool(text or goes_on) for text, _, goes_on in given) < 2
        for text, span, goes_on in given:
            limits.check("fields", len(cells) + span, "columns")
            text = above[len(cells)] if goes_on and len(cells) < len(above) else text
            once = alone or (is_number(text) and not is_year(text))
            cells += [text, *["" if once else text] * (span - 1)]
        grid.append(cells)
    return grid


def stated(metadata: Any) -> dict[str, Any]:
    """Title, author and subject by the names of Dublin Core."""
    named = {"title": "title", "author": "creator", "subject": "subject"}
    texts = {name: one_line(metadata.findtext(f".//{_DC}{tag}") or "") for name, tag in named.items()}
    return {name: text for name, text in texts.items() if text}
