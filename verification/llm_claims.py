"""Claim extraction with a chat model, each claim aligned to the answer's text."""

from dataclasses import dataclass, field

from cragraph.errors import ModelError
from cragraph.models.chat_call import ChatCaller
from cragraph.models.parsing import ask
from cragraph.prompts.data import marker_for, neutral
from cragraph.prompts.load import Prompts
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.align import placed
from cragraph.verification.judges.llm_rows import FoundRows


@dataclass(frozen=True)
class LLMClaims:
    """Asks the model for the claims of an answer; raises `ModelError` when it names none that the answer makes."""

    caller: ChatCaller
    prompts: Prompts = field(default_factory=Prompts)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.caller.title

    def __call__(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims in the order of the answer; one call."""
        prompt = self.prompts["claims"]
        notes.ran("prompt:claims", prompt.digest)
        marker = marker_for(answer, seed=self.caller.seed)
        found = ask(self.caller, prompt.fill(answer=neutral(answer, marker), marker=marker), FoundRows, notes)
        claims: list[Claim] = []
        after = 0
        for row in found.claims:
            span = placed(row.claim, answer, after)
            if span is not None:
                after = span[1]
                claims.append(Claim(text=answer[span[0] : span[1]], start=span[0], end=span[1], type=row.type))
        if not claims:
            raise ModelError(f"{self.name} named no claim of the answer; wanted at least one.")
        return sorted(claims, key=lambda claim: (claim["start"], claim["end"]))
