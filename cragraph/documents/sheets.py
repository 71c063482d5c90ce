"""Rows of a sheet as records, with captions above tables and heading rows as column names."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice, pairwise, takewhile
from types import MappingProxyType
from typing import Final, NamedTuple

from cragraph.documents.cell_format import Amount
from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Heading
from cragraph.documents.records import Reading, Record, Scalar, grouped, record_draft, text_field
from cragraph.documents.table_text import (
    SECTIONED,
    in_section,
    is_form,
    is_heading,
    is_number,
    is_sum,
    is_value,
    is_year,
    pairs_of,
    section_name,
)
from cragraph.language.cells import MISSING

_CURRENCY = re.compile(r"[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|INR|CAD|AUD)\b")
_LONGEST_AMOUNT = 24
_WORDED = (Amount, str)
_LINES_ABOVE = 5  # lines above a table at most; more lines are a list
_HEADINGS = 4  # heading rows of a table at most
_AHEAD = 40  # rows read ahead, to find the headings below other lines and the next section


UNCALCULATED: Final = (
    "Figures in {columns} are missing, because no program has calculated the formulas: open the workbook in one, "
    "save it, and ingest it again."
)
FAULTY: Final = "A formula in {columns} gives an error in place of a figure."
SHARED: Final = (
    "A figure in {columns} is one cell for several rows or columns: it may hold for each of them, or for all together."
)
MIXED: Final = "Amounts in “{column}” are in {units}: they cannot be added up or compared."
TWO_WAYS: Final = (
    "Figures in {columns} can be read two ways (1.250 as 1250 or as 1.25), and nothing in the file says which."
)
TWO_HEADINGS: Final = "Two lines above these rows may name their columns; the second was taken."
_LABELLED: Final = re.compile(r"[^:\d]{2,40}:\s*\S")
_NONE: Final[Mapping[int, int]] = MappingProxyType({})


class SheetRow(NamedTuple):
    """The filled cells of a row by column.

    `spans` has the number of columns of merged cells, `downs` the number of rows. The others are sets of columns:
    `missing` for formulas without a calculated value, `faulty` for errors, `shared` for merged figures, `doubtful` for
    figures that can be read in two ways.
    """

    number: int
    cells: Mapping[int, Scalar]
    spans: Mapping[int, int] = _NONE
    downs: Mapping[int, int] = _NONE
    missing: tuple[int, ...] = ()
    faulty: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    doubtful: tuple[int, ...] = ()


class Merged(NamedTuple):
    """A range of merged cells."""

    top: int
    left: int
    bottom: int
    right: int


def merged_rows(rows: Iterable[SheetRow], merges: Iterable[Merged]) -> Iterator[SheetRow]:
    """The rows; a cell merged downwards is repeated in each of its rows that has other cells."""
    starting: dict[int, list[Merged]] = {}
    for one in merges:
        starting.setdefault(one.top, []).append(one)
    if not starting:
        yield from rows
        return
    going_on: list[tuple[Merged, Scalar]] = []
    for row in rows:
        cells = {**row.cells}
        going_on = [(merge, value) for merge, value in going_on if merge.bottom >= row.number]
        if cells:
            cells |= {merge.left: value for merge, value in going_on}
        begun = [one for one in starting.pop(row.number, ()) if one.left in cells]
        going_on += [(one, cells[one.left]) for one in begun if one.bottom > one.top]
        first = min(cells, default=0)
        figures = [m.left for m, value in going_on if m.left > first and _is_figure(value)]
        yield row._replace(
            cells=dict(sorted(cells.items())),
            spans={one.left: one.right - one.left + 1 for one in begun},
            downs={one.left: one.bottom - one.top + 1 for one in begun},
            shared=tuple(figures if cells else ()),
        )


def _is_figure(value: Scalar) -> bool:
    """Whether a value can be added up: a number that is no year."""
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and not is_year(str(value))
    )


def sheet_drafts(
    rows: Iterable[SheetRow], limits: Limits, reading: Reading = str, *, by_place: bool = True
) -> Iterator[Draft]:
    """Drafts of a sheet: rows in groups, or one draft per row if a column holds text.

    Rows have their numbers in the sheet, or else consecutive ones; then even a single column has a name.
    """
    every_row = _held_together(records(rows, limits, lists=by_place))
    for (caption, _), group in groupby(every_row, lambda record: (record.caption, record.above)):
        first = next(group)
        every = chain([first], group)  # noqa: B031
        if body := text_field(first.values):
            made = ((record_draft(record.values, body, limits, reading), record.doubts) for record in every)
            drafts: Iterator[Draft] = (replace(draft, doubts=doubts) for draft, doubts in made)
        else:
            numbered = every if by_place else (record._replace(number=0) for record in every)
            drafts = grouped(numbered, limits, reading)
        above = (Heading(0, 2, caption),) if caption else ()
        for draft in drafts:
            yield replace(draft, headings=(*above, *draft.headings))


def _held_together(rows: Iterable[Record]) -> Iterator[Record]:
    """The rows; a row with an amount in another currency than the rows above gets a doubt for sums."""
    seen: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        doubts = []
        for name, value in row.values.items():
            amount = isinstance(value, _WORDED) and len(str(value)) < _LONGEST_AMOUNT
            if amount and len(found := _CURRENCY.findall(str(value))) == 1:
                units = seen.setdefault((row.caption, name), set())
                units.add(found[0])
                doubts += [MIXED.format(column=name, units=" and ".join(sorted(units)))] * (len(units) > 1)
        yield row._replace(of_figures=(*row.of_figures, *doubts)) if doubts else row


def records(rows: Iterable[SheetRow], limits: Limits, *, lists: bool = True) -> Iterator[Record]:
    """The filled rows of a sheet.

    Rows that can only be headings, at the top of the sheet or after a blank row, with figures below, name the columns
    from there on. Lines of one cell above the first table, or directly above a later one, are its caption; other such
    lines are rows. Lines of labels and values above the first table are rows of their own. In a sheet of one column,
    rows have no column name with `lists`; without it the first row is the name.
    """
    source = iter(rows)
    read: deque[SheetRow] = deque()
    names: dict[int, str] = {}
    sections = _Sections()
    form, doubts, whole = list[int](), tuple[str, ...](), None
    caption, above, fresh, number = "", list[SheetRow](), True, 0
    while True:
        read.extend(islice(source, _AHEAD - len(read)))
        if not read:
            break
        row = read.popleft()
        ahead = [*islice(read, _HEADINGS)]
        blank = not row.cells or row.number > number + 1
        number = row.number
        if blank:
            fresh, form, doubts = True, [], ()
            if names:
                yield from (_record(one, {}, caption) for one in above)
                above = []
        if not row.cells:
            continue
        if fresh and not names and (pairs := _lines_above([row, *read])):
            for line in [row, *(read.popleft() for _ in range(pairs.rows - 1))]:
                number = line.number
                if len(line.cells) == 1 and not _LABELLED.match(str(*line.cells.values())):
                    above.append(line)
                elif line.cells:
                    yield _told(line, pairs.doubts)
            doubts = pairs.doubts
            continue
        column = not lists and number == 1 and len(row.cells) == 1 and all(0 in one.cells for one in ahead)
        if column and ahead and is_heading([*map(str, row.cells.values())]) and all(len(o.cells) < 2 for o in ahead):
            names, fresh = _names([row]), False
            continue
        if fresh and names and whole and sections.begins(row, read, names, first=False, apart=blank):
            fresh, above = False, []
            continue
        count = _heading_rows(row, ahead, known=bool(names)) if fresh else 0
        over = fresh and count < 2 and _is_line_above(row, ahead)
        if (over or (fresh and len(row.cells) == 1)) and len(above) < _LINES_ABOVE:
            above, doubts = [*above, row], (TWO_HEADINGS,) if over and len(row.cells) == len(ahead[0].cells) else ()
            continue
        if fresh and (starts := _side_by_side(row, ahead)):
            beside = [*above, row]
            while read and read[0].cells and read[0].number == beside[-1].number + 1:
                beside.append(read.popleft())
                read.extend(islice(source, 1))
            above, number = [], beside[-1].number
            for first, last in pairwise([*starts, max(max(one.cells) for one in beside) + 1]):
                yield from records((_part(one, first, last) for one in beside), limits, lists=lists)
            continue
        form = form or (_form([row, *ahead]) if fresh and not names else [])
        if count and not form:
            headings = [row, *(read.popleft() for _ in range(count - 1))]
            names, number, whole, sections = _names(headings), headings[-1].number, None, _Sections()
            labelled = [one for one in above if len(one.cells) == 1 and _LABELLED.match(_texts(one)[0])]
            labelled = labelled if len(labelled) > 1 else []
            yield from (_told(one, ()) for one in labelled)
            titles = [text for one in above if one not in labelled for text in _texts(one)]
            caption, above, fresh = " · ".join(titles), [], False
            continue
        yield from (_record(one, {}, caption) for one in above)
        above, fresh = [], False
        limits.check("fields", len(row.cells), "columns")
        if form:
            cells = [str(row.cells.get(column, "")) for column in form]
            yield _record(row, {}, caption)._replace(values=dict(pairs_of(cells)))
            continue
        if names and sections.begins(row, read, names, first=whole is None, apart=blank):
            continue
        whole = whole or row
        row = _labelled(row, whole) if names and (row.spans or min(row.cells) > min(whole.cells)) else row
        record = sections.within(_record(row, names, caption), row, read, names)
        yield record._replace(doubts=(*record.doubts, *doubts)) if doubts else record
    yield from (_record(one, {}, caption) for one in above)


class _Lines(NamedTuple):
    """The number of lines above the headings of a table, with doubts about them."""

    rows: int
    doubts: tuple[str, ...] = ()


def _lines_above(rows: Sequence[SheetRow]) -> _Lines | None:
    """The lines at the top of a sheet that stand above headings with more cells; None if the first row may be the
    headings, or all lines are titles."""
    if _form(rows):
        return None
    places = range(1, len(rows) - 1)
    return next(filter(None, (_lines_to(rows, at, wider=wider) for wider in (True, False) for at in places)), None)


def _lines_to(rows: Sequence[SheetRow], at: int, *, wider: bool) -> _Lines | None:
    """The rows before row `at` as lines above it if it names the columns of a table. It has more cells than each of
    them, or else (`wider` is false) each has a figure or a date behind a label."""
    heads, first, above = rows[at], rows[at + 1], [row for row in rows[:at] if row.cells]
    texts, width = _texts(heads), max(len(row.cells) for row in above)
    if not 1 < len({*texts}) == len(texts) or width < 2 or len(first.cells) < 2 or any(map(is_value, texts)):
        return None
    if not (len(texts) > width if wider else all(map(_is_pairs, above)) and _has_values_below(rows[at:])):
        return None
    if not is_heading(texts) or _heading_rows(rows[0], rows[1:], known=False) > 1:
        return None
    column = [str(value) for row in above for value in [*row.cells.values()][1:2]]
    figures = len(column) > 1 and not is_value(column[0]) and all(map(is_number, column[1:]))
    apart = heads.number > above[-1].number + 1
    sure = is_value(column[0]) or any(len(row.cells) == 1 for row in above[1:])
    if (figures and (apart or len(column) > 2)) or not (sure or _has_values_below(rows[at:])):
        return None
    return _Lines(at, () if wider or sure else (TWO_HEADINGS,))


def _is_pairs(row: SheetRow) -> bool:
    """Whether a row is labels and values in turn, with a figure or a date among the values."""
    texts = _texts(row)
    return len(texts) < 2 or (any(map(is_value, texts[1::2])) and not any(map(is_value, texts[::2])))


def _has_values_below(rows: Sequence[SheetRow]) -> bool:
    """Whether a column has figures or dates in all rows below the first one, up to a blank row."""
    below = [*takewhile(lambda row: row.cells, rows[1:])]
    return any(all(is_value(str(row.cells.get(column, ""))) for row in below) for column in rows[0].cells)


def _told(row: SheetRow, doubts: tuple[str, ...]) -> Record:
    """A line of labels and values as a record."""
    texts = _texts(row)
    if len(texts) == 1:
        label, _, value = texts[0].partition(":")
        texts = [label, value.strip()]
    elif len(texts) % 2 or not _is_pairs(row):
        texts = [texts[0], " ".join(texts[1:])]
    return Record(row.number, "", dict(pairs_of(texts)), doubts, above=True)


class _Sections:
    """The section that rows belong to: a text alone in a row above them."""

    def __init__(self) -> None:
        self._row: SheetRow | None = None
        self._sums: set[str] = set()
        self._known = self._closed = self._sure = False

    def begins(
        self, row: SheetRow, ahead: Sequence[SheetRow], names: Mapping[int, str], *, first: bool, apart: bool
    ) -> bool:
        """Whether a row begins a section: alone in the first column, with fuller rows below.

        A merged row or one after a blank row does; else one directly below the headings, if another follows, and such
        rows from then on.
        """
        if apart and not first:
            self._row = None
        if not _is_alone(row, names) or not ahead or len(ahead[0].cells) < 2 or ahead[0].number != row.number + 1:
            return False
        if apart and _heading_rows(ahead[0], [*islice(ahead, 1, _HEADINGS)], known=True):
            return False  # the title of another table
        sure = row.spans.get(min(row.cells), 1) >= len(names) or (apart and not first)
        if first and not sure:
            alone = [_is_alone(one, names) for one in takewhile(lambda one: one.cells, ahead)]
            self._known = any(alone) and not alone[-1] and not any(a and b for a, b in pairwise(alone))
        self._known = self._known or sure
        if self._known:
            self._row, self._closed, self._sure = row, False, sure
        return self._known

    def within(self, record: Record, row: SheetRow, ahead: Sequence[SheetRow], names: Mapping[int, str]) -> Record:
        """A record with its section: in the column of the section's row if the record has no value there."""
        if not self._row or not record.values:
            return record
        [(column, section)] = self._row.cells.items()
        if not self._sure:
            record = record._replace(of_figures=(SECTIONED.format(section=section),))
        label = str(next(iter(record.values.values())))
        own = "" if self._closed else str(section)
        if is_sum(label):
            last = bool(ahead) and _is_alone(ahead[0], names)
            own = in_section(label, own, self._sums, closed=self._closed, last=last)
            self._closed = True
        if not own:
            return record
        name = names.get(column, "")
        if name and column not in row.cells:
            return record._replace(values={name: own, **record.values})
        return record._replace(values={**record.values, section_name(record.values): own})


def _is_alone(row: SheetRow, names: Mapping[int, str]) -> bool:
    """Whether a row has only words in the first column of a table of three or more."""
    return len(names) > 2 and [*row.cells] == [min(names)] and not is_value(str(row.cells[min(names)]))


def _texts(row: SheetRow) -> list[str]:
    return [str(cell) for cell in row.cells.values()]


def _is_line_above(row: SheetRow, below: Sequence[SheetRow]) -> bool:
    """Whether a row stands above headings, which have more cells, or alone have words in columns of figures."""
    rest = [one.cells for one in islice(below, 1, None) if one.cells]
    if not rest or below[0].number != row.number + 1 or not is_heading(_texts(below[0])):
        return False
    heads = below[0].cells
    if row.cells.keys() != heads.keys():
        return row.cells.keys() < heads.keys() >= rest[0].keys() > row.cells.keys() and _has_figures(below[1])
    words = [str(word).casefold() for c, word in heads.items() if all(is_number(str(one.get(c, ""))) for one in rest)]
    return len(rest) > 1 < len(words) and not MISSING.intersection(words) and len({*words}) == len(words)


def _side_by_side(row: SheetRow, below: Sequence[SheetRow]) -> list[int]:
    """The first columns of tables with an empty column between, under a title each or with the same headings."""
    heads = below[0] if below and row.cells.keys() < below[0].cells.keys() else row
    starts = [column for column in heads.cells if column - 1 not in heads.cells]
    texts = {(*_texts(_part(heads, a, b)),) for a, b in pairwise([*starts, max(heads.cells) + 1])}
    fits = len(starts) > 1 and all(column + 1 in heads.cells for column in starts) and is_heading(_texts(heads))
    return starts if fits and (len(texts) == 1 if heads is row else starts == [*row.cells]) else []


def _part(row: SheetRow, first: int, last: int) -> SheetRow:
    """The columns from `first` to before `last` of a row."""
    return row._replace(cells={column: cell for column, cell in row.cells.items() if first <= column < last})


def _form(rows: Sequence[SheetRow]) -> list[int]:
    """The columns of a form, labels and values in turn; empty for any other rows."""
    filled = [*takewhile(lambda row: row.cells, rows)]
    columns = sorted({column for row in filled for column in row.cells})
    grid = [[str(row.cells.get(column, "")) for column in columns] for row in filled]
    form = is_form(grid) and (grid[0][0].endswith(":") or any(map(is_value, grid[0])))
    return columns if form and len(grid) > 1 else []


def _labelled(row: SheetRow, whole: SheetRow) -> SheetRow:
    """A row; the label of a sum in or over columns of figures of a `whole` row is moved to the first column."""
    first, to = min(row.cells), min(whole.cells)
    covered = range(first, first + row.spans.get(first, 1))
    if is_number(str(row.cells[first])) or not any(is_number(str(whole.cells.get(column, ""))) for column in covered):
        return row
    cells = {to: row.cells[first], **{column: cell for column, cell in row.cells.items() if column != first}}
    return row._replace(cells=cells, spans=_NONE)


def _record(row: SheetRow, names: Mapping[int, str], caption: str) -> Record:
    if not names and len(row.cells) == 1 and not row.missing:
        return Record(row.number, caption, {"": next(iter(row.cells.values()))})

    if names.keys() >= row.cells.keys() and len({*names.values()}) == len(names) and not any(row[2:]):
        return Record(row.number, caption, {names[column]: value for column, value in row.cells.items()})

    def name(column: int) -> str:
        return names.get(column) or ("" if names and not column else f"column {column + 1}")

    values: dict[str, Scalar] = {}
    shared = [*row.shared]
    for column, value in row.cells.items():
        covered = list(range(column, column + min(row.spans.get(column, 1), len(names) + 1)))
        if len(covered) > 1 and _is_figure(value):
            covered, shared = covered[:1], [*shared, column]
        for one in covered:
            if one == column or (one in names and one not in row.cells):
                put(values, name(one), value)
    doubts = [
        sentence.format(columns=", ".join(f"“{name(column) or 'column 1'}”" for column in sorted({*columns})))
        for sentence, columns in _doubts(row, shared)
        if columns
    ]
    return Record(row.number, caption, values, tuple(doubts))


def put(values: dict[str, Scalar], name: str, value: Scalar) -> None:
    """Put a value under its column name. Values of several columns of one name stand side by side, as a question cannot
    mean one of them."""
    values[name] = f"{values[name]} / {value}" if name in values else value


def _doubts(row: SheetRow, shared: Sequence[int]) -> tuple[tuple[str, Sequence[int]], ...]:
    return ((UNCALCULATED, row.missing), (FAULTY, row.faulty), (SHARED, shared), (TWO_WAYS, row.doubtful))


def _heading_rows(row: SheetRow, below: Sequence[SheetRow], *, known: bool) -> int:
    """The number of heading rows from this row on; 0 for a row of values."""
    texts = [str(cell) for cell in row.cells.values()]
    if len(texts) < 2 or not (is_heading(texts) or is_series(texts)):
        return 0
    rows = [row, *below][:_HEADINGS]
    count = 1
    while count < len(rows) - 1 and rows[count].number == rows[count - 1].number + 1:
        top, here, after = rows[count - 1], rows[count], rows[count + 1]
        words = [str(cell) for column, cell in here.cells.items()]
        if not words or not (is_heading(words) or is_series(words)):
            break
        merged = any(span > 1 and column in here.cells for column, span in top.spans.items()) or any(
            rows[n].downs.get(column, 1) > count - n for n in range(count) for column in rows[n].downs
        )
        beside = top.cells.keys() - here.cells.keys() and here.cells.keys() - top.cells.keys()
        if not merged and not (beside and _has_figures(after)):
            break
        count += 1
    first = rows[count] if count < len(rows) else None
    if first is None or not first.cells:
        return 0
    if known and not _has_figures(first):
        return 0
    return count if count > 1 or len(set(texts)) > 1 else 0


def _has_figures(row: SheetRow) -> bool:
    return any(isinstance(cell, int | float) or is_number(str(cell)) for cell in row.cells.values())


def is_series(texts: Sequence[str]) -> bool:
    """Whether the cells after the first rise in equal steps (1, 2, 3): then they are column names."""
    try:
        numbers = [float(text) for text in texts[1:]]
    except ValueError:
        return False
    steps = {round(b - a, 9) for a, b in pairwise(numbers)}
    return len(numbers) > 2 and len(steps) == 1 and steps != {0.0} and not is_number(texts[0])


def _names(rows: Sequence[SheetRow]) -> dict[int, str]:
    """One name per column: its heading cells from top to bottom; a spanning cell counts for each column."""
    parts: dict[int, dict[str, None]] = {}
    for at, row in enumerate(rows):
        below = rows[at + 1].cells if at + 1 < len(rows) else {}
        columns = sorted(row.cells)
        for column, following in zip(columns, [*columns[1:], max((*below, *columns, 0)) + 1], strict=True):
            span = row.spans.get(column, 1)
            if span == 1 and column in below and not row.spans:
                span = following - column  # a heading over a group that is not merged
            text = " ".join(str(row.cells[column]).split())
            for one in range(column, min(column + span, following)):
                if one == column or one in below:
                    parts.setdefault(one, {})[text] = None
    return {column: " ".join(part) for column, part in sorted(parts.items())}
