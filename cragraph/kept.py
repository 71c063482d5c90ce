"""Asks the questions again that a person kept, and says what changed: a test of one's own documents."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from cragraph.errors import CragError
from cragraph.history import Entry, entry_of
from cragraph.language.markers import without_markers
from cragraph.run import Assistant

Status = Literal["same", "changed", "refused", "wrong", "failed"]
STATUSES: Final[tuple[Status, ...]] = ("same", "changed", "refused", "wrong", "failed")


@dataclass(frozen=True)
class Row:
    """One kept question: `same` as before, `changed`, now `refused`, `wrong` against what is expected, or `failed`.

    `wrong` says that the answer lacks what it must say; a question that was refused when it was kept, and still is, is
    the same. `why` says what is the matter in a sentence, empty where nothing is.
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
class Result:
    """All of them, in the order in which they were kept."""

    rows: list[Row] = field(default_factory=list)

    @property
    def all_same(self) -> bool:
        """Whether nothing changed."""
        return all(row.status == "same" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: the counts by status, and the rows."""
        counts = Counter(row.status for row in self.rows)
        return {"kept": len(self.rows)} | {s: counts[s] for s in STATUSES} | {"rows": [vars(row) for row in self.rows]}


def run(
    assistant: Assistant,
    kept: Iterable[Entry],
    *,
    renew: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> Result:
    """Ask every kept question as it was asked; with `renew`, what changed is what is compared with from now on.

    An answer that lacks what is expected, and a run that failed, are never taken over.
    """
    entries, rows = sorted(kept, key=lambda entry: entry.number), []
    for done, entry in enumerate(entries):
        if progress is not None:
            progress(done, len(entries))
        try:
            *_, last = assistant.ask(entry.question, messages=entry.messages, context=entry.narrowed)
        except CragError as error:
            rows.append(compared(entry, None, str(error)))
            continue
        now = entry_of(last.response, entry.door, entry.messages, entry.narrowed)
        rows.append(compared(entry, now))
        if renew and rows[-1].status in ("changed", "refused") and assistant.history is not None:
            assistant.history.renew(entry.number, now)
    return Result(rows)


def compared(entry: Entry, now: Entry | None, failed: str = "") -> Row:
    """A kept question beside what it is answered now; None where it could not be asked."""
    answer, confidence = ("", None) if now is None else (now.answer, now.confidence)
    status, why = ("failed", failed) if now is None else judged(entry, now)
    about = (entry.expect, entry.confidence, confidence, why)
    return Row(entry.number, entry.question, cast(Status, status), entry.answer, answer, *about)


def judged(entry: Entry, now: Entry) -> tuple[str, str]:
    """What became of a kept question, and why that is."""
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
    """Whether an answer has the expected words, in a row; capitals, articles, markers and full stops do not count."""
    return f" {plain(expected)} " in f" {plain(without_markers(answer))} "


def _line(text: str) -> str:
    return " ".join(without_markers(text).split())


def plain(text: str) -> str:
    """Text in small letters, its words and figures alone: without signs, articles, and commas in thousands."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
    return " ".join(w for w in re.findall(r"\w+(?:\.\d+)?", text) if w not in ("the", "a", "an"))
