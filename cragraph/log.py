"""The log of questions beside the store; kept questions and their check; and the metrics log, a line per run.

The log of questions is one SQLite file for its owner alone. The shell, the page and the tools write it. A program that
calls the library does not, because it has its own place for its users' questions. The metrics log is the file of JSON
lines named by `CRAG_METRICS_LOG`. Neither leaves the machine.
"""

import json
import logging
import math
import os
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

from cragraph.errors import CragError, InputError, StoreError, encodable
from cragraph.language.markers import CITED, without_markers
from cragraph.passages import place_of
from cragraph.private import private
from cragraph.types import IDK
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import DEFAULT_THRESHOLD, reaches

logger = logging.getLogger(__name__)

# -- what was asked --------------------------------------------------------------------------------------------------

NAME: Final = "history.sqlite"
MOST: Final = 10_000  # entries at most; beyond, the oldest that are not kept are removed
PATIENCE_S: Final = 5.0  # seconds that a write waits for another process
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
    """One question and its outcome.

    `time` is in UTC, `door` the place of the question (shell, chat, page, mcp), `outcome` accepted, doubtful or
    refused, empty if nothing was verified. `model` wrote the answer. `sources` have `number`, `place`, `source`, `page`
    and `quotes`. `messages` are the conversation before, `narrowed` the limits of the search (`where`, `sources`,
    `collection`). `kept` is the time at which it was kept as a test, `expect` the words that its answer must have.
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
    """The entry of a response as shown, without a withheld answer."""
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
    """The log's file beside an existing store; for a server's store, in the user's data folder."""
    if not store:
        return None
    if "://" in store or store.startswith("chroma:"):
        base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
        return Path(base, "cragraph", f"{sha256(store.rstrip('/').encode()).hexdigest()[:16]}.{NAME}")
    folder = Path(store).expanduser()
    return folder / NAME if folder.is_dir() else None


@dataclass(frozen=True)
class History:
    """The log in a file; every call opens the file, so that any number of processes may write it."""

    path: Path

    # -- writing -------------------------------------------------------------------------------------------------------

    def add(self, entry: Entry) -> int:
        """Write an entry as the newest; returns its number. Raises StoreError if it cannot be written."""
        row = (
            datetime.now(UTC).isoformat(timespec="seconds"), entry.door, encodable(entry.question),
            encodable(entry.answer), entry.confidence, entry.outcome, entry.model, _more(entry),
        )  # fmt: skip
        with self._opened(create=True) as db:
            sql = "INSERT INTO entries (time, door, question, answer, confidence, outcome, model, more) VALUES "
            number = int(db.execute(f"{sql}({', '.join('?' * len(row))})", row).lastrowid or 0)
            db.execute("DELETE FROM entries WHERE kept IS NULL AND number <= ?", (number - MOST,))
            return number

    def forget(self, numbers: Sequence[int] | None = None) -> int:
        """Remove these entries, kept ones too, or all; returns their number. Raises InputError for an unknown number.

        Their data is overwritten in the file.
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
        """Keep an entry as a test, with the words that its answer must have. Raises InputError for an unknown
        number."""
        if expect is not None and not expect.strip():
            raise InputError("What is expected came empty; wanted words that the answer must have: give some.")
        entry = self.get(number)
        expect = entry.expect if expect is None else encodable(expect.strip())
        with self._opened() as db:
            now = entry.kept or datetime.now(UTC).isoformat(timespec="seconds")
            db.execute("UPDATE entries SET kept = ?, expect = ? WHERE number = ?", (now, expect, number))
        return self.get(number)

    def let_go(self, number: int) -> None:
        """Stop keeping an entry as a test; it stays in the log. Raises InputError if it was not kept."""
        if self.get(number).kept is None:
            raise InputError(f"Entry {number} is not kept; `cragraph log --kept` lists those that are.")
        with self._opened() as db:
            db.execute("UPDATE entries SET kept = NULL, expect = NULL WHERE number = ?", (number,))

    def renew(self, number: int, now: Entry) -> None:
        """Replace a kept entry's answer."""
        row = (encodable(now.answer), now.confidence, now.outcome, now.model, _more(now), number)
        with self._opened() as db:
            sql = "UPDATE entries SET answer = ?, confidence = ?, outcome = ?, model = ?, more = ? WHERE number = ?"
            db.execute(sql, row)

    # -- reading -------------------------------------------------------------------------------------------------------

    def entries(self, limit: int | None = None, words: str = "", *, kept: bool = False, skip: int = 0) -> list[Entry]:
        """At most `limit` entries after the first `skip`, newest first, that have all the words in question or answer.

        With `kept`, only those that are kept as tests.
        """
        wanted = words.casefold().split()
        with self._opened(writes=False) as db:
            if db is None:
                return []
            which = "WHERE kept IS NOT NULL" if kept else ""
            rows = db.execute(f"SELECT {_COLUMNS} FROM entries {which} ORDER BY number DESC")
            found = (row for row in rows if all(word in f"{row[3]} {row[4]}".casefold() for word in wanted))
            return [_entry(row) for row in islice(found, skip, None if limit is None else skip + limit)]

    def get(self, number: int) -> Entry:
        """One entry. Raises InputError for an unknown number."""
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
        """The database in one transaction; None if it is missing and must not be made."""
        if not create and not self.path.exists():
            yield None
            return
        try:
            if create:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None)) as db:
                db.execute("PRAGMA secure_delete = ON")  # removed data is overwritten
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


def _more(entry: Entry) -> str:
    """The fields of an entry without a column, as JSON."""
    return encodable(json.dumps({name: getattr(entry, name) for name in _MORE}, ensure_ascii=False, default=str))


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


# -- the kept questions, asked again ---------------------------------------------------------------------------------

Status = Literal["same", "changed", "refused", "wrong", "failed"]
FAILED: Final[Status] = "failed"
STATUSES: Final[tuple[Status, ...]] = ("same", "changed", "refused", "wrong", "failed")


@dataclass(frozen=True)
class Checked:
    """One kept question: `same` as before, `changed`, now `refused`, `wrong` (an expected text is missing), or
    `failed`.

    A question that was refused when it was kept, and still is, is the same. `why` is the reason in a sentence, empty
    for the same answer.
    """

    number: int
    question: str
    status: Status
    before: str
    now: str
    expect: str | None = None
    confidence_before: float | None = None
    confidence: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Check:
    """All checked questions, in the order in which they were kept."""

    rows: list[Checked] = field(default_factory=list)

    @property
    def all_same(self) -> bool:
        """Whether nothing changed."""
        return all(row.status == "same" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: the counts by status, and the rows."""
        counts = Counter(row.status for row in self.rows)
        return {"kept": len(self.rows)} | {s: counts[s] for s in STATUSES} | {"rows": [vars(row) for row in self.rows]}


def check(
    ask: Callable[[Entry], Mapping[str, Any]],
    history: History,
    *,
    renew: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> Check:
    """Ask every kept question again as it was asked; with `renew`, the new answers replace the old ones.

    `ask` returns the response to an entry's question. An answer without the expected words, or of a failed run, never
    replaces the old one.
    """
    entries, rows = sorted(history.entries(kept=True), key=lambda entry: entry.number), []
    for done, entry in enumerate(entries):
        if progress is not None:
            progress(done, len(entries))
        try:
            now = entry_of(ask(entry), entry.door, entry.messages, entry.narrowed)
        except CragError as error:
            rows.append(compared(entry, None, str(error)))
            continue
        rows.append(compared(entry, now))
        if renew and rows[-1].status in ("changed", "refused"):
            history.renew(entry.number, now)
    return Check(rows)


def compared(entry: Entry, now: Entry | None, failed: str = "") -> Checked:
    """A kept question with its present answer; None if it could not be asked."""
    answer, confidence = ("", None) if now is None else (now.answer, now.confidence)
    status, why = judged(entry, now) if now is not None else (FAILED, failed)
    about = (entry.expect, entry.confidence, confidence, why)
    return Checked(entry.number, entry.question, status, entry.answer, answer, *about)


def judged(entry: Entry, now: Entry) -> tuple[Status, str]:
    """The status of a kept question, and the reason."""
    refused, was_refused = now.outcome == "refused", entry.outcome == "refused"
    alike = _line(entry.answer) == _line(now.answer)
    if refused and not was_refused:
        return "refused", "It was answered, and is refused now."
    if entry.expect and not says(now.answer, entry.expect):
        again = "" if says(entry.answer, entry.expect) else " It did not when it was kept, either."
        return "wrong", f"The answer does not say what is expected.{again}"
    if was_refused and not refused:
        return "changed", "It was refused, and is answered now."
    if not alike:
        return "changed", "The answer is another one." + " It still says what is expected." * bool(entry.expect)
    if entry.outcome != now.outcome:
        return "changed", f"It was {entry.outcome or 'not verified'}, and is {now.outcome or 'not verified'} now."
    return "same", ""


def says(answer: str, expected: str) -> bool:
    """Whether an answer has the expected words in a row, ignoring case, articles, markers and full stops."""
    return f" {plain(expected)} " in f" {plain(without_markers(answer))} "


def _line(text: str) -> str:
    return " ".join(without_markers(text).split())


def plain(text: str) -> str:
    """The words and figures of a text in lower case, without signs, articles and thousands separators."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
    return " ".join(w for w in re.findall(r"\w+(?:\.\d+)?", text) if w not in ("the", "a", "an"))


# -- the metrics log -------------------------------------------------------------------------------------------------

ANSWER_CHARACTERS: Final = 100  # characters of an answer in a line, to recognise the run by
_LOCK: Final = Lock()


def log_run(path: str | Path, run: Mapping[str, Any]) -> None:
    """Append one run to the log; if the log cannot be written, warn and go on."""
    append_line(path, record(run))


def append_line(path: str | Path, entry: Mapping[str, Any]) -> None:
    """Append an entry to a log of JSON lines; if it cannot be written, warn."""
    line = json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # One write of one line in append mode: lines of several processes do not mix.
        with _LOCK, private(path, "ab", buffering=0) as log:
            log.write(line.encode("utf-8", "surrogatepass"))
    except OSError as error:
        logger.warning("the metrics log %s cannot be written (%s): the run is not in it", path, error)


def record(run: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a run, from its response and, if available, the fields of its state.

    - `timestamp` (UTC), `query` (also as `question`), `answer` (its first 100 characters), `abstained`, `confidence`,
      `is_grounded`, `accepted`; `decision` (accepted, doubtful, refused) and the `threshold`, null where verification
      was off
    - `attempts`: corrections made; `triggered`: whether there was one; `first_confidence`, `best_confidence`;
      `improved`: whether a correction raised the confidence, null where none was made or nothing was verified
    - `rejected`: an answer was written and withheld
    - `claims_checked`, `claims_supported`, `hallucination_count`, `passed`, `warnings` of the returned answer; null
      (and no warnings) where none was returned or none verified
    - `citations`, `cited_claims`: share of its claims with a marker; `citation_accuracy`: share of verified
      citations; both null for an abstention
    - `rerank_gain`: what the reranker's choice scores above retrieval's on the first pass; `selection_rate`: passages
      kept ÷ passages met; null without one
    - `judge`, `models`, `llm_calls`, `degraded`, `issues`; `timings_ms` by node and in `total`
    """
    tried = [a for a in run.get("attempts") or [] if isinstance(a, Mapping)]
    scores = [a.get("confidence") for a in tried]
    first = scores[0] if scores else None
    best = max((score for score in scores if isinstance(score, int | float)), default=None)
    abstained = bool(run.get("abstained"))
    checked: Mapping[str, Any] = {} if abstained else run.get("verification") or {}
    citations: Sequence[Mapping[str, Any]] = run.get("citations") or []
    answer, query, met = str(run.get("answer") or ""), str(run.get("question") or ""), run.get("seen") or []
    models, decision = dict(run.get("models") or {}), run.get("decision") or {}
    return {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "query": query,
        "question": query,
        "answer": answer[:ANSWER_CHARACTERS],
        "abstained": abstained,
        **{name: run.get(name) for name in ("confidence", "is_grounded", "accepted")},
        "decision": decision.get("outcome"),
        "threshold": decision.get("threshold"),
        "attempts": max(len(tried) - 1, 0),
        "triggered": len(tried) > 1,
        "first_confidence": first,
        "best_confidence": best,
        "improved": best > first if len(tried) > 1 and first is not None and best is not None else None,
        "rejected": abstained and any(a.get("answer") not in (None, "", IDK) for a in tried),
        **{name: checked.get(name) for name in ("claims_checked", "claims_supported", "hallucination_count", "passed")},
        "warnings": list(checked.get("warnings") or []),
        "citations": len(citations),
        "cited_claims": None if abstained else cited_claims(answer),
        "citation_accuracy": _rate(citation.get("verified") for citation in citations),
        "rerank_gain": run.get("rerank_gain"),
        "selection_rate": len(run.get("held") or []) / len(met) if met else None,
        "judge": models.get("judge"),
        "models": models,
        "llm_calls": run.get("llm_calls", 0),
        **{name: list(run.get(name) or []) for name in ("degraded", "issues")},
        "timings_ms": dict(run.get("timings_ms") or {}),
    }


def cited_claims(answer: str) -> float | None:
    """Share of an answer's claims with a marker in or directly behind them; None without claims."""
    claims = split_claims(answer)
    ends = [claim["start"] for claim in claims[1:]] + [len(answer)]
    if not claims:
        return None
    return sum(bool(CITED.search(answer, c["start"], end)) for c, end in zip(claims, ends, strict=True)) / len(claims)


GOALS: Final = (
    ("unsupported claims in answers", "hallucination_rate", "<", 0.05),
    ("confidence agrees with a person's judgement", "confidence_accuracy", ">", 0.80),
    ("runs that needed a correction", "trigger_rate", "<", 0.20),
    ("corrections that raised the confidence", "success_rate", ">", 0.70),
    ("claims with a citation", "cited_claims", ">", 0.90),
    ("verification, p50", "verification_ms", "<", 500.0),
)
"""The founding documents' success figures that a log can show, with the fields of the summary; ms where above 1."""


def summarise(file: str | Path) -> dict[str, Any]:
    """Rates, means and latency percentiles of a log, with the targets; lines without JSON are counted and skipped.

    A rate is null if no run can show it. A person may mark lines with ``"correct": true`` or ``false`` for
    `confidence_accuracy` (the share of runs whose confidence reached the threshold exactly if the answer was right) and
    `labelled_hallucination_rate` (the share of wrong answers), and with ``"answerable": true`` or ``false`` for false
    positives (answered) and false negatives (refused) of answerability. Raises InputError if the file is missing.
    """
    runs, bad = _read(Path(file))
    answered = [run for run in runs if not run.get("abstained")]
    marked = [run for run in answered if isinstance(run.get("correct"), bool) and _number(run.get("confidence"))]
    judged = [run for run in answered if run.get("claims_checked")]
    checked = sum(run["claims_checked"] for run in judged)
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for node, ms in (run.get("timings_ms") or {}).items():
            if _number(ms):
                times[node].append(float(ms))
    latency = {
        node: {**{f"p{p}": round(quantile(times[node], p / 100), 1) for p in (50, 95, 99)}, "runs": len(times[node])}
        for node in sorted(times, key=lambda node: node == "total")  # last, below its nodes
    }
    summary: dict[str, Any] = {
        "runs": len(runs),
        "bad_lines": bad,
        "answered": len(answered),
        "abstention_rate": _rate(run.get("abstained") for run in runs),
        "rejection_rate": _rate(run.get("rejected") for run in runs),
        "doubtful_rate": _rate(run["decision"] == "doubtful" for run in runs if run.get("decision")),
        "trigger_rate": _rate(run.get("triggered") for run in runs),
        "success_rate": _rate(run["improved"] for run in runs if run.get("improved") is not None),
        "grounded_rate": _rate(run["is_grounded"] for run in answered if run.get("is_grounded") is not None),
        "hallucination_rate": 1 - sum(r["claims_supported"] for r in judged) / checked if checked else None,
        "labelled_hallucination_rate": _rate(not run["correct"] for run in marked),
        "false_positive_rate": _rate(not run.get("abstained") for run in runs if run.get("answerable") is False),
        "false_negative_rate": _rate(run.get("abstained") for run in runs if run.get("answerable") is True),
        "confidence": _mean(answered, "confidence"),
        "confidence_accuracy": _rate(
            reaches(run["confidence"], run.get("threshold") or DEFAULT_THRESHOLD) == run["correct"] for run in marked
        ),
        **{name: _mean(answered, name) for name in ("cited_claims", "citation_accuracy")},
        **{name: _mean(runs, name) for name in ("rerank_gain", "selection_rate", "llm_calls")},
        "degraded_rate": _rate(run.get("degraded") for run in runs),
        "degraded": dict(Counter(s for run in runs for s in run.get("degraded") or []).most_common(10)),
        "judges": dict(Counter(str(run.get("judge") or "none") for run in runs).most_common()),
        "latency_ms": latency,
        "verification_ms": latency["verify"]["p50"] if "verify" in latency else None,
    }
    targets = []
    for name, figure, sign, bound in GOALS:
        value = summary[figure]
        met = None if value is None else value < bound if sign == "<" else value > bound
        target = f"{sign} {bound:g} ms" if bound > 1 else f"{sign} {bound:.0%}"
        targets.append({"name": name, "value": value, "target": target, "met": met})
    return summary | {"targets": targets}


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1) of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else 0.0


def _read(file: Path) -> tuple[list[Mapping[str, Any]], int]:
    runs: list[Mapping[str, Any]] = []
    bad = 0
    try:
        with file.open(encoding="utf-8", errors="replace") as log:
            for line in filter(str.strip, log):
                with suppress(ValueError):
                    if isinstance(run := json.loads(line), dict):
                        runs.append(run)
                        continue
                bad += 1
    except OSError as error:
        raise InputError(
            f"the metrics log {file} cannot be read ({error.strerror}); wanted a file of JSON lines: set "
            "CRAG_METRICS_LOG to have one written."
        ) from error
    return runs, bad


def _rate(answers: Iterable[Any]) -> float | None:
    values = [bool(answer) for answer in answers]
    return sum(values) / len(values) if values else None


def _mean(runs: Sequence[Mapping[str, Any]], field: str) -> float | None:
    values = [float(run[field]) for run in runs if _number(run.get(field))]
    return sum(values) / len(values) if values else None


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
