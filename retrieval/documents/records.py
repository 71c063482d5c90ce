"""Records (rows of a file, objects of a JSON array) as drafts.

A record with a body of text in it is a document of its own with its other fields as metadata; records of plain
fields are gathered in groups, a line each.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final
from zlib import crc32

from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.formats.plain import draft as plain_draft
from cragraph.retrieval.documents.normalise import clean, one_line
from cragraph.retrieval.documents.tables import SEPARATOR
from cragraph.retrieval.documents.writer import Writer

TEXT_FIELDS: Final = ("text", "content", "body", "page_content", "contents", "passage", "document")
"""Fields whose text makes a record a document, first found first taken."""

GROUP: Final = 64
"""Records a group at most; about half of that on average."""


def record_drafts(records: Iterable[Mapping[str, Any]]) -> Iterator[Draft]:
    """Drafts of records in order, reading no further ahead than a group."""
    records = iter(records)
    first = next(records, None)
    if first is None:
        return
    everything = chain([first], records)
    field = text_field(first)
    if field is None:
        yield from grouped(line_of(record) for record in everything)
    else:
        yield from (record_draft(record, field) for record in everything)


def text_field(record: Mapping[str, Any]) -> str | None:
    """The field that holds a record's body of text, None where it is a row of values."""
    by_name = {str(key).lower(): str(key) for key in record}
    return next((by_name[name] for name in TEXT_FIELDS if isinstance(record.get(by_name.get(name, "")), str)), None)


def record_draft(record: Mapping[str, Any], field: str) -> Draft:
    """A record as a document: its title as heading, its text, its other scalar fields as metadata."""
    metadata: dict[str, Any] = {}
    for key, value in record.items():
        if key == field or value is None:
            continue
        if str(key) == "metadata" and isinstance(value, Mapping):
            metadata.update(value)
        else:
            metadata[str(key)] = value
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


def grouped(lines: Iterable[str]) -> Iterator[Draft]:
    """Lines in groups that end where the content says so.

    A group ends after a line whose checksum hits one in 32, so that a line put in or taken out changes the group it
    lies in and not every one after it.
    """
    group: list[str] = []
    number = 0
    first = 1
    for number, line in enumerate(lines, start=1):
        group.append(line)
        if len(group) >= GROUP or crc32(line.encode("utf-8", "surrogatepass")) % 32 == 0:
            yield _group_draft(group, first, number)
            group, first = [], number + 1
    if group:
        yield _group_draft(group, first, number)


def line_of(record: Mapping[str, Any]) -> str:
    """A record on one line, `name: value | name: value`; nested fields as `outer.inner`."""
    return SEPARATOR.join(f"{name}: {one_line(text)}" if name else one_line(text) for name, text in flat(record))


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf of nested data with its path, without the empty ones."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if all(not isinstance(inner, Mapping | list | tuple) for inner in value):
            yield from flat(", ".join(str(inner) for inner in value if inner is not None), name)
        else:
            for number, inner in enumerate(value, start=1):
                yield from flat(inner, f"{name}.{number}" if name else str(number))
    elif value is not None and str(value).strip():
        yield name, "true" if value is True else "false" if value is False else str(value)


def _group_draft(lines: list[str], first: int, last: int) -> Draft:
    writer = Writer()
    for line in lines:
        writer.line(line)
    return writer.draft({"rows": f"{first}-{last}"})
