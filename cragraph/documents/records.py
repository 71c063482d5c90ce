"""Records (rows of a file, objects of a JSON array) as drafts, and their fields for filters.

A record with a body of text is a separate document; other records are gathered in groups, a line each.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from zlib import crc32

from cragraph.documents.clean import DEFAULT, Limits, clean, one_line
from cragraph.documents.document import NOTHING, Draft, Writer, field_name, scalar, untaken
from cragraph.documents.formats.plain import draft as plain_draft
from cragraph.documents.table_text import is_value
from cragraph.documents.tables import TABLE_ROWS, Columns
from cragraph.errors import DocumentError
from cragraph.language.cells import Span, written

Scalar = str | int | float | bool
Leaf = tuple[str, Scalar]
Reading = Callable[[str], Scalar]

TEXT_FIELDS: Final = ("text", "content", "body", "page_content", "contents", "passage", "document")
"""Fields whose text makes a record a document; the first one found counts."""

SAMPLE: Final = 1_000  # rows of a large table that become passages
GROUP: Final = 64  # records per group at most; about half of that on average
LONGEST: Final = 256  # characters of a field's value at most; a longer value is text and no field
_SHORT = 60  # characters of a cell of words
_SENTENCE = re.compile(r"[.!?…][”\"')]*\s*$|\n")
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_FRACTION = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{1,18}")


class RowText(NamedTuple):
    """A record as a line of text, with its fields for filters and the places of its cells."""

    line: str
    fields: Mapping[str, Any] = NOTHING
    cells: tuple[Span, ...] = ()


class Record(NamedTuple):
    """A row by the names of its columns, with sentences of doubt about its reading.

    `number` is the row's number in the sheet, 0 if rows are numbered consecutively; `caption` is the line above its
    table; `above` marks a line that itself stands above a table.
    """

    number: int
    caption: str
    values: Mapping[str, Any]
    doubts: tuple[str, ...] = ()
    of_figures: tuple[str, ...] = ()
    above: bool = False


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
            yield from grouped((Record(0, "", record) for record in everything), limits, reading)


def text_field(record: Mapping[str, Any]) -> str | None:
    """The field with a record's body of text, None for a row of values: also one with a few words beside a figure."""
    by_name = {str(key).lower(): str(key) for key in record}
    body = next((by_name[n] for n in TEXT_FIELDS if n in by_name and isinstance(record[by_name[n]], str)), None)
    if body and 0 < len(record[body]) < _SHORT and not _SENTENCE.search(record[body]):
        others = (str(value) for key, value in record.items() if not str(key).lower().endswith("id"))
        return None if any(map(is_value, others)) else body
    return body


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
    line, cells = written((one_line(name), _scalar_text(leaf), False) for name, leaf in pairs)
    return RowText(line, fields, cells)


def line_of(leaf: Leaf) -> str:
    """`name: value` of one leaf."""
    return written([(one_line(leaf[0]), _scalar_text(leaf[1]), False)])[0]


def _scalar_text(value: Scalar) -> str:
    return one_line(str(value).lower() if isinstance(value, bool) else str(value))


def grouped(records: Iterable[Record], limits: Limits = DEFAULT, reading: Reading = str) -> Iterator[Draft]:
    """Rows in groups; a group ends at a line whose checksum is one in 32, so that a change moves no later group.

    A table with more rows than the limit gives a sample of its rows, then a draft with all rows in columns.
    """
    ahead = _Ahead(records, limits.rows)
    writer, first, number = Writer(limits), 1, 0
    for number, record in enumerate(ahead, start=1):
        row = row_of(record.values, limits, reading)
        fields = {"row": record.number or number, **row.fields} if row.fields else NOTHING
        writer.line(row.line, fields, row.cells)
        for doubt in record.doubts:
            writer.doubt(doubt)
        for doubt in record.of_figures:
            writer.doubt(doubt, of_figures=True)
        if number - first + 1 >= GROUP or crc32(row.line.encode("utf-8", "surrogatepass")) % 32 == 0:
            yield writer.draft({"rows": f"{first}-{number}"})
            writer, first = Writer(limits), number + 1
    if first <= number:
        yield writer.draft({"rows": f"{first}-{number}"})
    if ahead.beyond:
        every = chain(ahead.seen, ahead.beyond)
        texts = ((_texts(record, limits), (*record.doubts, *record.of_figures)) for record in every)
        table = Columns.of(texts, ahead.sample, ahead.seen[0].number or 1)
        writer = Writer(limits)
        writer.paragraph(table.text())
        yield replace(writer.draft({"rows": f"1-{table.rows}", TABLE_ROWS: table.rows}), table=table)


def _texts(record: Record, limits: Limits) -> dict[str, str]:
    """The cells of a record, as the record's line has them."""
    limits.check("fields", len(record.values), "columns")
    values = record.values
    plain = all(isinstance(value, str) for value in values.values())
    cells = ((name, value) for name, value in values.items() if value.strip()) if plain else leaves(values)
    return {one_line(name): _scalar_text(leaf) for name, leaf in cells}


class _Ahead:
    """Yields the records of a stream, or only a sample if there are more than `most`.

    `seen` has the records read so far; `beyond` has the rest of a stream with too many records, else None."""

    def __init__(self, records: Iterable[Record], most: int) -> None:
        self.seen: list[Record] = []
        self.beyond: Iterator[Record] | None = None
        self.sample = min(SAMPLE, most)
        self._records, self._most = iter(records), most

    def __iter__(self) -> Iterator[Record]:
        try:
            for record in self._records:
                self.seen.append(record)
                if len(self.seen) <= self.sample:
                    yield record
                elif len(self.seen) > self._most and len(record.values) > 1:
                    self.beyond = self._records
                    return
        except DocumentError:
            yield from self.seen[self.sample :]
            raise
        yield from self.seen[self.sample :]


def value_of(cell: str) -> Scalar:
    """A cell as a number, true or false if it plainly is one; `007`, `1,234` and `12 %` stay text."""
    if cell.casefold() in ("true", "false"):
        return cell.casefold() == "true"
    if _WHOLE.fullmatch(cell):
        return int(cell)
    return float(cell) if _FRACTION.fullmatch(cell) else cell


def _joined(parts: Iterable[Any]) -> str:
    """The text of a message that is stored in parts, of which some have marks; empty for any other list."""
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "".join(map(str, texts)) if all(isinstance(text, str) for text in texts) else ""


def leaves(value: Any, name: str = "") -> Iterator[Leaf]:
    """Every non-empty leaf of nested data with its path; a list of scalars is one leaf."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if all(not isinstance(inner, Mapping | list | tuple) for inner in value):
            yield from leaves(", ".join(str(inner) for inner in value if inner is not None), name)
        elif any(isinstance(inner, str) for inner in value) and (text := _joined(value)):
            yield name, text
        else:
            for number, inner in enumerate(value, start=1):
                yield from leaves(inner, f"{name}.{number}" if name else str(number))
    elif value is not None and str(value).strip():
        yield name, value if isinstance(value, str | int | float) else str(value)
