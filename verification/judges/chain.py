"""A chain of judges: where one fails, the next one takes over and says so."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Final

from cragraph.errors import SettingsError
from cragraph.protocols import Judge, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.evidence import checked, unjudged

NOBODY: Final = "No judge could judge this claim."


@dataclass(frozen=True)
class JudgeChain:
    """Asks its judges in order until one gives sound verdicts on all claims.

    A judge fails when it raises, takes longer than `timeout` seconds, or returns something else than one verdict a
    claim with a known label and finite scores. A claim that it leaves `unjudged` goes on to the next judge. What
    nobody judged stays `unjudged`: never supported.
    """

    judges: Sequence[Judge]
    timeout: float | None = None
    name: str = "chain"

    def __post_init__(self) -> None:
        if not self.judges:
            raise SettingsError("a chain came without judges; wanted at least one: JudgeChain([LexicalJudge()]).")
        if self.timeout is not None and not self.timeout > 0:
            raise SettingsError(f"timeout is {self.timeout}; wanted more than 0 seconds, or None for no limit.")

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order; does not raise."""
        verdicts = [unjudged(claim, NOBODY) for claim in claims]
        open_claims = list(range(len(claims)))
        for judge in self.judges:
            if not open_claims:
                break
            asked = [claims[number] for number in open_claims]
            try:
                found = checked(self._ask(judge, asked, passages, notes, question), asked, passages, judge.name)
            # A judge may be the caller's own or a model's server: whatever it raises, the next one takes over.
            except Exception as error:
                notes.degraded(f"Judge {judge.name!r} failed ({_told(error)}); {self._next(judge)}.")
                continue
            for number, verdict in zip(open_claims, found, strict=True):
                verdicts[number] = verdict
            left = [number for number in open_claims if verdicts[number]["verdict"] == "unjudged"]
            if left:
                notes.degraded(f"Judge {judge.name!r} left {len(left)} claims unjudged; {self._next(judge)}.")
            if len(left) < len(open_claims):
                notes.ran("judge", judge.name)
            open_claims = left
        return verdicts

    def _ask(
        self, judge: Judge, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        if self.timeout is None:
            return judge(claims, passages, notes, question=question)
        answer: Future[list[Verdict]] = Future()

        def work() -> None:
            try:
                answer.set_result(judge(claims, passages, notes, question=question))
            except Exception as error:
                answer.set_exception(error)

        # A daemon thread and no pool: a judge that hangs must not keep the process from ending.
        Thread(target=work, daemon=True, name=f"cragraph-judge-{judge.name}").start()
        try:
            return answer.result(timeout=self.timeout)
        except TimeoutError as error:
            if answer.done():
                raise
            raise TimeoutError(f"no verdict within {self.timeout:g} s") from error

    def _next(self, judge: Judge) -> str:
        after = self.judges[[id(other) for other in self.judges].index(id(judge)) + 1 :]
        return f"{after[0].name!r} took over" if after else "no judge is left, and what is open stays unjudged"


def _told(error: Exception) -> str:
    said = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
