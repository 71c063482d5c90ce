"""The text around passages is read by generator and judge, and what is cited is the chunk that says it."""

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cragraph.documents import Document, split
from cragraph.graph.build import build_graph, step
from cragraph.graph.context import Context
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.review import Review
from cragraph.nodes.verify import Verify
from cragraph.search.neighbours import Neighbours
from cragraph.store import Store, open_store
from cragraph.testing import FakeGenerator, FakeQueryWriter, FakeReranker, FakeRetriever, HashEmbeddings
from cragraph.types import Passage
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.verifier import Verifier

TEXT = (
    "The harbour of Elsfleth was opened by the mayor in spring.\n\n"
    "Its cranes were built in Bremen by a small company.\n\n"
    "The cranes lift forty tonnes each and run on rails.\n\n"
    "Behind the cranes stands a warehouse of red brick.\n\n"
    "The warehouse holds coffee and cotton from overseas."
)
CRANES = "The cranes lift forty tonnes each and run on rails."


DOCUMENT = Document(text=TEXT, source="docs/harbour.md", filename="harbour.md", doc_id="harbour", format="text")


@pytest.fixture(scope="module")
def chunks() -> list[Passage]:
    found = split(DOCUMENT, chunk_size=60, chunk_overlap=0)
    assert [p["chunk_index"] for p in found] == [0, 1, 2, 3, 4]
    return found


@pytest.fixture(scope="module")
def store(chunks: list[Passage]) -> Iterator[Store]:
    with open_store(None, HashEmbeddings(32)) as opened:
        opened.add(chunks)
        yield opened


class Loop:
    """The real nodes and judge, over what a fake retriever finds of a real store."""

    def __init__(self, store: Store | None, found: Any, answers: Any = (CRANES,), **defaults: Any) -> None:
        self.generator = FakeGenerator([f"{answer} [1]" for answer in answers])
        options = Context(**{"passage_window": 1, "min_chunks": 1, "policy": "claims", **defaults})
        verifier = Verifier({"auto": LexicalJudge()}, ("auto",), SentenceExtractor(), HashEmbeddings(32))
        neighbours = Neighbours(store) if store is not None else None
        self.graph = build_graph(
            retrieve=step("retrieve", Retrieve(FakeRetriever(found), lambda: 10), options),
            rerank=step("rerank", Rerank(FakeReranker(), neighbours=neighbours), options),
            generate=step("generate", Generate(self.generator), options),
            verify=step("verify", Verify(verifier), options),
            requery=step("requery", Requery(FakeQueryWriter(), lambda question, answer: []), options),
            review=step("review", Review(), options),
            finalize=step("finalize", Finalize(), options),
            defaults=options,
        ).compile(checkpointer=InMemorySaver())
        self.thread: Any = {"configurable": {"thread_id": "1"}}

    def ask(self, **inputs: Any) -> dict[str, Any]:
        return self.graph.invoke({"question": "What do the cranes lift?", **inputs}, self.thread)

    def read(self, call: int = 0) -> list[str]:
        return [p["text"] for p in self.generator.history[call].passages]


def test_evidence_beside_a_passage_is_cited_from_the_chunk_that_holds_it(store: Store, chunks: list[Passage]) -> None:
    loop = Loop(store, {"cranes": [chunks[1]]}, show_claims=True)
    response = loop.ask()
    [claim] = response["verification"]["claims"]
    evidence = claim["evidence"]
    [chunk] = store.get([evidence["chunk_id"]])
    assert (chunk["chunk_index"], chunk["text"][evidence["start"] : evidence["end"]]) == (2, evidence["quote"])
    [citation] = response["citations"]
    assert citation["verified"]
    assert citation["quote"] == evidence["quote"] == CRANES
    assert (citation["chunk_id"], citation["text"]) == (chunk["chunk_id"], chunk["text"])
    assert TEXT[citation["start_index"] :].startswith(citation["text"])
    assert citation["metadata"]["source"] == "docs/harbour.md"
    assert not {key for key in citation["metadata"] if key.startswith("_")}
