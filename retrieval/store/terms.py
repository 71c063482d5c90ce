"""The words of a query as the index sees them, and a query of SQLite's FTS5 made safely from any text."""

import sqlite3
from collections.abc import Iterable
from threading import Lock
from typing import Final

TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
_MOST_WORDS: Final = 64
"""A pasted page makes a slow query and no better one: its rarest words decide."""


class Analyser:
    """Runs text through the same tokenizer as the index, in a table of its own in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        for name, tokenizer in (("plain", TOKENIZER.removeprefix("porter ")), ("stemmed", TOKENIZER)):
            self._db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, tokenize='{tokenizer}')")
            self._db.execute(f"CREATE VIRTUAL TABLE {name}_terms USING fts5vocab({name}, 'instance')")

    def __call__(self, text: str) -> dict[str, str]:
        """Each distinct word of the text, in order of appearance, with its stem."""
        clean = text.encode("utf-8", "ignore").decode("utf-8").replace("\x00", " ")
        with self._lock:
            plain, stemmed = (self._terms(name, clean) for name in ("plain", "stemmed"))
        return dict(zip(plain, stemmed, strict=True))

    def close(self) -> None:
        """Free the memory it takes."""
        self._db.close()

    def _terms(self, table: str, text: str) -> list[str]:
        self._db.execute(f"INSERT INTO {table}(rowid, text) VALUES (1, ?)", (text,))
        rows = self._db.execute(f"SELECT term FROM {table}_terms ORDER BY offset").fetchall()
        self._db.execute(f"DELETE FROM {table}")
        return [row[0] for row in rows]


def match_any(words: Iterable[str]) -> str:
    """An FTS5 query for passages with any of the words; quoted, so that no word is read as an operator."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def telling(words: dict[str, str], frequency: dict[str, int], documents: int) -> list[str]:
    """The words worth searching for: those in some passages but not in most, rarest first, at most 64.

    A word in more than half of the passages weighs nothing in SQLite's BM25, whatever the language, so leaving it out
    changes no order and spares scoring nearly every passage. Where all words are that common, all are kept.
    """
    known = [word for word, stem in words.items() if frequency[stem]]
    rare = [word for word in known if frequency[words[word]] * 2 <= documents] or known
    return sorted(rare, key=lambda word: frequency[words[word]])[:_MOST_WORDS]


def affordable(words: list[str], counts: list[int], budget: int) -> list[str]:
    """The first words, rarest first, that stand in no more than `budget` passages together; always one at least."""
    taken = 0
    for place, count in enumerate(counts):
        taken += count
        if place and taken > budget:
            return words[:place]
    return words
