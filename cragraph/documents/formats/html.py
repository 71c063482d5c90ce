"""HTML: what a reader sees of it: headings, paragraphs, lists, tables and code, in order."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from lxml import etree

from cragraph.documents.clean import DEFAULT, Limits, one_line, read_text
from cragraph.documents.document import Draft, Writer
from cragraph.documents.package import count_of
from cragraph.documents.signs import STRUCK, formula, lowered, raised, settled, tex
from cragraph.documents.table_text import TextTable, is_number, tables_of
from cragraph.language.cells import SEPARATOR
from cragraph.language.facts import dates

_UNREAD_NAMES = "script style noscript template nav svg iframe object button dialog canvas audio video map datalist"
_BLOCK_NAMES = (
    "address article blockquote body center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 "
    "header hgroup hr html legend li main menu ol p pre section summary table tbody td tfoot th thead tr ul"
)
_UNREAD, _BLOCKS = frozenset(_UNREAD_NAMES.split()), frozenset(_BLOCK_NAMES.split())
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])", re.I
)
_HIDDEN_ROLES = frozenset(("navigation", "search", "banner"))
_CHARSET = re.compile(rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I)
_KEPT = (
    "name", "content", "lang", "role", "start", "colspan", "rowspan", "alt", "type", "value", "checked", "selected",
    "href",
)  # fmt: skip
_RAISED = re.compile(r"vertical-align\s*:\s*(?:super|text-top)", re.I)
_STRIKES = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.I)
_STRUCK = frozenset(("del", "s", "strike"))
_FOOTERS = (  # of the page; that of an article is a part of what is said
    "//*[self::footer or @role='contentinfo'][not(ancestor::*[self::main or self::article or self::section"
    " or self::blockquote or @role='main'])]"
)
_RIGHTS = re.compile(r"(?:©|\(c\)|copyright)\s*(?:©\s*)?\d{4}(?:\s*[-–]\s*\d{2,4})?", re.I)
_NAMED = re.compile(r"\w*([.#])([\w-]+)")
_FLEX_STYLE = re.compile(r"^(?!.*flex-direction\s*:\s*column).*display\s*:\s*(?:inline-)?(?:flex|grid)", re.I | re.S)
_APART = re.compile(r"[^\W\d_]{3}[)!.]?\n(?:[\d$€£¥]|[A-Z][a-z])|\d[)%]?\n[A-Z][a-z]{2}|[.!?)]\n[^\W\d_]{2}")
_SHOWN_STYLE = re.compile(r"display\s*:\s*(?!none)|visibility\s*:\s*visible", re.I)
_FILLED = ("text", "number", "date", "email", "tel", "url", "time", "month", "week", "")  # fields whose value is shown
_HEADER = 2000  # characters of a page's header in which a date is looked for
_DEEPEST = 200  # elements within one another that are told apart; what is deeper is read as one run of text


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft."""
    yield draft(read_text(path, limits, _CHARSET), limits)


def draft(markup: str, limits: Limits = DEFAULT) -> Draft:
    """The visible text of a page; from its `main` element where it has one."""
    writer = Writer(limits)
    return writer.draft(write(markup, writer, limits)).titled()


def write(markup: str, writer: Writer, limits: Limits) -> dict[str, str]:
    """Write the visible text of a page; returns the page's metadata."""
    limits.check("characters", len(markup), "characters")
    visible = _Visible(_styled(markup, _HIDDEN_STYLE, _SHOWN_STYLE), _styled(markup, _FLEX_STYLE))
    parser = etree.HTMLParser(target=visible, encoding="utf-8", huge_tree=True)
    page = f"<!doctype html>{markup}".replace("\0", "").encode("utf-8", "replace")
    try:
        root = etree.fromstring(page, parser)
    except etree.XMLSyntaxError:  # nothing but blanks
        return {}
    main = next(iter(root.xpath("//main | //*[@role='main']")), root.find("body"))
    if main is not None:
        for above in _headers(root, main):
            _HtmlReader(writer, above, limits).block(above)
        for beside in main.xpath(".//aside"):
            if _is_links(beside):
                beside.clear(keep_tail=True)
        footers = [footer for footer in root.xpath(_FOOTERS) if not _says_something(footer)]
        for footer in footers:
            footer.clear(keep_tail=True)
        _HtmlReader(writer, main, limits).block(main)
        for below in () if main.tag == "body" else root.xpath(_FOOTERS):
            _HtmlReader(writer, below, limits).block(below)
    return _metadata(root)


class _Visible:
    """Builds the tree of visible elements; elements below the deepest level become part of their parent."""

    def __init__(self, hidden: frozenset[str], flex: frozenset[str]) -> None:
        self._builder = etree.TreeBuilder()
        # The classes and names that the page's own style sheet hides, and whose parts it sets side by side.
        self._hidden, self._flex = hidden, flex
        self._depth = self._hidden_from = 0
        self._names: list[str] = []  # of the elements that are open, as the tree calls them
        self._formula = False  # whether the formula that was begun has been read

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        style, kinds = attributes.get("style", ""), attributes.get("class", "")
        if kinds in ("katex", "MathJax_Preview"):
            self._formula = False
        if not self._hidden_from and tag not in ("html", "head", "body"):
            hidden = "hidden" in attributes or attributes.get("aria-hidden") == "true" or tag in _UNREAD
            hidden = hidden or attributes.get("role") in _HIDDEN_ROLES or bool(_HIDDEN_STYLE.search(style))
            hidden = hidden or (tag in _BLOCKS and bool(_STRIKES.search(style)))
            hidden = hidden or "mwe-math-fallback" in kinds or f"#{attributes.get('id')}" in self._hidden
            hidden = hidden or any(f".{kind}" in self._hidden for kind in kinds.split() if self._hidden)
            # A formula is drawn for the eye and written for the ear, each hidden from the other: one is read.
            written = (tag == "script" and attributes.get("type", "").startswith("math/tex")) or kinds == "katex-html"
            if (self._formula if written else hidden) and "mwe-math-mathml" not in kinds:
                self._hidden_from = self._depth
            tag = "tex" if written and tag == "script" else tag
        if not self._hidden_from:
            self._formula |= tag == "math"
            if self._depth <= _DEEPEST:
                name = "sup" if _RAISED.search(style) or "msupsub" in kinds else _name(tag)
                name = "del" if _STRIKES.search(style) else name
                kept = {key: attributes[key] for key in _KEPT if key in attributes}
                own = {f".{kind}" for kind in kinds.split()} | {f"#{attributes.get('id')}"}
                if _FLEX_STYLE.search(style) or not self._flex.isdisjoint(own):
                    kept[_ROW] = ""
                self._builder.start(name, kept)
                self._names.append(name)
            else:
                self._builder.data(" ")

    def end(self, tag: str) -> None:
        if not self._hidden_from and self._depth <= _DEEPEST:
            self._builder.end(self._names.pop())
        elif self._hidden_from == self._depth:
            self._hidden_from = 0
        self._depth -= 1

    def data(self, text: str) -> None:
        if not self._hidden_from:
            self._builder.data(text)

    def close(self) -> Any:
        return self._builder.close()


def _styled(markup: str, wanted: re.Pattern[str], undone: re.Pattern[str] | None = None) -> frozenset[str]:
    """The classes (`.old`) and names (`#old`) that a page's style sheet gives a style that nothing in the page
    undoes."""
    found: set[str] = set()
    shown = [part.partition("</script")[0] for part in markup.split("<script")[1:]]
    for part in markup.split("<style")[1:]:
        depth = 0
        for rule in part.partition("</style")[0].partition(">")[2].split("}"):
            selectors, _, style = rule.partition("{")
            if wanted.search(style) and not depth and "{" not in style:
                found.update(map(str.strip, selectors.split(",")))
            elif undone and undone.search(style):
                shown.append(selectors)
            depth = max(depth + rule.count("{") - 1, 0)
    names = {name for name in found if _NAMED.fullmatch(name)}
    again = {word for text in shown if names for word in re.findall(r"[\w-]+", text)}
    kept = (match for match in map(_NAMED.fullmatch, names) if match and (not undone or match[2] not in again))
    return frozenset("".join(match.groups()) for match in kept)


def _says_something(footer: Any) -> bool:
    """Whether a page's footer has a figure beside its links and the year of its rights; its links are taken out."""
    for part in list(footer.iterdescendants("ul", "ol", "p", "div")):
        if _is_links(part):
            part.clear(keep_tail=True)
    text = _RIGHTS.sub("", "".join(footer.itertext()))
    return not _is_links(footer) and any(sign.isdigit() for sign in text)


def _headers(root: Any, main: Any) -> list[Any]:
    """The headers above the main part of a page that have its title or its date."""
    headers = (
        [] if main.tag == "body" else root.xpath("//header[not(ancestor::main) and not(ancestor::*[@role='main'])]")
    )
    return [tag for tag in headers if tag.find(".//h1") is not None or any(dates("".join(tag.itertext())[:_HEADER]))]


def _is_links(tag: Any) -> bool:
    """Whether more than half of an element's words are links to other pages."""
    away = (link for link in tag.iter("a") if not str(link.get("href")).startswith(("tel:", "mailto:")))
    links = sum(len("".join(link.itertext())) for link in away)
    return 2 * links > len("".join(tag.itertext()).strip())


def _name(tag: str) -> str:
    """The name of an element as a tree allows it: `o:p` and the like are runs of text."""
    return tag if tag.isalnum() else "span"


class _HtmlReader:
    def __init__(self, writer: Writer, main: Any, limits: Limits) -> None:
        self._writer, self._limits = writer, limits
        self._items: Counter[Any] = Counter()
        self._holders: set[Any] = set()  # the elements with a block somewhere below them
        for tag in main.iter(*_BLOCKS):
            while (tag := tag.getparent()) is not None and tag not in self._holders:
                self._holders.add(tag)

    def block(self, tag: Any) -> None:
        """Write the children of a block element; runs of inline content become paragraphs."""
        inline: list[str] = []
        for part in self._parts(tag):
            if isinstance(part, str):
                inline.append(part)
            else:
                self._flush(inline)
                self._element(part)
        self._flush(inline)

    def _parts(self, tag: Any, inline: Sequence[str] = ()) -> Iterator[Any]:
        """The content of an element in order: text, and the block elements whose names are not in `inline`."""
        text = _squeezed(tag.text)
        for child in tag:
            if child in self._holders or (child.tag in _BLOCKS and child.tag not in inline):
                yield text
                yield child
                text = ""
            else:
                inner = _inline(child, text[-_BEFORE:]) + (" " if child.tag in _BLOCKS else "")
                text += _between(child, text[-_BEFORE:], inner) + inner
            text += _squeezed(child.tail)
        yield text

    def _element(self, tag: Any) -> None:
        if tag.tag in _HEADINGS:
            self._writer.heading(_spaced(tag), int(tag.tag[1]))
        elif tag.tag == "pre":
            self._writer.code("".join(tag.itertext()))
        elif tag.tag == "table" and not _is_layout(tag):
            for part in read_tables(tag, self._limits):
                self._writer.table(part)
        elif tag.tag == "li":
            self._item(tag)
        elif cells := self._cells(tag):
            self._writer.paragraph(SEPARATOR.join(cells))
        elif tag.tag not in _STRUCK:
            self.block(tag)

    def _cells(self, tag: Any) -> list[str]:
        """The texts of a few short parts that the page sets side by side, if an element has nothing else."""
        blocks = tag.get(_ROW) is not None and all(child.tag in _SIDES and child not in self._holders for child in tag)
        loose = (tag.text or "").strip() or any((child.tail or "").strip() for child in tag)
        cells = [text for child in tag if (text := _spaced(child))] if blocks and not loose else []
        return cells if 1 < len(cells) <= _MOST_CELLS and all(len(cell) <= _LONGEST_CELL for cell in cells) else []

    def _item(self, tag: Any) -> None:
        """Write a list item: its own words first, then the nested blocks."""
        parts = list(self._parts(tag, ("p", "div")))
        marker, parent = "-", tag.getparent()
        if parent is not None and parent.tag == "ol":
            marker = f"{count_of(parent, 'start', least=0) + self._items[parent]}."
            self._items[parent] += 1
        self._writer.item(settled("".join(part for part in parts if isinstance(part, str))), marker)
        for part in parts:
            if not isinstance(part, str):
                self._element(part)

    def _flush(self, inline: list[str]) -> None:
        text = settled("".join(inline))
        inline.clear()
        self._writer.paragraph("\n".join(" ".join(line.split()) for line in text.split("\v")))


_SIDES = frozenset(("div", "p", "dt", "dd", "span"))
_MOST_CELLS, _LONGEST_CELL = 4, 80
_ROW = "row"  # the attribute of an element whose parts are set side by side
_JOINED = frozenset(("sup", "sub", "br", "img", "wbr"))
_BEFORE = 8  # signs before a raised one that are looked at


def _inline(tag: Any, before: str = "") -> str:
    """Text of inline content behind `before`, with white space as one space.

    `br` is a vertical tab, which becomes a line end, and struck words are a sign that `settled` reads.
    """
    if tag.tag == "br":
        return "\v"
    if tag.tag == "img":
        return f" {tag.get('alt') or ''} "
    if tag.tag in ("math", "tex"):
        return formula(tag) if tag.tag == "math" else tex(tag.text or "")
    if tag.tag in ("input", "option"):
        return _field(tag)
    if tag.tag in _STRUCK:
        return STRUCK
    text = _squeezed(tag.text)
    for child in tag:
        inner = _inline(child, (before + text)[-_BEFORE:] if len(text) < _BEFORE else text[-_BEFORE:])
        inner = f" {inner} " if child.tag in _BLOCKS else inner
        text += _between(child, text[-_BEFORE:], inner) + inner + _squeezed(child.tail)
    if tag.tag in ("sup", "sub"):
        return raised(text, before) if tag.tag == "sup" else lowered(text, before)
    return text


def _between(tag: Any, before: str, text: str) -> str:
    """What divides the text of an inline element from the signs before it: the page sets the two side by side, or
    another element ends right before and the signs begin another word or a figure."""
    parent, left = tag.getparent(), tag.getprevious()
    if tag.tag in _JOINED or not before.strip() or not text.strip():
        return ""
    if parent is not None and parent.get(_ROW) is not None:
        return SEPARATOR
    touching = left is not None and not left.tail and left.tag not in _JOINED
    return " " if touching and _APART.search(f"{before}\n{text[:_BEFORE]}") else ""


def _field(tag: Any) -> str:
    """The visible content of a form field: its value, a tick, or the choice."""
    kind, value = tag.get("type") or "", tag.get("value") or ""
    if tag.tag == "option":
        return f" {_squeezed(tag.text).strip()} " if tag.get("selected") is not None else ""
    if kind in ("checkbox", "radio"):
        return " ☒ " if tag.get("checked") is not None else " ☐ "
    return f" {value} " if kind in _FILLED else ""


def _squeezed(text: str | None) -> str:
    return re.sub(r"\s+", " ", text) if text else ""


def _spaced(tag: Any) -> str:
    return " ".join(settled(_inline(tag)).split())


def _metadata(root: Any) -> dict[str, str]:
    metas = reversed(root.findall(".//meta"))
    stated = {str(tag.get("name") or "").lower(): one_line(tag.get("content") or "") for tag in metas}
    metadata = {name: stated[name] for name in ("author", "description", "keywords", "date") if stated.get(name)}
    metadata["title"] = one_line(root.findtext(".//title") or "")
    metadata["language"] = root.get("lang") or ""
    return {name: text for name, text in metadata.items() if text}


def _is_layout(table: Any) -> bool:
    """Whether a table only arranges a page: it nests tables or headings, or has a single column or cell."""
    nested = next(table.iterdescendants("table", "h1", "h2", "h3", "h4"), None)
    if nested is not None or table.get("role") in ("presentation", "none"):
        return True
    rows = list(table.iter("tr"))
    widest = max((len(row.findall("td")) + len(row.findall("th")) for row in rows), default=0)
    return widest < 2 or (len(rows) < 2 and table.find(".//th") is None)


def read_tables(table: Any, limits: Limits) -> Iterator[TextTable]:
    """The cells of a table, or of each part of a form; a heading over several columns is repeated in each column, any
    other cell stands once."""
    rows = [(row, list(row.iterchildren("td", "th"))) for row in table.iter("tr")]
    # The rows at the top that the page itself marks as headings.
    marks = (cs and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in cs)) for row, cs in rows)
    marked = sum(1 for _ in takewhile(bool, marks))
    grid: list[list[str]] = []
    from_above: dict[int, tuple[int, str]] = {}
    for number, (_, given) in enumerate(rows):
        cells: list[str] = []
        for cell in given:
            _fill(cells, from_above)
            text = _spaced(cell)
            across, down = count_of(cell, "colspan", most=limits.fields), count_of(cell, "rowspan", most=len(rows))
            every = number < marked or (number == 0 and across <= len(rows[-1][1]) and not is_number(text))
            for step in range(min(across, limits.fields + 1 - len(cells))):
                shown = text if step == 0 or every else ""
                if down > 1:
                    from_above[len(cells)] = (down - 1, shown)
                cells.append(shown)
        _fill(cells, from_above)
        limits.check("fields", sum(map(bool, cells)), "columns")
        grid.append(cells)
    caption = table.find("caption")
    return tables_of(grid, marked, "" if caption is None else _spaced(caption))


def _fill(cells: list[str], from_above: dict[int, tuple[int, str]]) -> None:
    """Add the cells that reach down from the rows above."""
    while len(cells) in from_above:
        left, text = from_above.pop(len(cells))
        if left > 1:
            from_above[len(cells)] = (left - 1, text)
        cells.append(text)
