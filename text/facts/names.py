"""Names: sequences of capitalised words, and acronyms."""

import re
from collections.abc import Iterator
from typing import Final

from cragraph.text.facts.fact import Fact
from cragraph.text.lexicon import OPENERS, listed

_WORD: Final = r"[A-ZÀ-ÖØ-Þ][\w’'&-]*(?:\.(?=[A-Z])[A-Z])*"
_NAME: Final = re.compile(rf"{_WORD}(?:\s+(?:(?:of|de|van|von|der|la|le|del|di|bin|al|and|&|the)\s+){{0,2}}{_WORD})*")
_STARTS: Final = re.compile(r"(?:^|[.!?:]\s+|\n\s*(?:[-*•]\s+)?|[\"“]\s*)$")
_ACRONYM: Final = re.compile(r"^[A-Z][A-Z0-9&-]{1,7}$")
_SMALL: Final = frozenset(
    listed(
        """
    of de van von der la le del di bin al and & the
    """
    )
)
_NOT_NAMES: Final = frozenset(
    listed(
        """
    i january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday mr mrs ms dr q1 q2 q3 q4 fy usd eur gbp yes no inc corp ltd co
    """
    )
) | {word.lower() for word in OPENERS}


def names(text: str) -> Iterator[Fact]:
    """The names of a text; the first word of a sentence counts only where more of the name follows it."""
    for match in _NAME.finditer(text):
        tokens = match.group().split()
        start = match.start()
        opening = bool(_STARTS.search(text, max(0, start - 6), start)) or start == 0
        while tokens and (_plain(tokens[0]) in _NOT_NAMES or tokens[0].lower() in _SMALL):
            start = text.index(tokens[0], start) + len(tokens.pop(0))
            start += len(text[start : match.end()]) - len(text[start : match.end()].lstrip())
            opening = False
        if not tokens or (opening and len(tokens) == 1 and not _marked(tokens[0])):
            continue
        words = tuple(_plain(token) for token in tokens if token.lower() not in _SMALL)
        words = tuple(word for word in words if word and word not in _NOT_NAMES)
        if words and not all(word.isdigit() for word in words):
            said = text[start : match.end()]
            yield Fact("name", said, start, match.end(), words=words, unit="acronym" if is_acronym(said) else "")


def is_acronym(word: str) -> bool:
    """Whether a word is written in capitals: ``IBM``, ``NASA``, ``R&D``."""
    return bool(_ACRONYM.match(word))


def initials(words: tuple[str, ...]) -> str:
    """The first letters of the words of a name, in lower case."""
    return "".join(word[0] for word in words)


def _marked(token: str) -> bool:
    """Whether a word would be a name even where every word is capitalised: an acronym, or capitals or digits inside."""
    return any(letter.isupper() or letter.isdigit() for letter in token[1:])


def _plain(token: str) -> str:
    return re.sub(r"[’']s?$", "", token).strip("’'&-.").lower()
