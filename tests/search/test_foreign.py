"""Retrievers from elsewhere, real ones: what they know is used, what they cannot do is said."""

import importlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from cragraph import Context, create_graph, load_settings
from cragraph.errors import StoreError
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.protocols import Notes
from cragraph.search.retriever import ForeignRetriever
from cragraph.store.vectorstore import read
from tests.support.cases import cases

TEXTS = (
    "The sea is salt because rivers carry minerals into it.",
    "The Mariana Trench is 10,935 metres deep.",
    "Green tea is not oxidised. Black tea is oxidised fully.",
    "Tea came to Europe in 1610 on Dutch ships.",
)
DOCUMENTS = [
    Document(
        id=f"00000000-0000-0000-0000-00000000000{i}",
        page_content=text,
        metadata={"source": f"{'tea' if 'ea ' in text[:9] and i > 1 else 'sea'}.pdf", "page": i + 1, "year": 2020 + i},
    )
    for i, text in enumerate(TEXTS)
]
QUESTION = "How deep is the Mariana Trench?"


def imported(module: str) -> Any:
    """A library that warns of its own affairs when it is imported; the test is skipped without it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(module)


def bm25(tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("rank_bm25")
    found = imported("langchain_community.retrievers").BM25Retriever.from_documents(DOCUMENTS)
    found.k = 3
    yield found


def ensemble(tmp_path: Path) -> Iterator[Any]:
    whole = imported("langchain_classic.retrievers")
    dense = InMemoryVectorStore.from_documents(DOCUMENTS, EmbeddedEncoder()).as_retriever()
    yield whole.EnsembleRetriever(retrievers=[next(bm25(tmp_path)), dense], weights=[0.5, 0.5])


def by_vectors(tmp_path: Path) -> Iterator[Any]:
    yield InMemoryVectorStore.from_documents(DOCUMENTS, EmbeddedEncoder()).as_retriever()


REAL = {"BM25Retriever": bm25, "EnsembleRetriever": ensemble, "VectorStoreRetriever": by_vectors}


@pytest.mark.slow
@pytest.mark.enable_socket
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REAL)
def test_a_real_retriever_answers_with_citations_scores_and_filters(name: str, tmp_path: Path) -> None:
    made = REAL[name](tmp_path)
    source = next(made)
    try:
        graph = create_graph(load_settings(), retriever=source).compile()
        response = graph.invoke({"question": QUESTION}, context=Context(show_claims=True, min_chunks=1))
        assert "10,935" in response["answer"]
        [citation] = response["citations"]
        assert citation["verified"]
        assert (citation["metadata"]["source"], citation["metadata"]["page"]) == ("sea.pdf", 2)
        assert citation["chunk_id"].endswith("0001")
        assert response["models"]["retriever"] == name
        assert response["degraded"] == []
        notes = Notes()
        found = ForeignRetriever(source)([QUESTION, "tea"], 4, notes, where={"year": {"$gte": 2022}})
        assert found
        assert {passage["metadata"]["year"] for passage in found} <= {2022, 2023}
        assert any("filtered afterwards" in sentence for sentence in notes.sentences)
    finally:
        made.close()


class Web(BaseRetriever):
    """A retriever that fails as often as it is told to, and answers once `wait` returns."""

    fails: int = 0
    wait: Any = lambda: None
    asked: list[str] = []  # noqa: RUF012 (pydantic copies it)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.asked.append(query)
        self.wait()
        if len(self.asked) <= self.fails:
            raise ConnectionError("the web is away")
        return DOCUMENTS


@pytest.mark.slow
def test_a_search_that_fails_is_tried_once_more_and_said() -> None:
    notes = Notes()
    assert len(ForeignRetriever(Web(fails=1))(["sea"], 2, notes)) == 2
    assert "failed and was asked again: ConnectionError: the web is away" in notes.sentences[0]
    with pytest.raises(StoreError, match=r"The retriever Web failed: ConnectionError: the web is away"):
        ForeignRetriever(Web(fails=9))(["sea"], 2, Notes())


@pytest.mark.parametrize(("metadata", "page"), cases("search/foreign", "pages are counted from"))
def test_pages_are_counted_from_one(metadata: dict[str, Any], page: int | None) -> None:
    assert read(Document(page_content="x", metadata=metadata), 0)["page"] == page


MODULE = """
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from cragraph.models.embeddings import EmbeddedEncoder

def retriever(documents=None):
    documents = documents or [Document(page_content="The Mariana Trench is 10,935 metres deep.")]
    return InMemoryVectorStore.from_documents(documents, EmbeddedEncoder())
"""


def test_a_retriever_is_named_in_the_settings_and_measured_beside_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from cragraph.cli import app
    from lab.evals.__main__ import app as evals
    from tests.lab.evals.test_retrieval import CORPUS, QRELS, QUERIES

    (tmp_path / "own_search.py").write_text(MODULE)
    for name, rows in (("corpus", CORPUS), ("queries", QUERIES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.tsv").write_text(QRELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    runner: Callable[..., Any] = CliRunner().invoke
    asked = runner(app, ["ask", QUESTION, "--json", "-q"], env={"CRAG_RETRIEVER": "own_search:retriever"})
    assert "10,935" in json.loads(asked.stdout)["answer"], asked.output
    measured = runner(evals, ["retrieval", ".", "--retriever", "own_search:retriever", "--json", "-q"])
    stages = json.loads(measured.stdout)["stages"]
    assert stages["retriever"]["recall@10"] == 1.0
    assert "retriever+rerank" in stages
