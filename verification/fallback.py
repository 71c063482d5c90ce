"""Fallbacks: what stands in for a part that fails, hangs or declines, and the sentence that `degraded` gets for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from threading import Thread
from typing import Final, TypeVar

from cragraph.models.cache import LRU, digest
from cragraph.protocols import Judge, Notes, remaining, stand_in
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.verdicts import checked, unjudged
from cragraph.verification.result import judges_of

T = TypeVar("T")

VerdictCache = LRU[tuple[int, bytes, bytes], list[Verdict]]

NOBODY: Final = "No judge could judge this claim."
LAST: Final = "no judge is left, and what is open stays unjudged"


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """What the call returns; raises TimeoutError once it has taken so many seconds. The call itself is left behind."""
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
    """Asks its judges in order until one gives sound verdicts on all claims; does not raise.

    A judge fails when it raises, takes longer than `timeout` seconds or than the run's deadline leaves, or returns
    something else than one verdict per claim with a known label and finite scores: each verdict is checked here, and
    nowhere else. A claim that a judge leaves `unjudged` goes on to the next one, and what nobody judged stays
    `unjudged`: never supported. The deadline does not stop the last of several judges, so that a late run still gets
    the verdicts of the quickest one. `cache` remembers verdicts by judge, claim, passages and question.
    """

    judges: Sequence[Judge]
    timeout: float | None = None
    cache: VerdictCache = field(default_factory=lambda: LRU(0), repr=False)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        verdicts = [unjudged(claim, NOBODY) for claim in claims]
        left = list(range(len(claims)))
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
        if len(left) < len(claims):
            notes.ran("judge", judge_names(verdicts))
        return verdicts

    def _claims(
        self, judge: Judge, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        """One judge's verdicts; those that it gave before come from the cache, and what it left open is not kept."""
        context = digest([question, *(passage["text"] for passage in passages)])
        keys = [(id(judge), digest([claim["text"], claim["type"]]), context) for claim in claims]
        known = [self.cache.get(key) for key in keys]
        new = [number for number, hit in enumerate(known) if hit is None]
        if new:
            unknown = [claims[number] for number in new]
            given = within(self._seconds(judge), partial(judge, unknown, passages, notes, question=question))
            for number, verdict in zip(new, checked(given, unknown, passages, name_of(judge)), strict=True):
                known[number] = [verdict]
                if verdict["verdict"] != "unjudged":
                    self.cache.put(keys[number], [verdict])
        return [
            relocated(verdict, claim, passages) for (verdict,), claim in zip(filter(None, known), claims, strict=True)
        ]

    def _seconds(self, judge: Judge) -> float | None:
        last = len(self.judges) > 1 and judge is self.judges[-1]
        left = None if last else remaining()
        if left == 0:
            raise TimeoutError("the deadline of the run has passed")
        return min((limit for limit in (self.timeout, left) if limit is not None), default=None)


def name_of(judge: Judge) -> str:
    """A judge's name; that of the function or class where it says none."""
    return str(getattr(judge, "name", None) or getattr(judge, "__name__", type(judge).__name__))


def judge_names(verdicts: Sequence[Verdict]) -> str:
    """The judges whose verdicts stand, joined by ``+`` in order of appearance; ``none`` when nothing was judged."""
    return "+".join(judges_of(verdicts)) or "none"


def relocated(verdict: Verdict, claim: Claim, passages: Sequence[Passage]) -> Verdict:
    """A copy of a verdict for the same claim at another place, with the chunk id of the passage as it is called now."""
    shift, evidence = claim["start"] - verdict["start"], verdict["evidence"]
    fresh: Verdict = {**verdict, "start": claim["start"], "end": claim["end"]}
    if "unsupported_spans" in verdict:
        fresh["unsupported_spans"] = [(start + shift, end + shift) for start, end in verdict["unsupported_spans"]]
    if evidence is not None and 0 <= evidence["passage"] < len(passages):
        fresh["evidence"] = {**evidence, "chunk_id": passages[evidence["passage"]]["chunk_id"]}
    return fresh
