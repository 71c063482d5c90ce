"""Judges by models that were trained to tell whether a text supports a claim.

An ONNX classifier in a folder, or a specialised model of an Ollama server.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
from numpy.typing import NDArray

from cragraph.choices import SPECIALIST
from cragraph.errors import ModelError, SettingsError, WeightsError
from cragraph.models.http import fetched, json_of
from cragraph.models.servers import Target, ollama_url, translate
from cragraph.models.weights import open_session, read_tokenizer, side_by_side, whole
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.verdicts import Standard, decide, unjudged
from cragraph.verification.reading import ON_TOPIC, Readings

MODELS: Final = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
"""Where the model may lie in its folder, in order of preference."""
LONGEST: Final = 512
WINDOWS: Final = 4
STANDARD: Final = Standard(supported=0.5, partial=0.3, contradicted=0.6, by_words=False)
INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""The inputs that a model may have, and the tokenizer's names for them."""
_LABEL: Final = re.compile(
    r"(?P<entailment>entail(?:ment|s|ed)?|support(?:s|ed)?|consistent|grounded|factual|true|yes)"
    r"|(?P<contradiction>contradict(?:ion|s|ed|ory)?|refut(?:es|ed)?)"
    r"|(?P<neither>neutral|(?:not|non)_?entail(?:ment|ed)?|unsupported|not_?support(?:s|ed)?|inconsistent"
    r"|hallucinat(?:ed|ion)|not_?enough_?info|nei|unknown|false|no|not_?grounded)",
    re.IGNORECASE,
)

Scores = NDArray[np.float32]
Pairs = Sequence[tuple[str, str]]


class NLIJudge:
    """Judges by entailment: does the window entail the claim, contradict it, or neither?

    `model` is a folder with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and ``config.json``, or a
    loaded `NLIModel`. A folder is checked at once and its model opened at the first call. Raises WeightsError where a
    file is missing or the labels do not say which is entailment.
    """

    name = "nli"

    def __init__(self, model: "str | Path | NLIModel") -> None:
        self.model = model if isinstance(model, NLIModel) else load_nli(model)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, by its window with the clearest score; each claim is one call of the model."""
        measures = Readings(claims, passages)
        space = measures.space
        notes.ran("nli model", self.model.folder.name)
        verdicts = []
        for number, claim in enumerate(claims):
            places = space.best(number, WINDOWS)
            scores = self.model([(space.windows[place].text, measures.texts[number]) for place in places])
            # A window contradicts as far as it is on the claim's matter.
            against = scores[:, 1] * np.minimum(1.0, space.coverage[places, number] / ON_TOPIC)
            support, contradiction = (float(column.max(initial=0.0)) for column in (scores[:, 0], against))
            clearest = scores[:, 0] if support >= contradiction else against
            reading = measures.read(number, places[int(clearest.argmax())]) if places else None
            values = support, contradiction * (1 - support)
            verdicts.append(decide(claim, reading, values, STANDARD, passages, self.name))
        return verdicts


@dataclass(frozen=True)
class NLIModel:
    """A model's files, and the numbers of its outputs for entailment and, if it has one, for contradiction.

    The files are opened by the first call.
    """

    file: Path
    folder: Path
    config: Mapping[str, Any]
    roles: tuple[int, int | None]
    threads: int = 0

    def __call__(self, pairs: Pairs) -> Scores:
        """Probabilities of entailment and contradiction for (premise, claim) pairs: float32, shape (len(pairs), 2)."""
        if not pairs:
            return np.zeros((0, 2), np.float32)
        probabilities = self.outputs(pairs)
        if probabilities.shape[1] <= max(label or 0 for label in self.roles):
            raise self._strange(probabilities, "a logit for each label of its config")
        none = np.zeros(len(pairs), np.float32)
        return np.stack([none if label is None else probabilities[:, label] for label in self.roles], axis=1)

    def outputs(self, pairs: Pairs) -> Scores:
        """The probability of each label: (pairs, labels), of a token classifier for the claim's worst token."""
        session, tokenizer = self._opened
        inputs = session.get_inputs()
        size = inputs[0].shape[0]
        if isinstance(size, int) and size != len(pairs):
            # A model that was exported for a fixed batch size gets one pair in every place.
            return np.concatenate([self.outputs([pair] * size)[:1] for pair in pairs])
        encoded = tokenizer.encode_batch([(whole(premise), whole(claim)) for premise, claim in pairs])
        if unknown := {entry.name for entry in inputs} - INPUTS.keys():
            raise WeightsError(
                f"{self.file} has the inputs {', '.join(unknown)}; wanted at most {', '.join(INPUTS)}: export it as a "
                "sequence classification model."
            )
        fed = {i.name: np.array([getattr(e, INPUTS[i.name]) for e in encoded], dtype=np.int64) for i in inputs}
        logits = np.asarray(session.run(None, fed)[0], np.float32)
        raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities = (
            raised / raised.sum(axis=-1, keepdims=True) if logits.shape[-1] > 1 else 1 / (1 + np.exp(-logits))
        )
        if logits.ndim == 3:
            # A token classifier marks unsupported tokens with its last label; a claim is as good as its worst token.
            own = np.array([[place == 1 for place in one.sequence_ids] for one in encoded])
            worst = np.where(own, probabilities[:, :, -1], 0.0).max(axis=1)
            return np.stack([1 - worst, worst], axis=1).astype(np.float32)
        if logits.ndim != 2:
            raise self._strange(logits, "logits of labels")
        return np.asarray(probabilities, dtype=np.float32)

    def _strange(self, output: Scores, wanted: str) -> WeightsError:
        return WeightsError(f"{self.file} returned an output of shape {output.shape}; wanted {wanted}.")

    @cached_property
    def _opened(self) -> tuple[Any, Any]:
        """The session, and the tokenizer that cuts and pads as the model needs."""
        session = open_session(self.file, self.threads)
        tokenizer = read_tokenizer(self.folder / "tokenizer.json")
        length = session.get_inputs()[0].shape[-1]
        length = length if isinstance(length, int) else None
        limits = (LONGEST, self.config.get("max_position_embeddings"), length)
        # The claim must stay whole: only the premise is cut.
        tokenizer.enable_truncation(min(n for n in limits if isinstance(n, int)), strategy="only_first")
        pads = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
        tokenizer.enable_padding(length=length, pad_id=next((n for n in pads if n is not None), 0))
        return session, tokenizer


def load_nli(where: str | Path, threads: int = 0) -> NLIModel:
    """The model in a folder, which is opened later; raises WeightsError saying what is missing or unclear."""
    folder = Path(where).expanduser()
    file = next(filter(Path.is_file, (folder / name for name in MODELS)), folder / MODELS[0])
    path = folder / "config.json"
    if missing := [own.name for own in (file, folder / "tokenizer.json", path) if not own.is_file()]:
        raise WeightsError(
            f"{folder} holds no {' and no '.join(missing)}; wanted an ONNX classifier ({', '.join(MODELS)}) "
            "with its tokenizer.json and its config.json."
        )
    try:
        config = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise WeightsError(f"{path} cannot be read ({error}); wanted the model's config as a JSON object.") from error
    return NLIModel(file, folder, config, named_roles(config, path), threads)


def named_roles(config: Mapping[str, Any], path: Path) -> tuple[int, int | None]:
    """The numbers of the outputs for entailment and contradiction by ``id2label``; raises WeightsError if unclear."""
    labels = dict(config.get("id2label") or {})
    found = {n: _LABEL.fullmatch(re.sub(r"[\s-]+", "_", str(label).strip())) for n, label in labels.items()}
    roles = [match and match.lastgroup for match in found.values()]
    if roles.count("entailment") != 1 or roles.count("contradiction") > 1 or None in roles:
        raise WeightsError(
            f"{path} labels its outputs {', '.join(map(str, labels.values())) or 'not at all'}; wanted one entailment, "
            "at most one contradiction, and neutral: name them in id2label, such as "
            '{"0": "entailment", "1": "neutral", "2": "contradiction"}.'
        )
    numbers = dict(zip(roles, map(int, labels), strict=True))
    return numbers["entailment"], numbers.get("contradiction")


# -- specialised models of an Ollama server -------------------------------------------------------------------------

SERVED: Final = Standard(supported=0.5, partial=0.3, contradicted=0.75, by_words=False)
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
            verdicts.append(decide(claim, reading, (support, 0.0), SERVED, passages, self.name))
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
            probabilities = {"yes": 0.0, "no": 0.0}
            for other in token.get("top_logprobs") or [token]:
                if (word := _word(other)) in probabilities:
                    probabilities[word] += math.exp(other.get("logprob", 0.0))
            total = sum(probabilities.values())
            return probabilities["yes"] / total if total else None
    written = _WORD.search(str(reply["message"].get("content") or ""))
    return None if written is None else float(written[1].lower() == "yes")


def _word(token: dict[str, Any]) -> str:
    return str(token.get("token") or "").strip().lower()
