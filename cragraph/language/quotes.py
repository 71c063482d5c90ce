"""Finding a model's quote in a text, exactly or nearly."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, terms

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_MARKERS: Final = re.compile(r"\s*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]")
_ELLIPSIS: Final = re.compile(r"\s*(?:\.\.\.|…|\[\.\.\.\]|\[…\])\s*")
_SAME: Final = {
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2212": "-",
    "\u2039": "<", "\u203a": ">", "\u00a6": "|", "\u00a0": " ",
}  # fmt: skip
"""Characters that models and prompts write for one another."""

_RAISED: Final = frozenset("¹²³⁰⁴⁵⁶⁷⁸⁹⁺⁻")  # compatibility forms would merge them with the figure before
LONGEST_QUOTE: Final = 700
CLOSE: Final = 0.8  # least share of a claim's words in the sentence that it rephrases
RELATED: Final = 0.4  # least share of a claim's words in the answer for the claim to be one of it


@lru_cache(maxsize=256)
def folded(text: str) -> tuple[str, Sequence[int]]:
    """A text in the form for comparison (lower case, plain quotes, single spaces, no citation markers), with the offset
    of each character."""
    characters: list[str] = []
    at: list[int] = []
    skipped = {offset for marker in _MARKERS.finditer(text) for offset in range(*marker.span())}
    for offset, original in enumerate(text):
        if offset in skipped:
            continue
        behind = original in _RAISED and bool(characters) and (characters[-1].isdigit() or characters[-1] in _RAISED)
        form: Literal["NFC", "NFKC"] = "NFC" if behind else "NFKC"
        for character in unicodedata.normalize(form, _SAME.get(original, original)).lower():
            if unicodedata.category(character) in ("Cf", "Cc") and not character.isspace():
                continue
            if character.isspace():
                if not characters or characters[-1] == " ":
                    continue
                character = " "
            characters.append(character)
            at.append(offset)
    return "".join(characters), at


def find(needle: str, text: str, after: int = 0) -> tuple[int, int] | None:
    """The offsets of `needle` in the text, ignoring case, spacing, kinds of quotes and citation markers if needed."""
    exact = text.find(needle, after)
    if exact >= 0 and needle:
        return exact, exact + len(needle)
    wanted = folded(needle)[0].strip(" \"'")
    hay, at = folded(text)
    for bare in (wanted, wanted.rstrip(" .;,:!?\"'")):
        start = hay.find(bare, bisect_left(at, after)) if bare else -1
        if start >= 0:
            return at[start], at[start + len(bare) - 1] + 1
    return None


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The offsets of a quote; the pieces of a quote with an ellipsis must follow in order within `LONGEST_QUOTE`."""
    pieces = [piece for piece in _ELLIPSIS.split(quote.strip()) if _WORD.search(piece)]
    spans: list[tuple[int, int]] = []
    for piece in pieces:
        span = find(piece, text, spans[-1][1] if spans else 0)
        if span is None:
            return None
        spans.append(span)
    if not spans or (len(spans) > 1 and spans[-1][1] - spans[0][0] > LONGEST_QUOTE):
        return None
    return spans[0][0], spans[-1][1]


def coverage(wanted: Sequence[str], text: str) -> float:
    """Share of the wanted terms that occur in a text, 0..1; 0.0 for no terms."""
    present = set(terms(text))
    return sum(word in present for word in wanted) / len(wanted) if wanted else 0.0


def placed(claim: str, answer: str, after: int = 0) -> tuple[int, int] | None:
    """The offsets of a claim in its answer, or of the sentence that it rephrases; None if there is neither."""
    bare = claim.strip().rstrip(".;,:!?")
    span = find(bare, answer, after) or find(bare, answer)
    if span is not None:
        return span
    wanted = content_words(claim)
    scored = [(coverage(wanted, answer[start:end]), start, end) for start, end in sentence_spans(answer)]
    share, start, end = max(scored, key=lambda item: (item[0], item[1] >= after), default=(0.0, 0, 0))
    if share < RELATED:
        return None
    return _trimmed(wanted, answer, start, end) if share >= CLOSE else (start, end)


def _trimmed(wanted: Sequence[str], answer: str, start: int, end: int) -> tuple[int, int]:
    """The part of a sentence between the first and the last word of the claim."""
    known = set(wanted)
    hits = [match for match in _WORD.finditer(answer, start, end) if known.intersection(terms(match[0]))]
    return (hits[0].start(), hits[-1].end()) if hits else (start, end)
