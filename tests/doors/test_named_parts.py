"""Embeddings and rerankers by name: LangChain's providers, other libraries, and packages of one's own."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.embeddings.base import _get_embeddings_class_creator

from cragraph import load_settings
from cragraph.build import Parts
from cragraph.errors import ModelError, SettingsError, StoreMismatchError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.run import Assistant
from tests.doors.conftest import Shell
from tests.support.packages import install

EMBEDDINGS = """
from langchain_core.embeddings import Embeddings

class {name}(Embeddings):
    def __init__(self, {argument}={default!r}):
        self.width = 8 if {argument} == "large" else 4

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        vector = [0.01] * self.width
        for character in text.casefold():
            vector[ord(character) % self.width] += 1.0
        return vector
"""
RANKER = """
import numpy as np

class RerankRequest:
    def __init__(self, query, passages):
        self.query, self.passages = query, passages

class Ranker:
    def __init__(self, model_name="standard", **more):
        self.model_name = model_name

    def rerank(self, request):
        scored = [{**p, "score": np.float32(0.9 if "tea" in p["text"] else 0.125)} for p in request.passages]
        return sorted(scored, key=lambda p: -p["score"])
"""
COHERE = """
from langchain_core.documents import BaseDocumentCompressor

class CohereRerank(BaseDocumentCompressor):
    model: str = ""
    top_n: int = 3

    def compress_documents(self, documents, query, callbacks=None):
        for document in documents:
            document.metadata["relevance_score"] = 0.75 if "tea" in document.page_content else 0.25
        return sorted(documents, key=lambda d: -d.metadata["relevance_score"])[: self.top_n]
"""
TEXTS = ["The sea is salt.", "Green tea is not oxidised.", "Lakes are fresh.", "Snow is cold.", "Bread is warm."]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Installs a package for the test."""

    def installed(name: str, modules: dict[str, str], points: dict[str, str] | None = None) -> None:
        install(tmp_path, monkeypatch, name, modules, points)

    yield installed
    _get_embeddings_class_creator.cache_clear()


def embedded(spec: str) -> Any:
    return Parts(load_settings(embeddings=spec, store=None)).embeddings


def reranked(spec: str, texts: list[str] = TEXTS) -> tuple[str, list[tuple[str, float]], list[str]]:
    """What a reranker is called, and its order with the scores; what it notes."""
    reranker, notes = Parts(load_settings(reranker=spec, store=None)).reranker, Notes()
    passages = reranker("tea?", as_passages(texts), notes)
    return reranker.name, [(p["text"], round(p["rerank_score"] or 0.0, 3)) for p in passages], notes.sentences


# -- embeddings --------------------------------------------------------------------------------------------------------


def test_embeddings_of_langchains_providers_are_named_as_init_embeddings_names_them(package: Any) -> None:
    code = EMBEDDINGS.format(name="HuggingFaceEmbeddings", argument="model_name", default="")
    package("langchain-huggingface", {"langchain_huggingface": code})
    model = embedded("huggingface:large")
    assert len(model.embed_query("tea")) == 8
    assert model.name == "huggingface:large"
    assert [len(vector) for vector in model.embed_documents(["a", "b"])] == [8, 8]


@pytest.mark.parametrize(("spec", "width"), [("acme", 4), ("acme:large", 8)])
def test_a_package_of_ones_own_brings_embeddings_by_an_entry_point(package: Any, spec: str, width: int) -> None:
    code = EMBEDDINGS.format(name="Acme", argument="model", default="")
    package("acme-search", {"acme_search": code}, {"cragraph.embeddings": "acme = acme_search:Acme"})
    model = embedded(spec)
    assert (model.name, len(model.embed_query("tea"))) == (spec, width)


def test_a_whole_question_is_answered_with_embeddings_of_a_package(package: Any, notes: Path, tmp_path: Path) -> None:
    code = EMBEDDINGS.format(name="Acme", argument="model", default="")
    package("acme-search", {"acme_search": code}, {"cragraph.embeddings": "acme = acme_search:Acme"})
    store = str(tmp_path / "store")
    assistant = Assistant(load_settings(embeddings="acme:large", store=store))
    assistant.ingest([notes])
    *_, done = assistant.ask("How deep is the Mariana Trench?")
    assert "10,935" in done.response["answer"]
    for other in ("acme", "embedded"):
        with pytest.raises(StoreMismatchError) as refused:
            Parts(load_settings(embeddings=other, store=store)).store.count()
        assert "holds vectors of acme:large (8 dimensions" in str(refused.value)
        assert "Use the model it was built with (CRAG_EMBEDDINGS=acme:large)" in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("huggingface:x", ModelError, "run `pip install langchain-huggingface`"),
        ("google_genai:x", ModelError, "run `pip install langchain-google-genai`"),
        ("azure_ai:x", ModelError, "run `pip install langchain-azure-ai`"),
        ("fastembed:x", ModelError, "run `pip install fastembed`"),
        ("nobody:x", ModelError, "huggingface:<model>, mistralai:<model>, openai:<model>"),
        ("nobody", SettingsError, "wanted 'embedded', 'ollama:<model>' or 'provider:<model>'"),
    ],
)
def test_what_is_missing_for_embeddings_is_named_with_what_installs_it(spec: str, error: Any, said: str) -> None:
    with pytest.raises(error) as refused:
        embedded(spec).embed_query("tea")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_entry_point_that_fails_or_brings_no_embeddings_is_named_with_its_package(package: Any) -> None:
    package(
        "acme-search", {"acme_search": "def broken(): raise OSError('no licence')\ndef other(): return 7"},
        {"cragraph.embeddings": "broken = acme_search:broken\nother = acme_search:other\naway = acme_gone:x"},
    )  # fmt: skip
    for spec, said in (("broken", "no licence"), ("away", "No module named 'acme_gone'")):
        with pytest.raises(SettingsError, match=f"'{spec}' of the package acme-search cannot be made .*{said}"):
            embedded(spec)
    with pytest.raises(SettingsError, match="'other' cannot be used: the embedding model is a int"):
        embedded("other")


# -- rerankers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def flashrank(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """FlashRank, under LangChain's own compressor, which looks for it when it is imported."""
    pytest.importorskip("langchain_community")
    for name in [name for name in sys.modules if name.startswith("langchain_community.document_compressors")]:
        monkeypatch.delitem(sys.modules, name)
    package("flashrank", {"flashrank": RANKER})


@pytest.mark.usefixtures("flashrank")
@pytest.mark.parametrize("spec", ["flashrank", "flashrank:tiny"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_flashrank_orders_all_passages_and_its_scores_are_kept(spec: str) -> None:
    name, found, noted = reranked(spec)
    assert (name, noted) == (spec, [])
    assert found[0] == (TEXTS[1], 0.9)
    assert sorted(text for text, _ in found) == sorted(TEXTS), "its own top_n of 3 drops none"
    assert found[-1][1] == 0.125


@pytest.mark.parametrize("spec", ["acme", "acme:backwards"])
def test_a_package_of_ones_own_brings_a_reranker_of_either_protocol(package: Any, spec: str) -> None:
    ours = (
        "from cragraph.search.rerankers import ranked\n"
        "class Acme:\n"
        "    name = 'acme'\n"
        "    def __init__(self, way=''): self.way = way\n"
        "    def __call__(self, query, passages, notes):\n"
        "        return ranked(passages, [0.5 if self.way else len(p['text']) / 100 for p in passages])\n"
    )
    package("acme-rank", {"acme_rank": ours}, {"cragraph.rerankers": "acme = acme_rank:Acme"})
    assert reranked(spec)[1][0] == ((TEXTS[0], 0.5) if ":" in spec else (TEXTS[1], 0.26))
    package("acme-compress", {"acme_compress": COHERE}, {"cragraph.rerankers": "theirs = acme_compress:CohereRerank"})
    name, found, _ = reranked("theirs")
    assert (name, found[0], len(found)) == ("theirs", (TEXTS[1], 0.75), 3), "what it drops is its own affair"


def test_a_reranker_that_nobody_brings_is_refused_with_those_that_there_are(shell: Shell) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(reranker="acme")
    assert "reranker came as 'acme': wanted one of auto, none, lexical, nearest, llm, flashrank" in str(refused.value)
    assert "cross-encoder:<model>" in str(refused.value)
