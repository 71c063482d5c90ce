"""Blocks of a text: what line breaks, lists, headings, tables and code fences separate.

Sentences are sought inside blocks.
"""

import re
from collections.abc import Iterator
from typing import Final

from cragraph.text.lexicon import words_of

_FENCE: Final = re.compile(r"[ \t]{0,8}(```+|~~~+)")
_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•‣◦▪●○■–—·][ \t]+|\(?\d{1,3}[.)][ \t]+|\(?[A-Za-z]\)[ \t]+"
    r"|\([ivx]{1,5}\)[ \t]+|\[\^?\d{1,3}\]:?[ \t]+[A-Z\"“])"
)
_ALONE: Final = re.compile(
    r"[ \t]{0,3}#{1,6}[ \t]"  # heading
    r"|[ \t]*\*\*[^*\n]+\*\*:?[ \t]*$|[ \t]*__[^_\n]+__:?[ \t]*$"  # bold line as a heading
    r"|[ \t]*[-=_*~]{3,}[ \t]*$"  # rule or underline
)
_ROW: Final = re.compile(r"[ \t]*\||[^|\n]*[^|\s][ \t]\|[ \t][^|\n]*\|")
_FIELD: Final = r"[^\W\d_][^;:|\n]{0,40}: [^;|\n]+"
_FIELDS: Final = re.compile(rf"[ \t]*{_FIELD}(?:(?:;|[ \t]\|)[ \t]{_FIELD})+$")
_COLUMNS: Final = re.compile(r"\S(?:\t+[ \t]*|[ ]{2,})(?=[^\s])")
_QUOTE: Final = re.compile(r"[ \t]*>")
_LAST_WORD: Final = re.compile(r"([^\W_]+)\W*$")
_CONNECTORS: Final = words_of("connectors")
_SHORT_LINE: Final = 40

Block = tuple[int, int, bool]
"""Start, end, and whether sentences are to be sought inside."""


def blocks(text: str) -> Iterator[Block]:
    """Blocks of a text in order: paragraphs, headings, list items, table rows, code fences.

    A line break inside a paragraph is soft (the sentence goes on) unless the line is short, does not end in a word
    that needs another, and the next one starts afresh with a capital or a digit.
    """
    fences = _fences(text)
    start = -1
    previous = (0, 0)
    skip_to = -1
    for left, right in _lines(text):
        if left < skip_to:
            continue
        line = text[left:right]
        fence_end = fences.get(left)
        if start >= 0 and (not line.strip() or fence_end or _breaks(text, previous, (left, right))):
            yield start, previous[1], True
            start = -1
        if fence_end:
            yield left, fence_end, False
            skip_to = fence_end
        elif not line.strip():
            continue
        elif _is_row(line):
            yield left, right, False
        elif _ALONE.match(line):
            yield left, right, True
        else:
            start = left if start < 0 else start
            previous = (left, right)
    if start >= 0:
        yield start, previous[1], True


def _lines(text: str) -> Iterator[tuple[int, int]]:
    left = 0
    while left < len(text):
        right = text.find("\n", left)
        right = len(text) if right < 0 else right
        yield left, right
        left = right + 1


def _fences(text: str) -> dict[int, int]:
    """Where each closed code fence starts, with where it ends; an unclosed fence is an ordinary line."""
    found: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    if "```" not in text and "~~~" not in text:
        return found
    for left, right in _lines(text):
        match = _FENCE.match(text, left, right)
        if not match:
            continue
        if opened is None:
            opened = (left, match.group(1)[0])
        elif match.group(1)[0] == opened[1]:
            found[opened[0]] = right
            opened = None
    return found


def _is_row(line: str) -> bool:
    """Whether a line is a table row: pipes between cells, a name before each cell, or columns set apart by blanks."""
    if ("|" in line and _ROW.match(line)) or (": " in line and _FIELDS.match(line)):
        return True
    if "\t" not in line and "  " not in line:
        return False
    gaps = len(_COLUMNS.findall(line.strip()))
    return "\t" in line.strip() or (gaps >= 2 and any(letter.isdigit() for letter in line))


def _breaks(text: str, previous: tuple[int, int], line: tuple[int, int]) -> bool:
    """Whether the line break between two lines of text is a hard one."""
    new = text[line[0] : line[1]]
    if _ITEM.match(new) or _ALONE.match(new) or _is_row(new):
        return True
    old = text[previous[0] : previous[1]].strip()
    if bool(_QUOTE.match(new)) != old.startswith(">"):
        return not old.startswith(">")
    first = new.lstrip(" \t>*_\"'“‘(")[:1]
    if not (first.isupper() or first.isdigit()):
        return False
    if old.endswith((":", "：")):
        return True
    if len(old) >= _SHORT_LINE or old.endswith((",", ";", "-", "–", "—", "(", "&", "/", "$", "€", "£")):
        return False
    last = _LAST_WORD.search(old[-60:])
    return not (last and last.group(1).lower() in _CONNECTORS)
