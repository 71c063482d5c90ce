"""Why a run ends: each reason in the response, and a trace that shows the searches that were made and no others."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cragraph import create_graph, verify_and_correct
from cragraph.graph.build import AnsweringGraph
from cragraph.protocols import Brief, Notes
from cragraph.run import Assistant
from cragraph.settings import load_settings
from cragraph.testing import FakeGenerator, FakeJudge, FakeQueryWriter, FakeRetriever
from tests.support.cases import cases

SEA = "The sea is salt because rivers carry minerals into it."
OTHERS = [f"Note {n}: the harbour office of pier {n} was painted." for n in range(40)]
QUESTION = "Why is the sea salt?"


@dataclass
class NewWords:
    """Writes a query in new words at every correction."""

    name: str = "new words"
    written: list[str] = field(default_factory=list)

    def __call__(self, *given: Any) -> list[str]:
        self.written.append(f"words number{len(self.written) + 1}")
        return self.written[-1:]


@dataclass
class FoundLast:
    """Finds the same passages for every query, and before the last of them one that no query found before."""

    name: str = "found last"
    asked: list[str] = field(default_factory=list)

    def __call__(self, queries: Any, k: int, notes: Notes, *, where: Any = None) -> list[Any]:
        self.asked += queries
        new = f"Another text, number {len(self.asked)}."
        return FakeRetriever({"": [SEA, *OTHERS[:10], new]})(["any"], k, notes)


def graph(**parts: Any) -> AnsweringGraph:
    settings = load_settings(store=None, reranker="none")
    return create_graph(settings, judge=FakeJudge({}), **parts).compile()


def steps(found: AnsweringGraph, given: dict[str, Any], **options: Any) -> list[str]:
    return [name for update in found.stream(given, context=options, stream_mode="updates") for name in update]


def test_every_correction_that_is_allowed_is_made_while_searches_find_what_is_new_but_not_kept() -> None:
    writer, retriever = NewWords(), FoundLast()
    loop = graph(generator=FakeGenerator(["The sea is blue."]), query_writer=writer, retriever=retriever)
    response = loop.invoke({"question": QUESTION}, context={"max_crag_attempts": 5, "show_claims": True})
    assert len(response["attempts"]) == 6
    assert [attempt["new_passages"] > 0 for attempt in response["attempts"]][-1] is False
    assert response["stopped"] == "All 5 corrections were made."


def test_a_run_with_no_query_left_ends_without_a_search_and_says_so() -> None:
    retriever = FakeRetriever({"sea": [SEA, *OTHERS[:4]]})
    loop = graph(generator=FakeGenerator(["I don't know based on the documents."]), retriever=retriever)
    response = loop.invoke({"question": QUESTION}, context={"max_crag_attempts": 5})
    assert response["stopped"] == "Nothing is left to search for that was not searched before."
    assert steps(loop, {"question": QUESTION}) == ["retrieve", "rerank", "generate", "verify", "requery", "finalize"]
    assert retriever.history == [(QUESTION,), (QUESTION,)]  # once in each of the two runs


def test_a_question_of_several_parts_is_searched_by_its_parts_before_the_run_ends() -> None:
    retriever = FakeRetriever({"sea": [SEA, *OTHERS[:4]]})
    loop = graph(generator=FakeGenerator(["The sea is salt."]), retriever=retriever, query_writer=FakeQueryWriter())
    loop.invoke({"question": "Why is the sea salt, and who painted the pier?"}, context={"max_crag_attempts": 5})
    assert ["who painted the pier?" in " ".join(queries) for queries in retriever.history][-1]


def test_without_anything_to_search_a_failed_claim_is_mended_from_the_passages_at_hand() -> None:
    loop = graph(generator=FakeGenerator(["Rivers carry minerals."]))
    given = {"question": QUESTION, "answer": "Fish are salt.", "passages": [SEA]}
    mended = ["retrieve", "rerank", "generate", "verify", "requery", "generate", "verify", "finalize"]
    assert steps(loop, given) == mended
    response = loop.invoke(given)
    assert [attempt["new_passages"] for attempt in response["attempts"]] == [1, 0]


@pytest.mark.parametrize(("options", "judge", "why"), cases("doors/stops", "every end has its"))
def test_every_end_has_its_reason(options: dict[str, Any], judge: dict[str, float], why: str) -> None:
    settings = load_settings(store=None, reranker="none")
    parts: dict[str, Any] = {"generator": FakeGenerator(["The sea is salt."]), "judge": FakeJudge(judge)}
    loop = create_graph(settings, retriever=FakeRetriever({"sea": [SEA, *OTHERS[:4]]}), **parts).compile()
    assert loop.invoke({"question": "Why is the sea salt"}, context=options)["stopped"] == why


def test_the_trace_says_why_a_run_without_an_answer_ended(tmp_path: Path) -> None:
    (tmp_path / "sea.md").write_text("\n\n".join([SEA, *OTHERS[:4]]))
    asked = Assistant(load_settings(store=str(tmp_path / "store"), chunk_size=80))
    asked.ingest([tmp_path / "sea.md"])
    told = {event.node: event.text for event in asked.ask("Who owns the blue bicycle?") if event.kind == "node"}
    assert told["finalize"].startswith("refused: ")
    assert told["requery"].startswith("nothing to search for that was not searched before")


def test_a_generator_reads_again_only_what_may_change_its_answer() -> None:
    briefs: list[Brief] = []

    @dataclass
    class Declines:
        name: str = "declines"

        def __call__(self, brief: Brief, notes: Notes) -> str:
            briefs.append(brief)
            return "I don't know based on the documents."

    graph(generator=Declines(), retriever=FakeRetriever({"sea": [SEA, *OTHERS[:4]]})).invoke({"question": QUESTION})
    assert len(briefs) == 1


BRIDGE = [
    "The Harbour Bridge in Alden was finished in 1931. It is 412 metres long.",
    "The Harbour Bridge was designed by Maria Holt, an engineer from Alden.",
    "Repairs of the Harbour Bridge in 1978 cost 2.4 million pounds.",
]


@pytest.mark.parametrize(("question", "answer", "corrections", "right"), cases("doors/stops", "a true answer"))
def test_a_true_answer_to_another_question_is_corrected(
    question: str, answer: str, corrections: int, right: str
) -> None:
    corrected = verify_and_correct(question, answer, BRIDGE)
    assert (corrected.attempts, corrected.accepted) == (corrections, True)
    assert right in corrected.final_response
    assert corrected.response["stopped"] == "The answer was accepted."
    assert any("may not address the question" in one for one in corrected.history[0]["issues"]) is bool(corrections)
