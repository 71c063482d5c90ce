"""Judges; here is their table, and the call of a judge: its time limit, its cache, and the next judge if it fails."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from threading import Thread
from time import monotonic
from typing import Any, Final, TypeVar, cast

from cragraph.choices import SPECIALIST
from cragraph.models.cache import LRU, digest
from cragraph.protocols import Judge, Notes, reason_of, remaining, stand_in
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import LONGEST
from cragraph.verification.judges.verdicts import checked, unjudged
from cragraph.verification.result import judges_of

T = TypeVar("T")

VerdictCache = LRU[tuple[int, bytes, bytes], list[Verdict]]

MOST_CLAIMS: Final = 500
# Claims per call of a judge that judges each claim by itself, so that a deadline can stop it between calls.
SLICE: Final = 32
TOO_LONG: Final = f"The claim has more than {LONGEST:,} characters."
TOO_MANY: Final = "The answer has too many claims."
NOBODY: Final = "No judge could judge this claim."
LAST: Final = "no judge is left, and what is open stays unjudged"


def over_limit(verdict: Verdict) -> bool:
    """Whether a verdict is `unjudged` because the claim is too long or the answer has too many claims."""
    return verdict["reasoning"] in (TOO_LONG, TOO_MANY)


def batched(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """The numbers in groups of at most `size`."""
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """The result of the call. Raises TimeoutError after `seconds`; the call itself goes on in its thread."""
    if seconds is None:
        return call()
    result: Future[T] = Future()
    context = copy_context()

    def work() -> None:
        try:
            result.set_result(context.run(call))
        except Exception as error:
            result.set_exception(error)

    # A daemon thread and no pool: a judge that hangs must not keep the process from ending.
    Thread(target=work, daemon=True, name="cragraph-judge").start()
    try:
        return result.result(timeout=seconds)
    except TimeoutError as error:
        if result.done():
            raise
        raise TimeoutError(f"no verdict within {seconds:.3g} s") from error


@dataclass(frozen=True)
class JudgeChain:
    """Asks judges in order until every claim has a sound verdict; does not raise.

    A judge fails when it raises, takes longer than `timeout` seconds or than the run's deadline leaves, or returns
    anything but one verdict per claim with a known label and finite scores: each verdict is checked here, and nowhere
    else. A claim that a judge leaves `unjudged` goes on to the next judge; a claim that no judge judged stays
    `unjudged` and is never supported. The deadline does not stop the last of several judges, so that a late run still
    gets verdicts. A judge with `one_by_one` judges each claim by itself and gets a few claims at a time: its verdicts
    so far stand when the time is over. `cache` remembers verdicts by judge, claim, passages and question.

    Of more claims than `most` only the first are judged; the others, and claims of more than 2,000 characters, stay
    `unjudged`.
    """

    judges: Sequence[Judge]
    timeout: float | None = None
    most: int = MOST_CLAIMS
    clock: Callable[[], float] = monotonic  # tells the seconds
    cache: VerdictCache = field(default_factory=lambda: LRU(0), repr=False)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        verdicts = [unjudged(claim, NOBODY) for claim in claims]
        left = self._limited(claims, verdicts, notes)
        if not left:
            return verdicts
        within_limits = len(left)
        for judge, following in zip_longest(self.judges, self.judges[1:]):
            if not left:
                break
            then = f"{name_of(following)!r} took over" if following is not None else LAST
            call = partial(self._claims, judge, [claims[number] for number in left], passages, notes, question)
            if (own := stand_in(f"Judge {name_of(judge)!r}", call, then, notes)) is None:
                continue
            for number, verdict in zip(left, own, strict=True):
                verdicts[number] = verdict
            left = [number for number in left if verdicts[number]["verdict"] == "unjudged"]
            if left:
                notes.degraded(f"Judge {name_of(judge)!r} left {len(left)} claims unjudged; {then}.")
        if len(left) < within_limits:
            notes.ran("judge", judge_names(verdicts))
        return verdicts

    def _limited(self, claims: Sequence[Claim], verdicts: list[Verdict], notes: Notes) -> list[int]:
        """The numbers of the claims to judge. The others get the verdict `unjudged` here, with a note."""
        fit = [number for number, claim in enumerate(claims) if len(claim["text"]) <= LONGEST]
        for number in set(range(len(claims))) - set(fit):
            verdicts[number] = unjudged(claims[number], TOO_LONG)
        for number in fit[self.most :]:
            verdicts[number] = unjudged(claims[number], TOO_MANY)
        if long := len(claims) - len(fit):
            notes.degraded(f"{long} claims have more than {LONGEST:,} characters and are unjudged: split them.")
        if len(fit) > self.most:
            notes.degraded(
                f"Of {len(claims):,} claims the first {self.most:,} were judged, the others are unjudged: verify the "
                "answer in parts."
            )
        return fit[: self.most]

    def _claims(
        self, judge: Judge, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        """One judge's verdicts. Earlier verdicts come from the cache; `unjudged` is not kept there."""
        context = digest([question, *(passage["text"] for passage in passages)])
        keys = [(id(judge), digest([claim["text"], claim["type"]]), context) for claim in claims]
        known = [self.cache.get(key) for key in keys]
        new, begun = [number for number, hit in enumerate(known) if hit is None], self.clock()
        for some in batched(new, SLICE if getattr(judge, "one_by_one", False) else len(new) or 1):
            unknown = [claims[number] for number in some]
            try:
                given = within(self._seconds(judge, begun), partial(judge, unknown, passages, notes, question=question))
            except TimeoutError as error:
                if some == new[: len(some)]:
                    raise
                notes.degraded(f"Judge {name_of(judge)!r} was stopped ({reason_of(error)}).")
                break
            for number, verdict in zip(some, checked(given, unknown, passages, name_of(judge)), strict=True):
                known[number] = [verdict]
                if verdict["verdict"] != "unjudged":
                    self.cache.put(keys[number], [verdict])
        late = [[unjudged(claim, NOBODY)] if hit is None else hit for hit, claim in zip(known, claims, strict=True)]
        return [relocated(verdict, claim, passages) for (verdict,), claim in zip(late, claims, strict=True)]

    def _seconds(self, judge: Judge, begun: float) -> float | None:
        last = len(self.judges) > 1 and judge is self.judges[-1]
        left = None if last else remaining()
        own = None if self.timeout is None else max(0.0, self.timeout - (self.clock() - begun))
        if left == 0:
            raise TimeoutError("the deadline of the run has passed")
        if own == 0:
            raise TimeoutError(f"no verdict within {self.timeout:.3g} s")
        return min((limit for limit in (own, left) if limit is not None), default=None)


def name_of(judge: Judge) -> str:
    """A judge's `name`, else the name of its function or class."""
    return str(getattr(judge, "name", None) or getattr(judge, "__name__", type(judge).__name__))


def judge_names(verdicts: Sequence[Verdict]) -> str:
    """The judges whose verdicts stand, joined by ``+`` in order of appearance; ``none`` when nothing was judged."""
    return "+".join(judges_of(verdicts)) or "none"


def relocated(verdict: Verdict, claim: Claim, passages: Sequence[Passage]) -> Verdict:
    """A copy of a verdict for the same claim at another place, with the present chunk id of its passage."""
    shift, evidence = claim["start"] - verdict["start"], verdict["evidence"]
    fresh: Verdict = {**verdict, "start": claim["start"], "end": claim["end"]}
    if "unsupported_spans" in verdict:
        fresh["unsupported_spans"] = [(start + shift, end + shift) for start, end in verdict["unsupported_spans"]]
    if evidence is not None and 0 <= evidence["passage"] < len(passages):
        fresh["evidence"] = {**evidence, "chunk_id": passages[evidence["passage"]]["chunk_id"]}
    return fresh


class Judges(dict[str, Any]):
    """Judges by name; a judge ``ollama:<model>`` is made at first use."""

    def __init__(self, make: Callable[[str], Judge | None]) -> None:
        super().__init__()
        self._make = make

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).startswith(SPECIALIST)

    def __missing__(self, name: str) -> Judge:
        if not name.startswith(SPECIALIST):
            raise KeyError(name)
        return cast(Judge, self.setdefault(name, self._make(name)))
