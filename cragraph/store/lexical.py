"""Search in the store: by words (BM25, as a share of the best possible score) and by meaning."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock, RLock
from typing import Any, Final

import numpy as np

from cragraph.language.words import slipped, terms, tokens
from cragraph.models.encoder import is_known_word
from cragraph.store.database import vector_crc
from cragraph.store.filters import Where, condition
from cragraph.store.index import SELECTED, Index
from cragraph.store.records import Floats, from_bytes, unit
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
        for term, length in misspelt(query, frequency):
            rows = self._index.rows(sql, (term[0], chr(ord(term[0]) + 1)))
            if near := [(count, word) for word, count in rows if slipped(term, word, length)]:
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
    return sum(
        max(1e-6, math.log((documents - known[word] + 0.5) / (known[word] + 0.5))) * n * (K1 + 1) / (n + longer)
        for word, n in counts.items()
    )


def misspelt(query: str, frequency: Mapping[str, int]) -> list[tuple[str, int]]:
    """The terms of words that no passage has and the encoder does not know, each with the length of its word."""
    return [
        (term, len(word))
        for word, term in zip(tokens(query), terms(query), strict=True)
        if not (frequency[term] or len(word) < _SPELT or not word.isalpha() or is_known_word(word.casefold()))
    ]


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
    # The weight that SQLite's `bm25()` gives a term (Robertson's, floored).
    ceiling = sum(max(1e-6, math.log((documents - n + 0.5) / (n + 0.5))) for n in known.values()) * (K1 + 1)
    information = sum(positive_idf(documents, n) for n in frequency.values())
    if ceiling <= 0.0 or information <= 0.0:
        return 0.0
    coverage = sum(positive_idf(documents, n) for n in frequency.values() if n) / information
    return min(1.0, max(0.0, bm25 / ceiling)) * coverage


# -- by meaning ----------------------------------------------------------------------------------------------------

_MORE: Final = 2.0
# Nearest passages at most that are sieved by a filter; beyond, the filter's passages are listed.
MOST_FILTERED: Final = 3_000

Near = list[tuple[float, int]]  # negative cosines and rows, best first


class Dense:
    """Finds passages by their vectors, which are kept in memory."""

    def __init__(self, index: Index) -> None:
        self._index, self._lock = index, RLock()
        self.close()

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._generation, self._opened = -1, 0
            self._rows = np.empty(0, dtype=np.int64)
            self._matrix: Floats = np.empty((0, 0), dtype=np.float32)

    def nearest(self, vector: Floats, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest to a vector, best first; `retrieval_score` is their cosine, 0 for below 0.

        With a filter that lets many passages through, the nearest passages are sieved. With a filter that lets few
        through, those few are compared one by one.
        """
        query = unit(vector)
        with self._lock:
            self._refresh()
            wide = int(_MORE * k / max(self._index.share(where), 1e-6)) + 1 if where else k
            while not where or wide <= MOST_FILTERED:
                near = self._near(query, wide)
                passages = self._index.get_rows([row for _, row in near], where)
                if not where or len(passages) >= k or wide >= len(self._rows):
                    break
                wide *= 3
            else:
                clause, values = condition(where)
                rows = [row[0] for row in self._index.rows(f"SELECT c.id FROM chunks AS c WHERE {clause}", values)]
                near = self._near(query, k, np.isin(self._rows, rows))
                passages = self._index.get_rows([row for _, row in near])
        best = [(passages[row], -apart) for apart, row in near if row in passages][:k]
        return [Passage(**{**one, "retrieval_score": min(1.0, max(0.0, cosine))}) for one, cosine in best]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these passages, by id."""
        sql = (
            "SELECT c.chunk_id, v.id, v.crc, v.vector FROM chunks AS c JOIN vectors AS v ON v.id = c.id "
            "WHERE c.chunk_id IN (?)"
        )
        rows = self._index.rows_in(sql, chunk_ids)
        return {i: from_bytes([vector])[0] for i, row, crc, vector in rows if self._sound(row, crc, vector)}

    def _sound(self, row: int, crc: int, vector: bytes) -> bool:
        if whole := vector_crc(row, vector) == crc:
            return whole
        self._index.misfits.add(row)
        return False

    def _refresh(self) -> None:
        generation = self._index.generation
        if generation == self._generation and self._opened == self._index.opened:
            return
        if self._opened != self._index.opened:
            self.close()
        sql = "SELECT id, crc, vector FROM vectors WHERE written > ?"
        new = [row for row in self._index.rows(sql, (self._generation,)) if self._sound(*row)]
        rows = np.array([row[0] for row in new], dtype=np.int64)
        if len(self._rows):
            there = np.fromiter((row[0] for row in self._index.rows("SELECT id FROM vectors")), dtype=np.int64)
            keep = np.isin(self._rows, there) & ~np.isin(self._rows, rows)
            self._rows, self._matrix = self._rows[keep], self._matrix[keep]
        if new:
            matrix = unit(from_bytes([row[2] for row in new]))
            self._matrix = np.concatenate([self._matrix, matrix]) if len(self._rows) else matrix
            self._rows = np.concatenate([self._rows, rows])
        self._generation, self._opened = generation, self._index.opened

    def _near(self, query: Floats, k: int, among: Any = slice(None)) -> Near:
        rows, matrix = self._rows[among], self._matrix[among]
        if not len(rows):
            return []
        # On one core: BLAS would share so short a product among all cores, which wait for each other on a busy machine.
        cosines = np.einsum("ij,j->i", matrix, query)
        best = np.argpartition(-cosines, k - 1)[:k] if len(cosines) > k else slice(None)
        return sorted(zip((-cosines[best]).tolist(), rows[best].tolist(), strict=True))[:k]
