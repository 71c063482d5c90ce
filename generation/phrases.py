"""A question in the words of the texts that may answer it, and its misspelt words put right."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from cragraph.text.lexicon import SAME
from cragraph.text.words import content_words, slipped

_REWORDED: Final = tuple(
    (re.compile(asked, re.I), normalised, re.compile(rf"\b(?:{said})\b", re.I))
    for asked, normalised, said in (
        (r"^how heavy (is|are|was|were)\b", r"what \1 the weight of", "weigh|weight|weighs"),
        (r"^how much (?:does|do|did) (.+?) weigh\b", r"what is the weight of \1", "weight"),
        (r"^how (?:tall|high) (is|are|was|were)\b", r"what \1 the height of", "height"),
        (r"^how wide (is|are|was|were)\b", r"what \1 the width of", "width"),
        (r"^how long (is|are|was|were)\b", r"what \1 the length of", "length"),
        (r"^how (?:big|large) (is|are|was|were)\b", r"what \1 the size of", "size|area|surface"),
        (r"^how expensive (is|are|was|were)\b", r"what \1 the price of", "price|costs?"),
        (r"^how fast (is|are|was|were)\b", r"what \1 the speed of", "speed"),
        (r"^who (?:did not|didn[’']t|could not|couldn[’']t) (?:come|attend|make it|show up|appear)(?: (?:to|at))?\b",
         "who sent apologies for", "apologies"),
        (r"^who (?:was|were|is) (?:absent|missing|away|not (?:there|present)|excused)(?: (?:from|at))?\b",
         "who sent apologies", "apologies"),
        (r"^who missed\b", "who sent apologies for", "apologies"),
        (r"^who (?:was|were) (?:there|present)\b|^who (?:came|attended|took part)(?: (?:to|in))?\b", "who was present",
         "present"),
    )
)  # fmt: skip
"""Questions with a verb where forms, data sheets and minutes have a noun: with the noun, and the noun."""


def reworded(question: str, texts: str) -> str:
    """The question in the words of the texts: their noun for what it asks, their word where they lack its own."""
    for asked, normalised, noun in _REWORDED:
        if asked.search(question) and noun.search(texts):
            return asked.sub(normalised, question, count=1)
    written = {word.casefold() for word in re.findall(r"[^\W\d_]{3,}", texts)}
    stems = {stem for word in written for stem in content_words(word)}

    def put(match: re.Match[str]) -> str:
        word = match.group()
        if word not in SAME or not stems.isdisjoint(content_words(word)):
            return word
        return next((other for other in SAME[word] if other in written), word)

    return re.sub(r"\b[a-z]{3,}\b", put, question)


def corrected(question: str, texts: str, known: Callable[[str], bool]) -> str:
    """The question with its misspelt words put right: a word that nobody knows becomes the nearest one of the texts."""
    written = Counter(re.findall(r"[^\W\d_]{4,}", texts.casefold()))

    def put(match: re.Match[str]) -> str:
        word = match.group().casefold()
        if word in written or known(word):
            return match.group()
        near = [other for other in written if slipped(word, other)]
        return max(near, key=lambda other: (other[0] == word[0], written[other]), default=match.group())

    return re.sub(r"(?<![\w-])[^\W\d_]{4,}(?![\w-])", put, question)


def normalised(text: str) -> str:
    """The words of a text in lower case with single blanks between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))
