"""The log of questions beside the store, the check of kept questions, and the metrics log with a line per run.

The log of questions is one SQLite file for its owner alone, written by the shell, the page and the tools. A program
that calls the library writes none. The metrics log is the file of JSON lines that `CRAG_METRICS_LOG` names.
"""

import json
import logging
import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeGuard

from cragraph.errors import CragError, InputError, StoreError, encodable
from cragraph.language.markers import CITED, without_markers
from cragraph.passages import place_of
from cragraph.private import private
from cragraph.types import IDK
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import DEFAULT_THRESHOLD, reaches

# -- the log of questions ----------------------------------------------------------------------------------------------

NAME: Final = "history.sqlite"
MOST: Final = 10_000  # entries at most; beyond, the oldest that are not kept are removed
PATIENCE_S: Final = 5.0  # seconds that a write waits for another process
VERSION: Final = 1
_SCHEMA: Final = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, door TEXT NOT NULL, "
    "question TEXT NOT NULL, answer TEXT NOT NULL, confidence REAL, outcome TEXT, model TEXT NOT NULL, "
    "more TEXT NOT NULL, kept TEXT, expect TEXT)"
)
_COLUMNS: Final = ("number", "time", "door", "question", "answer", "outcome", "confidence", "model", "kept", "expect")
_MORE: Final = ("sources", "issues", "degraded", "messages", "narrowed", "seconds")  # as JSON in the column `more`
_SELECT: Final = f"SELECT more, {', '.join(_COLUMNS)} FROM entries"
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
        return {name: given.pop(name) for name in _COLUMNS[:7]} | given


def entry_of(
    response: Mapping[str, Any],
    door: str = "",
    messages: Sequence[Mapping[str, Any]] = (),
    narrowed: Mapping[str, Any] | None = None,
) -> Entry:
    """The entry of a response as shown, without a withheld answer."""
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
        **{name: response[name] for name in ("question", "answer", "confidence")},
        outcome=str((response["decision"] or {}).get("outcome") or ""),
        model=str(response["models"].get("generator") or ""),
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
    """The log in a file; every call opens the file, so that any number of processes may write it.

    Raises InputError for an unknown number, StoreError for a file that cannot be used.
    """

    path: Path

    def add(self, entry: Entry) -> int:
        """Write an entry as the newest; returns its number."""
        row = _row(entry) | {"time": _now()}
        sql = f"INSERT INTO entries ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) RETURNING number"
        return int(self._run(sql, [*row.values()], create=True)[0][0])

    def forget(self, numbers: Sequence[int] | None = None) -> int:
        """Remove these entries, kept ones too, or all; returns their number. Their data is overwritten in the file."""
        for number in numbers or ():
            self.get(number)
        among = "1" if numbers is None else f"number IN ({', '.join(map(str, numbers))})"
        return len(self._run(f"DELETE FROM entries WHERE {among} RETURNING number"))

    def keep(self, number: int, expect: str | None = None) -> Entry:
        """Keep an entry as a test, with the words that its answer must have."""
        if expect is not None and not expect.strip():
            raise InputError("The expected text came empty; wanted words that the answer must have: give some.")
        expect = self.get(number).expect if expect is None else encodable(expect.strip())
        sql = "UPDATE entries SET kept = coalesce(kept, ?), expect = ? WHERE number = ?"
        self._run(sql, [_now(), expect, number])
        return self.get(number)

    def let_go(self, number: int) -> None:
        """Stop keeping an entry as a test; it stays in the log. Raises InputError if it was not kept."""
        if self.get(number).kept is None:
            raise InputError(f"Entry {number} is not kept; `cragraph log --kept` lists the kept questions.")
        self._run("UPDATE entries SET kept = NULL, expect = NULL WHERE number = ?", [number])

    def renew(self, number: int, now: Entry) -> None:
        """Replace a kept entry's answer."""
        row = {name: _row(now)[name] for name in ("answer", "confidence", "outcome", "model", "more")}
        sql = f"UPDATE entries SET {', '.join(f'{name} = ?' for name in row)} WHERE number = ?"
        self._run(sql, [*row.values(), number])

    def entries(self, limit: int | None = None, words: str = "", *, kept: bool = False, skip: int = 0) -> list[Entry]:
        """At most `limit` entries after the first `skip`, newest first, that have all the words in question or answer.

        With `kept`, only those that are kept as tests.
        """
        wanted = words.casefold().split()
        tests = ["kept IS NOT NULL"] * kept + ["instr(casefold(question || ' ' || answer), ?)"] * len(wanted)
        sql = f"{_SELECT} WHERE {' AND '.join(tests) or '1'} ORDER BY number DESC LIMIT ? OFFSET ?"
        return [*map(_entry, self._run(sql, [*wanted, -1 if limit is None else limit, skip]))]

    def get(self, number: int) -> Entry:
        """One entry."""
        known = 0 < number < 1 << 63  # which SQLite can hold
        rows = self._run(f"{_SELECT} WHERE number = ?", [number]) if known else []
        if not rows:
            raise InputError(f"There is no entry {number} in the log; `cragraph log` lists the entries.")
        return _entry(rows[0])

    def _run(self, sql: str, values: Sequence[Any] = (), *, create: bool = False) -> list[Any]:
        """The rows of a statement, which is one transaction; none if there is no file and none is to be made."""
        if not create and not self.path.exists():
            return []
        try:
            if create:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None)) as db:
                db.execute("PRAGMA secure_delete = ON")  # removed data is overwritten
                db.execute("BEGIN" if sql.startswith("SELECT") else "BEGIN IMMEDIATE")
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if create and version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    db.execute(_SCHEMA)
                    db.execute(f"PRAGMA user_version = {VERSION}")
                elif version != VERSION:
                    raise sqlite3.DatabaseError(f"it is of version {version}, wanted {VERSION}")
                db.create_function("casefold", 1, str.casefold, deterministic=True)
                rows = db.execute(sql, values).fetchall()
                if create:
                    db.execute("DELETE FROM entries WHERE kept IS NULL AND number <= ?", (rows[0][0] - MOST,))
                db.execute("COMMIT")  # a connection that is closed before it rolls back
                return rows
        except (sqlite3.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StoreError(
                f"the log {self.path} cannot be used ({reason}); wanted a file that can be read and written: move it "
                "away, or keep none with CRAG_HISTORY=false"
            ) from error


def _row(entry: Entry) -> dict[str, Any]:
    """The columns of a new entry."""
    more = json.dumps({name: getattr(entry, name) for name in _MORE}, ensure_ascii=False, default=str)
    values = {name: getattr(entry, name) for name in _COLUMNS[2:8]} | {"more": more}
    return {name: encodable(value) if isinstance(value, str) else value for name, value in values.items()}


def _entry(row: Sequence[Any]) -> Entry:
    more = {}
    with suppress(ValueError):
        more = json.loads(row[0])
    columns = dict(zip(_COLUMNS, row[1:], strict=True))
    return Entry(**columns | {"outcome": columns["outcome"] or ""} | {k: more[k] for k in _MORE if k in more})


def _now(timespec: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=timespec)


# -- the kept questions, asked again -----------------------------------------------------------------------------------

STATUSES: Final = ("same", "changed", "refused", "wrong", "failed")


def check(
    ask: Callable[[Entry], Mapping[str, Any]],
    history: History,
    *,
    renew: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Ask every kept question again as it was asked; with `renew`, the new answers replace the old ones.

    `ask` returns the response to an entry's question. An answer without the expected words, or of a failed run, never
    replaces the old one. Gives the number of kept questions, the counts by status, and the `rows` of `compared` in the
    order in which the questions were asked.
    """
    entries, rows = history.entries(kept=True)[::-1], []
    for done, entry in enumerate(entries):
        if progress is not None:
            progress(done, len(entries))
        try:
            now = entry_of(ask(entry), entry.door, entry.messages, entry.narrowed)
        except CragError as error:
            rows.append(compared(entry, Entry("", ""), str(error)))
            continue
        rows.append(compared(entry, now))
        if renew and rows[-1]["status"] in ("changed", "refused"):
            history.renew(entry.number, now)
    counts = Counter(row["status"] for row in rows)
    return {"kept": len(rows)} | {status: counts[status] for status in STATUSES} | {"rows": rows}


def compared(entry: Entry, now: Entry, failed: str = "") -> dict[str, Any]:
    """A kept question with its present answer; `failed` says why it could not be asked.

    Its status is `same`, `changed`, `refused`, `wrong` (an expected text is missing) or `failed`. A question that was
    refused when it was kept, and still is, is the same. `why` is the reason in a sentence, empty for the same answer.
    """
    status, why = ("failed", failed) if failed else judged(entry, now)
    return {
        "number": entry.number, "question": entry.question, "status": status, "before": entry.answer,
        "now": now.answer, "expect": entry.expect, "confidence_before": entry.confidence,
        "confidence": now.confidence, "why": why,
    }  # fmt: skip


def judged(entry: Entry, now: Entry) -> tuple[str, str]:
    """The status of a kept question, and the reason."""
    refused, was_refused = now.outcome == "refused", entry.outcome == "refused"
    if refused and not was_refused:
        return "refused", "It was answered, and is refused now."
    if entry.expect and not says(now.answer, entry.expect):
        again = "" if says(entry.answer, entry.expect) else " It did not when it was kept, either."
        return "wrong", f"The answer does not say what is expected.{again}"
    if was_refused and not refused:
        return "changed", "It was refused, and is answered now."
    if without_markers(entry.answer).split() != without_markers(now.answer).split():
        return "changed", "The answer is another one." + " It still says what is expected." * bool(entry.expect)
    if entry.outcome != now.outcome:
        return "changed", f"It was {entry.outcome or 'not verified'}, and is {now.outcome or 'not verified'} now."
    return "same", ""


def says(answer: str, expected: str) -> bool:
    """Whether an answer has the expected words in a row, ignoring case, articles, markers and full stops."""
    return f" {plain(expected)} " in f" {plain(without_markers(answer))} "


def plain(text: str) -> str:
    """The words and figures of a text in lower case, without signs, articles and thousands separators."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
    return " ".join(w for w in re.findall(r"\w+(?:\.\d+)?", text) if w not in ("the", "a", "an"))


# -- the metrics log ---------------------------------------------------------------------------------------------------

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
        message = "the metrics log %s cannot be written (%s): the run is not in it"
        logging.getLogger(__name__).warning(message, path, error)


def record(run: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a run, from its response and, if available, the fields of its state.

    - `answer` is its first 100 characters, `decision` accepted, doubtful or refused
    - `attempts`: corrections made; `triggered`: whether there was one; `improved`: whether a correction raised the
      confidence, null where none was made or nothing was verified
    - `rejected`: an answer was written and withheld
    - the figures of the verification are null where no answer was returned or none verified
    - `cited_claims`: share of its claims with a marker; `citation_accuracy`: share of verified citations
    - `rerank_gain`: what the reranker's choice scores above retrieval's on the first pass; `selection_rate`: passages
      kept ÷ passages met
    """
    tried = [a for a in run.get("attempts") or [] if isinstance(a, Mapping)]
    scores = [float(score) for a in tried if _number(score := a.get("confidence"))]
    compared = len(tried) > 1 and scores and scores[0] == tried[0].get("confidence")
    abstained, answer, met = bool(run.get("abstained")), str(run.get("answer") or ""), run.get("seen") or []
    checked: Mapping[str, Any] = {} if abstained else run.get("verification") or {}
    decision, models = run.get("decision") or {}, dict(run.get("models") or {})
    return {
        "timestamp": _now("milliseconds"),
        "query": str(run.get("question") or ""),
        "answer": answer[:ANSWER_CHARACTERS],
        "abstained": abstained,
        **{name: run.get(name) for name in ("confidence", "is_grounded", "accepted", "rerank_gain")},
        "decision": decision.get("outcome"),
        "threshold": decision.get("threshold"),
        "attempts": max(len(tried) - 1, 0),
        "triggered": len(tried) > 1,
        "improved": max(scores) > scores[0] if compared else None,
        "rejected": abstained and any(a.get("answer") not in (None, "", IDK) for a in tried),
        **{name: checked.get(name) for name in ("claims_checked", "claims_supported", "hallucination_count", "passed")},
        "warnings": list(checked.get("warnings") or []),
        "cited_claims": None if abstained else cited_claims(answer),
        "citation_accuracy": _mean(bool(citation.get("verified")) for citation in run.get("citations") or []),
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
    ends = [*(claim["start"] for claim in claims[1:]), len(answer)][: len(claims)]
    return _mean(bool(CITED.search(answer, c["start"], end)) for c, end in zip(claims, ends, strict=True))


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
    try:
        lines = [line for line in Path(file).read_text("utf-8", "replace").split("\n") if line.strip()]
    except OSError as error:
        raise InputError(
            f"the metrics log {file} cannot be read ({error.strerror}); wanted a file of JSON lines: set "
            "CRAG_METRICS_LOG to have one written."
        ) from error
    runs: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError):
            runs += [run] if isinstance(run := json.loads(line), dict) else []
    judged = [run for run in runs if not run.get("abstained") and run.get("claims_checked")]
    shown = [figures(run) for run in runs]
    latency: dict[str, dict[str, float]] = {}
    nodes = {node for run in runs for node in run.get("timings_ms") or {}}
    for node in sorted(nodes, key=lambda node: (node == "total", node)):  # last, below its nodes
        times = [float(ms) for run in runs if _number(ms := (run.get("timings_ms") or {}).get(node))]
        if times:
            shares = {f"p{p}": round(quantile(times, p / 100), 1) for p in (50, 95, 99)}
            latency[node] = {**shares, "runs": len(times)}
    summary: dict[str, Any] = {
        "runs": len(runs),
        "bad_lines": len(lines) - len(runs),
        "answered": sum(not run.get("abstained") for run in runs),
        **{name: _mean(row[name] for row in shown) for name in figures({})},
        "hallucination_rate": None,
        "degraded": dict(Counter(s for run in runs for s in run.get("degraded") or []).most_common(10)),
        "judges": dict(Counter(str(run.get("judge") or "none") for run in runs).most_common()),
        "latency_ms": latency,
        "verification_ms": latency["verify"]["p50"] if "verify" in latency else None,
    }
    if checked := sum(run["claims_checked"] for run in judged):
        summary["hallucination_rate"] = 1 - sum(run["claims_supported"] for run in judged) / checked
    targets = []
    for name, figure, sign, bound in GOALS:
        value = summary[figure]
        met = None if value is None else value < bound if sign == "<" else value > bound
        target = f"{sign} {bound:g} ms" if bound > 1 else f"{sign} {bound:.0%}"
        targets.append({"name": name, "value": value, "target": target, "met": met})
    return summary | {"targets": targets}


def figures(run: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a run for each mean of the summary; None for a value that the run does not have."""
    abstained, right = bool(run.get("abstained")), run.get("correct")
    shown: Mapping[str, Any] = {} if abstained else run
    marked = isinstance(right, bool) and _number(shown.get("confidence"))
    return {
        "abstention_rate": abstained,
        "rejection_rate": bool(run.get("rejected")),
        "doubtful_rate": run["decision"] == "doubtful" if run.get("decision") else None,
        "trigger_rate": bool(run.get("triggered")),
        "success_rate": run.get("improved"),
        "grounded_rate": shown.get("is_grounded"),
        "labelled_hallucination_rate": not right if marked else None,
        "false_positive_rate": not abstained if run.get("answerable") is False else None,
        "false_negative_rate": abstained if run.get("answerable") is True else None,
        "confidence_accuracy": (
            reaches(run["confidence"], run.get("threshold") or DEFAULT_THRESHOLD) == right if marked else None
        ),
        **{name: shown.get(name) for name in ("confidence", "cited_claims", "citation_accuracy")},
        **{name: run.get(name) for name in ("rerank_gain", "selection_rate", "llm_calls")},
        "degraded_rate": bool(run.get("degraded")),
    }


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1) of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else 0.0


def _mean(values: Iterable[Any]) -> float | None:
    """The mean of the numbers, and of true and false as 1 and 0; None without any."""
    numbers = [float(value) for value in values if isinstance(value, bool) or _number(value)]
    return sum(numbers) / len(numbers) if numbers else None


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
