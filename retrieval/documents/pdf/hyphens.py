"""Words that were cut at the end of a line."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+)-$")
_FIRST = re.compile(r"^[^\W\d_]+")


class Vocabulary:
    """The words that a document writes on one line; they decide whether a hyphen at a line end belongs to the word."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._words: set[str] = set()
        for line in lines:
            self._words.update(word.casefold() for word in _WORD.findall(line))

    def joined(self, left: str, right: str) -> str:
        """`left`, which ends in a hyphen, with `right` put on.

        The hyphen goes where the document writes the word without, or writes neither half alone; it stays where the
        document writes it with, before capitals and digits, and where both halves are words.
        """
        last, first = _LAST.search(left), _FIRST.match(right)
        if not last or not first:
            return left + right if _LAST.search(left) or left.endswith("--") else f"{left} {right}"
        if not first[0][0].islower():
            return left + right
        head, tail = last[1].casefold(), first[0].casefold()
        if head + tail in self._words:
            return left[:-1] + right
        if f"{head}-{tail}" in self._words or (head in self._words and tail in self._words):
            return left + right
        return left[:-1] + right
