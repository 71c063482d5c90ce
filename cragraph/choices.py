"""The names of replaceable parts in settings, each with its requirement; `build.py` builds the parts."""

from collections.abc import Mapping
from typing import Final

from cragraph import plugins

CHAT_MODEL: Final = "a chat model: set CRAG_MODEL or pass --model ollama:<model>"

JUDGES: Final[Mapping[str, str]] = {
    "lexical": "",
    "embedding": "",
    "encoder": "",
    "nli": "a model: set CRAG_NLI_MODEL to the folder of an ONNX classifier",
    "llm": CHAT_MODEL,
    "cascade": CHAT_MODEL,
}
"""Judges of claims; also `ollama:<model>` for a model that was made to judge."""

SPECIALIST: Final = "ollama:"  # the name prefix of such models

RERANKERS: Final[Mapping[str, str]] = {"none": "", "lexical": "", "nearest": "", "llm": CHAT_MODEL}
"""Rerankers; `auto` is nearest with the embedded encoder, for whose cosines it was fitted, else lexical."""

COMPRESSORS: Final[Mapping[str, str]] = {
    "flashrank": "langchain-community flashrank",
    "cohere": "langchain-cohere",
    "cross-encoder": "langchain-community sentence-transformers",
}
"""Rerankers of other libraries through LangChain, with the packages to install."""

COMPRESSORS_NAMED: Final = ("flashrank", "flashrank:<model>", "cross-encoder:<model>", "cohere:<model>")


def is_compressor(spec: str) -> bool:
    """Whether a name (with a model after a colon) is one of these or of an installed package."""
    name = spec.partition(":")[0]
    return name in COMPRESSORS or name in plugins.brought("rerankers")
