"""Read one file as documents, with the loader of its format."""

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from os import PathLike
from pathlib import Path

from cragraph.errors import DocumentError
from cragraph.passages import content_id
from cragraph.retrieval.documents.discover import format_of, shown_name, why_unread
from cragraph.retrieval.documents.document import Document, Draft, scalars
from cragraph.retrieval.documents.limits import DEFAULT, Limits

Loader = Callable[[Path, Limits], Iterator[Draft]]
"""Reads a file as drafts, one for most formats, many for files of rows, lazily where the format allows; raises OSError,
or a DocumentError to which `load` adds the name of the file."""


def load(path: str | PathLike[str], *, source: str | None = None, limits: Limits = DEFAULT) -> Iterator[Document]:
    """The documents of a file, in order; `source` is what to call its place, its path by default.

    Lazy: a file of rows is read as it is consumed, and an error in the middle comes after the documents before it.
    `limits` holds for fields, characters and pages; time and memory are those of the process that this runs in.

    Raises:
        DocumentError: the file cannot be read, or there is no text in it; says what to do.
    """
    path = Path(path)
    name = shown_name(path)
    form = format_of(path)
    if form is None:
        raise DocumentError(f"{name} cannot be read: {why_unread(path)}.")
    module = import_module(f"cragraph.retrieval.documents.formats.{form.module}")
    loader: Loader = getattr(module, form.function)
    seen: Counter[str] = Counter()
    try:
        for draft in loader(path, limits):
            if not draft.text.strip():
                continue
            limits.check("characters", len(draft.text), "characters")
            key = content_id(draft.text)
            yield Document(
                text=draft.text,
                source=source or name,
                filename=shown_name(path.name),
                # The number tells apart equal texts within one file.
                doc_id=content_id(draft.text, str(seen[key])) if seen[key] else key,
                format=form.name,
                metadata=scalars(draft.metadata, limits),
                page_starts=draft.page_starts,
                headings=draft.headings,
                blocks=draft.blocks,
            )
            seen[key] += 1
    except DocumentError as error:
        raise DocumentError(f"{name} {error}") from error
    except RecursionError as error:
        raise DocumentError(f"{name} is nested too deeply to be read; flatten it.") from error
    except MemoryError as error:
        raise DocumentError(f"{name} needs more memory than there is; split it.") from error
    except OSError as error:
        raise DocumentError(
            f"{name} cannot be read: {error.strerror or error}; check that it exists and that you may read it."
        ) from error
    except Exception as error:  # a library may raise anything at a broken file, and the other files still go in
        raise DocumentError(
            f"{name} cannot be read ({type(error).__name__}: {error}); mend it, or leave it out."
        ) from error
    if not seen:
        raise DocumentError(f"{name} holds no text; wanted a file with words in it: leave it out, or fill it.")
