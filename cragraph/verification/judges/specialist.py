"""Judges of an Ollama server: models that were trained to say whether a document supports a claim."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import httpx

from cragraph.choices import SPECIALIST
from cragraph.errors import ModelError, SettingsError
from cragraph.models.http import fetched, json_of
from cragraph.models.servers import Target, ollama_url, translate
from cragraph.models.weights import side_by_side
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.reading import Readings
from cragraph.verification.judges.verdicts import Standard, decide, unjudged

STANDARD: Final = Standard(supported=0.5, partial=0.3, contradicted=0.75, by_words=False)
LETTERS: Final = 3  # characters per token, at least: passages beyond the context are left out
_WORD: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SpecialistJudge:
    """Asks a specialised model about each claim: does the document (the passages, best first) support it?

    `bespoke-minicheck` gets document and claim, and Yes is support; `granite-guardian` gets context and response under
    its risk *groundedness*, and No is support. The support is the probability of that word if the server tells it, else
    1 or 0; a reply that is neither leaves the claim `unjudged`.
    """

    model: str
    base_url: str | None = None
    timeout_s: float = 120.0
    num_ctx: int = 8192
    threads: int = 4

    def __post_init__(self) -> None:
        if not ("minicheck" in self.model or "guardian" in self.model):
            raise SettingsError(
                f"{self.name} is no model that judges by itself; wanted bespoke-minicheck or granite3-guardian: for a "
                f"chat model set CRAG_JUDGE_MODEL={self.name} and the judge llm."
            )

    @property
    def name(self) -> str:
        """The name by which the judge is chosen."""
        return f"{SPECIALIST}{self.model}"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order; one call per claim, a few at the same time."""
        measures, url = Readings(claims, passages), ollama_url(self.base_url)
        document, room = "\n\n".join(passage["text"] for passage in passages), (self.num_ctx - 512) * LETTERS
        if len(document) > room:
            notes.degraded(f"{self.name} read the first {room} characters of the passages: raise CRAG_NUM_CTX.")
        try:
            replies = side_by_side(partial(self._asked, url, document[:room]), measures.texts, self.threads)
        except (httpx.HTTPError, OSError, ValueError) as error:
            raise translate(error, Target(self.model, url, ollama=True), self.timeout_s) from error
        notes.ran("judge model", self.name)
        notes.called(len(claims))
        verdicts = []
        for number, (claim, support) in enumerate(zip(claims, replies, strict=True)):
            if support is None:
                verdicts.append(unjudged(claim, f"{self.model} said neither yes nor no.", self.name))
                continue
            reading = next((measures.read(number, place) for place in measures.space.best(number)), None)
            verdicts.append(decide(claim, reading, (support, 0.0), STANDARD, passages, self.name))
        return verdicts

    def _asked(self, url: str, document: str, claim: str) -> float | None:
        """The support of a claim, 0..1; None if the model said neither yes nor no."""
        whole = {"user": f"Document: {document}\nClaim: {claim}"}
        parts = whole if "minicheck" in self.model else {"system": "groundedness", "user": document, "assistant": claim}
        body = {
            "model": self.model,
            "messages": [{"role": role, "content": content} for role, content in parts.items()],
            "options": {"temperature": 0.0, "seed": 0, "num_predict": 16, "num_ctx": self.num_ctx},
            "stream": False,
            "logprobs": True,
            "top_logprobs": 10,
        }
        reply = json_of(fetched(f"{url}/api/chat", body, seconds=self.timeout_s).raise_for_status())
        if not isinstance(reply, dict) or not isinstance(reply.get("message"), dict):
            raise ModelError(f"{self.name} gave a reply without a message; wanted one from Ollama's /api/chat.")
        yes = _yes(reply)
        return yes if yes is None or "minicheck" in self.model else 1.0 - yes


def _yes(reply: dict[str, Any]) -> float | None:
    """The probability of yes against no at the first token that is either, else 1 or 0 by the text of the reply."""
    for token in reply.get("logprobs") or []:
        if _word(token) in ("yes", "no"):
            chances = {"yes": 0.0, "no": 0.0}
            for other in token.get("top_logprobs") or [token]:
                if (word := _word(other)) in chances:
                    chances[word] += math.exp(other.get("logprob", 0.0))
            total = sum(chances.values())
            return chances["yes"] / total if total else None
    written = _WORD.search(str(reply["message"].get("content") or ""))
    return None if written is None else float(written[1].lower() == "yes")


def _word(token: dict[str, Any]) -> str:
    return str(token.get("token") or "").strip().lower()
