"""Decomposition: the simpler questions that a compound or comparative question asks, without a model."""

from dataclasses import dataclass

from cragraph.protocols import Notes
from cragraph.retrieval.search.clauses import clauses, names_apart, things_apart
from cragraph.retrieval.search.comparisons import sides, years_apart
from cragraph.retrieval.search.words import plain_years, stem_set

AT_MOST = 6
"""Sub-questions at most; each costs a search."""


def decompose(question: str) -> list[str]:
    """Sub-questions that together cover the question, in its order; none where the question is simple.

    Taken apart, in this order: sentences and clauses; then in each of these the first that applies of several years,
    the sides of a comparison, several names, two things asked of one. English only: a question in another language
    is simple unless it names several years.
    """
    parts: list[str] = []
    asked = clauses(question)
    for clause in asked:
        parts += _apart(clause) or ([clause] if len(asked) > 1 else [])
    parts = distinct(parts)
    return parts[:AT_MOST] if len(parts) > 1 else []


def _apart(clause: str) -> list[str]:
    for take_apart in (years_apart, sides, names_apart, things_apart):
        found = take_apart(clause)
        if len(found) > 1:
            return [" ".join(part.split()) for part in found]
    return []


def distinct(parts: list[str], *known: str) -> list[str]:
    """The parts whose words are not those of an earlier part or of a known text, and that have words at all."""
    seen = {stem_set(text) for text in known}
    kept: list[str] = []
    for part in parts:
        key = stem_set(part)
        if key and key not in seen:
            seen.add(key)
            kept.append(part)
    return kept


@dataclass(frozen=True)
class Decompose:
    """The embedded query expander: the sub-questions of `decompose`."""

    name: str = "decompose"

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The sub-questions of a question that are not in the same words as the question; none where it is simple."""
        return distinct(decompose(plain_years(question)), question)
