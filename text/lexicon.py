"""Word lists, kept as data in `lexicon.toml`, and whether a text is English by them."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

LEXICON: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written as text, which reads better than a column of quoted strings."""
    return frozenset(words.split())


def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return listed(LEXICON[name])


def meanings(table: Mapping[str, str]) -> dict[str, str]:
    """Each word of a table with the key of its line; ``_`` in a word is a blank."""
    return {word.replace("_", " "): key for key, words in table.items() for word in words.split()}


def pattern(name: str) -> re.Pattern[str]:
    """A regular expression of the lexicon: how something is said."""
    return re.compile(LEXICON["patterns"][name].replace("\n", ""))


STOPWORDS: Final = words_of("stopwords")
OPENERS: Final = words_of("openers")
OPPOSITES: Final = tuple(LEXICON["opposites"].split())
ANTONYMS: Final = tuple(LEXICON["antonyms"].split())


def _same() -> dict[str, list[str]]:
    same: dict[str, list[str]] = {}
    for side in " ".join(ANTONYMS).replace("/", " ").split():
        for word in side.split(","):
            same.setdefault(word, []).extend(other for other in side.split(",") if other != word)
    return same


SAME: Final = _same()  # words that mean the same: those on one side of an opposition

_ENGLISH: Final = words_of("english")
_OTHERS: Final = words_of("foreign") - _ENGLISH
_ASKING: Final = words_of("foreign_questions")
_OPENERS: Final = words_of("foreign_openers")
_WORD: Final = re.compile(r"[^\W\d_]+")
FOREIGN: Final = 2
"""Small words of another language from which on a text may be in that one; a single one is often a name's."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def seems_english(text: str) -> bool:
    """Whether a text is English, by its small words; a text without any of them counts as English.

    A text in another script is not. Small words of other languages count in lower case only, because "Los Angeles" and
    "8 p.m. ET" are English. Where there is no English one at all, a single foreign one beside a foreign letter or
    opening word is enough; so is a word that opens a question.
    """
    if 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text)):
        return False
    words = Counter(written := _WORD.findall(text))
    asks = bool(written) and written[0].casefold() in _ASKING
    foreign = sum(words[word] for word in _OTHERS) + FOREIGN * asks
    english = sum(count for word, count in words.items() if word.casefold() in _ENGLISH)
    if foreign < FOREIGN and not english:
        opened = any(word in _OPENERS for word in words)
        return foreign + opened + any(not word.isascii() for word in words) < FOREIGN
    return foreign < FOREIGN or foreign <= english
