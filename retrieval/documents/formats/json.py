"""JSON and JSON lines: objects are read as records, anything else as `path: value` lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.clean import Limits, encoding_of, read_text
from cragraph.retrieval.documents.document import Draft, Writer
from cragraph.retrieval.documents.records import leaves, line_of, record_draft, record_drafts, text_field


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Drafts of a JSON file: objects as records, anything else line by line."""
    try:
        value = json.loads(read_text(path, limits).lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; mend it there, or name it "
            ".jsonl if every line is an object of its own."
        ) from error
    except ValueError as error:
        raise DocumentError("has a number of more digits than can be read; write it as text.") from error
    if isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
        yield from record_drafts(value, limits)
        return
    body = text_field(value) if isinstance(value, Mapping) else None
    if body is not None:
        yield record_draft(value, body, limits)
        return
    writer = Writer(limits)
    for leaf in leaves(value):
        writer.line(line_of(leaf))
    yield writer.draft()


def read_lines(path: Path, limits: Limits) -> Iterator[Draft]:
    """Drafts of a file of JSON lines, read as a stream; a line that is no object is a record of one value."""
    with path.open(encoding=encoding_of(path), errors="replace") as file:
        yield from record_drafts(_records(file, limits), limits)


def _records(lines: Iterable[str], limits: Limits) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip("\ufeff \t\r\n\0"):
            continue
        limits.check("characters", len(line), f"characters in line {number}")
        try:
            value = json.loads(line.lstrip("\ufeff"))
        except ValueError as error:  # also a number of more digits than Python reads
            raise DocumentError(
                f"line {number} is not JSON ({error}); wanted one object a line: mend or remove that line."
            ) from error
        yield value if isinstance(value, Mapping) else {"value": value}
