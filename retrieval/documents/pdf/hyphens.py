"""Words that came in two pieces: cut at the end of a line, or where a letter was lost."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"(\w+)-$")
# `pre- and post-tax` keeps its hyphen and its space.
_JOINERS = frozenset({"and", "or", "to", "und", "oder", "et"})
_FIRST = re.compile(r"^[^\W\d_]+")


# What is left of `affect` where the second f was lost; `of` and `if` are words.
_LOST_F = re.compile(r"\b(?!(?:of|if)\b)(\w+f) ([a-z]\w*)", re.IGNORECASE)


class Vocabulary:
    """The words that a document writes whole; they decide how words that came in two are put together."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._words: set[str] = set()
        for line in lines:
            self._words.update(word.casefold() for word in _WORD.findall(line))

    def joined(self, left: str, right: str) -> str:
        """Two lines as one, with a space between them unless a word is cut there.

        The hyphen at the end of `left` goes where the document writes the word without it, or writes neither half
        alone. It stays where the document writes it, before capitals and digits, and where both halves are words.
        """
        last, first = _LAST.search(left), _FIRST.match(right)
        if not last or (first and first[0] in _JOINERS):
            return f"{left} {right}"
        if not first or not first[0][0].islower():
            return left + right
        head, tail = last[1].casefold(), first[0].casefold()
        if head + tail in self._words:
            return left[:-1] + right
        if f"{head}-{tail}" in self._words or (head in self._words and tail in self._words):
            return left + right
        return left[:-1] + right

    def mended(self, text: str) -> str:
        """The text with the second f put back where one was lost, if the document writes the word elsewhere."""
        return _LOST_F.sub(self._whole, text)

    def _whole(self, match: re.Match[str]) -> str:
        word = f"{match[1]}f{match[2]}"
        return word if word.casefold() in self._words else match[0]
