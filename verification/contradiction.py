"""Whether two sentences of one text contradict each other, by their words and facts alone."""

from functools import lru_cache
from typing import Final

from cragraph.verification.facts import Fact, compare, extract
from cragraph.verification.facts.polarity import negations, opposite_words, stems
from cragraph.verification.keywords import STOPWORDS, content_words

ALIKE: Final = 0.4
"""How long the shorter sentence must be, in words, as a share of the longer one to be on the same matter."""

_WHEN: Final = frozenset({"date", "quarter", "time"})


def contradict(one: str, other: str) -> bool:
    """Whether two sentences say the same with another figure, an opposite word, or one of them negated.

    Sentences on different times or with different subjects do not contradict each other, and where it is unclear
    whether they are on the same matter, they do not either.
    """
    first, second = _facts(one), _facts(other)
    if _at_different_times(first, second):
        return False
    opposite = opposite_words(one, other)
    instead = frozenset().union(*(stems(word) for word in opposite or ()))
    smaller, larger = sorted((_matter(one) - instead, _matter(other) - instead), key=len)
    # Every word of the shorter one: "Apple's revenue" and "Google's revenue" may differ as they please.
    if not smaller or not smaller <= larger or len(smaller) < ALIKE * len(larger):
        return False
    if negations(one) % 2 != negations(other) % 2:
        return opposite is None and not _other_figures(first, second)
    return opposite is not None or _other_figures(first, second)


def _at_different_times(first: tuple[Fact, ...], second: tuple[Fact, ...]) -> bool:
    one, other = ([fact for fact in facts if fact.kind in _WHEN] for facts in (first, second))
    if bool(one) != bool(other):
        return True
    return bool(compare(one, other).conflicting or compare(one, other).missing)


def _other_figures(first: tuple[Fact, ...], second: tuple[Fact, ...]) -> bool:
    one, other = ([fact for fact in facts if fact.kind not in _WHEN | {"name"}] for facts in (first, second))
    found = compare(one, other)
    return bool(found.conflicting) and not found.matched


@lru_cache(maxsize=2048)
def _facts(text: str) -> tuple[Fact, ...]:
    return tuple(extract(text))


@lru_cache(maxsize=2048)
def _matter(text: str) -> frozenset[str]:
    """Stems of what a sentence is about: no figures, no stop words, no negations."""
    said = " ".join(content_words(text) - STOPWORDS)
    return frozenset(stem for stem in stems(said) if not negations(stem))
