"""Whether an answer is supported by its context at all: one yes or no, with the reason."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cragraph.build import Parts, make_verifier
from cragraph.errors import InputError, ModelError
from cragraph.protocols import Judge, Notes
from cragraph.settings import load_settings
from cragraph.types import Passage
from cragraph.validation_inputs import as_texts
from cragraph.verification.claims import split_claims, without_markers

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel


def verify_supported(
    question: str,
    context: Any,
    answer: str,
    *,
    chat_model: "BaseChatModel | None" = None,
    judge: Judge | None = None,
) -> dict[str, Any]:
    """Whether all of the answer stands in the context: ``{"supported": bool, "reason": str}``.

    `context` is a text or a list of chunks. By default the embedded judge decides; `judge` is any callable of the
    judge protocol, for which the embedded one stands in when it fails; `chat_model` any LangChain chat model. A reply
    that cannot be read, and a claim that nobody could judge, never mean supported.
    """
    if not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: pass a string.")
    passages = as_texts([context] if isinstance(context, str) else context)
    if not split_claims(answer):
        return {"supported": False, "reason": "The answer makes no claim that could be checked."}
    if chat_model is not None and judge is None:
        return _asked(question, passages, answer, chat_model)
    verifier = embedded_parts(None).verifier if judge is None else make_verifier(load_settings(), judge=judge)
    found = verifier(question, answer, passages, Notes(), judge="custom" if judge is not None else "auto")
    bad = [verdict for verdict in found.counted if verdict["verdict"] != "supported"]
    if not found.counted:
        return {"supported": False, "reason": "The answer holds nothing but opinions."}
    if not bad:
        return {"supported": True, "reason": f"The context supports all {len(found.counted)} claim(s)."}
    first = bad[0]
    why = f": {first['reasoning']}" if first["reasoning"] else ""
    label = first["verdict"].replace("_", " ")
    return {"supported": False, "reason": f"“{without_markers(first['text'])}” is {label}{why}"}


def _asked(question: str, passages: Sequence[Passage], answer: str, chat_model: "BaseChatModel") -> dict[str, Any]:
    from cragraph.verification.chat import LLMScores

    parts = Parts(load_settings(), chat_model=chat_model)
    assert parts.chat is not None
    try:
        found = LLMScores(parts.chat, parts.prompts).supported(question, answer, passages, Notes())
    except ModelError as error:
        return {"supported": False, "reason": f"The verifier gave no verdict: {error}"}
    return {"supported": bool(found["supported"]), "reason": str(found["reason"])}


def embedded_parts(embeddings: "Embeddings | None") -> Parts:
    """Parts without a chat model, whatever the environment says; those with the embedded encoder are built once."""
    if embeddings is None:
        return _embedded()
    return Parts(load_settings(model=None, judge_model=None), embeddings=embeddings)


@lru_cache(maxsize=1)
def _embedded() -> Parts:
    return Parts(load_settings(model=None, judge_model=None))
