"""JSON and JSON lines: objects are read as records, anything else as `path: value` lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.clean import encoding_of, read_text
from cragraph.retrieval.documents.document import Draft, Writer
from cragraph.retrieval.documents.records import flat, record_draft, record_drafts, text_field


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


def read_lines(path: Path) -> Iterator[Draft]:
    """Drafts of a file of JSON lines; a line that is no object counts as one with its value as text."""
    with path.open(encoding=encoding_of(path), errors="replace") as file:
        yield from record_drafts(_records(path, file))


def _records(path: Path, lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip("\ufeff \t\r\n\0"):
            continue
        try:
            value = json.loads(line.lstrip("\ufeff"))
        except json.JSONDecodeError as error:
            raise DocumentError(
                f"{path} line {number} is not JSON ({error}); wanted one object a line: mend or remove that line."
            ) from error
        yield value if isinstance(value, Mapping) else {"value": value}
