"""JSON and JSON lines: objects of a list are read as records, anything else as `path: value` lines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cragraph.documents.clean import Limits, encoding_of, read_text
from cragraph.documents.document import Draft, Writer
from cragraph.documents.records import leaves, line_of, record_draft, record_drafts, text_field
from cragraph.documents.sheets import put
from cragraph.documents.table_text import is_heading
from cragraph.errors import DocumentError


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Drafts of a JSON file: each list of objects is a table of records; other values are lines."""
    try:
        value = json.loads(read_text(path, limits).lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; mend it there, or name it "
            ".jsonl if every line is an object of its own."
        ) from error
    except ValueError as error:
        raise DocumentError("has a number of more digits than can be read; write it as text.") from error
    value = _listed(_framed(value), "key")
    if isinstance(value, list) and value and all(isinstance(record, Mapping) for record in value):
        yield from record_drafts(value, limits)
        return
    if isinstance(value, Mapping) and (body := text_field(value)):
        yield record_draft(value, body, limits)
        return
    lists: dict[str, Sequence[Mapping[str, Any]]] = {}
    rest = _without_records(value, "", lists)
    writer = Writer(limits)
    for leaf in leaves(rest):
        writer.line(line_of(leaf))
    if writer.draft().text or not lists:
        yield writer.draft()
    for name, records in lists.items():
        for draft in record_drafts(records, limits):
            yield replace(draft, metadata={"title": name, **draft.metadata})


def _without_records(value: Any, name: str, lists: dict[str, Sequence[Mapping[str, Any]]]) -> Any:
    """The value without its lists of objects, which go into `lists` by path: each is a separate table."""
    if not isinstance(value, Mapping):
        return value
    rest = {}
    for key, inner in value.items():
        path = f"{name}.{key}" if name else str(key)
        inner = _listed(inner, str(key))
        if isinstance(inner, list) and len(inner) > 1 and all(isinstance(record, Mapping) for record in inner):
            lists[path] = inner
        else:
            rest[key] = _without_records(inner, path, lists)
    return rest


def _framed(value: Any) -> Any:
    """The rows of a table that is stored column by column, or as names and rows, as data frames are, or as a list of
    rows with the names in the first."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(row, list) for row in value):
        names, width = value[0], len(value[0])
        texts = all(isinstance(name, str) and name.strip() for name in names) and is_heading(names)
        differ = any(not isinstance(cell, str) for row in value[1:] for cell in row)
        if texts and differ and 1 < width == len({*names}) and all(len(row) == width for row in value):
            return _framed({"columns": names, "data": value[1:]})
    if not isinstance(value, Mapping):
        return value
    names, rows = value.get("columns"), value.get("data", value.get("rows"))
    if isinstance(names, list) and isinstance(rows, list) and value.keys() <= {"columns", "data", "rows", "index"}:
        told = [" ".join(map(str, name)) if isinstance(name, list) else str(name) for name in names]
        if all(isinstance(row, list) and len(row) <= len(told) for row in rows):
            framed: list[dict[str, Any]] = [{} for _ in rows]
            for record, row in zip(framed, rows, strict=True):
                for name, cell in zip(told, row, strict=False):
                    put(record, name, cell)
            return framed
    columns = list(value.values())
    if len(columns) > 1 and all(isinstance(column, Mapping) and column for column in columns):
        places = list(columns[0])
        if all(list(column) == places for column in columns) and all(place.isdecimal() for place in places):
            return [{name: column[place] for name, column in value.items()} for place in places]
    return value


def _listed(value: Any, name: str) -> Any:
    """The value; an object whose values are all objects with keys in common becomes a list of them, with the key as
    `name`."""
    if not isinstance(value, Mapping) or len(value) < 2 or not all(isinstance(own, Mapping) for own in value.values()):
        return value
    keys = Counter(key for own in value.values() for key in own)
    if not all(any(keys[key] > 1 for key in own) for own in value.values() if own):
        return value
    return [{name: key, **own} for key, own in value.items()]


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
                f"line {number} is not JSON ({error}); wanted one object per line: mend or remove that line."
            ) from error
        # A value without a name is a line of text without a field.
        yield value if isinstance(value, Mapping) else {"": value}
