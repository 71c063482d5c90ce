"""What was asked: questions with their answers, in one SQLite file beside the store, for its owner alone.

The shell, the page and the tools write it; a program that calls the library does not, as it has a place of its own for
what its users ask. Nothing of it leaves the machine. A question that is kept with the answer that is expected is a test
of one's own documents.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cragraph.errors import InputError, StoreError, encodable
from cragraph.passages import place_of

NAME: Final = "history.sqlite"
MOST: Final = 10_000  # entries that are held; beyond them the oldest go that nobody kept
PATIENCE_S: Final = 5.0  # how long an entry waits for another process that writes one
VERSION: Final = 1
_SCHEMA: Final = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, door TEXT NOT NULL, "
    "question TEXT NOT NULL, answer TEXT NOT NULL, confidence REAL, outcome TEXT, model TEXT NOT NULL, "
    "more TEXT NOT NULL, kept TEXT, expect TEXT)"
)
_COLUMNS: Final = "number, time, door, question, answer, confidence, outcome, model, more, kept, expect"
UNWRITTEN: Final = "This question is not in the log of what was asked: {reason}."


@dataclass(frozen=True)
class Entry:
    """One question and what became of it.

    `time` is in UTC, `door` where it was asked (shell, chat, page, mcp), `outcome` accepted, doubtful or refused,
    empty where nothing was verified. `model` is what wrote the answer. `sources` have `number`, `place`, `source`,
    `page` and `quotes`. `messages` are the conversation before it, `narrowed` what it was narrowed to (`where`,
    `sources`, `collection`). `kept` is when it was kept as a test, `expect` what its answer must say.
    """

    question: str
    answer: str
    confidence: float | None = None
    outcome: str = ""
    model: str = ""
    sources: list[dict[str, Any]] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)
    narrowed: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    door: str = ""
    time: str = ""
    number: int = 0
    kept: str | None = None
    expect: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, the number first."""
        given = asdict(self)
        first = ("number", "time", "door", "question", "answer", "outcome", "confidence")
        return {name: given.pop(name) for name in first} | given


_MORE: Final = ("sources", "issues", "degraded", "messages", "narrowed", "seconds")


def entry_of(
    response: Mapping[str, Any],
    door: str = "",
    messages: Sequence[Mapping[str, Any]] = (),
    narrowed: Mapping[str, Any] | None = None,
) -> Entry:
    """The entry of a response, as it was shown: what was withheld is not in it."""
    decision, models = response["decision"] or {}, response["models"]
    sources = [
        {
            "number": citation["number"],
            "place": place_of(citation["metadata"]),
            "source": citation["metadata"].get("source"),
            "page": citation["metadata"].get("page"),
            "quotes": list(citation["quotes"] or [citation["text"]]),
        }
        for citation in response["citations"]
    ]
    return Entry(
        question=response["question"],
        answer=response["answer"],
        confidence=response["confidence"],
        outcome=str(decision.get("outcome") or ""),
        model=str(models.get("generator") or ""),
        sources=sources,
        issues=list(response["issues"]),
        degraded=list(response["degraded"]),
        messages=[{"role": str(m.get("role")), "content": str(m.get("content"))} for m in messages],
        narrowed={name: value for name, value in (narrowed or {}).items() if value},
        seconds=round(float(response["timings_ms"].get("total") or 0.0) / 1000, 3),
        door=door,
    )


def place_for(store: str | None) -> Path | None:
    """The file beside a store, which has to be there; of a server's store in the folder for a person's data."""
    if not store:
        return None
    if "://" in store or store.startswith("chroma:"):
        base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
        return Path(base, "cragraph", f"{sha256(store.rstrip('/').encode()).hexdigest()[:16]}.{NAME}")
    folder = Path(store).expanduser()
    return folder / NAME if folder.is_dir() else None


@dataclass(frozen=True)
class History:
    """The log in a file; every call opens it anew, so that any number of processes may write it."""

    path: Path

    # -- writing -------------------------------------------------------------------------------------------------------

    def add(self, entry: Entry) -> int:
        """Write an entry as the newest; returns its number. Raises StoreError where that cannot be done."""
        given = asdict(entry)
        row = (
            datetime.now(UTC).isoformat(timespec="seconds"), entry.door, encodable(entry.question),
            encodable(entry.answer), entry.confidence, entry.outcome, entry.model,
            encodable(json.dumps({name: given[name] for name in _MORE}, ensure_ascii=False, default=str)),
        )  # fmt: skip
        with self._opened(create=True) as db:
            sql = "INSERT INTO entries (time, door, question, answer, confidence, outcome, model, more) VALUES "
            number = int(db.execute(f"{sql}({', '.join('?' * len(row))})", row).lastrowid or 0)
            db.execute("DELETE FROM entries WHERE kept IS NULL AND number <= ?", (number - MOST,))
            return number

    def forget(self, numbers: Sequence[int] | None = None) -> int:
        """Remove these entries, kept ones too, or all; returns how many. InputError for a number that there is none of.

        What they held is overwritten in the file.
        """
        with self._opened() as db:
            if db is None:
                self._missing(numbers or ())
                return 0
            if numbers is None:
                return int(db.execute("DELETE FROM entries").rowcount)
            known = {row[0] for row in db.execute("SELECT number FROM entries")}
            self._missing([number for number in numbers if number not in known])
            db.executemany("DELETE FROM entries WHERE number = ?", [(number,) for number in numbers])
            return len(set(numbers))

    def keep(self, number: int, expect: str | None = None) -> Entry:
        """Keep an entry as a test, with what its answer must say; InputError for one that there is none of."""
        if expect is not None and not expect.strip():
            raise InputError("What is expected came empty; wanted words that the answer must have: give some.")
        entry = self.get(number)
        expect = entry.expect if expect is None else encodable(expect.strip())
        with self._opened() as db:
            now = entry.kept or datetime.now(UTC).isoformat(timespec="seconds")
            db.execute("UPDATE entries SET kept = ?, expect = ? WHERE number = ?", (now, expect, number))
        return self.get(number)

    def let_go(self, number: int) -> None:
        """Keep an entry no longer as a test; it stays in the log. InputError where it was not kept."""
        if self.get(number).kept is None:
            raise InputError(f"Entry {number} is not kept; `cragraph log --kept` lists those that are.")
        with self._opened() as db:
            db.execute("UPDATE entries SET kept = NULL, expect = NULL WHERE number = ?", (number,))

    def renew(self, number: int, now: Entry) -> None:
        """Put a new answer in the place of a kept entry's old one."""
        given = asdict(now)
        more = encodable(json.dumps({name: given[name] for name in _MORE}, ensure_ascii=False, default=str))
        row = (encodable(now.answer), now.confidence, now.outcome, now.model, more, number)
        with self._opened() as db:
            sql = "UPDATE entries SET answer = ?, confidence = ?, outcome = ?, model = ?, more = ? WHERE number = ?"
            db.execute(sql, row)

    # -- reading -------------------------------------------------------------------------------------------------------

    def entries(self, limit: int | None = None, words: str = "", *, kept: bool = False) -> list[Entry]:
        """The entries, newest first, that have all the words in question or answer; `kept` ones alone, if wanted."""
        wanted = words.casefold().split()
        found: list[Entry] = []
        with self._opened(writes=False) as db:
            if db is None:
                return []
            which = "WHERE kept IS NOT NULL" if kept else ""
            for row in db.execute(f"SELECT {_COLUMNS} FROM entries {which} ORDER BY number DESC"):
                text = f"{row[3]} {row[4]}".casefold()
                if all(word in text for word in wanted):
                    found.append(_entry(row))
                    if len(found) == limit:
                        break
        return found

    def get(self, number: int) -> Entry:
        """One entry; InputError where there is none of that number."""
        row: Any = None
        with self._opened(writes=False) as db:
            if db is not None and 0 < number < 1 << 63:  # which SQLite can hold
                row = db.execute(f"SELECT {_COLUMNS} FROM entries WHERE number = ?", (number,)).fetchone()
        if row is None:
            self._missing([number])
        return _entry(row)

    # -- the file ------------------------------------------------------------------------------------------------------

    def _missing(self, numbers: Sequence[int]) -> None:
        if numbers:
            raise InputError(f"There is no entry {numbers[0]} in the log; `cragraph log` lists what there is.")

    @contextmanager
    def _opened(self, *, writes: bool = True, create: bool = False) -> Iterator[Any]:
        """The database in one transaction; None where there is none and none is to be made."""
        if not create and not self.path.exists():
            yield None
            return
        try:
            if create:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None)) as db:
                db.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
                db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                try:
                    version = db.execute("PRAGMA user_version").fetchone()[0]
                    if create and version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                        db.execute(_SCHEMA)
                        db.execute(f"PRAGMA user_version = {VERSION}")
                    elif version != VERSION:
                        raise sqlite3.DatabaseError(f"it is of version {version}, wanted {VERSION}")
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(
                f"the log {self.path} cannot be used ({reason}); wanted a file that can be read and written: move it "
                "away, or keep none with CRAG_HISTORY=false"
            ) from error


def _entry(row: Sequence[Any]) -> Entry:
    number, time, door, question, answer, confidence, outcome, model, more, kept, expect = row
    try:
        told = json.loads(more)
    except ValueError:
        told = {}
    return Entry(
        question, answer, confidence, outcome or "", model, number=number, time=time, door=door, kept=kept,
        expect=expect, **{name: told[name] for name in _MORE if name in told},
    )  # fmt: skip
