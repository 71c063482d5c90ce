"""Tables among the lines of a page, found by figures that stand below one another."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from cragraph.documents.formats.pdf.headings import (
    LONGEST_LABEL,
    MOST_HEADERS,
    MOST_LABELS,
    SAME_LEFT,
    SENTENCE_END,
    Columns,
    heading_lines,
    headings,
    place,
)
from cragraph.documents.formats.pdf.words import Line, PageCell, Segment
from cragraph.documents.table_text import (
    SECTIONED,
    TextTable,
    column_names,
    is_form,
    is_number,
    is_period,
    is_year,
    labels_first,
    sections_of,
    table_of,
)

LEAST_ROWS: Final = 3  # least lines of several segments in a table of words
APART: Final = 0.8  # share of a line's height by which rows stand apart, and the lines of one cell do not
LONGEST_BREAK: Final = 3  # lines without figures, such as labels of sections, between two rows of a table at most


class Span(NamedTuple):
    """Lines `[start, end)` that are a table."""

    start: int
    end: int
    table: TextTable


def columns_of(rows: Sequence[Sequence[PageCell]]) -> Columns:
    """The columns, from left to right; the first one ends where the first amounts begin."""
    behind = sorted((cell for row in rows for cell in row[1:]), key=lambda cell: cell.x0)
    columns: list[tuple[float, float]] = []
    for cell in (cell for cell in behind if is_number(cell.text)):
        if columns and cell.x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], cell.x1))
        else:
            columns.append((cell.x0, cell.x1))
    for cell in (cell for row in rows for cell in row[1:] if not is_number(cell.text)):
        if not any(cell.x0 < right and cell.x1 > left for left, right in columns):
            columns = sorted([*columns, (cell.x0, cell.x1)])
    labels = [row[0] for row in rows if row and columns and row[0].x0 < columns[0][0]]
    if labels:
        edge = min(max(cell.x1 for cell in labels), columns[0][0])
        columns.insert(0, (min(cell.x0 for cell in labels), edge))
    return columns


def tables_in(lines: Sequence[Line]) -> Iterator[Span]:
    """The tables among lines in order; lines of prose between them are left out."""
    done = 0
    above: tuple[Columns, Sequence[str]] = ([], [])
    for first, last in _bodies(lines):
        columns = columns_of([line.cells for line in lines[first:last] if len(line.cells) > 1])
        if len(columns) < 2:
            continue
        lowest = max(done, first - MOST_HEADERS - MOST_LABELS)
        start, end = heading_lines(lines, lowest, first, columns)
        if start == end and lowest < first and _is_group(lines[first - 1], lines[first:last]):
            start = end = first - 1
        if end - start == 1 and _says_one_word(lines[start]):
            start = end = first
        head, doubts = headings(lines[start:end], columns)
        table = _with_sections(head, [*labels_first(_body(lines[end:last], columns))], lines[end:last])
        table = replace(table, doubts=doubts)
        pairs = zip(columns[1:], above[0][1:], strict=False)
        if head:
            above = columns, column_names(table)
        elif len(columns) == len(above[0]) and all(a[0] < b[1] and a[1] > b[0] for a, b in pairs):
            table = replace(table, names=above[1])  # it goes on with the columns of the table above
        yield Span(start, last, table)
        done = last


def _says_one_word(line: Line) -> bool:
    """Whether the same small word stands in all columns, as "add" over prices: names of columns differ."""
    words = {cell.text for cell in line.cells[1:]}
    return len(line.cells) > 2 and len(words) == 1 and min(words).isalpha() and min(words).islower()


def _is_group(line: Line, below: Sequence[Line]) -> bool:
    """Whether a line above rows names the first of them, as lines of the same style among them name others."""
    groups = [other for other in below if len(other.cells) == 1]
    return (
        len(line.cells) == 1
        and line.text[-1] not in ".!?;,"
        and len(line.text) < LONGEST_LABEL
        and any(_same_style(line, other) for other in groups)
    )


def _same_style(one: Line, two: Line) -> bool:
    level = abs(one.x0 - two.x0) <= SAME_LEFT and abs(one.height - two.height) < 0.05 * one.height
    return level and one.bold == two.bold


def _with_sections(head: Sequence[Sequence[str]], body: Sequence[Sequence[str]], lines: Sequence[Line]) -> TextTable:
    """A table whose rows know the text alone above them; where nothing but its place shows what it is, counts and sums
    are in doubt."""
    width = max((len(row) for row in body), default=0)
    sections = sections_of([[*row, *[""] * (width - len(row))] for row in body], narrowest=2)
    unsure = [SECTIONED.format(section=section) for section in sections if section][:1]
    groups, items = ([line for line in lines if (len(line.cells) > 1) is many] for many in (False, True))
    labels = [row[0] for row in body if len(row) > 1]
    repeated = len({*labels}) < len(labels)
    statement = any(is_period(cell) for row in head for cell in row[1:])
    if (statement and not repeated) or any(len(section) > LONGEST_LABEL for section in sections):
        sections = []  # a statement, whose rows are told apart without
    if repeated or (unsure and _stand_out(groups, items)):
        unsure = []
    every = [*[""] * len(head), *sections] if any(sections) else ()
    return TextTable([*head, *body], headers=len(head), sections=every, of_figures=unsure if every else ())


def _stand_out(groups: Sequence[Line], items: Sequence[Line]) -> bool:
    """Whether lines alone are in another style than rows: bold, larger, further to the left, with a colon, without the
    dots that lead to a figure."""
    return (
        (all(line.bold for line in groups) and not any(line.words[0].bold for line in items))
        or min(line.height for line in groups) > 1.05 * max(line.height for line in items)
        or max(line.x0 for line in groups) < min(line.x0 for line in items) - SAME_LEFT
        or all(line.text.endswith(":") for line in groups)
        or all(segment.leads for line in items for segment in line.segments[:1])
    )


def _bodies(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    width = max((line.x1 for line in lines), default=0.0) - min((line.x0 for line in lines), default=0.0)
    index = 0
    while index < len(lines):
        if not lines[index].figures:
            index += 1
            continue
        probe = end = index + 1
        while probe < len(lines) and probe - end < LONGEST_BREAK:
            line, cells = lines[probe], lines[probe].cells
            if line.figures:
                end = probe + 1
            elif len(cells) > 2 or (len(cells) == 2 and is_period(cells[1].text)):
                break  # a heading of the next table
            # A label may end in the next line, beside the figures; any other full line is prose.
            label = not SENTENCE_END.search(line.text) and probe + 1 < len(lines) and lines[probe + 1].figures
            full = line.x1 - line.x0 > 0.75 * width or len(line.text) > 90
            if not line.figures and full and len(line.segments) == 1 and not label:
                break
            probe += 1
        if sum(line.figures for line in lines[index:end]) >= 2:
            yield index, end
        index = end


def _body(lines: Sequence[Line], columns: Columns) -> list[list[str]]:
    """The rows below the headings, with wrapped labels joined and a section's year put before each label."""
    body: list[list[str]] = []
    label = period = unused = ""
    named = lines[0]
    for line in lines:
        alone = line.cells[0].text if len(line.cells) == 1 else ""
        cells = [] if alone and (not is_number(alone) or is_year(alone)) else place(line.cells, columns)
        goes_on = cells and (cells[0][:1].islower() or cells[0][:1] in "$€£0123456789" or label[-1:] in {*",-"})
        if label and goes_on and (not cells[0] or _wraps(named, line, columns)):
            cells[0] = f"{label} {cells[0]}"
        elif label:
            body.append([label])
        label = ""
        if cells:
            body.append([f"{period} {cells[0]}" if cells[0] and period else cells[0] or unused, *cells[1:]])
            unused = ""
        elif is_number(alone):
            body += [[unused]] if unused else []
            period = unused = alone
        else:
            label, named = line.text, line
    return [*body, *([text] for text in (unused, label) if text)]


def _wraps(label: Line, row: Line, columns: Columns) -> bool:
    """Whether a line above a row may be the beginning of its label: it fits into the column of labels, and it is not
    set in bold above plain words."""
    bold = label.bold and not row.segments[0].words[0].bold
    return not bold and (len(columns) < 2 or label.x1 <= columns[1][0])


def with_labels(lines: Sequence[Line]) -> list[Line]:
    """Lines with the amounts beside a label of two lines joined to the label."""
    merged: list[Line] = []
    rest = iter([*lines, None])
    line = next(rest)
    while line is not None:
        below = next(rest)
        if all(is_number(cell.text) for cell in line.cells) or _is_between(merged[-1:], line, below):
            label = [merged.pop()] if merged and _is_label_of(merged[-1], line) else []
            if below is not None and _is_label_of(below, line):
                label.append(below)
                below = next(rest)
            words = [word for part in label for word in part.words]
            line = Line([Segment(words), *line.segments]) if words else line
        merged.append(line)
        line = below
    return merged


def _is_between(above: Sequence[Line], row: Line, below: Line | None) -> bool:
    """Whether a row without a label stands halfway beside the two lines of one."""
    lines = [*above, *([below] if below else [])]
    return row.figures and len(lines) > 1 and all(_is_label_of(line, row) for line in lines)


def _is_label_of(label: Line, amounts: Line) -> bool:
    overlap = min(amounts.bottom, label.bottom) - max(amounts.top, label.top)
    clear = overlap <= 0.2 * min(amounts.height, label.height)
    return not clear and len(label.segments) == 1 and label.x1 < amounts.x0


def word_tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Tables of words: lines whose segments begin below those of the first line, which is the head if only it is
    bold."""
    start = 0
    while start < len(lines):
        lefts = [segment.x0 for segment in lines[start].segments]
        end = start + 1
        while len(lefts) > 1 and end < len(lines) and _goes_on(lines[end - 1], lines[end], lefts):
            end += 1
        if len(lefts) > 1 and sum(len(line.segments) > 1 for line in lines[start:end]) >= LEAST_ROWS:
            bold = [line.bold for line in lines[start:end]]
            rows = _grouped(lines[start:end], lefts)
            headers = int(bold[0] and not any(bold[1:]) and len(rows) > 1)
            yield Span(
                start, end, table_of(rows) if not headers and is_form(rows) else TextTable(rows, headers=headers)
            )
            start = end
        else:
            start += 1


def _goes_on(last: Line, line: Line, lefts: Sequence[float]) -> bool:
    """Whether a line is in the same columns as the line above: each segment begins in one and ends before the next."""
    columns = [_column(segment, lefts) for segment in line.segments]
    ends = [*lefts[1:], float("inf")]
    return (
        line.top - last.bottom <= 2.5 * line.height
        and len(set(columns)) == len(columns)
        and all(n >= 0 and segment.x1 < ends[n] for n, segment in zip(columns, line.segments, strict=True))
    )


def _column(segment: Segment, lefts: Sequence[float]) -> int:
    """The column with the segment's left edge, -1 for none."""
    return next((number for number, left in enumerate(lefts) if abs(segment.x0 - left) <= SAME_LEFT), -1)


def _grouped(lines: Sequence[Line], lefts: Sequence[float]) -> list[list[str]]:
    """Rows of cells; a row begins after a wider gap, or else at a line with a filled first column."""
    gaps = [line.top - last.bottom for last, line in pairwise(lines)]
    loose = [gap > 0.35 * lines[0].height + min(gaps) for gap in gaps]
    apart = min(gaps) > APART * lines[0].height
    rows: list[list[str]] = []
    for index, line in enumerate(lines):
        first = abs(line.segments[0].x0 - lefts[0]) <= SAME_LEFT
        begins = loose[index - 1] if any(loose) and not all(loose) and not apart else first
        if not index or (begins and (first or loose[index - 1])):
            rows.append([""] * len(lefts))
        for segment in line.segments:
            column = _column(segment, lefts)
            rows[-1][column] = f"{rows[-1][column]} {segment.text}".strip()
    return rows
