"""Claims and verdicts for an answer: the judge that was asked for, then the ones that stand in for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cragraph.protocols import AnswerJudge, ClaimExtractor, Judge, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.chain import JudgeChain
from cragraph.verification.judges.evidence import checked, verdict_of


@dataclass(frozen=True)
class Judging:
    """Judges by name, the order in which they stand in for one another, and what finds the claims.

    `timeout` is how many seconds a judge may take; None for no limit.
    """

    judges: Mapping[str, Judge]
    fallback: Sequence[str]
    extractor: ClaimExtractor
    spare_extractor: ClaimExtractor | None = None
    timeout: float | None = None

    def answer(
        self, name: str, answer: str, passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """Verdicts on the claims of an answer; a judge that finds claims itself is asked for both in one call."""
        if not answer.strip():
            return []
        order = self.order(name)
        judge = self.judges[name]
        if isinstance(judge, AnswerJudge) and _any_text(passages):
            try:
                found = judge.judge_answer(answer, passages, notes, question=question)
                verdicts = checked(found, found, passages, name)
                notes.ran("judge", judge_names(verdicts))
            # A judge may be the caller's own or a model's server: whatever it raises, the next one takes over.
            except Exception as error:
                order = order[1:]
                after = f"{order[0]!r} took over" if order else "no judge is left"
                notes.degraded(f"Judge {name!r} failed ({_told(error)}); {after}.")
            else:
                return verdicts
        return self.claims(order, self.extract(answer, notes), passages, notes, question=question)

    def order(self, name: str) -> list[str]:
        """The judge that was asked for and then those that stand in for it."""
        order: dict[int, str] = {}
        for other in (name, *self.fallback):
            # One judge may go by two names; it is not worth a second try.
            order.setdefault(id(self.judges[other]), other)
        return list(order.values())

    def extract(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims of an answer; by the spare extractor, and noted, where the first one fails."""
        try:
            return self.extractor(answer, notes)
        except Exception as error:
            if self.spare_extractor is None:
                raise
            notes.degraded(
                f"Claim extraction by {self.extractor.name!r} failed ({_told(error)}); "
                f"{self.spare_extractor.name!r} took over."
            )
            return self.spare_extractor(answer, notes)

    def claims(
        self,
        order: Sequence[str],
        claims: Sequence[Claim],
        passages: Sequence[Passage],
        notes: Notes,
        *,
        question: str = "",
    ) -> list[Verdict]:
        """One verdict a claim, by the first judge of the order that can judge it; `unjudged` where none can."""
        if not claims:
            return []
        if not _any_text(passages):
            why = "There is no passage to support it."
            return [verdict_of(claim, "unsupported", 0.0, 0.0, None, why, "none") for claim in claims]
        judges = [self.judges[name] for name in order]
        if not judges:
            return [
                verdict_of(c, "unjudged", 0.0, 0.0, None, "No judge could judge this claim.", "none") for c in claims
            ]
        return JudgeChain(judges, self.timeout)(claims, passages, notes, question=question)


def judge_names(verdicts: Sequence[Verdict]) -> str:
    """The judges whose verdicts stand, joined by ``+`` in order of appearance; ``none`` when nothing was judged."""
    judged = (verdict["judge"] for verdict in verdicts if verdict["verdict"] != "unjudged")
    return "+".join(dict.fromkeys(judged)) or "none"


def _any_text(passages: Sequence[Passage]) -> bool:
    return any(passage["text"].strip() for passage in passages)


def _told(error: Exception) -> str:
    said = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
