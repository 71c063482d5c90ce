"""The verdict on a computed answer: it is computed once more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.protocols import Answered
from cragraph.types import Claim, Computed, Evidence, Passage, Verdict
from cragraph.verification.judges.verdicts import verdict_of

JUDGE: Final = "computed"


@dataclass(frozen=True)
class Recomputed:
    """A computed answer and the result of running its query again: None if the run failed, with the reason in `why`."""

    computed: Computed
    again: Computed | None
    why: str = ""

    def answered(self) -> Answered:
        """The probability, 0..1, that the query is what the question asks, and the rows that the query was run over."""
        return Answered(self.computed["probability"], (), quoted=True)

    def verdicts(self, passages: Sequence[Passage]) -> list[Verdict]:
        """One verdict on the whole answer: supported if the recomputation gives the same words and rows."""
        first, again = self.computed, self.again
        claim = Claim(text=first["answer"], start=0, end=len(first["answer"]), type="factual")
        if again is None:
            return [
                verdict_of(claim, "unsupported", 0.0, 0.0, None, f"It could not be computed again: {self.why}", JUDGE)
            ]
        places = evidence_of(again, passages)
        evidence = places[0] if places else None
        same = all(first[name] == again[name] for name in ("answer", "value", "unit", "labels", "rows", "missing"))
        if not same or evidence is None:
            why = (
                f"Computed again, it is: {again['answer']}" if not same else "No row that it was computed of was read."
            )
            verdict = verdict_of(
                claim, "contradicted" if not same else "unsupported", 0.0, float(not same), evidence, why, JUDGE
            )
            return [{**verdict, "correction": again["answer"]} if not same else verdict]
        why = f"Recomputed over {again['rows']:,} row{'s' if again['rows'] != 1 else ''}: same result."
        verdict = verdict_of(claim, "supported", 1.0, 0.0, evidence, why, JUDGE)
        if places[1:]:
            verdict["further"] = places[1:]
        if doubts := list(dict.fromkeys([*first.get("doubts", ()), *again.get("doubts", ())])):
            verdict["doubts"] = doubts
        return [verdict]


def evidence_of(computed: Computed, passages: Sequence[Passage]) -> list[Evidence]:
    """The rows that a figure cites, at their places in the passages."""
    places = {p["chunk_id"]: n for n, p in reversed(list(enumerate(passages)))}
    found: list[Evidence] = []
    for cited in computed["cited"]:
        at = places.get(cited["chunk_id"])
        quote = cited["quote"]
        if at is None or not quote:
            continue
        text = passages[at]["text"]
        start = cited["start"] if text[cited["start"] : cited["end"]] == quote else text.find(quote)
        if start >= 0:
            end = start + len(quote)
            found.append(Evidence(quote=quote, passage=at, chunk_id=cited["chunk_id"], start=start, end=end))
    return found
