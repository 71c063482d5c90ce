"""Sentences of a text with exact offsets: of prose, lists, headings, tables, code and markdown alike."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from cragraph.language.lexicon import OPENERS, words_of
from cragraph.language.markers import CITATION

_MARK: Final = re.compile(r"[.!?…‽؟।॥۔。！？｡]+")
_LEADER: Final = re.compile(
    r"(?:(?<=\s)|(?<=\w))\.(?:[ \t]?\.){3,}(?=[ \t]*(?:[$€£¥\d]|[A-Z]{3} ?\d))|(?:[ \t]?\.){6,}"
)
"""Dot leaders from an entry to its price or page; they end no sentence."""
_WIDE: Final = "。！？｡"
_TAIL: Final = re.compile(
    rf"[\"'”’»«)\]}}*_`›」』）]*(?P<cite>(?:[ \t]?{CITATION})+(?![\w.,;:])|(?<=[a-z]\.)\d{{1,2}}(?=\s+[A-Z]))?"
    rf"(?:(?=\s|$)|(?<=[a-z][a-z][.!?])(?=(?:The|This|It|In|They|He|She|We|However)\s))"
)
_WIDE_TAIL: Final = re.compile(rf"[」』）”’\"]*(?:[ \t]?{CITATION})*")
_PROTECTED: Final = re.compile(
    r"``[^\n]{1,300}?``|`[^`\n]{1,300}`"
    r"|\((?:[^()\n]|\([^()\n]{0,80}\)){0,250}\)"
    r"|\[[^\[\]\n]{4,250}\]"
    r"|(?<![^\s(\[—–:])\"(?=\S)[^\"\n]{1,250}(?<=\S)\""
    r"|“[^“”]{1,250}”|„[^„“”]{1,250}[“”]|«[^«»]{1,250}»|「[^「」]{1,250}」|『[^『』]{1,250}』|（[^（）]{1,250}）"
)
_NEXT: Final = re.compile(r"\s*[\"'“‘„«(\[*_`¿¡-]*([^\W\d_]+(?:['’][^\W\d_]+)?)?(?=(\.?))")
_TOKEN: Final = re.compile(r"[^\s\"'“”‘’«»„()\[\]*_`]*$")
_REACH: Final = 48  # characters around a mark that are examined, which bounds the work for each
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?")
"""``U.S``, ``e.g``, ``z.B``, ``J.-C``: letters with full stops between them (the last one removed)."""
_TITLES: Final = words_of("titles")
_NUMBERED_BY: Final = words_of("numbered_by")
_ENDS_OR_NOT: Final = words_of("ends_or_not")
_CLOCK: Final = words_of("clock")
_AFTER_CLOCK: Final = words_of("after_clock")
_LOWER_OPENERS: Final = words_of("lower_openers")
_BEFORE_GERMAN_ORDINAL: Final = words_of("before_german_ordinal")
_AFTER_GERMAN_ORDINAL: Final = words_of("after_german_ordinal")
_BULLET: Final = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})$")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of a text, in order, disjoint, together covering all that is not blank.

    A heading, a list item's sentence, a table row and a fenced code block are sentences of their own. Bullets,
    closing quotes and citation markers after the full stop belong to the sentence they stand with. Quotations and
    brackets of up to 250 characters are not split. Linear in the length of the text.
    """
    spans: list[tuple[int, int]] = []
    for start, end, prose in _blocks(text):
        spans += (_sentences if prose else _trimmed)(text, start, end)
    return spans


LONGEST: Final = 900
"""Characters of a piece at most, as readers of claims and windows may take quadratic time."""


def pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The offsets of a sentence, cut at blanks if it is longer than `LONGEST`."""
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        cut = cut if cut > 0 else start + LONGEST
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


STRETCH: Final = 160
"""Characters of neighbouring sentences that are compared as one text in meaning; a longer sentence stands alone,"""
COMPARED: Final = 400
"""and so many of its characters are compared."""


def stretch_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of stretches of neighbouring sentences, each short enough for one vector."""
    found: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if found and end - found[-1][0] <= STRETCH:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return [(start, min(end, start + COMPARED)) for start, end in found]


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split one paragraph, heading or list item."""
    protected = [match.span() for match in _PROTECTED.finditer(text, start, end)]
    starts = [opening for opening, _ in protected]
    begin = start
    leaders = [match.end() for match in _LEADER.finditer(text, start, end)]
    for mark in _MARK.finditer(text, start, end):
        if leaders and mark.end() <= leaders[-1]:
            inside = leaders[bisect_left(leaders, mark.end())]
            if text[mark.start() : inside].strip(" .\t") == "":
                continue
        wide = mark.group()[-1] in _WIDE
        tail = (_WIDE_TAIL if wide else _TAIL).match(text, mark.end(), end)
        if not tail or tail.end() == end:
            continue
        place = bisect_right(starts, mark.start()) - 1
        if place >= 0 and tail.end() < protected[place][1]:
            continue
        if wide or _ends_sentence(text, begin, mark, tail, end):
            yield from _trimmed(text, begin, tail.end())
            begin = tail.end()
    yield from _trimmed(text, begin, end)


def _ends_sentence(text: str, begin: int, stop: re.Match[str], tail: re.Match[str], end: int) -> bool:
    """Whether a sentence that began at `begin` ends at this mark; `end` is the end of its paragraph."""
    horizon = min(end, tail.end() + _REACH)
    following = _NEXT.match(text, tail.end(), horizon)
    word = (following.group(1) or "") if following else ""
    opens = word in OPENERS and not (following and following.group(2))
    token = _TOKEN.search(text, max(begin, stop.start() - _REACH), stop.start())
    before = token.group().lstrip("$€£#~<>") if token else ""
    mark = stop.group()
    rest = text[tail.end() : horizon].lstrip(" \t\n*_`#§([")
    if word[:1].islower() and not _may_open_in_lower_case(word, before, mark):
        return False
    if mark == ".":
        if _numbers_what_follows(text, begin, stop.start(), before):
            return False
        if tail.group("cite"):
            return True
        if before.isdigit() and len(before) <= 2 and word:
            return not _german_ordinal(text, begin, stop.start() - len(before), word)
        return _abbreviation_ends(before, word, opens, rest)
    if mark in ("...", "…"):
        return word != "I" and not rest[:1].isdigit()
    return opens or before not in ("Yahoo", "Jeopardy")


def _may_open_in_lower_case(word: str, before: str, mark: str) -> bool:
    if any(letter.isupper() for letter in word[1:]):
        return True  # iPhone, eBay, macOS
    return mark not in ("...", "…") and word in _LOWER_OPENERS and len(before) > 3 and before.isalnum()


def _numbers_what_follows(text: str, begin: int, dot: int, before: str) -> bool:
    """Whether ``1.`` or ``a.`` numbers what follows: at the start of a sentence or after a colon."""
    if dot - begin > _REACH and not before.isdigit():
        return False
    ahead = text[max(begin, dot - _REACH) : dot].strip(" \t\r\n*_>-•")
    if dot - begin <= _REACH and ahead in ("", before) and (not before or _BULLET.match(before)):
        return True
    return before.isdigit() and len(before) <= 2 and ahead[: -len(before)].rstrip().endswith(":")


def _abbreviation_ends(before: str, word: str, opens: bool, rest: str) -> bool:
    """Whether a full stop after the token `before` ends a sentence that `word` would follow."""
    key = before.lower()
    if key in _TITLES:
        return False
    if key in _NUMBERED_BY:
        numbered = (
            rest[:1].isdigit() or (len(word) == 1 and not opens) or (word.isupper() and set(word) <= set("IVXLC"))
        )
        return not numbered
    if key in _CLOCK:
        return bool(word) and word.lower() not in _AFTER_CLOCK
    if key in _ENDS_OR_NOT:
        return opens
    if _DOTTED.fullmatch(before) or (len(before) == 1 and before.isalpha()):
        return opens
    return True


def _german_ordinal(text: str, begin: int, number: int, word: str) -> bool:
    """Whether a number with a full stop is a German ordinal: ``am 3. Oktober``, ``der 2. Weltkrieg``."""
    if word.lower() in _AFTER_GERMAN_ORDINAL:
        return True
    previous = text[max(begin, number - 12) : number].split()
    return bool(previous) and previous[-1].lower() in _BEFORE_GERMAN_ORDINAL and word not in OPENERS


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = start + len(piece.rstrip())
    if left < right:
        yield left, right


# -- blocks: what line breaks, lists, headings, tables and code fences separate ------------------------------------

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
STAMP: Final = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|\[?\d{1,2}(?:([./-])\d{1,2}\1| [A-Z][a-z]{2,8},? )\d{2,4},? \d{1,2}[:.]\d\d\b"
)
"""What a line of a log or a message of a chat begins with."""
_ROW: Final = re.compile(r"[ \t]*\||[^|\n]*[^|\s][ \t]\|[ \t][^|\n]*\|")
_FIELD: Final = r"[^\W\d_][^;:|\n]{0,40}: [^;|\n]+"
_FIELDS: Final = re.compile(rf"[ \t]*{_FIELD}(?:(?:;|[ \t]\|)[ \t]{_FIELD})+$")
_COLUMNS: Final = re.compile(r"\S(?:\t+[ \t]*|[ ]{2,})(?=[^\s])")
_QUOTE: Final = re.compile(r"[ \t]*>")
_LAST_WORD: Final = re.compile(r"([^\W_]+)\W*$")
_CONNECTORS: Final = words_of("connectors")
_SHORT_LINE: Final = 40


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Blocks of a text in order, each with whether sentences are to be sought inside: paragraphs, headings, list items,
    table rows, code fences.

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
    """The start and end of each closed code fence; an unclosed fence is an ordinary line."""
    fences: dict[int, int] = {}
    opened, mark = -1, ""
    for left, right in _lines(text) if "```" in text or "~~~" in text else ():
        fence = _FENCE.match(text, left, right)
        if fence and opened < 0:
            opened, mark = left, fence[1][0]
        elif fence and fence[1][0] == mark:
            fences[opened] = right
            opened = -1
    return fences


def _is_row(line: str) -> bool:
    """Whether a line is a table row: pipes between cells, a name before each cell, or columns separated by blanks."""
    if ("|" in line and _ROW.match(line)) or (": " in line and _FIELDS.match(line)):
        return True
    if "\t" not in line and "  " not in line:
        return False
    gaps = len(_COLUMNS.findall(line.strip()))
    return "\t" in line.strip() or (gaps >= 2 and any(letter.isdigit() for letter in line))


def _breaks(text: str, previous: tuple[int, int], line: tuple[int, int]) -> bool:
    """Whether the line break between two lines of text is a hard one."""
    new = text[line[0] : line[1]]
    if _ITEM.match(new) or _ALONE.match(new) or STAMP.match(new) or _is_row(new):
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
