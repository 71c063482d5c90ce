"""Whether a statement stands in a passage, by its words and figures alone."""

import re
from typing import Final

from cragraph.sentences import sentences
from cragraph.verification.contradiction import contradict
from cragraph.verification.keywords import content_words, words

ENOUGH: Final = 0.75
"""Share of the statement's content words that the passage must hold."""

_FIGURE: Final = re.compile(r"\d")


def stands_in(statement: str, passage: str) -> bool:
    """Whether a passage holds three quarters of a statement's words, all its figures, and no sentence against it.

    It decides on a marker beside the one that a judge's evidence settles, so it rather says no.
    """
    wanted, held = content_words(statement), set(words(passage))
    if not wanted or len(wanted & held) < ENOUGH * len(wanted):
        return False
    if any(word not in held for word in wanted if _FIGURE.search(word)):
        return False
    return not any(contradict(statement, sentence) for sentence in sentences(passage))
