"""Electronic books: their chapters in reading order, each read as a page of HTML."""

import posixpath
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from cragraph.documents.clean import Limits, plain_encoding
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.html import write
from cragraph.documents.package import package, stated
from cragraph.errors import DocumentError

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole book as one draft."""
    with package(path, limits) as parts:
        name = next((root.get("full-path", "") for root in parts.xml(_CONTAINER).iter("{*}rootfile")), "")
        book = parts.xml(name)
        folder = posixpath.dirname(name)
        files = {
            item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            for item in book.iter("{*}item")
            if item.get("media-type") in ("application/xhtml+xml", "text/html")
        }
        chapters = [files[ref.get("idref")] for ref in book.iter("{*}itemref") if ref.get("idref") in files]
        locked: set[str] = set()
        with suppress(KeyError):
            locked = {unquote(one.get("URI", "")) for one in parts.xml(_ENCRYPTION).iter("{*}CipherReference")}
        if locked & {*chapters}:
            raise DocumentError("is protected against copying (DRM), so that its text cannot be read.")
        writer = Writer(limits)
        for chapter in chapters:
            data = parts.bytes(chapter)
            write(data.decode(plain_encoding(data) or "utf-8", "replace"), writer, limits)
        yield writer.draft(stated(book)).titled()
