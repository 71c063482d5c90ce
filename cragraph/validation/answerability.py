"""Reranking, inference modes and answerability: what may be answered, from which passages, and is it supported."""

import logging
from asyncio import to_thread
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from cragraph.build import Parts
from cragraph.errors import InputError, ModelError
from cragraph.graph.context import PRESETS
from cragraph.language.markers import without_markers
from cragraph.passages import as_passages
from cragraph.protocols import Judge, Notes
from cragraph.search.rerankers.lexical import LexicalReranker
from cragraph.settings import load_settings
from cragraph.types import IDK, Mode, Passage
from cragraph.validation.answers import embedded_parts
from cragraph.verification.chat_checks import LLMScores
from cragraph.verification.citations import place_in_store
from cragraph.verification.claims import split_claims

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)

IDK_SENTINEL: Final = IDK  # what stands in the place of an answer that is not supported

INFERENCE_CONFIGS: Final[Mapping[Mode, Mapping[str, Any]]] = {
    mode: {("verify_answer" if name == "verify" else name): value for name, value in preset.items()}
    for mode, preset in PRESETS.items()
}
"""What an inference mode sets: `min_chunks`, `verify_answer`, `second_pass_k`. A run takes it as `mode`, or under its
other name `inference_mode`."""


class RerankDoc(TypedDict):
    """A chunk with its relevance 0..1; its metadata holds `chunk_id`, `doc_id`, `start_index` and the like."""

    text: str
    metadata: dict[str, Any]
    score: float


async def rerank(
    question: str, docs: Iterable[Any], top_k: int = 3, *, chat_model: "BaseChatModel | None" = None
) -> list[RerankDoc]:
    """The `top_k` chunks that are most relevant to the question, best first, with their metadata.

    `docs` are strings, LangChain documents, or objects with text and metadata. A chat model, `chat_model` or that of
    the settings, scores each chunk from 0 to 1, in parallel and at temperature 0; without one the reranker of the
    settings does. Where the model scores none, the lexical reranker stands in; what failed is logged. Raises InputError
    for a `top_k` below 1.
    """
    if top_k < 1:
        raise InputError(f"rerank got top_k={top_k}; wanted 1 or more: the number of chunks to return.")
    parts, passages, notes = Parts(load_settings(), chat_model=chat_model), as_passages(docs), Notes()
    by_model = None if parts.chat is None else parts.reranker_named("llm")
    ranked = await to_thread(by_model or parts.reranker, question, passages, notes)
    if by_model and all(passage["rerank_score"] is None for passage in ranked):
        ranked = await to_thread(LexicalReranker(), question, passages, notes)
    for sentence in notes.sentences:
        logger.warning("reranking: %s", sentence)
    return [
        RerankDoc(text=p["text"], metadata=p["metadata"] | place_in_store(p), score=p["rerank_score"] or 0.0)
        for p in ranked[:top_k]
    ]


def verify_supported(
    question: str, context: Any, answer: str, *, chat_model: "BaseChatModel | None" = None, judge: Judge | None = None
) -> dict[str, Any]:
    """Whether the context supports all of the answer: ``{"supported": bool, "reason": str}``.

    `context` is a text or a list of chunks. By default the embedded judge decides; `judge` is any callable of the
    judge protocol, for which the embedded one stands in when it fails; `chat_model` any LangChain chat model. A reply
    that cannot be read, and a claim that nobody could judge, never mean supported.
    """
    if not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: pass a string.")
    passages = as_context(context)
    if not split_claims(answer):
        return {"supported": False, "reason": "The answer makes no claim that could be checked."}
    if chat_model is not None and judge is None:
        parts = Parts(load_settings(), chat_model=chat_model)
        assert parts.chat is not None
        try:
            scores = LLMScores(parts.chat, parts.prompts)
            return dict(scores.supported(question, answer, passages, Notes()))
        except ModelError as error:
            return {"supported": False, "reason": f"The verifier gave no verdict: {error}"}
    verifier = embedded_parts().verifier if judge is None else Parts(load_settings(), judge=judge).verifier
    verification = verifier(question, answer, passages, Notes(), judge="custom" if judge is not None else "auto")
    if not verification.counted:
        return {"supported": False, "reason": "The answer holds nothing but opinions."}
    for verdict in verification.counted:
        if verdict["verdict"] != "supported":
            why = f": {verdict['reasoning']}" if verdict["reasoning"] else ""
            reason = f"“{without_markers(verdict['text'])}” is {verdict['verdict'].replace('_', ' ')}{why}"
            return {"supported": False, "reason": reason}
    return {"supported": True, "reason": f"The context supports all {len(verification.counted)} claim(s)."}


def as_context(context: str | Iterable[Any]) -> list[Passage]:
    """A text, or chunks, as passages."""
    return as_passages([context] if isinstance(context, str) else context)
