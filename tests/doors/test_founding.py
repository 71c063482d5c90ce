"""The founding documents' own names: what they are called there works here, with their defaults and fields."""

import asyncio
from dataclasses import fields
from inspect import signature
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from cragraph.api import create_graph
from cragraph.errors import InputError, SettingsError
from cragraph.founding import (
    ClaimStatus,
    CRAGResult,
    VerificationResult,
    VerifiedClaim,
    chat_with_verification,
    corrective_rag_loop,
    verify_response,
)
from cragraph.graph.context import Context
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import Settings, load_settings
from cragraph.store import ingest, open_store
from cragraph.testing import FakeJudge, HashEmbeddings
from cragraph.verification.policies import calculate_confidence
from tests.support.ollama import OllamaServer, by_fields

TRUE = "Revenue was $383 billion in 2023."
WRONG = "Revenue was $394 billion in 2023."
LAKES = "The lakes freeze in winter."


def test_verify_response_has_the_fields_of_its_document() -> None:
    found = verify_response("What was revenue in 2023?", TRUE, f"{TRUE} {LAKES}")
    assert isinstance(found, VerificationResult)
    assert [f.name for f in fields(found)] == ["confidence", "is_grounded", "claims", "suggested_corrections"]
    assert (found.confidence, found.is_grounded) == (1.0, True)
    [claim] = found.claims
    assert isinstance(claim, VerifiedClaim)
    assert (claim.claim, claim.status, claim.evidence) == (TRUE, ClaimStatus.SUPPORTED, TRUE)
    assert claim.reasoning


def test_verify_response_scores_by_the_formula_of_its_document() -> None:
    found = verify_response("What was revenue?", f"{TRUE} The moon is made of green cheese.", TRUE)
    assert [claim.status for claim in found.claims] == [ClaimStatus.SUPPORTED, ClaimStatus.UNSUPPORTED]
    assert found.confidence == pytest.approx(0.4)
    assert not found.is_grounded


def test_calculate_confidence_takes_the_documents_own_result() -> None:
    found = verify_response("What was revenue?", f"{TRUE} The moon is made of green cheese.", TRUE)
    assert calculate_confidence(found) == pytest.approx(found.confidence) == pytest.approx(0.4)
    assert calculate_confidence(found.claims) == calculate_confidence([c.status for c in found.claims])
    assert calculate_confidence(VerificationResult(0.0, False)) == 0.0
    by_hand = [
        VerifiedClaim("x", ClaimStatus.SUPPORTED, None, ""),
        VerifiedClaim("y", ClaimStatus.PARTIALLY_SUPPORTED, None, ""),
    ]
    assert calculate_confidence(VerificationResult(0.0, False, by_hand)) == pytest.approx(0.85)


def test_without_a_chat_model_the_quote_that_contradicts_a_claim_is_the_correction_that_is_suggested() -> None:
    assert verify_response("", f"{WRONG} {WRONG} {LAKES}", [TRUE, LAKES]).suggested_corrections == [TRUE]
    assert verify_response("", "The moon is made of green cheese.", TRUE).suggested_corrections == []
    assert verify_response("", TRUE, TRUE).suggested_corrections == []


def test_a_response_that_contradicts_itself_is_worth_less_than_its_claims() -> None:
    found = verify_response("", "In May sales rose. In May sales fell.", "In May sales rose. Later sales fell in June.")
    assert found.confidence < calculate_confidence(found)


def test_an_option_out_of_its_range_is_an_error_that_says_what_was_wanted() -> None:
    first = verify_response("", WRONG, TRUE)
    with pytest.raises(InputError, match="max_crag_attempts came as 11: wanted 0 to 10"):
        corrective_rag_loop("", WRONG, first, TRUE, max_attempts=11)
    with pytest.raises(InputError, match=r"confidence_threshold came as 1\.5: wanted 0 to 1"):
        asyncio.run(chat_with_verification("When?", "nowhere", confidence_threshold=1.5))


def test_the_corrective_loop_rewrites_what_is_not_grounded() -> None:
    context = f"{TRUE} {LAKES}"
    first = verify_response("What was revenue in 2023?", WRONG, context)
    done = corrective_rag_loop("What was revenue in 2023?", WRONG, first, context)
    assert isinstance(done, CRAGResult)
    assert [f.name for f in fields(done)] == [
        "final_response", "confidence", "attempts", "verification_history", "additional_context_used",
    ]  # fmt: skip
    assert "$383 billion" in done.final_response
    assert done.attempts == 1
    assert [v.is_grounded for v in done.verification_history] == [False, True]
    assert not done.additional_context_used


def test_the_defaults_of_the_loop_are_the_documents() -> None:
    assert signature(corrective_rag_loop).parameters["max_attempts"].default == 2
    defaults = {name: p.default for name, p in signature(chat_with_verification).parameters.items()}
    assert {n: defaults[n] for n in ("enable_verification", "enable_crag", "confidence_threshold")} == {
        "enable_verification": True, "enable_crag": True, "confidence_threshold": 0.7,
    }  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "revenue.md").write_text(f"{TRUE}\n\n{LAKES}\n")
    store = tmp_path / "personal"
    from cragraph.models.embeddings import EmbeddedEncoder

    with open_store(str(store), EmbeddedEncoder()) as opened:
        ingest([docs], opened)
    return str(store)


def test_the_corrective_loop_called_as_in_its_document_searches_the_store_of_the_settings(
    workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "What was revenue in 2023?"
    first = verify_response(question, WRONG, LAKES)
    monkeypatch.delenv("CRAG_STORE", raising=False)
    assert TRUE not in corrective_rag_loop(question, WRONG, first, LAKES).final_response
    monkeypatch.setenv("CRAG_STORE", workspace)
    done = corrective_rag_loop(question, WRONG, first, LAKES)
    assert (done.final_response, done.additional_context_used) == (f"{TRUE} [1]", True)


@pytest.mark.server
@pytest.mark.enable_socket
async def test_a_model_is_named_as_in_the_documents_without_a_provider(
    workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = {"": f"{TRUE} [1]", "claims": {"claims": [{"n": 1, "evidence": [TRUE], "status": "SUPPORTED"}]}}
    with OllamaServer(by_fields(script)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        reply = await chat_with_verification("What was revenue in 2023?", workspace, "llama3.2")
        assert (reply["model"], "$383 billion" in reply["content"]) == ("llama3.2", True)
        assert verify_response("", TRUE, TRUE, "llama3.2:latest").is_grounded
        assert {request.body["model"] for request in server.requests if "model" in request.body} == {
            "llama3.2",
            "llama3.2:latest",
        }


async def test_chat_with_verification_answers_from_a_workspace(workspace: str) -> None:
    reply = await chat_with_verification("What was revenue in 2023?", workspace)
    assert reply.keys() == {"content", "model", "workspace", "verification"}
    assert "$383 billion" in reply["content"]
    assert (reply["model"], reply["workspace"]) == ("embedded", workspace)
    assert {"confidence", "is_grounded", "claims_checked", "claims_supported", "crag_attempts"} <= reply[
        "verification"
    ].keys()
    plain = await chat_with_verification("What was revenue in 2023?", workspace, enable_verification=False)
    assert "verification" not in plain


# -- documents, queries and candidates ---------------------------------------------------------------------------


def test_a_document_of_the_seeds_shape_keeps_where_it_is_from() -> None:
    place = {"chunk_id": "doc_0::chunk_2", "doc_id": "doc_0", "chunk_index": 2, "start_index": 800, "filename": "a.md"}
    metadata = {**place, "source": "docs/a.md", "year": 2023}
    for document in ({"text": TRUE, "metadata": metadata}, {"page_content": TRUE, "metadata": metadata}):
        [passage] = as_passages([document])
        assert {name: passage[name] for name in place} == place  # type: ignore[literal-required]
        assert (passage["source"], passage["text"], passage["metadata"]) == ("docs/a.md", TRUE, {"year": 2023})
        [again] = as_passages([dict(passage)])
        assert again == passage


@pytest.mark.server
@pytest.mark.enable_socket
@pytest.mark.parametrize("reranker", ["none", "lexical", "llm"])
def test_several_queries_keep_five_passages_with_every_reranker_and_say_what_they_were(
    reranker: str, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for n in range(8):
        (tmp_path / "docs" / f"{n}.md").write_text(f"Revenue of branch {n} was ${380 + n} billion in 2023.")
    replies = {"queries": {"queries": ["sales 2023", "turnover"]}, "score": {"score": 0.9}, "": f"{TRUE} [1]"}
    with (
        OllamaServer(by_fields({**replies, "claims": {"claims": []}})) as server,
        open_store(str(tmp_path / "store"), HashEmbeddings()) as store,
    ):
        ingest([tmp_path / "docs"], store)
        settings = Settings(
            store=None, model="ollama:llama3.2", multi_query=True, reranker=reranker, ollama_host=server.url
        )
        graph = create_graph(settings, store=store, embeddings=HashEmbeddings()).compile()
        context = {"show_claims": True, "crag": False, "judge": "lexical"}
        states = list(graph.stream({"question": "What was revenue?"}, context=context, stream_mode="values"))
    assert len(states[-1]["held"]) == 5
    assert states[-1]["models"]["queries"] == "sales 2023 | turnover"


# -- judges that take too long ---------------------------------------------------------------------------------


class Hanging(FakeJudge):
    """Says nothing until it is released."""

    def __init__(self, release: Event) -> None:
        super().__init__({}, "hanging")
        self.release = release

    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        self.release.wait()
        return super().__call__(claims, passages, notes)


@pytest.fixture
def hanging() -> Any:
    release = Event()
    yield Hanging(release)
    release.set()


def test_the_deadline_of_a_run_bounds_a_judge_that_hangs(hanging: Hanging) -> None:
    graph = create_graph(load_settings(store=None), judge=hanging, embeddings=HashEmbeddings()).compile()
    response = graph.invoke(
        {"question": "What was revenue?", "answer": TRUE, "passages": [TRUE, LAKES]},
        context=Context(deadline_s=0.5, on_low_confidence="flag"),
    )
    assert response["models"]["judge"] == "lexical"
    assert any("'hanging' failed (TimeoutError" in sentence for sentence in response["degraded"])


@pytest.mark.server
@pytest.mark.enable_socket
def test_the_corrective_loop_keeps_the_verdicts_of_a_chat_model_that_gives_no_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = {"n": 1, "evidence": TRUE, "status": "SUPPORTED"}
    with OllamaServer(by_fields({"": f"{TRUE} [1]", "claims": {"claims": [held]}, "queries": {"queries": ["x"]}})) as s:
        monkeypatch.setenv("OLLAMA_HOST", s.url)
        context = f"{TRUE} {LAKES}"
        first = verify_response("What was revenue in 2023?", WRONG, context)
        done = corrective_rag_loop("What was revenue in 2023?", WRONG, first, context, "ollama:llama3.2", judge="llm")
    assert (done.attempts, "$383 billion" in done.final_response) == (1, True)
    assert [[claim.reasoning for claim in v.claims] for v in done.verification_history[1:]] == [[""]]


def test_several_answers_are_not_asked_of_a_generator_that_has_one() -> None:
    graph = create_graph(Settings(store=None)).compile()
    with pytest.raises(SettingsError, match="best_of came as 3, but the generator 'extractive' writes the same answer"):
        graph.invoke({"question": "What was revenue?", "passages": [TRUE, LAKES]}, context=Context(best_of=3))
