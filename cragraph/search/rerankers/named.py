"""Rerankers of other libraries by name, through LangChain's classes: FlashRank, cross-encoders, Cohere, plug-ins."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from cragraph import plugins
from cragraph.choices import COMPRESSORS, COMPRESSORS_NAMED
from cragraph.errors import ModelError, SettingsError
from cragraph.private import untold
from cragraph.protocols import Reranker
from cragraph.search.rerankers import logistic
from cragraph.search.rerankers.compressor import CompressorReranker
from cragraph.search.rerankers.encoder import EncoderReranker, Scorer

ALL: Final = 10_000  # documents that a compressor may return: of itself, each would drop all but the best three


def named_reranker(spec: str) -> Reranker:
    """The reranker of a name, its model loaded.

    Raises SettingsError for a name that is none or a model that there is none of, ModelError where a package is
    missing.
    """
    name, _, model = spec.partition(":")
    if name not in COMPRESSORS:
        own = plugins.made("rerankers", spec)
        if hasattr(own, "compress_documents"):
            return CompressorReranker(own, spec)
        if not callable(own):
            raise SettingsError(
                f"the reranker {spec!r} came as a {type(own).__name__}; wanted a LangChain BaseDocumentCompressor or "
                f"one of {', '.join(COMPRESSORS_NAMED)}: install the package that brings it, or correct the name."
            )
        return own  # type: ignore[no-any-return]
    module, cls, packages = COMPRESSORS[name]
    untold()
    try:
        make = getattr(import_module(module), cls)
        if name == "cross-encoder":
            # LangChain's CrossEncoderReranker drops the scores, so its encoder is asked for them.
            return EncoderReranker(scores_of(make(**({"model_name": model} if model else {}))), 1.0, name=spec)
        return CompressorReranker(make(top_n=ALL, **({"model": model} if model else {})), spec)
    except ImportError as error:
        raise ModelError(
            f"the reranker {spec!r} needs a package that is not installed ({_first_line(error)}): run "
            f"`pip install {packages}`."
        ) from error
    except Exception as error:  # no such model, no key: each library has its own way to say so
        raise SettingsError(
            f"the reranker {spec!r} cannot be built ({_first_line(error)}): correct the name of its model, or set what "
            "it asks for, such as its key."
        ) from error


def scores_of(encoder: Any) -> Scorer:
    """What a cross-encoder of LangChain's makes of pairs, as 0..1: log-odds, which most give, by the logistic curve."""

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        raw = [float(value) for value in encoder.score(list(pairs))]
        return raw if all(0.0 <= value <= 1.0 for value in raw) else [logistic(value) for value in raw]

    return score


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0].rstrip(".")
