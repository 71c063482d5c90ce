"""The judge with a chat model: one call for all claims of an answer, its evidence checked against the passages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller, Messages, ask, fitting
from cragraph.prompts.data import delimited, marker_for, neutral
from cragraph.prompts.load import Prompts
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.align import placed
from cragraph.verification.judges.llm_evidence import held
from cragraph.verification.judges.llm_rows import SCORES, ClaimRow, ClaimRows, NumberedRow, NumberedRows

BATCH: Final = 10
"""Claims a call: a small model's reply on more would not fit into the tokens it may write."""


@dataclass(frozen=True)
class LLMJudge:
    """Judges claims with a chat model, at temperature 0, without reasoning aloud, its tokens kept out of the stream.

    A quote that no passage holds is dropped and its verdict lowered by a step, and so is support for a figure that no
    passage has; a claim that the reply leaves out is `unjudged`. Raises `ModelError` when a reply cannot be read, also
    after one repair try, so that another judge takes over.
    """

    caller: ChatCaller
    prompts: Prompts = field(default_factory=Prompts)
    name: str = "llm"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in the order of the claims; one call for each `BATCH` claims."""
        verdicts: list[Verdict] = []
        for start in range(0, len(claims), BATCH):
            verdicts += self._batch(claims[start : start + BATCH], passages, notes, question)
        return verdicts

    def judge_answer(
        self, answer: str, passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """Find the claims of the answer and judge them in one call.

        A claim's offsets are those of its words in the answer, else of the sentence that it rephrases; claims that
        the answer does not make are left out, and that is noted.
        """

        def messages(some: Sequence[Passage]) -> Messages:
            texts = [passage["text"] for passage in some]
            marker = marker_for(question, answer, *texts, seed=self.caller.seed)
            return self.prompts["judge_answer"].fill(
                passages=delimited(some, marker),
                answer=neutral(answer, marker),
                question=question or "(not known)",
                marker=marker,
            )

        used, prompt = self._fitted("judge_answer", passages, messages, notes)
        found = ask(self.caller, prompt, ClaimRows, notes)
        corrections = found.suggested_corrections if len(found.suggested_corrections) == len(found.claims) else []
        verdicts: list[Verdict] = []
        after = strangers = 0
        for index, row in enumerate(found.claims):
            span = placed(row.claim, answer, after)
            if span is None:
                strangers += 1
                continue
            after = span[1]
            exact = answer[span[0] : span[1]]
            text = exact if _alike(exact, row.claim) else row.claim
            claim = Claim(text=text, start=span[0], end=span[1], type=row.type)
            verdicts.append(self._verdict(claim, row, used, corrections[index] if corrections else ""))
        if strangers:
            notes.degraded(f"{self.caller.title} judged {strangers} claims that the answer does not make; left out.")
        if not verdicts:
            raise ModelError(f"{self.caller.title} named no claim of the answer; wanted at least one.")
        return verdicts

    def _batch(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        def messages(some: Sequence[Passage]) -> Messages:
            listed = "\n".join(f"{number}. {claim['text']}" for number, claim in enumerate(claims, start=1))
            marker = marker_for(question, listed, *(passage["text"] for passage in some), seed=self.caller.seed)
            return self.prompts["judge"].fill(
                passages=delimited(some, marker),
                claims=neutral(listed, marker),
                count=len(claims),
                question=question or "(not known)",
                marker=marker,
            )

        used, prompt = self._fitted("judge", passages, messages, notes)
        rows = _by_number(ask(self.caller, prompt, NumberedRows, notes).claims, len(claims))
        if not rows:
            raise ModelError(f"{self.caller.title} judged none of the {len(claims)} claims; wanted a verdict on each.")
        missing = len(claims) - len(rows)
        if missing:
            notes.degraded(f"{self.caller.title} left out {missing} of {len(claims)} claims; they are unjudged.")
        none = NumberedRow(status="none", reasoning="The judge's reply left this claim out.")
        return [self._verdict(claim, rows.get(number, none), used) for number, claim in enumerate(claims)]

    def _fitted(
        self, task: str, passages: Sequence[Passage], messages: Callable[[Sequence[Passage]], Messages], notes: Notes
    ) -> tuple[list[Passage], Messages]:
        notes.ran(f"prompt:{task}", self.prompts[task].digest)
        used = fitting(
            passages,
            lambda some: "\n".join(text for _, text in messages(some)),
            self.caller.num_ctx,
            self.caller.num_predict,
            notes,
            task=task,
        )
        return used, messages(used)

    def _verdict(
        self, claim: Claim, row: NumberedRow | ClaimRow, passages: Sequence[Passage], correction: str = ""
    ) -> Verdict:
        kept = held(claim["text"], row.status, row.evidence, row.passage - 1, passages)
        label = kept.label
        support, contradiction = SCORES[label]
        verdict = Verdict(
            text=claim["text"],
            start=claim["start"],
            end=claim["end"],
            type=claim["type"],
            verdict=label,
            support=support,
            contradiction=contradiction,
            evidence=None if label == "unsupported" else kept.evidence,
            reasoning=f"{row.reasoning} {kept.why}".strip(),
            judge=self.name,
        )
        fix = row.correction or correction
        if fix and label not in ("supported", "unjudged"):
            verdict["correction"] = fix
        return verdict


def _by_number(rows: Sequence[NumberedRow], count: int) -> dict[int, NumberedRow]:
    """Rows by claim index: by their numbers, or by position when there are as many rows and none has a number."""
    if len(rows) == count and not any(row.n for row in rows):
        return dict(enumerate(rows))
    numbered: dict[int, NumberedRow] = {}
    for row in rows:
        if 1 <= row.n <= count:
            numbered.setdefault(row.n - 1, row)
    return numbered


def _alike(exact: str, claim: str) -> bool:
    return "".join(exact.lower().split()).strip(".") == "".join(claim.lower().split()).strip(".")
