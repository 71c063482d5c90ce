"""Records (rows of a file, objects of a JSON array) as drafts, and their fields for filters.

A record with a body of text is a separate document; other records are gathered in groups, a line each.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from zlib import crc32

from cragraph.documents.clean import DEFAULT, Limits, clean, one_line
from cragraph.documents.document import NOTHING, Draft, Writer, field_name, scalar, untaken
from cragraph.documents.formats.plain import draft as plain_draft
from cragraph.language.cells import Span, written

Scalar = str | int | float | bool
Leaf = tuple[str, Scalar]
Reading = Callable[[str], Scalar]

TEXT_FIELDS: Final = ("text", "content", "body", "page_content", "contents", "passage", "document")
"""Fields whose text makes a record a document; the first one found counts."""

GROUP: Final = 64  # records per group at most; about half of that on average
LONGEST: Final = 256  # characters of a field's value at most; a longer value is text and no field
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_FRACTION = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{1,18}")


class RowText(NamedTuple):
    """A record as a line of text, with its fields for filters and its doubts in sentences."""

    line: str
    fields: Mapping[str, Any] = NOTHING
    doubts: tuple[str, ...] = ()
    of_figures: tuple[str, ...] = ()
    cells: tuple[Span, ...] = ()


def record_drafts(
    records: Iterable[Mapping[str, Any]], limits: Limits = DEFAULT, reading: Reading = str
) -> Iterator[Draft]:
    """Drafts of records in order, reading ahead by one group at most; `reading` converts texts to values."""
    records = iter(records)
    for first in records:
        everything = chain([first], records)
        if body := text_field(first):
            yield from (record_draft(record, body, limits, reading) for record in everything)
        else:
            yield from grouped((row_of(record, limits, reading) for record in everything), limits)


def text_field(record: Mapping[str, Any]) -> str | None:
    """The field with a record's body of text, None for a row of values."""
    by_name = {str(key).lower(): str(key) for key in record}
    return next((by_name[n] for n in TEXT_FIELDS if n in by_name and isinstance(record[by_name[n]], str)), None)


def record_draft(record: Mapping[str, Any], body: str, limits: Limits = DEFAULT, reading: Reading = str) -> Draft:
    """A record as a document: its title as heading, its text, its other scalar fields as metadata."""
    metadata: dict[str, Any] = {}
    for key, value in record.items():
        if key == body or value is None:
            continue
        if str(key) == "metadata" and isinstance(value, Mapping):
            metadata.update((untaken(inner), leaf) for inner, leaf in value.items())
        else:
            metadata[untaken(key)] = reading(value.strip()) if isinstance(value, str) else value
    title = one_line(str(metadata.get("title") or ""))
    text = clean(str(record.get(body) or ""))
    plain = plain_draft(text)
    if not title:
        return Draft(plain.text, plain.blocks, plain.headings, (), metadata)
    writer = Writer(limits)
    writer.heading(title, 1)
    for block in plain.blocks:
        writer.paragraph(text[block.start : block.end])
    return writer.draft(metadata)


def row_of(record: Mapping[str, Any], limits: Limits = DEFAULT, reading: Reading = str) -> RowText:
    """A record as `name: value | name: value`, with its scalars by column; nested fields are `outer.inner`."""
    pairs = list(islice(leaves(record), limits.fields + 1))
    limits.check("fields", len(pairs), "columns or more" if len(pairs) > limits.fields else "columns")
    fields: dict[str, Scalar] = {}
    for path, leaf in pairs:
        value = scalar(reading(one_line(leaf)) if isinstance(leaf, str) else leaf)
        name = field_name(path)
        if name and not (isinstance(value, str) and len(value) > LONGEST):
            fields.setdefault(name, value)
    line, cells = written((one_line(name), _said(leaf), False) for name, leaf in pairs)
    return RowText(line, fields, cells=cells)


def line_of(leaf: Leaf) -> str:
    """`name: value` of one leaf."""
    return written([(one_line(leaf[0]), _said(leaf[1]), False)])[0]


def _said(value: Scalar) -> str:
    return one_line(str(value).lower() if isinstance(value, bool) else str(value))


def grouped(rows: Iterable[RowText], limits: Limits = DEFAULT) -> Iterator[Draft]:
    """Rows in groups; a group ends at a line whose checksum is one in 32, so that a change moves no later group."""
    writer, first, number = Writer(limits), 1, 0
    for number, row in enumerate(rows, start=1):
        writer.line(row.line, {"row": number, **row.fields} if row.fields else NOTHING, row.cells)
        for doubt in row.doubts:
            writer.doubt(doubt)
        for doubt in row.of_figures:
            writer.doubt(doubt, of_figures=True)
        if number - first + 1 >= GROUP or crc32(row.line.encode("utf-8", "surrogatepass")) % 32 == 0:
            yield writer.draft({"rows": f"{first}-{number}"})
            writer, first = Writer(limits), number + 1
    if first <= number:
        yield writer.draft({"rows": f"{first}-{number}"})


def value_of(cell: str) -> Scalar:
    """A cell as a number, true or false if it plainly is one; `007`, `1,234` and `12 %` stay text."""
    if cell.casefold() in ("true", "false"):
        return cell.casefold() == "true"
    if _WHOLE.fullmatch(cell):
        return int(cell)
    return float(cell) if _FRACTION.fullmatch(cell) else cell


def leaves(value: Any, name: str = "") -> Iterator[Leaf]:
    """Every non-empty leaf of nested data with its path; a list of scalars is one leaf."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if all(not isinstance(inner, Mapping | list | tuple) for inner in value):
            yield from leaves(", ".join(str(inner) for inner in value if inner is not None), name)
        else:
            for number, inner in enumerate(value, start=1):
                yield from leaves(inner, f"{name}.{number}" if name else str(number))
    elif value is not None and str(value).strip():
        yield name, value if isinstance(value, str | int | float) else str(value)
