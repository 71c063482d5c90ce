"""Read one file as documents: a table from format to loader."""

from collections import Counter
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Final, Protocol

from cragraph.errors import DocumentError
from cragraph.passages import content_id
from cragraph.retrieval.documents.discover import format_of, why_unread
from cragraph.retrieval.documents.document import Document, Draft, from_draft


class Loader(Protocol):
    """Reads a file as drafts, one for most formats, many for files of rows; lazily where the format allows."""

    def __call__(self, path: Path) -> Iterator[Draft]:
        """Drafts in order; raises DocumentError or OSError."""
        ...


def _lazily(module: str, function: str = "read") -> Loader:
    """A loader that imports its library at first use: a start-up without PDFs does not pay for PDFs."""

    def loader(path: Path) -> Iterator[Draft]:
        from importlib import import_module

        module_of = import_module(f"cragraph.retrieval.documents.formats.{module}")
        read: Loader = getattr(module_of, function)
        return read(path)

    return loader


LOADERS: Final[Mapping[str, Loader]] = {
    "md": _lazily("markdown"),
    "txt": _lazily("plain"),
    "rst": _lazily("rst"),
    "html": _lazily("html"),
    "pdf": _lazily("pdf"),
    "docx": _lazily("docx"),
    "csv": _lazily("delimited"),
    "json": _lazily("json"),
    "jsonl": _lazily("json", "read_lines"),
}


def load(path: str | PathLike[str], *, source: str | None = None) -> Iterator[Document]:
    """The documents of a file, in order; `source` is what to call its place, its path by default.

    Lazy: a file of rows is read as it is consumed, and an error in the middle comes after the documents before it.

    Raises:
        DocumentError: the file cannot be read, or there is no text in it; says what to do.
    """
    path = Path(path)
    form = format_of(path)
    if form is None:
        raise DocumentError(f"{path} cannot be read: {why_unread(path)}.")
    seen: Counter[str] = Counter()
    try:
        for draft in LOADERS[form](path):
            if not draft.text.strip():
                continue
            key = content_id(draft.text)
            yield from_draft(draft, source=source or str(path), filename=path.name, format=form, repeat=seen[key])
            seen[key] += 1
    except RecursionError as error:
        raise DocumentError(f"{path} is nested too deeply to be read; flatten it.") from error
    except OSError as error:
        raise DocumentError(
            f"{path} cannot be read: {error.strerror or error}; check that it exists and that you may read it."
        ) from error
    if not seen:
        raise DocumentError(f"{path} holds no text; wanted a file with words in it: leave it out, or fill it.")
