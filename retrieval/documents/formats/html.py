"""HTML: what a reader sees of it: headings, paragraphs, lists, tables and code, in order."""

import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.dammit import UnicodeDammit
from bs4.element import Comment, NavigableString, PageElement, PreformattedString, Tag

from cragraph.retrieval.documents.clean import encoding_of
from cragraph.retrieval.documents.document import Draft, Writer
from cragraph.retrieval.documents.tables import Table, guess_headers

_UNREAD_NAMES = (
    "script style noscript template nav footer aside form svg math iframe object button select head dialog canvas "
    "audio video map"
)
_UNREAD = frozenset(_UNREAD_NAMES.split())
_BLOCK_NAMES = (
    "address article blockquote body center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 "
    "header hgroup hr html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>", re.IGNORECASE)
_DEEPEST = 400


def read(path: Path) -> Iterator[Draft]:
    """The whole file as one draft."""
    data = path.read_bytes()
    encoding = encoding_of(path)
    if encoding not in ("utf-8", "utf-8-sig") and not encoding.startswith(("utf-16", "utf-32")):
        declared = UnicodeDammit(data, is_html=True).declared_html_encoding
        encoding = declared if declared and _fits(data, declared) else encoding
    yield draft(data.decode(encoding, errors="replace"))


def draft(markup: str) -> Draft:
    """The visible text of a page; from its `main` element where it has one."""
    # Without a tag the parser takes it for a path, with a declaration for XML, and warns of both.
    markup = _DECLARATION.sub("", markup)
    soup = BeautifulSoup(markup if "<" in markup else f"<p>{markup}", "lxml")
    metadata = _metadata(soup)
    _drop_unseen(soup)
    writer = Writer()
    main = soup.find("main") or soup.find(role="main") or soup.body or soup
    if isinstance(main, Tag):
        _Reader(writer).block(main, 0)
    result = writer.draft(metadata)
    if "title" not in metadata and result.headings:
        metadata["title"] = result.headings[0].title
    return result


class _Reader:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def block(self, tag: Tag, depth: int) -> None:
        """Write the children of a block element; runs of inline content become paragraphs."""
        if depth > _DEEPEST:
            self._writer.paragraph(tag.get_text(" "))
            return
        inline: list[str] = []
        for child in tag.children:
            if isinstance(child, Tag) and (child.name in _BLOCKS or _holds_block(child)):
                self._flush(inline)
                self._element(child, depth + 1)
            else:
                inline.append(_inline(child))
        self._flush(inline)

    def _element(self, tag: Tag, depth: int) -> None:
        name = tag.name
        if name in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._writer.heading(tag.get_text(" "), int(name[1]))
        elif name == "pre":
            self._writer.code(tag.get_text())
        elif name == "table" and not is_layout(tag):
            self._writer.table(read_table(tag))
        elif name == "li" and not _holds_block(tag):
            self._writer.item(_inline(tag), _marker(tag))
        elif name == "li":
            self._item(tag, depth)
        else:
            self.block(tag, depth)

    def _item(self, tag: Tag, depth: int) -> None:
        """An item with blocks in it: its own words first, then what is nested."""
        inline: list[str] = []
        nested: list[Tag] = []
        for child in tag.children:
            own = not isinstance(child, Tag) or child.name in ("p", "div") or child.name not in _BLOCKS
            if isinstance(child, Tag) and (not own or _holds_block(child)):
                nested.append(child)
            else:
                inline.append(_inline(child) + (" " if isinstance(child, Tag) and child.name in _BLOCKS else ""))
        self._writer.item("".join(inline), _marker(tag))
        for child in nested:
            self._element(child, depth + 1)

    def _flush(self, inline: list[str]) -> None:
        text = "".join(inline)
        inline.clear()
        self._writer.paragraph("\n".join(" ".join(line.split()) for line in text.split("\v")))


def _inline(node: PageElement) -> str:
    """Text of inline content with white space as one space and `br` as a vertical tab, which becomes a line end."""
    if isinstance(node, NavigableString):
        return "" if isinstance(node, PreformattedString) else re.sub(r"\s+", " ", node)
    if not isinstance(node, Tag):
        return ""
    if node.name == "br":
        return "\v"
    if node.name == "img":
        return f" {node.get('alt') or ''} "
    return "".join(_inline(child) for child in node.children)


def _holds_block(tag: Tag) -> bool:
    return tag.find(list(_BLOCKS)) is not None


def _marker(item: Tag) -> str:
    parent = item.parent
    if parent is None or parent.name != "ol":
        return "-"
    start = str(parent.get("start") or "1")
    before = len(item.find_previous_siblings("li"))
    return f"{(int(start) if start.isdigit() else 1) + before}."


def _drop_unseen(soup: BeautifulSoup) -> None:
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for tag in soup.find_all(_is_unseen):
        if not tag.decomposed:
            tag.decompose()


def _is_unseen(tag: Tag) -> bool:
    if tag.name in _UNREAD or tag.has_attr("hidden") or tag.get("aria-hidden") == "true":
        return True
    if str(tag.get("role", "")) in ("navigation", "search", "banner", "contentinfo"):
        return True
    style = tag.get("style")
    return bool(style and _HIDDEN_STYLE.search(str(style)))


def _metadata(soup: BeautifulSoup) -> dict[str, str]:
    found: dict[str, str] = {}
    if soup.title and soup.title.get_text().strip():
        found["title"] = " ".join(soup.title.get_text().split())
    for name in ("author", "description", "keywords", "date"):
        tag = soup.find("meta", attrs={"name": re.compile(f"^{name}$", re.IGNORECASE)})
        content = str(tag.get("content") or "").strip() if isinstance(tag, Tag) else ""
        if content:
            found[name] = content
    html = soup.find("html")
    if isinstance(html, Tag) and html.get("lang"):
        found["language"] = str(html["lang"])
    return found


def _fits(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return False
    return True


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
