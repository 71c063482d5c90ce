"""The names that settings may give to replaceable parts, each with what it needs; `build.py` builds the parts."""

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
"""Who judges claims; beside them `ollama:<model>` for a model that was made to judge."""

SPECIALIST: Final = "ollama:"  # the prefix of the names of such models

RERANKERS: Final[Mapping[str, str]] = {"none": "", "lexical": "", "nearest": "", "llm": CHAT_MODEL}
"""What orders the passages; `auto` is nearest with the embedded encoder, whose cosines it weighs, else lexical."""

COMPRESSORS: Final[Mapping[str, str]] = {
    "flashrank": "langchain-community flashrank",
    "cohere": "langchain-cohere",
    "cross-encoder": "langchain-community sentence-transformers",
}
"""Rerankers of other libraries through LangChain, with the packages to install."""

COMPRESSORS_NAMED: Final = ("flashrank", "flashrank:<model>", "cross-encoder:<model>", "cohere:<model>")


def is_compressor(spec: str) -> bool:
    """Whether a name, a model's after a colon, is one of these or of a package that is installed."""
    name = spec.partition(":")[0]
    return name in COMPRESSORS or name in plugins.brought("rerankers")
