"""Tables of a store: those that a question may be about, each with all of its rows."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from cragraph.documents.tables import TABLE_ROWS, Table, tables_of
from cragraph.errors import CragError, StoreError
from cragraph.language.cells import SEPARATOR
from cragraph.models.cache import LRU
from cragraph.protocols import PassageStore
from cragraph.tables.engine import compute
from cragraph.types import Computed, Passage

logger = logging.getLogger(__name__)

FOUND: Final = 40  # passages searched for rows, by meaning and by words each
SOURCES: Final = 6  # files with tables per question at most
KEPT: Final = 32  # files whose tables stay in memory until the store or the filter changes
Where = Mapping[str, Any] | None


class StoredTables:
    """Reads tables back from the store; may be shared by threads.

    Tables of a file of more than `most` passages are not used, because they would fill the memory; nor are tables of a
    damaged store.
    """

    def __init__(self, store: Callable[[], PassageStore], most: int = 50_000) -> None:
        self._store, self._most = store, most
        self._known: LRU[tuple[Any, ...], list[Table]] = LRU(KEPT)

    def about(self, question: str, held: Sequence[Passage], where: Where = None) -> list[Table]:
        """The tables of the files whose rows a search for the question finds, nearest first; `where` filters their
        rows."""
        store = self._store()
        passages = [*held, *store.lexical(question, FOUND, where)]
        if "row" in store.fields(where):
            rows = {"row": {"$gte": 0}}
            both = {"$and": [where, rows]} if where else rows
            passages += [*store.lexical(question, FOUND, both), *_near(store, question, both)]
        passages += _near(store, question, where)
        sources = dict.fromkeys(p["source"] for p in passages if is_row_of_table(p))
        return [table for source in list(sources)[:SOURCES] for table in self.of(source, where)]

    def of(self, source: str, where: Where = None) -> list[Table]:
        """The tables of a file."""
        store = self._store()
        key = (store.generation, source, repr(where))
        if (known := self._known.get(key)) is None:
            passages = store.of_source(source, where, self._most + 1)
            whole = len(passages) <= self._most and not store.notes  # of a damaged store, rows may be gone
            known = self._read(source, passages, where) if whole else []
            self._known.put(key, known)
        return known

    def _read(self, source: str, passages: Sequence[Passage], where: Where) -> list[Table]:
        """The tables of a file. The passages of a large table are only a sample of its rows; the store has all."""
        large: list[Table] = self._store().tables(source, where)
        tables = [
            *large,
            *(table for table in tables_of(passages) if table.headings not in {t.headings for t in large}),
        ]
        return tables if len(tables) > 1 else [replace(table, title="") for table in tables]

    def table(self, source: str, title: str, where: Where = None) -> Table | None:
        """One table of a file, None if it is gone."""
        return next((table for table in self.of(source, where) if table.title == title), None)

    def passages(self, computed: Computed) -> list[Passage]:
        """The passages of a figure's cited rows, in order."""
        return self._store().get(list(dict.fromkeys(cited["chunk_id"] for cited in computed["cited"])))

    def again(self, computed: Computed, where: Where = None) -> Computed:
        """A figure computed again over the rows stored now.

        Raises StoreError if the table, or the text with the adjustment of a figure, is gone; InputError if the query
        does not fit the table.
        """
        query = computed["query"]
        table = self.table(query["source"], query["table"], where)
        if table is None:
            raise StoreError(f"the table {query['table'] or query['source']} is no longer in the store.")
        if at := query.get("percent_at"):
            said = [passage["text"] for passage in self._store().get([at["chunk_id"]])]
            if not said or said[0][at["start"] : at["end"]] != at["quote"]:
                raise StoreError("the text with the adjustment of the figure is no longer in the store.")
            if query.get("percent", "").lstrip("-") not in at["quote"]:
                raise StoreError(f"the text does not say {query.get('percent')} %.")
        return compute(query, table, computed["probability"])


def _near(store: PassageStore, question: str, where: Where) -> list[Passage]:
    """The passages nearest in meaning; none if the embedding model, which may be the caller's own, fails."""
    try:
        return store.dense(question, FOUND, where)
    except CragError:
        raise
    except Exception as error:
        logger.warning("the embedding model failed (%s): tables are looked for by words alone", error)
        return []


def is_row_of_table(passage: Passage) -> bool:
    """Whether a passage holds rows of a table."""
    about = passage["metadata"]
    return isinstance(about.get("row"), int) or TABLE_ROWS in about or SEPARATOR in passage["text"]
