"""The language of a text: by its script, and by small words from the lexicon.

The networks of this package read English. A text without small words, such as a name or a row of figures, counts as
English: any other language would be a guess.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from cragraph.language.lexicon import LEXICON, listed

ENGLISH: Final = "English"
READ: Final = 2000  # characters of a text that are examined
ENOUGH: Final = 2
"""Least small words of a foreign language in a text of that language; a single one is often part of a name."""

_SMALL: Final[Mapping[str, frozenset[str]]] = {name: listed(words) for name, words in LEXICON["languages"].items()}
_ASKED: Final[Mapping[str, frozenset[str]]] = {name: listed(words) for name, words in LEXICON["asked_in"].items()}
_OPENED: Final[Mapping[str, frozenset[str]]] = {name: listed(words) for name, words in LEXICON["opened_in"].items()}
_BOTH: Final = listed(LEXICON["both"]["words"])
_WORD: Final = re.compile(r"(?<!\w)(?![cdjlmnst](?!['’]))[^\W\d_]+(?!\w|: )")
"""A word, but no part of a name such as `volume_l`, no label, and no single letter before a French apostrophe."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_SIGN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SCRIPTS: Final = tuple(
    (name, re.compile(f"[{letters}]"))
    for name, letters in {
        "Korean": r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
        "Japanese": r"\u3040-\u30ff",
        "Chinese": r"\u3400-\u9fff",
        "Greek": r"\u0370-\u03ff",
        "Hebrew": r"\u0590-\u05ff",
        "Thai": r"\u0e00-\u0e7f",
        "a language in Cyrillic script": r"\u0400-\u052f",
        "a language in Arabic script": r"\u0600-\u06ff\u0750-\u077f",
        "a language in Devanagari": r"\u0900-\u097f",
    }.items()
)
_SPANISH: Final = re.compile("[¿¡]")


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """The English name of a text's language; `ENGLISH` without signs of another.

    Foreign small words count only in lower case, because "Los Angeles" and "8 p.m. ET" are English, and there must be
    more of them than English ones. Without any English one, a single foreign word beside a foreign letter or opening
    word is enough; so is a word that opens a question.
    """
    text = text[:READ]
    latin, letters = len(_LATIN.findall(text)), len(_LETTER.findall(text))
    # A Korean, Chinese or Japanese sign counts as three letters.
    if latin < letters - latin + 2 * len(_SIGN.findall(text)):
        counts = {name: len(script.findall(text)) for name, script in _SCRIPTS}
        counts["Japanese"] *= 3  # Japanese has Chinese signs among its own
        return max(counts, key=lambda name: counts[name]) if any(counts.values()) else "a language in another script"
    words = Counter(written := _WORD.findall(text))
    english = Counter({word: count for word, count in _folded(words).items() if word in _SMALL[ENGLISH]})
    votes = {name: _votes(name, words, english, written, text) for name in _SMALL.keys() - {ENGLISH}}
    best = max(votes, key=lambda name: (votes[name], name))
    return best if votes[best] >= ENOUGH else ENGLISH


def _folded(words: Mapping[str, int]) -> Counter[str]:
    folded: Counter[str] = Counter()
    for word, count in words.items():
        folded[word.casefold()] += count
    return folded


def _votes(name: str, words: Mapping[str, int], english: Mapping[str, int], written: list[str], text: str) -> int:
    """The number of words of a language; 0 if there are as many English ones."""
    own = _SMALL[name] & words.keys()
    against = sum(count for word, count in english.items() if word not in _SMALL[name])
    votes = sum(words[word] for word in own - _SMALL[ENGLISH] - _BOTH)
    votes += ENOUGH * any(word.casefold() in _ASKED.get(name, ()) for word in written[:2])
    votes += ENOUGH * bool(name == "Spanish" and _SPANISH.search(text))
    if not against:
        votes += sum(words[word] for word in own & _BOTH) if votes else 0
        votes += any(word in words for word in _OPENED.get(name, ()))
        votes += any(not word.isascii() for word in words) if votes else 0
    return votes if votes > against else 0


def seems_english(text: str) -> bool:
    """Whether a text has no signs of another language than English."""
    return language_of(text) == ENGLISH


UNREAD: Final = "which the built-in networks do not read"
"""The note on a language that was not read."""
LEFT_OUT: Final = "were left out"
"""The note on passages that were left out because of their language."""
SET_MODEL: Final = "set one as `model`"
LET_IT_JUDGE: Final = "let the model that wrote this judge it as well (`judge` llm), or set a larger one"


def unread(question: str, texts: Sequence[str], *, advice: str = SET_MODEL) -> str:
    """A note on the parts of question and passages in another language than English, with what reads them; else empty.

    `advice` says how to use a chat model for them.
    """
    asked, found = language_of(question), Counter(map(language_of, texts))
    others = [name for name, _ in found.most_common() if name != ENGLISH]
    left_out = ": only shared words were compared"
    if asked != ENGLISH:
        others, what = [asked], f"The question is in {asked}"
    elif not others:
        return ""
    elif found[ENGLISH]:
        count = len(texts) - found[ENGLISH]
        what = f"{count} of the {len(texts)} passages that were found {'is' if count == 1 else 'are'} in "
        what, left_out = what + " and ".join(others[:2]), f", and {LEFT_OUT}"
    else:
        what = f"The passages that were found are in {' and '.join(others[:2])}"
    known = " and ".join(others[:2])
    return f"{what}, {UNREAD}{left_out}. A chat model that knows {known} reads it: {advice}."
