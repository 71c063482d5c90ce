"""JSON lines: every line a record, read as a stream."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.encoding import encoding_of
from cragraph.retrieval.documents.records import record_drafts


def read(path: Path) -> Iterator[Draft]:
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
