"""Word lists, kept as data in `lexicon.toml`."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

YEAR: Final = r"(?:19|20)\d\d"
"""A year as questions, headings and tables write it; `facts` reads older ones too."""
LEXICON: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def listed(words: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(words.split())


def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return listed(LEXICON[name])


def meanings(table: Mapping[str, str]) -> dict[str, str]:
    """Each word of a table with the key of its line; ``_`` in a word is a blank."""
    return {word.replace("_", " "): key for key, words in table.items() for word in words.split()}


def pattern(name: str) -> re.Pattern[str]:
    """A regular expression of the lexicon."""
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


SAME: Final = _same()  # synonyms: the words on one side of an opposition
