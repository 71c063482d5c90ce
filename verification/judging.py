"""Claims and verdicts for an answer: the judge that was asked for, then the ones that stand in for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from cragraph.errors import ModelError
from cragraph.protocols import AnswerJudge, ClaimExtractor, Judge, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.counting import CREDIT


@dataclass(frozen=True)
class Judging:
    """Judges by name, the order in which they stand in for one another, and what finds the claims."""

    judges: Mapping[str, Judge]
    fallback: Sequence[str]
    extractor: ClaimExtractor
    spare_extractor: ClaimExtractor | None = None

    def answer(
        self, name: str, answer: str, passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """Verdicts on the claims of an answer; a judge that finds claims itself is asked for both in one call."""
        judge = self.judges[name]
        if isinstance(judge, AnswerJudge):
            try:
                found = judge.judge_answer(answer, passages, notes, question=question)
                _check(found, len(found) or 1)
                notes.ran("judge", judge_names(found))
            # As below: whatever a judge raises, the next one takes over.
            except Exception as error:
                notes.degraded(_failure(name, error))
            else:
                return found
            names = self.order(name)[1:]
        else:
            names = self.order(name)
        return self.claims(names, self.extract(answer, notes), passages, notes, question=question)

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
        names: Sequence[str],
        claims: Sequence[Claim],
        passages: Sequence[Passage],
        notes: Notes,
        *,
        question: str = "",
    ) -> list[Verdict]:
        """One verdict a claim, by the first of the named judges that can judge it.

        A judge that fails is replaced by the next one, and claims that a judge declines go to the next one too; what
        none of them can judge is `unjudged`. Both are noted.
        """
        if not claims:
            return []
        if not any(passage["text"].strip() for passage in passages):
            return [_without_passages(claim) for claim in claims]
        verdicts: dict[int, Verdict] = {}
        open_claims = list(range(len(claims)))
        for name in names:
            try:
                found = self.judges[name]([claims[i] for i in open_claims], passages, notes, question=question)
                _check(found, len(open_claims))
            # A judge may be the caller's own or a model's server: whatever it raises, the next one takes over.
            except Exception as error:
                notes.degraded(_failure(name, error))
                continue
            verdicts.update(zip(open_claims, found, strict=True))
            open_claims = [i for i in open_claims if verdicts[i]["verdict"] == "unjudged"]
            if not open_claims:
                break
        if open_claims:
            notes.degraded(f"No judge could judge {len(open_claims)} of {len(claims)} claims; they are unjudged.")
        result = [verdicts.get(i) or unjudged(c, "No judge could judge this claim.") for i, c in enumerate(claims)]
        notes.ran("judge", judge_names(result))
        return result


def unjudged(claim: Claim, reasoning: str) -> Verdict:
    """The verdict on a claim that nobody judged."""
    return Verdict(
        text=claim["text"],
        start=claim["start"],
        end=claim["end"],
        type=claim["type"],
        verdict="unjudged",
        support=0.0,
        contradiction=0.0,
        evidence=None,
        reasoning=reasoning,
        judge="none",
    )


def judge_names(verdicts: Sequence[Verdict]) -> str:
    """The judges whose verdicts stand, joined by ``+`` in order of appearance; ``none`` when nothing was judged."""
    judged = (verdict["judge"] for verdict in verdicts if verdict["verdict"] != "unjudged")
    return "+".join(dict.fromkeys(judged)) or "none"


def _without_passages(claim: Claim) -> Verdict:
    verdict = unjudged(claim, "There is no passage to support it.")
    verdict["verdict"] = "unsupported"
    return verdict


def _check(verdicts: Sequence[Verdict], wanted: int) -> None:
    """Raise ModelError unless there are as many verdicts as wanted, each with a known label and scores of 0..1."""
    if len(verdicts) != wanted:
        raise ModelError(f"it returned {len(verdicts)} verdicts; wanted {wanted}")
    for verdict in verdicts:
        if verdict["verdict"] not in CREDIT:
            raise ModelError(f"it returned the verdict {verdict['verdict']!r}; wanted one of {', '.join(CREDIT)}")
        for name, score in (("support", verdict["support"]), ("contradiction", verdict["contradiction"])):
            if not isfinite(score) or not 0.0 <= score <= 1.0:
                raise ModelError(f"it returned a {name} of {score}; wanted a number of 0..1")


def _failure(name: str, error: Exception) -> str:
    return f"Judge {name!r} failed ({_told(error)}); the next one took over."


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
