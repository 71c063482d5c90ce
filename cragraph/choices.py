"""The names of replaceable parts in settings, each with its requirement; `build.py` builds the parts.

Other packages bring parts as entry points of the groups `cragraph.embeddings` and `cragraph.rerankers`. Each names a
function or a class that is called with the model's name, or without arguments if none was given, and returns the part:

    [project.entry-points."cragraph.embeddings"]
    acme = "acme_search:AcmeEmbeddings"

`CRAG_EMBEDDINGS=acme:large` is then `AcmeEmbeddings("large")`, and `CRAG_EMBEDDINGS=acme` is `AcmeEmbeddings()`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from cragraph.errors import SettingsError

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
    return name in COMPRESSORS or name in brought("rerankers")


# -- parts from other packages ---------------------------------------------------------------------------------------

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["embeddings", "rerankers"]
PREFIX: Final = "cragraph."


def brought(group: Group) -> "dict[str, EntryPoint]":
    """The entry points of a group, by name; of two with one name the first found."""
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"{PREFIX}{group}"):
        points.setdefault(point.name, point)
    return points


def made(group: Group, spec: str) -> Any:
    """The part of the entry point named before the colon; None if there is none.

    Raises SettingsError if the package cannot be imported or does not make the part.
    """
    name, _, model = spec.partition(":")
    if (point := brought(group).get(name)) is None:
        return None
    package = point.dist.name if point.dist else point.value.partition(":")[0]
    try:
        make = point.load()
        return make(model) if model else make()
    except Exception as error:  # any error of a foreign package
        raise SettingsError(
            f"{spec!r} of the package {package} cannot be made ({type(error).__name__}: {error}); wanted a part for "
            f"{group}: install what it needs, or choose another name."
        ) from error
