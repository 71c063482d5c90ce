"""Calls of a chat model beside its verdicts: the claims of an answer, and scores of the whole answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from cragraph.errors import ModelError
from cragraph.language.quotes import placed
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Record, Score, Text
from cragraph.protocols import Notes
from cragraph.types import Claim, ClaimType, Passage


def _read_type(value: Any) -> str:
    """The claim's type; any value but opinion and conditional means factual, so that the claim is checked."""
    word = str(value).strip().lower()
    return word if word in ("opinion", "conditional") else "factual"


_SORT_SCHEMA = {"type": "string", "enum": ["factual", "opinion", "conditional"]}
Sort = Annotated[ClaimType, BeforeValidator(_read_type), WithJsonSchema(_SORT_SCHEMA)]


class FoundRow(BaseModel):
    """A claim that the model found."""

    claim: Annotated[Text, Field(min_length=1)]
    type: Sort = "factual"


class FoundRows(BaseModel):
    """The claims of an answer."""

    claims: list[FoundRow]


class LLMClaims(ChatPart):
    """Asks the model for the claims of an answer. Raises `ModelError` if the answer makes none of the claims named."""

    def __call__(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims in the order of the answer; one call."""
        claims: list[Claim] = []
        after = 0
        for row in self.ask(FoundRows, "claims", notes, quoted={"answer": answer}).claims:
            span = placed(row.claim, answer, after)
            if span is not None:
                after = span[1]
                claims.append(Claim(text=answer[span[0] : span[1]], start=span[0], end=span[1], type=row.type))
        if not claims:
            raise ModelError(f"{self.name} named no claim of the answer; wanted at least one.")
        return sorted(claims, key=lambda claim: (claim["start"], claim["end"]))


TOP: Final = 5


class Rating(BaseModel):
    """A score with its reason."""

    reasoning: Text = ""
    score: Score


@dataclass(frozen=True)
class LLMScores(ChatPart):
    """Each method is one call at temperature 0 and raises `ModelError` when the reply cannot be read.

    With `excerpts` the model reads the excerpts that the answering call was sent. A model whose verdicts are worth next
    to nothing (`Worth.judges`) is not asked; that is a `ModelError` too.
    """

    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def ask(self, record: type[Record], task: str, notes: Notes, *about: Any, **values: Any) -> Record:
        """Ask the model for a record of this type. Raises ModelError if its verdicts are worth too little."""
        if not (worth := self.caller.worth).judges:
            raise ModelError(
                f"{self.name} is not asked to score an answer, because its verdicts say too little (by "
                f"{worth.source}): choose a larger judge_model."
            )
        return super().ask(record, task, notes, *about, **values)

    def alignment(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> float:
        """Score, 0..1: how far the answer addresses the question, the top five passages support it and none contradicts
        it."""
        cut = self.excerpts(question, passages) if self.excerpts is not None and question else passages[:TOP]
        return self._asked(Rating, "alignment", question, answer, cut, notes).score

    def consistency(self, answer: str, known_facts: Sequence[str], notes: Notes) -> float:
        """Score, 0..1: 0 if the answer contradicts itself or a known fact."""
        facts = "\n".join(f"- {fact}" for fact in known_facts) or "(none)"
        return self.ask(Rating, "consistency", notes, quoted={"answer": answer, "facts": facts}).score

    def _asked(
        self, record: type[Record], task: str, question: str, answer: str, passages: Sequence[Passage], notes: Notes
    ) -> Record:
        return self.ask(record, task, notes, passages, {"answer": answer}, question=question or "(not known)")


@dataclass(frozen=True)
class LLMScorer:
    """One of the scores of `LLMScores`, as the verifier asks for it."""

    score: Callable[..., float]
    name: str

    def __call__(self, *given: Any) -> float:
        """The score, 0..1."""
        return self.score(*given)
