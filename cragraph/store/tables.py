"""Large tables: all rows stored in columns, a sample of them as passages; any other row becomes a passage on demand."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, cast

import numpy as np

from cragraph.documents.document import field_name
from cragraph.documents.records import row_of, value_of
from cragraph.documents.tables import PART, Codes, Column, Columns, Packed, Profile, Table, coded, unpacked
from cragraph.language.cells import CELLS, Cell, Row, kept
from cragraph.language.words import is_stopword, phrases
from cragraph.store.filters import Where, fits
from cragraph.store.records import DEFAULT, FIELD, filename_of
from cragraph.types import Cited, Passage

Mask = np.ndarray[Any, np.dtype[np.bool_]]
MOST: Final = 20  # a value that is in more rows than this names none of them
Parts = Callable[..., Iterator[Packed]]
"""Reads the parts of a column in order, by the column's number; or a single part, by the part's number too."""
BY_ROW: Final = ("row", "chunk_index")  # fields of a passage, other than columns, that differ between rows
_SHORTEST: Final = 3  # characters of a value that names a row, at least


class StoredTable(NamedTuple):
    """A large table in the form for the store: its description (`about`, as JSON) and the parts of its columns."""

    about: str
    parts: Sequence[Packed]


def stored(key: str, metadata: Mapping[str, Any], table: Columns) -> StoredTable:
    """A table in the form for the store; each of its rows has the `metadata`, and a chunk id that begins with `key`."""
    about = {"key": key, "metadata": metadata, "first": table.first, "rows": table.rows, "profiles": table.profiles}
    about |= {"totals": table.totals, "sample": table.sample, "doubts": [*table.doubts], "parts": len(table.parts)}
    return StoredTable(json.dumps(about, ensure_ascii=False), table.parts)


def parts_of(about: str) -> int:
    """The number of parts of a stored table, from its description."""
    return int(json.loads(about)["parts"])


class KeptTable:
    """A large table in the store, of one file and one collection; `about` is its description."""

    def __init__(self, source: str, collection: str, about: str, parts: "Parts") -> None:
        self.source, self._collection, self._parts = source, collection, parts
        self._about: dict[str, Any] = json.loads(about)
        self.key, self.size = str(self._about["key"]), int(self._about["rows"])
        self._first = int(self._about.get("first", 1))
        self.profiles = [Profile(*profile) for profile in self._about["profiles"]]

    def line(self) -> str:
        """The line of `cragraph docs` on the table."""
        kept = f"{self.size:,} rows as a table: figures are computed over all, any row is found by an exact value"
        return f"{kept}, and the first {self._about['sample']:,} by meaning"

    @property
    def title(self) -> str:
        """The titles and headings above the table."""
        return " › ".join(dict.fromkeys(self._above()))

    def _above(self) -> list[str]:
        metadata, names = self._about["metadata"], {profile.name for profile in self.profiles}
        return [str(metadata[key]) for key in ("title", "heading") if metadata.get(key) and key not in names]

    def _texts(self, column: int) -> Iterator[tuple[int, str]]:
        """The values of a column by part, one value per line, each part with the number of its first row."""
        at = 0
        for _, part, data in self._parts(column):
            for missing in range(at, part):  # of a column that only later rows have
                yield missing * PART, "\n" * (PART - 1)
            yield part * PART, unpacked(data)
            at = part + 1

    def _loaded(self, column: int, only: Mask | None = None) -> tuple[Sequence[str], Codes]:
        known: dict[str, int] = {}
        codes = np.concatenate([coded(text.split("\n"), known)[1] for _, text in self._texts(column)])
        if only is None:
            return [*known], codes
        values, (there, own) = [*known], np.unique(codes[only], return_inverse=True)
        return [values[code] for code in there], own.astype(np.int32)

    def _holding(self, column: int, texts: Collection[str]) -> Iterator[tuple[int, str]]:
        """The rows whose value in a column equals one of the texts, with that value; the texts are in lower case."""
        wanted = frozenset(texts)
        for first, text in self._texts(column):
            folded = text.casefold().split("\n")
            if wanted.intersection(folded):
                values = text.split("\n")
                yield from ((first + at, values[at]) for at, value in enumerate(folded) if value in wanted)

    def found(self, column: int, texts: Collection[str]) -> list[str]:
        """The values of a column that equal one of the texts; the texts are in lower case."""
        return [*dict.fromkeys(value for _, value in self._holding(column, texts))]

    def named(self, text: str, where: Where = None) -> list[int]:
        """The rows outside the sample that a text names by the exact value of a column, or else that a filter
        selects."""
        telling = {p for p in phrases(text) if len(p) >= _SHORTEST and not is_stopword(p)}
        counts: dict[int, int] = {}
        for number, profile in enumerate(self.profiles):
            if profile.distinct * MOST >= self.size:
                found = [row for row, _ in islice(self._holding(number, telling), MOST + 1)]
                for row in found if len(found) <= MOST else ():
                    counts[row] = counts.get(row, 0) + 1
        if not counts and self._narrows(where):
            rows = np.flatnonzero(self.passing(where))
            counts = dict.fromkeys(rows.tolist(), 1) if len(rows) <= MOST else {}
        return sorted((row for row in counts if row >= self._about["sample"]), key=lambda row: -counts[row])

    # -- filters -----------------------------------------------------------------------------------------------

    def _fields(self) -> dict[str, int]:
        return {field_name(profile.name): number for number, profile in enumerate(self.profiles)}

    def _narrows(self, where: Where) -> bool:
        """Whether a filter tests a column of the table."""
        return where is not None and not self._fields().keys().isdisjoint(_keys(where))

    def passing(self, where: Where) -> Mask:
        """For every row whether a checked filter lets it through."""
        if not where:
            return np.ones(self.size, dtype=bool)
        ((key, wanted),) = where.items()
        if key in ("$and", "$or"):
            joined = np.logical_and if key == "$and" else np.logical_or
            return cast(Mask, joined.reduce([self.passing(part) for part in wanted]))
        holder = self.row(0)
        if (number := self._fields().get(key)) is None:
            if key not in BY_ROW:
                return np.full(self.size, fits(holder, where))
            rows = (self._numbered(holder, row) for row in range(self.size))
            return np.fromiter((fits(row, where) for row in rows), dtype=bool, count=self.size)
        values, codes = self._loaded(number)
        metadata = ({key: value_of(value)} if value else {} for value in values)
        passes = [fits(cast(Passage, {**holder, "metadata": one}), where) for one in metadata]
        return cast(Mask, np.array(passes, dtype=bool)[codes])

    def _numbered(self, holder: Passage, row: int) -> Passage:
        return cast(Passage, {**holder, "chunk_index": row, "metadata": {"row": row + self._first}})

    # -- rows and the whole table ------------------------------------------------------------------------------

    def row(self, number: int) -> Passage:
        """A row as a passage; rows count from 0."""
        values = {}
        for column, profile in enumerate(self.profiles):
            for part in self._parts(column, number // PART):
                if value := unpacked(part.data).split("\n")[number % PART]:
                    values[profile.name] = value
        text, fields, spans = row_of(values, reading=value_of)
        cells = tuple(Cell(name, text[start:end], start) for name, start, end in spans)
        metadata = {**self._about["metadata"], "row": number + self._first, **fields}
        metadata[CELLS] = kept(text, [Row(cells, "", 0, len(text), "0")])
        if doubts := self._about["doubts"]:
            metadata["doubts"] = doubts
        if self._collection != DEFAULT:
            metadata[FIELD] = self._collection
        return Passage(
            text=text, chunk_id=f"{self.key}.{number + 1}", doc_id=f"{self.key}.rows", chunk_index=number,
            start_index=0, source=self.source, filename=filename_of(self.source), page=None, metadata=metadata,
            retrieval_score=None, rerank_score=None,
        )  # fmt: skip

    def table(self, where: Where = None) -> Table | None:
        """The table for computing, with the rows that a checked filter lets through; None if there are no such rows."""
        only = self.passing(where) if where else None
        rows = np.flatnonzero(only) if only is not None else None
        size = self.size if rows is None else len(rows)

        def column(number: int, profile: Profile) -> Column:
            loaded = partial(self._loaded, number, only)
            finds = partial(self.found, number)
            distinct = profile.distinct if only is None else len(loaded()[0])
            first = profile.first if only is None else ()
            name, kind, unit, comma, years, *_ = profile
            return Column(name, kind, unit, comma, years, distinct, loaded, finds if only is None else None, first)

        def cite(number: int) -> Cited:
            passage = self.row(number if rows is None else int(rows[number]))
            text = passage["text"]
            return {"chunk_id": passage["chunk_id"], "start": 0, "end": len(text), "quote": text}

        if not size:
            return None
        return Table(
            source=self.source,
            filename=filename_of(self.source),
            columns={profile.name: column(number, profile) for number, profile in enumerate(self.profiles)},
            size=size,
            cite=cite,
            title=self.title,
            headings=f"{' '.join(self._above())} {self.title}".strip(),
            totals=tuple(self._about["totals"]),
            doubts=lambda rows, totals: self._about["doubts"],
        )


def _keys(where: Any) -> Iterator[str]:
    for key, value in where.items():
        if key in ("$and", "$or"):
            for part in value:
                yield from _keys(part)
        else:
            yield key
