"""Markdown: kept as written, mapped by a CommonMark parser; front matter becomes metadata, comments are dropped."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from cragraph.retrieval.documents.clean import clean, read_text
from cragraph.retrieval.documents.document import Block, Draft, Heading
from cragraph.retrieval.documents.tables import SEPARATOR

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCED = r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
_TICKED = r"(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)"
_COMMENT = re.compile(rf"(?P<code>{_FENCED}|{_TICKED})|<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE)
_ROW_EDGES = re.compile(r"^\s*\|?|\|?\s*$")


def read(path: Path) -> Iterator[Draft]:
    """The whole file as one draft."""
    yield draft(clean(read_text(path)))


def draft(text: str) -> Draft:
    """Map markdown: headings, paragraphs, items, table rows and code."""
    metadata, body = front_matter(text)
    body = _COMMENT.sub(lambda match: match["code"] or "", body)
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    lines = _line_starts(body)
    blocks: list[Block] = []
    headings: list[Heading] = []
    header = ""
    in_head = False
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.type in ("thead_open", "thead_close"):
            in_head = token.type == "thead_open"
        if token.map is None:
            continue
        start, end = _span(body, lines, token.map)
        if start >= end:
            continue
        if token.type == "heading_open" and following is not None:
            headings.append(Heading(start, int(token.tag[1]), _plain(following)))
            blocks.append(Block(start, end, "heading"))
        elif token.type == "tr_open":
            cells = _ROW_EDGES.sub("", body[start:end]).split("|")
            line = SEPARATOR.join(cell.strip() for cell in cells if cell.strip())
            header = line if in_head else header
            blocks.append(Block(start, end, "row", "" if in_head else header))
        elif token.type in ("fence", "code_block"):
            blocks.extend(_code(body, start, end))
        elif token.type == "paragraph_open":
            blocks.append(Block(start, end, "item" if token.level else "text"))
        elif token.type == "html_block":
            blocks.append(Block(start, end, "text"))
    if headings and "title" not in metadata and headings[0].level == 1:
        metadata["title"] = headings[0].title
    return Draft(body, tuple(blocks), tuple(headings), (), metadata)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The YAML mapping between `---` lines at the top, and the text without it; what is not a mapping stays text."""
    match = _FRONT.match(text)
    if not match:
        return {}, text
    try:
        values = yaml.safe_load(match[1])
    except yaml.YAMLError:
        return {}, text
    if not isinstance(values, dict):
        return {}, text
    named = {str(key).lower(): _scalar(value) for key, value in values.items()}
    return named, text[match.end() :]


def _scalar(value: Any) -> Any:
    return value if isinstance(value, str | int | float | list) else "" if value is None else str(value)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts.extend(match.end() for match in re.finditer("\n", text))
    starts.append(len(text))
    return starts


def _span(text: str, lines: Sequence[int], lines_of: Sequence[int]) -> tuple[int, int]:
    start, end = lines[min(lines_of[0], len(lines) - 1)], lines[min(lines_of[1], len(lines) - 1)]
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _plain(inline: Token) -> str:
    parts = (child.content for child in inline.children or [] if child.type in ("text", "code_inline", "softbreak"))
    return " ".join(" ".join(part or " " for part in parts).split()) if inline.children else inline.content


def _code(text: str, start: int, end: int) -> Iterator[Block]:
    for match in re.finditer(r"[^\n]*\S[^\n]*", text[start:end]):
        yield Block(start + match.start(), start + match.end(), "code")
