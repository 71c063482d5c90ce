"""Judges behind a cache: the same claim against the same passages is judged once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from cragraph.models.cache import LRU, digest
from cragraph.protocols import AnswerJudge, Judge, Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.evidence import checked

VerdictCache = LRU[tuple[str, bytes, bytes], list[Verdict]]


@dataclass(frozen=True)
class CachedJudge:
    """A judge that remembers its verdicts by claim, passage texts and judge; an unjudged claim is not kept.

    `key` tells judges of one name apart. Only claims that are new are judged, in one call. Offsets are moved to where
    the claim stands now.
    """

    judge: Judge
    cache: VerdictCache
    key: str

    @property
    def name(self) -> str:
        """The name of the judge behind the cache."""
        return self.judge.name

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order."""
        context = digest([question, *(passage["text"] for passage in passages)])
        keys = [(self.key, digest([claim["text"], claim["type"]]), context) for claim in claims]
        found = [self.cache.get(key) for key in keys]
        new = [index for index, hit in enumerate(found) if hit is None]
        # No claim, no cached one: the judge decides what to make of an empty call.
        judged: list[Verdict] = []
        if new or not claims:
            asked = [claims[index] for index in new]
            # Only what is sound is worth keeping.
            judged = checked(self.judge(asked, passages, notes, question=question), asked, passages, self.name)
        for index, verdict in zip(new, judged, strict=True):
            found[index] = [verdict]
            if verdict["verdict"] != "unjudged":
                self.cache.put(keys[index], [verdict])
        return [moved(cast(list[Verdict], hit)[0], claim, passages) for hit, claim in zip(found, claims, strict=True)]


@dataclass(frozen=True)
class CachedAnswerJudge(CachedJudge):
    """A cached judge that also finds the claims of an answer itself."""

    def judge_answer(
        self, answer: str, passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """The verdicts on the answer's claims; kept when every one of them was judged."""
        key = (self.key, digest(["answer", answer]), digest([question, *(p["text"] for p in passages)]))
        found = self.cache.get(key)
        if found is None:
            given = cast(AnswerJudge, self.judge).judge_answer(answer, passages, notes, question=question)
            found = checked(given, given, passages, self.name)
            if found and all(verdict["verdict"] != "unjudged" for verdict in found):
                self.cache.put(key, found)
        return [moved(verdict, verdict, passages) for verdict in found]


def cached(judge: Judge, cache: VerdictCache, key: str | None = None) -> CachedJudge:
    """The judge behind a cache; one that judges whole answers still does. `key` is its name where none is given."""
    kind = CachedAnswerJudge if isinstance(judge, AnswerJudge) else CachedJudge
    return kind(judge, cache, judge.name if key is None else key)


def moved(verdict: Verdict, claim: Claim, passages: Sequence[Passage]) -> Verdict:
    """A copy of a verdict for the same claim at another place, with the chunk id of the passage as it is called now."""
    shift = claim["start"] - verdict["start"]
    fresh = verdict.copy()
    fresh["start"], fresh["end"] = claim["start"], claim["end"]
    if "unsupported_spans" in verdict:
        fresh["unsupported_spans"] = [(start + shift, end + shift) for start, end in verdict["unsupported_spans"]]
    evidence = verdict["evidence"]
    if evidence is not None and 0 <= evidence["passage"] < len(passages):
        current = evidence.copy()
        current["chunk_id"] = passages[evidence["passage"]]["chunk_id"]
        fresh["evidence"] = current
    return fresh
