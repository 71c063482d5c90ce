"""HTML tables as a grid of cells, spans filled in."""

from bs4.element import Tag

from cragraph.retrieval.documents.tables import Table, guess_headers

_WIDEST = 1000


def is_layout(table: Tag) -> bool:
    """Whether a table only arranges a page: it nests tables or headings, or has a single column or cell."""
    if table.get("role") in ("presentation", "none") or table.find(["table", "h1", "h2", "h3", "h4"]):
        return True
    rows = table.find_all("tr")
    widest = max((len(row.find_all(["td", "th"], recursive=False)) for row in rows), default=0)
    return widest < 2 or (len(rows) < 2 and table.find("th") is None)


def read_table(table: Tag) -> Table:
    """The cells of a table; a cell over several columns heads each of them, in the body it stands once."""
    rows = table.find_all("tr")
    marked = _marked_headers(table)
    grid: list[list[str]] = []
    held: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(rows):
        cells: list[str] = []
        for cell in row.find_all(["td", "th"], recursive=False):
            _fill(cells, held)
            text = " ".join(cell.get_text(" ").split())
            across, down = _count(cell, "colspan"), _count(cell, "rowspan")
            for step in range(min(across, _WIDEST - len(cells))):
                shown = text if step == 0 or number < marked else ""
                if down > 1:
                    held[len(cells)] = (down - 1, shown)
                cells.append(shown)
        _fill(cells, held)
        grid.append(cells)
    kept = [cells for cells in grid if any(cells)]
    marked = sum(any(cells) for cells in grid[:marked])
    caption = table.find("caption")
    return Table(
        kept,
        headers=marked or guess_headers(kept),
        caption=" ".join(caption.get_text(" ").split()) if isinstance(caption, Tag) else "",
    )


def _marked_headers(table: Tag) -> int:
    """How many rows at the top the page itself marks as headings."""
    count = 0
    for row in table.find_all("tr"):
        cells = row.find_all(["td", "th"], recursive=False)
        in_head = row.parent is not None and row.parent.name == "thead"
        if not cells or not (in_head or all(cell.name == "th" for cell in cells)):
            break
        count += 1
    return count


def _fill(cells: list[str], held: dict[int, tuple[int, str]]) -> None:
    while len(cells) in held and len(cells) < _WIDEST:
        column = len(cells)
        left, text = held.pop(column)
        if left > 1:
            held[column] = (left - 1, text)
        cells.append(text)


def _count(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return max(1, min(int(value), _WIDEST)) if value.isdigit() else 1
