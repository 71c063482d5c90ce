"""The words of a text, and their stems as the lexical index sees them."""

import re
import sqlite3
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Final

STEMMED: Final = "porter unicode61 remove_diacritics 2"
"""The analysis of the lexical index: lower case, diacritics folded, English endings taken off."""

_ENGLISH: Final = """
a about above after again all also am among an and any are as at be because been before being below between both
but by can could did do does doing down during each either few for from further had has have having he her here
hers him his how i if in into is it its itself just many may me might more most much must my no nor not now of
off on once only or other our out over own per please same shall she should so some such tell than that the
their them then there these they this those through to too under until up upon us very was we were what when
where which while who whom whose why will with within would you your
"""
_WRAPPING: Final = "according explain describe give say says stated"
"""What a question is often wrapped in."""
_GERMAN: Final = """
aber als am an auch auf aus bei das dem den der des ein eine einem einen einer eines für hatte ihr im in
ist nach nicht oder sich sie sind um und von vom waren was welche welchem welchen welcher welches wer
werden wie wo wurde wurden zu zum zur über
"""

STOPWORDS: Final = frozenset(" ".join((_ENGLISH, _WRAPPING, _GERMAN)).split())
"""Words that say nothing of what a text is about; no word that means something in the other language."""

NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_FISCAL: Final = re.compile(r"\b(?:FY|CY)\s?['’]?(?P<century>19|20)?(?P<year>\d\d)\b")
_WORD: Final = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")


class Stems:
    """Stems of texts, by SQLite's own tokenizer, so that they are those of the index; safe to share by threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, tokenize='{STEMMED}')")
        self._db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """The stems of each text in order, with repetitions."""
        rows = [
            (i, text.encode("utf-8", "ignore").decode("utf-8").replace("\x00", " ")) for i, text in enumerate(texts)
        ]
        found: list[list[str]] = [[] for _ in texts]
        with self._lock:
            self._db.execute("BEGIN")
            try:
                self._db.executemany("INSERT INTO t(rowid, text) VALUES (?, ?)", rows)
                for row, stem in self._db.execute("SELECT doc, term FROM v ORDER BY doc, offset"):
                    found[row].append(stem)
            finally:
                self._db.execute("ROLLBACK")
        return found


@cache
def stems() -> Stems:
    """The one shared `Stems`, made at first use."""
    return Stems()


@cache
def stop_stems() -> frozenset[str]:
    """The stems of the stopwords."""
    return frozenset(stem for found in stems()(sorted(STOPWORDS)) for stem in found)


def words(text: str) -> list[str]:
    """The words as written, in order; ``U.S.``, ``10-K`` and ``AT&T`` are one word each."""
    return _WORD.findall(text)


def plain_years(text: str) -> str:
    """The text with ``FY2023``, ``FY23`` and ``CY'23`` as ``2023``, which is what most documents write."""
    return _FISCAL.sub(lambda found: (found["century"] or "20") + found["year"], text)


def content_words(text: str) -> list[str]:
    """The words that are not stopwords, as written, in order; all words where nothing else is left.

    A year within a word (``FY23``) follows it as a word of its own.
    """
    every = [part for word in words(text) for part in dict.fromkeys((word, plain_years(word)))]
    return [word for word in every if not is_stopword(word)] or every


def is_stopword(word: str) -> bool:
    """Whether a word as written says nothing; ``US`` and ``IT`` in capitals are names."""
    return word.casefold() in STOPWORDS and not (len(word) > 1 and word.isupper())


def stem_set(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(stems()([" ".join(content_words(text))])[0])


def numbers(text: str) -> list[str]:
    """The numbers of a text without their thousands separators: ``1,496.5`` is ``1496.5``, ``FY23`` is ``2023``."""
    return [number.replace(",", "") for number in NUMBER.findall(plain_years(text))]
