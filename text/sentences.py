"""Sentences of a text with exact offsets: of prose, lists, headings, tables, code and markdown alike."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from cragraph.text.blocks import blocks
from cragraph.text.lexicon import OPENERS, words_of
from cragraph.text.markers import CITATION

_MARK: Final = re.compile(r"[.!?…‽؟।॥۔。！？｡]+")
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
_REACH: Final = 48
"""How far to look around a mark for the words beside it; it bounds the work done for each."""
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
    for start, end, prose in blocks(text):
        if prose:
            spans.extend(_sentences(text, start, end))
        else:
            spans.extend(_trimmed(text, start, end))
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split one paragraph, heading or list item."""
    protected = [match.span() for match in _PROTECTED.finditer(text, start, end)]
    starts = [opening for opening, _ in protected]
    begin = start
    for mark in _MARK.finditer(text, start, end):
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
    """Whether a sentence that began at `begin` ends at this mark; `end` is where its paragraph ends."""
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
