"""Search by words: BM25, as a share of the best possible score."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Final

from cragraph.language.words import slipped, terms, tokens
from cragraph.models.encoder import is_known_word
from cragraph.store.filters import Where, condition
from cragraph.store.index import SELECTED, Index
from cragraph.types import Passage

K1: Final = 1.2  # the term saturation of SQLite's `bm25()`
B: Final = 0.75  # its weight of a passage's length
BUDGET: Final = 50_000
_RANKED: Final = (
    f"SELECT {SELECTED}, c.id, w.rank FROM {{}} AS w JOIN chunks AS c ON c.id = w.rowid "
    "WHERE {} ORDER BY w.rank, c.chunk_id LIMIT ?"
)
_AGAIN, _LEAST = 10, 1000
_SPARE: Final = 1.5
_WIDER: Final = 10  # ranking chosen candidates costs a third of choosing; words beyond ten budgets say next to nothing
_MOST_WORDS: Final = 64  # words of a query at most, the rarest: a pasted page makes a slow query and no better one
_MOST_CHARS: Final = 20_000

_SPELT: Final = 5  # least letters of an unknown word that counts as misspelt: a shorter one is near too many words


class Lexical:
    """Finds passages by their words; counts of words are remembered until the index changes.

    If the words of a query stand in more than `budget` passages together, its rarest words choose the candidates,
    several times as many as asked for. All its words rank the candidates, but for the most common ones if they stand in
    more than ten times the budget. Below the budget the search is exact.
    """

    def __init__(self, index: Index, budget: int = BUDGET) -> None:
        self._index, self.budget = index, budget
        self._lock = Lock()
        self._counted_at = -1
        self._documents = 0
        self._counts: dict[str, int] = {}

    def __call__(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The best `k` passages with any word of the query; `retrieval_score` is `lexical_share`."""
        query = query[:_MOST_CHARS]
        words = list(dict.fromkeys(terms(query)))
        if not words or k < 1:
            return []
        frequency, documents = self.frequency(words)
        if meant := self._meant(query, frequency):
            frequency, documents = self.frequency([*words, *meant])
        chosen = discriminating(frequency, documents)
        if not chosen:
            return []
        counts = [frequency[word] for word in chosen]
        core, chosen = (affordable(chosen, counts, many * self.budget) for many in (1, _WIDER))
        known = {word: frequency[word] for word in chosen}
        if len(core) == len(chosen):
            rows = self._rows(match_any(chosen), k, where)
        else:
            ids = [row[-2] for row in self._rows(match_any(core), max(_AGAIN * k, _LEAST), where)]
            rows = self._rows_among(match_any(chosen), k, ids)
        return [
            Passage(**{**passage, "retrieval_score": lexical_share(-rank, known, frequency, documents)})
            for passage, (_, rank) in self._index.passages(rows)
        ]

    def _meant(self, query: str, frequency: Mapping[str, int]) -> list[str]:
        """The passages' nearest word for each misspelt word: one that neither a passage nor the encoder knows."""
        meant, sql = [], "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?"
        for word, term in zip(tokens(query), terms(query), strict=True):
            if frequency[term] or len(word) < _SPELT or not word.isalpha() or is_known_word(word.casefold()):
                continue
            rows = self._index.rows(sql, (term[0], chr(ord(term[0]) + 1)))
            if near := [(count, known) for known, count in rows if slipped(term, known, len(word))]:
                meant.append(str(max(near)[1]))
        return meant

    def _rows(self, match: str, k: int, where: Where) -> list[tuple[Any, ...]]:
        clause, values = condition(where)
        # Reading every passage with a word, to see whether the filter lets it through, costs more than ranking them
        # all. So where the filter lets many through, the best are looked at first, and the rest where too few pass.
        if not where or self._index.share(where) * _AGAIN > _SPARE:
            best = "(SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?)"
            rows = self._index.rows(_RANKED.format(best, clause), (match, _AGAIN * k if where else k, *values, k))
            if not where or len(rows) >= k:
                return rows
        return self._index.rows(_RANKED.format("words", f"w.words MATCH ? AND {clause}"), (match, *values, k))

    def _rows_among(self, match: str, k: int, ids: list[int]) -> list[tuple[Any, ...]]:
        # The plus keeps SQLite from looking up the ids one by one: passing over the rest costs less, because BM25 is
        # worked out for the rows that are let through alone.
        among = f"(SELECT rowid, rank FROM words WHERE words MATCH ? AND +rowid IN ({','.join(map(str, ids))}))"
        return self._index.rows(_RANKED.format(among, "1"), (match, k))

    def frequency(self, words: list[str]) -> tuple[dict[str, int], int]:
        """The number of passages with each term, and the number of all passages."""
        generation = self._index.generation
        with self._lock:
            if generation != self._counted_at:
                self._counts, self._documents, self._counted_at = {}, self._index.count(), generation
            missing = [term for term in words if term not in self._counts]
            counts = self._index.rows_in("SELECT term, doc FROM vocabulary WHERE term IN (?)", missing)
            self._counts |= dict.fromkeys(missing, 0) | dict(counts)
            return {term: self._counts[term] for term in words}, self._documents


def bm25(words: Sequence[str], known: Mapping[str, int], documents: int, mean: float) -> float:
    """BM25 of a passage of these words as SQLite's `bm25()` computes it, but positive; `known` counts passages by
    term."""
    counts = Counter(word for word in words if word in known)
    longer = K1 * (1 - B + B * len(words) / mean)
    return sum(weight(documents, known[word]) * n * (K1 + 1) / (n + longer) for word, n in counts.items())


def weight(documents: int, holding: int) -> float:
    """The weight that SQLite's `bm25()` gives a term: Robertson's, floored."""
    return max(1e-6, math.log((documents - holding + 0.5) / (holding + 0.5)))


def match_any(words: Iterable[str]) -> str:
    """An FTS5 query for passages with any of the terms; quoted, so that none is read as an operator."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def discriminating(frequency: Mapping[str, int], documents: int) -> list[str]:
    """The terms worth searching for, rarest first, at most 64.

    A term in more than half of the passages has no weight in SQLite's BM25. Leaving it out changes no order and avoids
    scoring nearly every passage.
    """
    known = [term for term, count in frequency.items() if count]
    rare = [term for term in known if frequency[term] * 2 <= documents] or known
    return sorted(rare, key=lambda term: frequency[term])[:_MOST_WORDS]


def affordable(words: list[str], counts: list[int], budget: int) -> list[str]:
    """The rarest words that stand in at most `budget` passages together; always at least one."""
    taken = 0
    for place, count in enumerate(counts):
        taken += count
        if place and taken > budget:
            return words[:place]
    return words


def positive_idf(documents: int, holding: int) -> float:
    """Inverse document frequency of a term, never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def lexical_share(bm25: float, known: Mapping[str, int], frequency: Mapping[str, int], documents: int) -> float:
    """BM25 as a share of the best possible score, 0..1.

    A term adds at most idf * (k1 + 1), if it fills the passage. The first factor is the share of that ceiling over the
    terms that the store knows (`known`: term to number of passages). The second factor is the share of the query's
    information in those terms, so that a question of unknown words scores low however well its one known word fits. For
    one query the order is BM25's (positive, larger is better).
    """
    ceiling = sum(weight(documents, n) for n in known.values()) * (K1 + 1)
    information = sum(positive_idf(documents, n) for n in frequency.values())
    if ceiling <= 0.0 or information <= 0.0:
        return 0.0
    coverage = sum(positive_idf(documents, n) for n in frequency.values() if n) / information
    return min(1.0, max(0.0, bm25 / ceiling)) * coverage
