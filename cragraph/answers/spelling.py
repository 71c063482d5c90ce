"""A question with its misspelt words put right."""

import re
from collections import Counter
from collections.abc import Callable

from cragraph.language.words import slipped


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
