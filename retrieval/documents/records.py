"""Records (rows of a file, objects of a JSON array) as drafts.

A record with a body of text in it is a document of its own with its other fields as metadata; records of plain
fields are gathered in groups, a line each, and every line keeps its fields to be filtered by.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final
from zlib import crc32

from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.fields import NOTHING, Reading, field_name, fields_of, leaves
from cragraph.retrieval.documents.formats.plain import draft as plain_draft
from cragraph.retrieval.documents.normalise import clean, one_line
from cragraph.retrieval.documents.tables import SEPARATOR
from cragraph.retrieval.documents.writer import Writer

TEXT_FIELDS: Final = ("text", "content", "body", "page_content", "contents", "passage", "document")
"""Fields whose text makes a record a document, first found first taken."""

GROUP: Final = 64
"""Records a group at most; about half of that on average."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record as a line of text, and the fields that it can be filtered by."""

    line: str
    fields: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def record_drafts(records: Iterable[Mapping[str, Any]], reading: Reading = str) -> Iterator[Draft]:
    """Drafts of records in order, reading no further ahead than a group; `reading` makes values of texts."""
    records = iter(records)
    first = next(records, None)
    if first is None:
        return
    everything = chain([first], records)
    field = text_field(first)
    if field is None:
        yield from grouped(Row(line_of(record), fields_of(record, reading)) for record in everything)
    else:
        yield from (record_draft(record, field, reading) for record in everything)


def text_field(record: Mapping[str, Any]) -> str | None:
    """The field that holds a record's body of text, None where it is a row of values."""
    by_name = {str(key).lower(): str(key) for key in record}
    return next((by_name[name] for name in TEXT_FIELDS if isinstance(record.get(by_name.get(name, "")), str)), None)


def record_draft(record: Mapping[str, Any], field: str, reading: Reading = str) -> Draft:
    """A record as a document: its title as heading, its text, its other scalar fields as metadata."""
    metadata: dict[str, Any] = {}
    for key, value in record.items():
        if key == field or value is None:
            continue
        if str(key) == "metadata" and isinstance(value, Mapping):
            metadata.update((_untaken(str(inner)), leaf) for inner, leaf in value.items())
        else:
            metadata[_untaken(str(key))] = reading(value.strip()) if isinstance(value, str) else value
    title = one_line(str(metadata.get("title") or ""))
    body = clean(str(record.get(field) or ""))
    if not title:
        plain = plain_draft(body)
        return Draft(plain.text, plain.blocks, plain.headings, (), metadata)
    writer = Writer()
    writer.heading(title, 1)
    for block in plain_draft(body).blocks:
        writer.paragraph(body[block.start : block.end])
    return writer.draft(metadata)


def grouped(rows: Iterable[Row]) -> Iterator[Draft]:
    """Rows in groups that end where the content says so.

    A group ends after a line whose checksum hits one in 32, so that a line put in or taken out changes the group it
    lies in and not every one after it.
    """
    group: list[Row] = []
    number = 0
    first = 1
    for number, row in enumerate(rows, start=1):
        group.append(row)
        if len(group) >= GROUP or crc32(row.line.encode("utf-8", "surrogatepass")) % 32 == 0:
            yield _group_draft(group, first, number)
            group, first = [], number + 1
    if group:
        yield _group_draft(group, first, number)


def line_of(record: Mapping[str, Any]) -> str:
    """A record on one line, `name: value | name: value`; nested fields as `outer.inner`."""
    return SEPARATOR.join(f"{name}: {one_line(text)}" if name else one_line(text) for name, text in flat(record))


def flat(value: Any) -> Iterator[tuple[str, str]]:
    """Every leaf of nested data as text, with its path, without the empty ones."""
    for name, leaf in leaves(value):
        yield name, "true" if leaf is True else "false" if leaf is False else str(leaf)


def _untaken(name: str) -> str:
    """A field's name, if it does not say something of every passage already."""
    return field_name(name) if field_name(name).startswith("column.") else name


def _group_draft(rows: list[Row], first: int, last: int) -> Draft:
    writer = Writer()
    for number, row in enumerate(rows, start=first):
        writer.line(row.line, {**row.fields, "row": number} if row.fields else NOTHING)
    return writer.draft({"rows": f"{first}-{last}"})
