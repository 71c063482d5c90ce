"""Markdown, kept as written; rows of tables get their column names, front matter is metadata, comments are dropped."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any, Final

import yaml

from cragraph.documents.clean import DEFAULT, Limits, clean
from cragraph.documents.document import LONGEST_TITLE, Block, BlockKind, Draft, Heading, Writer, untaken
from cragraph.documents.formats.html import write
from cragraph.documents.signs import STRUCK, lowered, raised, settled, tex
from cragraph.documents.table_text import TextTable, header_line, row_lines
from cragraph.errors import DocumentError
from cragraph.trust import check_yaml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_INLINE_TAGS = "b|i|u|em|strong|span|mark|small|big|font|kbd|ins|abbr|br"
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_PIECES = re.compile(
    r"^[ ]{0,3}(?P<fence>(?P<sign>[`~])(?P=sign){2,})[^\n]*$.*?(?:^[ ]{0,3}(?P=fence)(?P=sign)*[ \t]*$|\Z)"
    r"|(?<!`)(?P<run>`{1,9})(?!`).*?(?<!`)(?P=run)(?!`)|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<table><table\b(?:(?!</?table\b).)*</table>)"
    r"|~~(?=[^\s~])(?P<struck>[^~\n]{1,500}?)(?<=\S)~~"
    r"|<(?P<tag>del|s|strike|sup|sub)\b[^<>]{0,200}>(?P<inner>[^<>]{0,500})</(?P=tag)>"
    r"|(?<=\w)\^(?P<up>[\w+-]{1,9})\^"
    r"|(?<![\\$\w])\$\$(?P<display>[^$]{1,2000})\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])(?P<tex>[^$\n]{0,500}[^\s$\\])\$(?![\w$])"
    rf"|</?(?:{_INLINE_TAGS})\b[^<>]{{0,500}}>|&(?:[a-z]{{2,8}}|\#\d{{2,5}});",
    re.M | re.S | re.I,
)
_CELL_EDGE = re.compile(r"(?<!\\)\|")
FRONT_LIMIT: Final = 1 << 16  # characters of front matter at most: reading it takes a hundred times as long as text


@cache
def _parsers() -> "tuple[MarkdownIt, MarkdownIt]":
    """The parsers of blocks and of inline text, loaded with the first Markdown file."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline"), MarkdownIt("commonmark")


def draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """Map markdown: headings, paragraphs, items, table rows and code."""
    metadata, body = front_matter(text, limits)
    body = _PIECES.sub(_plain_piece, body)
    if STRUCK in body:
        body = "\n".join(map(settled, body.split("\n")))
    copy = _Copy(body)
    title = ""
    table: list[tuple[int, int]] = []
    for token in _parsers()[0].parse(body):
        if token.type == "heading_open" and token.map is not None:
            heading = copy.heading(token)
            title = title or (heading if token.tag == "h1" and len(copy.headings) == 1 else "")
        elif token.type == "tr_open" and token.map is not None:
            table.append((token.map[0], token.map[1]))
        elif token.type == "table_close":
            copy.table(table, limits)
            table = []
        elif token.type in ("fence", "code_block"):
            copy.code(token)
        elif token.type == "html_block" and token.map is not None:
            copy.html(token, limits)
        elif token.type == "paragraph_open":
            copy.block(token, "item" if token.level and token.type == "paragraph_open" else "text")
    if title:
        metadata.setdefault("title", title)
    return Draft(copy.finish(), tuple(copy.blocks), tuple(copy.headings), (), metadata)


def _plain_piece(match: re.Match[str]) -> str:
    """The replacement for a piece of Markdown: code stays, comments go; an unclosed comment hides the rest."""
    if match["fence"] or match["run"]:
        return match[0]
    if match["table"]:
        return re.sub(r"\n\s*(?=\n)", "", match[0])  # a blank line would end it
    if match["struck"] or (match["tag"] or "sup").lower() not in ("sup", "sub"):
        return STRUCK
    before = match.string[max(0, match.start() - 8) : match.start()]
    if match["tag"] or match["up"]:
        moved = lowered if (match["tag"] or "").lower() == "sub" else raised
        return moved(match["inner"] or match["up"] or "", before)
    if source := match["display"] or match["tex"]:
        return tex(source)
    return clean(unescape(match[0])) if match[0][0] == "&" else " " * match[0].lower().startswith("<br")


class _Copy:
    """The text, copied line by line with tables rewritten."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
        self._parts: list[str] = []
        self._done = 0
        self._shift = self._tables = 0
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []

    def block(self, token: "Token", kind: BlockKind) -> int:
        start, end = self._span(token.map or (0, 0))
        if start < end:
            self.blocks.append(Block(start + self._shift, end + self._shift, kind))
        return start + self._shift

    def heading(self, token: "Token") -> str:
        start, end = self._span(token.map or (0, 0))
        [inline] = _parsers()[1].parseInline(self._text[start:end].strip("#=- \n\t")[: LONGEST_TITLE + 1])
        title = _plain(inline)
        if len(title) > LONGEST_TITLE or not title:
            self.block(token, "text")
            return ""
        self.headings.append(Heading(self.block(token, "heading"), int(token.tag[1]), title))
        return title

    def code(self, token: "Token") -> None:
        start, end = self._span(token.map or (0, 0))
        for match in re.finditer(r"[^\n]*\S[^\n]*", self._text[start:end]):
            first, last = start + match.start() + self._shift, start + match.end() + self._shift
            self.blocks.append(Block(first, last, "code"))

    def table(self, rows: Sequence[tuple[int, int]], limits: Limits) -> None:
        """Write the rows of a table, the first being its heading, so that every cell names its column."""
        grid = [self._cells(*self._span(row)) for row in rows]
        limits.check("fields", max(map(len, grid)), "columns")
        start, end = self._span((rows[0][0], rows[-1][1]))
        self._parts.append(self._text[self._done : start])
        table = TextTable(grid, headers=1)
        header = header_line(table)
        place = start + self._shift
        self._tables += 1
        for line, cells in row_lines(table):
            block = Block(place, place + len(line), "row", header if cells else "", cells=cells, table=self._tables)
            self.blocks.append(block)
            self._parts.append(line + "\n")
            place += len(line) + 1
        self._parts[-1] = self._parts[-1][:-1]
        self._shift = place - 1 - end
        self._done = end

    def html(self, token: "Token", limits: Limits) -> None:
        """Write a block of HTML like an HTML page."""
        start, end = self._span(token.map or (0, 0))
        writer = Writer(limits)
        write(self._text[start:end], writer, limits)
        read, place = writer.draft(), start + self._shift
        self._parts += [self._text[self._done : start], read.text]
        self.blocks += [
            replace(b, start=b.start + place, end=b.end + place, table=b.table and b.table + self._tables)
            for b in read.blocks
        ]
        self._tables += max((b.table for b in read.blocks), default=0)
        self.headings += [replace(h, start=h.start + place) for h in read.headings]
        self._shift, self._done = place + len(read.text) - end, end

    def finish(self) -> str:
        return "".join([*self._parts, self._text[self._done :]])

    def _cells(self, start: int, end: int) -> list[str]:
        line = self._text[start:end].lstrip("> \t").rstrip()
        cells = _CELL_EDGE.split(line.removeprefix("|"))
        if len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        return [" ".join(cell.replace("\\|", "|").split()) for cell in cells]

    def _span(self, lines: Sequence[int]) -> tuple[int, int]:
        start, end = (self._lines[min(line, len(self._lines) - 1)] for line in lines)
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return start, end


def front_matter(text: str, limits: Limits = DEFAULT) -> tuple[dict[str, Any], str]:
    """The YAML mapping between `---` lines at the top, and the text without it; any other YAML stays text."""
    match = _FRONT.match(text)
    if not match:
        return {}, text
    if len(match[1]) > FRONT_LIMIT:
        raise DocumentError(f"has {len(match[1]):,} characters of front matter; wanted {FRONT_LIMIT:,} at most.")
    try:
        check_yaml(match[1], aliases=True)
        node = yaml.compose(match[1], yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            return {}, text
        limits.check("fields", _leaves(node, limits.fields), "values of front matter or more")
        values = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, OverflowError):  # a date such as 2023-13-45 is a ValueError
        return {}, text
    metadata: dict[str, Any] = {}
    for key, value in values.items():
        plain = value if isinstance(value, str | int | float | list) else str(value)
        metadata[untaken(str(key).lower())] = "" if value is None else plain
    return metadata, text[match.end() :]


def _leaves(node: Any, most: int) -> int:
    """The number of values of a YAML tree with its aliases expanded, counted to just over `most`."""
    count = 0
    waiting = [node]
    while waiting and count <= most:
        node = waiting.pop()
        count += 1
        if isinstance(node, yaml.MappingNode):
            waiting.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
    return count


def _plain(inline: "Token") -> str:
    parts = (child.content for child in inline.children or [] if child.type in ("text", "code_inline", "softbreak"))
    return " ".join(" ".join(part or " " for part in parts).split()) if inline.children else inline.content
