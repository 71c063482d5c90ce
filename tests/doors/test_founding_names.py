"""Every name that a founding document gives is importable, with its signature and its fields.

Left out are names of other systems' insides that a document only mentions: a module's path, a web framework's route, a
model gateway.
"""

import json
import os
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import iscoroutinefunction, signature
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel

from cragraph.api import create_graph
from cragraph.errors import InputError, SettingsError
from cragraph.founding import (
    IDK_SENTINEL,
    INFERENCE_CONFIGS,
    AnswerValidator,
    AnswerVerifier,
    Claim,
    ClaimExtractor,
    ConfidenceScorer,
    SourceAttributor,
    ValidationConfig,
    get_best_answer,
    log_validation_metrics,
    rag_query_with_retry,
    rerank,
)
from cragraph.graph.context import Context
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.settings import Settings, load_settings
from cragraph.store import ingest, open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Citation
from tests.support.cases import cases
from tests.support.ollama import OllamaServer, by_fields

# document, module of cragraph, name, parameters with their defaults or EMPTY (after self), asynchronous
CALLS = cases("doors/founding_names", "calls")
# document, module of cragraph, name, its fields
FIELDS = cases("doors/founding_names", "fields")


def found(module: str, name: str) -> Any:
    value: Any = import_module(f"cragraph.{module}")
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(("document", "module", "name", "parameters", "waits"), CALLS, ids=lambda v: str(v)[:40])
def test_a_founding_call_has_its_documents_signature(
    document: str, module: str, name: str, parameters: dict[str, Any], waits: bool
) -> None:
    call = found(module, name)
    ours = {n: p for n, p in signature(call).parameters.items() if n != "self"}
    assert list(ours)[: len(parameters)] == list(parameters)
    for own in list(ours)[len(parameters) :]:
        assert ours[own].kind is ours[own].VAR_KEYWORD or (
            ours[own].kind is ours[own].KEYWORD_ONLY and ours[own].default is not ours[own].empty
        )
    for parameter, default in parameters.items():
        assert ours[parameter].default == (ours[parameter].empty if default == "EMPTY" else default)
    assert iscoroutinefunction(call) is waits


@pytest.mark.parametrize(("document", "module", "name", "names"), FIELDS, ids=lambda v: str(v)[:40])
def test_a_founding_record_has_its_documents_fields(document: str, module: str, name: str, names: list[str]) -> None:
    record = found(module, name)
    if is_dataclass(record):
        own = [field.name for field in fields(record)]
    else:
        own = list(record.model_fields if issubclass(record, BaseModel) else get_type_hints(record))
    assert own == names


def test_the_constants_are_the_documents() -> None:
    assert IDK_SENTINEL == "I don't know based on the documents."
    assert INFERENCE_CONFIGS == {
        "low": {"min_chunks": 1, "verify_answer": False, "second_pass_k": 5},
        "balanced": {"min_chunks": 2, "verify_answer": True, "second_pass_k": 8},
        "high": {"min_chunks": 3, "verify_answer": True, "second_pass_k": 10},
    }
    cfg = INFERENCE_CONFIGS["high"]
    assert (cfg.verify_answer, cfg.min_chunks, cfg.second_pass_k) == (True, 3, 10)
    with pytest.raises(AttributeError, match="there is no 'verify'"):
        assert cfg.verify
    assert ConfidenceScorer().weights == {
        "retrieval_quality": 0.3, "source_agreement": 0.25, "hallucination_score": 0.25, "consistency_score": 0.2,
    }  # fmt: skip
    config = ValidationConfig(_env_file=None)
    thresholds = [getattr(config, f"{n}_threshold") for n in ("confidence", "hallucination", "relevance")]
    assert [*thresholds, config.faithfulness_threshold] == [0.7, 0.5, 0.6, 0.7]


def test_a_request_may_call_the_mode_inference_mode() -> None:
    assert Context(**{"inference_mode": "high"}).mode == "high"
    assert Context(**{"inference_mode": "high"}).resolved().min_chunks == 3
    assert "inference_mode" in Context.model_json_schema()["properties"]
    assert Settings(**{"inference_mode": "low"}).mode == "low"


# -- quality control by its parts --------------------------------------------------------------------------------

ANSWER = "The dam was finished in 1931. It is 90 metres high. I like dams."
SOURCES = [
    {"text": "The dam was finished in 1931 after six years.", "metadata": {"_id": "dams", "relevance_score": 0.9}},
    {"text": "The weather was fine all week.", "metadata": {"_id": "weather", "relevance_score": 0.1}},
]


async def test_claims_are_found_with_their_places_and_kinds() -> None:
    claims = await ClaimExtractor().extract_claims(ANSWER)
    assert [claim.claim_type for claim in claims] == ["factual", "factual", "opinion"]
    assert all(ANSWER[claim.start_idx : claim.end_idx] == claim.text for claim in claims)


@pytest.mark.server
@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("reply", "kinds"),
    [
        ({"claims": [{"claim": "It is 90 metres high.", "type": "factual"}]}, ["factual"]),
        ("no JSON at all", ["factual", "factual", "opinion"]),
    ],
)
async def test_a_chat_model_finds_the_claims_and_sentences_stand_in_for_it(
    reply: Any, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaServer(by_fields({"claims": reply})) as server:
        monkeypatch.setenv("CRAG_OLLAMA_HOST", server.url)
        claims = await ClaimExtractor("ollama:llama3.2").extract_claims(ANSWER)
        assert server.requests
    assert [claim.claim_type for claim in claims] == kinds


async def test_claims_are_attributed_above_the_threshold_and_cited() -> None:
    claims = await ClaimExtractor().extract_claims(ANSWER)
    attributions = await SourceAttributor().attribute(claims, SOURCES)
    assert attributions == {"The dam was finished in 1931.": ["dams"], "It is 90 metres high.": [], "I like dams.": []}
    cited = SourceAttributor().generate_citations(ANSWER, attributions)
    assert cited == "The dam was finished in 1931 [1]. It is 90 metres high. I like dams."
    everything = await SourceAttributor(similarity_threshold=-1).attribute(claims[:1], SOURCES)
    assert everything == {"The dam was finished in 1931.": ["dams"]}  # the other one says nothing of it


async def test_confidence_is_the_weighted_sum_of_its_document() -> None:
    scorer = ConfidenceScorer()
    given = {"retrieval_scores": [0.8, 0.6], "hallucination_score": 0.2, "consistency_score": 0.5}
    value = await scorer.score("", "The dam was finished in 1931.", SOURCES, **given)
    assert value == pytest.approx(0.3 * 0.7 + 0.25 * 0.5 + 0.25 * 0.8 + 0.2 * 0.5)
    other = ConfidenceScorer({"retrieval_quality": 0.5, "source_agreement": 0.05})
    assert await other.score("", "The dam was finished in 1931.", SOURCES, **given) == pytest.approx(
        0.5 * 0.7 + 0.05 * 0.5 + 0.25 * 0.8 + 0.2 * 0.5
    )
    with pytest.raises(SettingsError, match="sum to 1"):
        ConfidenceScorer({"retrieval_quality": 0.9})


async def test_the_verifier_joins_all_of_it() -> None:
    result = await AnswerVerifier().verify("When was the dam finished?", "The dam was finished in 1931.", SOURCES)
    assert (result.is_grounded, result.attribution_coverage, result.internal_consistency) == (True, 1.0, 1.0)
    assert result.hallucination_score < 0.3
    assert result.unsupported_claims == []
    assert type(result.verification_time_ms) is int
    wrong = await AnswerVerifier({}).verify("", "It is 90 metres high. The moon is made of cheese.", SOURCES)
    assert not wrong.is_grounded
    assert wrong.hallucination_score >= 0.3
    assert [type(claim) for claim in wrong.unsupported_claims] == [Claim, Claim]
    assert wrong.confidence < result.confidence


def test_a_key_that_the_verifier_does_not_know_is_an_error() -> None:
    with pytest.raises(SettingsError, match="AnswerVerifier got treshold; it takes llm_config"):
        AnswerVerifier({"treshold": 0.4})


# -- reranking ---------------------------------------------------------------------------------------------------

DOCS = [
    {
        "text": "The weather was fine.",
        "metadata": {"chunk_id": "doc_0::chunk_0", "doc_id": "doc_0", "filename": "a.md"},
    },
    {"text": "Authentication verifies user identity.", "metadata": {"chunk_id": "doc_0::chunk_2", "start_index": 450}},
    {"text": "Lunch is at noon.", "metadata": {}},
    {"text": "Tokens expire.", "metadata": {}},
]


@pytest.mark.server
@pytest.mark.enable_socket
async def test_a_chat_model_scores_each_chunk_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with OllamaServer(by_fields({"score": {"score": 0.4}})) as server:
        monkeypatch.setenv("CRAG_OLLAMA_HOST", server.url)
        monkeypatch.setenv("CRAG_MODEL", "ollama:llama3.2")
        ranked = await rerank("What is verified?", DOCS)
        assert [doc["score"] for doc in ranked] == [0.4, 0.4, 0.4]
        assert len([body for body in server.requests if "messages" in str(body)]) == len(DOCS)


def test_a_citation_says_when_its_file_was_last_changed(tmp_path: Path) -> None:
    file = tmp_path / "docs" / "dam.md"
    file.parent.mkdir()
    file.write_text("The dam was finished in 1931.\n\nThe lakes freeze in winter.\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    with open_store(str(tmp_path / "store"), EmbeddedEncoder()) as store:
        ingest([file.parent], store)
        graph = create_graph(load_settings(store=None, model=None), store=store, embeddings=EmbeddedEncoder()).compile()
        response = graph.invoke({"question": "When was the dam finished?"}, context=Context(min_chunks=1))
    citations: list[Citation] = response["citations"]
    assert citations
    assert {citation["metadata"]["timestamp"] for citation in citations} == {"2023-11-14T22:13:20Z"}


# -- the three helper functions, and what is asked for later -----------------------------------------------------


class Engine:
    """A query engine whose answers get better."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def query(self, question: str) -> Any:
        self.asked.append(question)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]

        class Response:
            source_nodes = ("The dam was finished in 1931 after six years of work.",)

            def __str__(self) -> str:
                return answer

        return Response()


GOOD = "The dam was finished in 1931 after six years of work."
BAD = "The moon is made of green cheese and dust."


def test_a_question_is_asked_again_until_its_answer_passes() -> None:
    engine = Engine(BAD, GOOD, BAD)
    response, validation = rag_query_with_retry("When was the dam finished?", 3, query_engine=engine)
    assert (str(response), validation["passed"], len(engine.asked)) == (GOOD, True, 2)
    engine = Engine(BAD)
    response, validation = rag_query_with_retry("When was the dam finished?", query_engine=engine)
    assert (str(response), validation["passed"], len(engine.asked)) == (BAD, False, 2)
    with pytest.raises(InputError, match="max_retries came as 0; wanted 1 or more"):
        rag_query_with_retry("When?", 0, query_engine=engine)


def test_of_several_answers_the_one_of_the_highest_confidence_is_returned() -> None:
    best = get_best_answer("When was the dam finished?", query_engine=Engine(BAD, GOOD, BAD))
    assert list(best) == ["answer", "confidence", "validation"]
    assert best["answer"] == GOOD
    assert best["confidence"] == best["validation"]["confidence_score"]


def test_without_an_engine_the_graph_of_the_settings_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "docs" / "dam.md"
    file.parent.mkdir()
    file.write_text("The dam was finished in 1931.\n\nThe lakes freeze in winter.\n")
    with open_store(str(tmp_path / "store"), EmbeddedEncoder()) as store:
        ingest([file.parent], store)
    monkeypatch.setenv("CRAG_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("CRAG_MIN_CHUNKS", "1")
    response, validation = rag_query_with_retry("When was the dam finished?")
    assert "1931" in str(response)
    assert validation["hallucination_count"] == 0
    assert response.source_nodes


def test_validations_are_logged_a_line_each(tmp_path: Path) -> None:
    log = tmp_path / "runs" / "validation.jsonl"
    validation = AnswerValidator(HashEmbeddings()).validate_answer(GOOD, "When was it?", [GOOD])
    for _ in range(2):
        log_validation_metrics("When was it?", GOOD * 5, validation, log)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [list(row) for row in rows] == [
        ["timestamp", "query", "answer", "confidence", "hallucination_count", "passed", "warnings"]
    ] * 2
    assert rows[0]["answer"] == (GOOD * 5)[:100]


def test_grammar_and_coherence_of_an_answer_are_scored() -> None:
    validator = AnswerValidator()
    good = validator.score_quality("The dam was finished in 1931. Its builders had worked on the dam for six years.")
    assert list(good) == ["grammar", "coherence"]
    assert good["grammar"] == 1.0
    assert validator.score_quality("the the dam (finished")["grammar"] == 0.0
    loose = validator.score_quality("The dam was finished in 1931. Sopranos sing higher than tenors do.")
    assert loose["coherence"] < good["coherence"]
    assert validator.score_quality("The dam was finished in 1931.")["coherence"] == 1.0
