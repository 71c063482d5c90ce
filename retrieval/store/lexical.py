"""Lexical search: BM25 over stemmed words, in SQLite."""

from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from cragraph.retrieval.store.index import Index, passage_of
from cragraph.retrieval.store.schema import COLUMNS
from cragraph.retrieval.store.scores import lexical_share
from cragraph.retrieval.store.sql import condition
from cragraph.retrieval.store.terms import Analyser, affordable, match_any, telling
from cragraph.types import Passage

BUDGET: Final = 50_000
_AGAIN, _LEAST = 10, 1000
_SPARE: Final = 1.5
_WIDER: Final = 10
"""Ranking what others chose costs a third of choosing; words beyond ten budgets say next to nothing."""
_COLUMNS: Final = ", ".join(f"c.{name}" for name in (*COLUMNS.split(", "), "id"))


class Lexical:
    """Finds passages by their words; counts of words are remembered until the index changes.

    BM25 over a common word scores every passage that has it. Where the words of a query stand in more than `budget`
    passages together, its rarest words choose the candidates, several times as many as were asked for, and its words
    rank those, all but the most common where they stand in ten times as many. Below the budget the search is exact.
    """

    def __init__(self, index: Index, budget: int = BUDGET) -> None:
        self._index, self._budget = index, budget
        self._lock = Lock()
        self._analyse = Analyser()
        self._counted_at = -1
        self._documents = 0
        self._counts: dict[str, int] = {}

    def __call__(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The best `k` passages with any word of the query; `retrieval_score` is `scores.lexical_share`.

        Any text is a query: quotes and operators are plain characters, and a query without words finds nothing.
        `where` is already checked.
        """
        words = self._analyse(query)
        if not words or k < 1:
            return []
        frequency, documents = self._frequency(list(words.values()))
        chosen = telling(words, frequency, documents)
        if not chosen:
            return []
        counts = [frequency[words[word]] for word in chosen]
        core, chosen = (affordable(chosen, counts, many * self._budget) for many in (1, _WIDER))
        known = {words[word]: frequency[words[word]] for word in chosen}
        if len(core) == len(chosen):
            rows = self._rows(match_any(chosen), k, where)
        else:
            ids = [row[-2] for row in self._rows(match_any(core), max(_AGAIN * k, _LEAST), where)]
            rows = self._rows_among(match_any(chosen), k, ids)
        return [
            Passage(**{**passage_of(row), "retrieval_score": lexical_share(-row[-1], known, frequency, documents)})
            for row in rows
        ]

    def close(self) -> None:
        """Free the memory it takes."""
        self._analyse.close()

    def _rows(self, match: str, k: int, where: Mapping[str, Any] | None) -> list[tuple[Any, ...]]:
        clause, values = condition(where) if where else ("1", [])
        # Reading every passage with a word, to see whether the filter lets it through, costs more than ranking them
        # all. So where the filter lets many through, the best are looked at first, and the rest where too few pass.
        if not where or self._index.share(where) * _AGAIN > _SPARE:
            best = (
                f"SELECT {_COLUMNS}, w.rank FROM "
                "(SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?) AS w "
                f"JOIN chunks AS c ON c.id = w.rowid WHERE {clause} ORDER BY w.rank, c.chunk_id LIMIT ?"
            )
            found = self._index.database.rows(best, (match, _AGAIN * k if where else k, *values, k))
            if not where or len(found) >= k:
                return found
        sql = (
            f"SELECT {_COLUMNS}, w.rank FROM words AS w JOIN chunks AS c ON c.id = w.rowid "
            f"WHERE w.words MATCH ? AND {clause} ORDER BY w.rank, c.chunk_id LIMIT ?"
        )
        return self._index.database.rows(sql, (match, *values, k))

    def _rows_among(self, match: str, k: int, ids: list[int]) -> list[tuple[Any, ...]]:
        # The plus keeps SQLite from looking up the ids one by one: passing over the rest costs less, because BM25 is
        # worked out for the rows that are let through alone.
        some = ",".join(map(str, ids))
        sql = (
            f"SELECT {_COLUMNS}, w.rank FROM "
            f"(SELECT rowid, rank FROM words WHERE words MATCH ? AND +rowid IN ({some})) "
            "AS w JOIN chunks AS c ON c.id = w.rowid ORDER BY w.rank, c.chunk_id LIMIT ?"
        )
        return self._index.database.rows(sql, (match, k))

    def _frequency(self, stems: list[str]) -> tuple[dict[str, int], int]:
        """How many passages each stem is in, and how many there are."""
        generation = self._index.stamp("generation")
        with self._lock:
            if generation != self._counted_at:
                self._counts, self._documents, self._counted_at = {}, self._index.count(), generation
            missing = [stem for stem in stems if stem not in self._counts]
            found = self._index.database.rows_in("SELECT term, doc FROM vocabulary WHERE term IN (?)", missing)
            self._counts |= dict.fromkeys(missing, 0) | dict(found)
            return {stem: self._counts[stem] for stem in stems}, self._documents
