"""JSON: an array of objects is read as records; anything else as one draft of `path: value` lines."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.encoding import read_text
from cragraph.retrieval.documents.records import flat, record_draft, record_drafts, text_field
from cragraph.retrieval.documents.writer import Writer


def read(path: Path) -> Iterator[Draft]:
    """Drafts of a JSON file."""
    try:
        value = json.loads(read_text(path).lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{path} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; mend it there, or name it "
            ".jsonl if every line is an object of its own."
        ) from error
    if isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
        yield from record_drafts(value)
        return
    field = text_field(value) if isinstance(value, Mapping) else None
    if field is not None and isinstance(value, Mapping):
        yield record_draft(value, field)
        return
    writer = Writer()
    for name, text in flat(value):
        writer.line(f"{name}: {text}" if name else text)
    yield writer.draft()
