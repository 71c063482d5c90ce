"""Cells of lines, and the columns they fall into."""

from collections.abc import Sequence
from dataclasses import dataclass

from cragraph.retrieval.documents.pdf.lines import Line
from cragraph.retrieval.documents.tables import is_number

Columns = Sequence[tuple[float, float]]
"""Left and right edges, from left to right; the first holds the labels."""

_SIGNS = frozenset({"$", "€", "£", "¥", "US$", "C$", "A$", "(", "$("})
_TAILS = frozenset({")", "%", ")%", "%)"})


@dataclass(frozen=True, slots=True)
class Cell:
    """Text between two edges, in points from the left."""

    text: str
    x0: float
    x1: float


def cells_of(line: Line) -> list[Cell]:
    """The segments of a line, with currency signs, brackets and percent signs joined to their amounts.

    A currency sign widens its amount to where the sign stands, which is where its column begins.
    """
    cells: list[Cell] = []
    held: Cell | None = None
    for part in _parts(line):
        if part.text in _TAILS and cells and held is None:
            cells[-1] = Cell(cells[-1].text + part.text, cells[-1].x0, part.x1)
        elif part.text in _SIGNS:
            if held is not None:
                cells.append(held)
            held = part
        elif held is not None:
            joined = is_number(part.text)
            if not joined:
                cells.append(held)
            cells.append(Cell(held.text + part.text, held.x0, part.x1) if joined else part)
            held = None
        else:
            cells.append(part)
    return cells if held is None else [*cells, held]


def _parts(line: Line) -> list[Cell]:
    """Segments, with an amount at the end of a segment of amounts in a cell of its own (`$ 689 $ 775`)."""
    parts: list[Cell] = []
    for segment in line.segments:
        words = segment.words
        if len(words) > 1 and all(is_number(word.text) or word.text in _SIGNS | _TAILS for word in words):
            parts.extend(Cell(word.text, word.x0, word.x1) for word in words)
        elif len(words) > 1 and words[-1].text in _SIGNS:
            # A label that runs up to the currency sign of the first amount.
            parts.append(Cell(" ".join(word.text for word in words[:-1]), words[0].x0, words[-2].x1))
            parts.append(Cell(words[-1].text, words[-1].x0, words[-1].x1))
        elif segment.text:
            parts.append(Cell(segment.text, segment.x0, segment.x1))
    return parts


def columns_of(rows: Sequence[Sequence[Cell]]) -> Columns:
    """The columns of rows, from left to right: the stretches that cells cover, cut where few rows cross.

    The first column ends where the first amounts begin, so that one long label does not swallow a column.
    """
    amounts = [cell for row in rows for cell in row[1:] if is_number(cell.text)]
    rest = [cell for row in rows for cell in row[1:] if not is_number(cell.text)]
    columns = _merged(amounts)
    for cell in rest:
        if not any(cell.x0 < right and cell.x1 > left for left, right in columns):
            columns = sorted([*columns, (cell.x0, cell.x1)])
    if not columns:
        return []
    first = columns[0][0]
    labels = [row[0] for row in rows if row and row[0].x0 < first]
    if not labels:
        return columns
    return [(min(cell.x0 for cell in labels), min(max(cell.x1 for cell in labels), first)), *columns]


def same_columns(columns: Columns, others: Columns) -> bool:
    """Whether two tables have the same columns, labels aside: as many, each over its counterpart."""
    return len(columns) == len(others) > 1 and all(
        left < other[1] and right > other[0] for (left, right), other in zip(columns[1:], others[1:], strict=True)
    )


def _merged(cells: Sequence[Cell]) -> list[tuple[float, float]]:
    """Stretches covered by cells, those that overlap as one."""
    merged: list[tuple[float, float]] = []
    for cell in sorted(cells, key=lambda cell: cell.x0):
        if merged and cell.x0 < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], cell.x1))
        else:
            merged.append((cell.x0, cell.x1))
    return merged


def place(row: Sequence[Cell], columns: Columns, *, spread: bool = False) -> list[str]:
    """A row with every cell in the column it overlaps most, or lies nearest to.

    With `spread`, a cell over several columns (a heading of a group) stands in each of them.
    """
    placed = [""] * len(columns)
    for cell in row:
        over = [number for number, (left, right) in enumerate(columns) if cell.x0 < right and cell.x1 > left]
        if spread and len(over) > 1 and 0 in over and cell.x0 <= columns[0][0] + 1:
            over = [0]
        if not (spread and len(over) > 1):
            over = [_nearest(cell, columns)]
        for number in over:
            placed[number] = f"{placed[number]} {cell.text}".strip()
    return placed


def _nearest(cell: Cell, columns: Columns) -> int:
    def distance(number: int) -> tuple[float, float]:
        left, right = columns[number]
        overlap = min(cell.x1, right) - max(cell.x0, left)
        return (-max(overlap, 0.0), abs((cell.x0 + cell.x1) / 2 - (left + right) / 2))

    return min(range(len(columns)), key=distance)
