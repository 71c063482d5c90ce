"""Plain text, kept as it is but for columns of tabs, which become tables; paragraphs, items and headings are found."""

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

from cragraph.documents.clean import DEFAULT, Limits
from cragraph.documents.document import Block, Draft, Heading
from cragraph.documents.table_text import row_lines, table_of_tabs

PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
ITEM = re.compile(r"^[ \t]*(?:[-*+•‣▪◦]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+\S", re.M)
_NUMBERED = re.compile(r"^(\d+(?:\.\d+)*)\.?[ \t]+(\S.*)$")
_NAMED = re.compile(r"^(?:chapter|part|section|article|appendix)\s+([ivxlcdm]+|\d+|[a-z])\b", re.I)

BELOW_ALL = 6  # the level of a question that heads its answer


def draft(text: str, limits: Limits = DEFAULT) -> Draft:
    """Map plain text without changing it."""
    blocks: list[Block] = []
    headings: list[Heading] = []
    text = with_rows(text) if "\t" in text else text
    paragraphs = list(PARAGRAPH.finditer(text))
    questions = {m.start() for m in paragraphs if m[0].rstrip().endswith("?") and len(m[0]) <= 120 and "\n" not in m[0]}
    for match in paragraphs:
        # Several questions on separate lines are a list of frequent questions: each heads its answer.
        level = heading_level(match[0]) or (BELOW_ALL if len(questions) > 1 and match.start() in questions else 0)
        if level:
            headings.append(Heading(match.start(), level, " ".join(match[0].split())))
            blocks.append(Block(match.start(), match.end(), "heading"))
        else:
            blocks.extend(paragraph_blocks(text, match.start(), match.end()))
    return Draft(text, tuple(blocks), tuple(headings))


def with_rows(text: str) -> str:
    """The text with columns of tabs as rows of named cells."""
    parts: list[str] = []
    for tabbed, group in groupby(text.split("\n"), lambda line: "\t" in line.strip()):
        lines = [*group]
        table = table_of_tabs(lines) if tabbed else None
        parts += ["", *(line for line, _ in row_lines(table, labelled=False)), ""] if table else lines
    return "\n".join(parts)


def heading_level(paragraph: str) -> int:
    """The level of one short line that is numbered (`2.1 Scope` is 2), named (`Chapter 3`) or in capitals, else 0."""
    line = paragraph.strip()
    if "\n" in line or len(line) > 80 or line[-1] in ".!?,;:":
        return 0
    numbered = _NUMBERED.match(line)
    if numbered and numbered[2][0].isupper() and len(numbered[2].split()) <= 10:
        return numbered[1].count(".") + 1
    if _NAMED.match(line):
        return 1
    letters = [char for char in line if char.isalpha()]
    return 1 if len(letters) > 3 and all(char.isupper() for char in letters) else 0


def paragraph_blocks(text: str, start: int, end: int) -> Iterator[Block]:
    """A paragraph as one block, or as one block per item if its lines begin with list marks."""
    cuts = [start + match.start() for match in ITEM.finditer(text[start:end])]
    if not cuts or cuts[0] > start:
        yield Block(start, cuts[0] - 1 if cuts else end, "text")
    for cut, following in pairwise([*cuts, end + 1]):
        yield Block(cut, following - 1, "item")
