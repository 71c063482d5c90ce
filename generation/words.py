"""The content words of a text, brought to a common form so that "increased" meets "increase"."""

import re
from typing import Final

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")

_STOPWORDS: Final = """
    a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most much must my no nor not now of off
    on once only or other our out over own per same shall she should so some such than that the their them
    then there these they this those through to too under until up upon us very was we were what when where
    which while who whom whose why will with would you your many long please tell give explain describe name
    list called mean fy 's s t der das den dem des ein eine einer eines einem einen und oder ist sind
    waren wird werden wurde wurden haben hatte in im am an auf aus bei mit nach von vom zu zum zur
    für über unter wie was wer wen wem wann wo warum wieso weshalb welche welcher welches viele viel nicht
    auch als sich es er sie wir ihr
"""
STOPWORDS: Final = frozenset(_STOPWORDS.split())

# Longest first: the first that leaves a stem of three letters or more is taken off.
_ENDINGS: Final = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "ed",
    "es",
    "ly",
    "s",
    "e",
    "y",
)


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, with repetitions; numbers keep their digits only."""
    found = (match.group().lower() for match in _WORD.finditer(text))
    return [stem(word) for word in found if word not in STOPWORDS and (len(word) > 1 or word.isdigit())]


def stem(word: str) -> str:
    """A crude common form of a lower-case word; wrong as a linguist's stem, good enough to match inflections."""
    if word[0].isdigit():
        return word.replace(",", "").rstrip(".")
    word = re.sub(r"['’]s?$", "", word)
    for ending in _ENDINGS:
        # "loss" must meet "losses".
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
