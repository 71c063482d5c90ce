"""Targeted queries for a correction, written without a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from cragraph.protocols import Notes
from cragraph.retrieval.search.words import content_words, is_stopword, numbers, stem_set, words
from cragraph.types import Verdict


@dataclass(frozen=True)
class TargetedQueries:
    """One query for each part that is unanswered and each claim that failed, at most `count`, no two nearly alike.

    A query for a claim keeps its names and content words and leaves out its figures, which are what failed, unless
    the question names them; what the question is about is added, so that a claim of a few words is looked for in the
    right place. Words that the judge's correction has and the claim has not go in too. `alike` is the share of common
    words from which two queries are one.
    """

    count: int = 4
    longest: int = 16
    alike: float = 0.8
    name: str = "targeted"

    def __call__(self, question: str, failed: Sequence[Verdict], unanswered: Sequence[str], notes: Notes) -> list[str]:
        """Queries, those for unanswered parts first; none where nothing failed and all is answered."""
        wanted = [part.strip() for part in unanswered if part.strip()]
        wanted += [self._for_claim(verdict, question) for verdict in failed if verdict["verdict"] != "unjudged"]
        kept: list[str] = []
        seen: list[frozenset[str]] = []
        for query in wanted:
            stems = stem_set(query)
            if stems and all(_overlap(stems, other) < self.alike for other in seen):
                kept.append(query)
                seen.append(stems)
        return kept[: self.count]

    def _for_claim(self, verdict: Verdict, question: str) -> str:
        asked = set(numbers(question))
        correct = verdict.get("correction", "")
        claim = _kept(verdict["text"], asked) + _kept(correct, asked | set(numbers(correct)))
        focus = _kept(question, asked)
        distinct: dict[str, str] = {}
        for word in [*claim, *focus]:
            distinct.setdefault(word.casefold(), word)
        return " ".join(list(distinct.values())[: self.longest])


def _kept(text: str, figures: set[str]) -> list[str]:
    """The content words of a text without figures other than these; a word such as ``10-K`` is no figure."""
    telling = content_words(text) if any(not is_stopword(w) for w in words(text)) else []
    return [word for word in telling if not _is_figure(word) or set(numbers(word)) & figures]


def _is_figure(word: str) -> bool:
    return word[0].isdigit() and not any(character.isalpha() for character in word)


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)
