"""Answer validation by the names of its founding document; also run as ``python tests/test_answer_validator.py``."""

import runpy
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from cragraph.errors import InputError, SettingsError
from cragraph.founding import (
    AnswerValidator,
    ValidationConfig,
    as_embeddings,
    verify_supported,
)
from cragraph.passages import as_passages
from cragraph.testing import FakeJudge, HashEmbeddings
from tests.support.cases import cases

CHUNKS = [
    "Mistral 7B uses sliding window attention for efficient token processing.",
    "The Mistral 7B model has 7 billion parameters.",
    "Each token attends only to a fixed window of 4096 previous tokens.",
]
QUESTION = "What attention mechanism does Mistral 7B use?"
GOOD = "Mistral 7B uses sliding window attention for efficient token processing."
BAD = f"{GOOD} It was trained on 100 trillion tokens from Mars."


@pytest.fixture(scope="module")
def validator() -> AnswerValidator:
    return AnswerValidator()


@pytest.fixture(autouse=True)
def _no_thresholds_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIDENCE", "HALLUCINATION", "RELEVANCE", "FAITHFULNESS"):
        monkeypatch.delenv(f"{name}_THRESHOLD", raising=False)
    monkeypatch.delenv("ENABLE_ANSWER_VALIDATION", raising=False)


def test_a_good_answer_passes_with_the_founding_fields(validator: AnswerValidator) -> None:
    result = validator.validate_answer(GOOD, QUESTION, CHUNKS)
    assert list(result) == [
        "confidence_score", "confidence_details", "hallucinations", "hallucination_count", "citations", "warnings",
        "passed", "accepted", "decision",
    ]  # fmt: skip
    assert list(result["confidence_details"]) == [
        "overall_score", "relevance", "faithfulness", "completeness", "has_uncertainty", "uncertainty_indicators",
    ]  # fmt: skip
    assert (result["passed"], result["warnings"], result["hallucination_count"]) == (True, [], 0)
    assert (result["accepted"], result["decision"]["outcome"], result["decision"]["set_by"]) == (
        True,
        "accepted",
        "default",
    )
    assert result["confidence_score"] == result["confidence_details"]["overall_score"] >= 0.7


def test_an_invented_sentence_is_found_and_the_answer_fails(validator: AnswerValidator) -> None:
    result = validator.validate_answer(BAD, QUESTION, CHUNKS)
    assert not result["passed"]
    assert result["hallucination_count"] == 1
    assert result["hallucinations"][0]["claim"] == "It was trained on 100 trillion tokens from Mars."
    assert result["hallucinations"][0]["support_score"] < 0.5
    assert "Found 1 unsupported claim(s)" in result["warnings"]


def test_the_score_is_the_founding_formula(validator: AnswerValidator) -> None:
    found = validator.score_confidence(BAD + " It might, perhaps, be so.", CHUNKS, QUESTION)
    by_hand = 0.35 * found["relevance"] + 0.40 * found["faithfulness"] + 0.25 * found["completeness"] - 0.2
    assert found["overall_score"] == pytest.approx(by_hand, abs=1e-5)
    assert found["has_uncertainty"]
    assert found["uncertainty_indicators"] == ["might", "perhaps"]


# -- configuration ---------------------------------------------------------------------------------------------


def test_the_defaults_are_the_founding_ones() -> None:
    config = ValidationConfig()
    assert (config.enabled, config.confidence_threshold, config.hallucination_threshold) == (True, 0.7, 0.5)
    assert (config.relevance_threshold, config.faithfulness_threshold) == (0.6, 0.7)


def test_an_argument_wins_over_the_environment_and_that_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIDENCE_THRESHOLD", "0.85")
    monkeypatch.setenv("HALLUCINATION_THRESHOLD", "0.4")
    monkeypatch.setenv("RELEVANCE_THRESHOLD", " ")
    monkeypatch.setenv("ENABLE_ANSWER_VALIDATION", "0")
    config = ValidationConfig(hallucination_threshold=0.6)
    assert (config.confidence_threshold, config.hallucination_threshold, config.relevance_threshold) == (0.85, 0.6, 0.6)
    assert not config.enabled
    assert ValidationConfig(enabled=True).enabled


@pytest.mark.parametrize(
    ("name", "value"),
    [("FAITHFULNESS_THRESHOLD", "high"), ("CONFIDENCE_THRESHOLD", "7"), ("ENABLE_ANSWER_VALIDATION", "maybe")],
)
def test_a_wrong_variable_is_a_clear_error(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match="wanted"):
        ValidationConfig()


# -- inputs ----------------------------------------------------------------------------------------------------


@dataclass
class Node:
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Content:
    content: str

    def get_content(self) -> str:
        return self.content


@dataclass
class Scored:
    node: Any
    score: float | None = None


@pytest.mark.parametrize(
    "chunk",
    ["Gold shines.", Document(page_content="Gold shines."), Node("Gold shines."), Scored(Node("Gold shines.")),
     Scored(Content("Gold shines.")), Content("Gold shines."), Scored(Document(page_content="Gold shines.")),
     {"text": "Gold shines."}],
)  # fmt: skip
def test_chunks_of_every_kind_are_read(chunk: Any) -> None:
    assert [p["text"] for p in as_passages([chunk])] == ["Gold shines."]


@pytest.mark.parametrize("chunks", ["Gold shines.", None, [3], [Node(3)]])
def test_what_is_no_list_of_chunks_is_refused(chunks: Any) -> None:
    with pytest.raises(InputError, match="wanted a"):
        as_passages(chunks)


class Batch:
    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return HashEmbeddings().embed_documents(texts)


class Encoder:
    def encode(self, texts: list[str]) -> Any:
        import numpy as np

        return np.array(HashEmbeddings().embed_documents(texts))


@pytest.mark.parametrize("model", [HashEmbeddings(), Batch(), Encoder()])
def test_embedding_models_of_three_libraries_are_taken(model: Any) -> None:
    validator = AnswerValidator(model)
    assert [flag for *_, flag in validator.detect_hallucinations("Gold shines. Pigs fly.", ["Gold shines."])] == [
        False,
        True,
    ]
    assert as_embeddings(model).embed_query("gold") == pytest.approx(HashEmbeddings().embed_query("gold"))


# -- is it supported? ------------------------------------------------------------------------------------------


def test_an_answer_beyond_the_context_is_not_supported_and_the_reason_names_the_claim() -> None:
    context = ["Authentication verifies user identity before access is granted."]
    found = verify_supported(
        question="What is it?",
        context=context,
        answer="Authentication verifies user identity. OAuth2 was released in 2012.",
    )
    assert not found["supported"]
    assert "OAuth2 was released in 2012." in found["reason"]


def test_a_judge_of_ones_own_may_decide() -> None:
    judge = FakeJudge({"Pigs": 0.9}, "mine")
    assert verify_supported("?", "Gold shines.", "Pigs fly.", judge=judge)["supported"]
    assert judge.asked == ["Pigs fly."]


def chat(reply: str) -> Any:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    return FakeListChatModel(responses=[reply] * 3)


@pytest.mark.parametrize(("reply", "supported"), cases("answer_validator", "a chat models reply"))
def test_a_chat_models_reply_that_cannot_be_read_never_means_supported(reply: str, supported: bool) -> None:
    found = verify_supported("?", "Gold shines.", "Gold shines.", chat_model=chat(reply))
    assert found["supported"] is supported
    assert found["reason"]


# -- the document's example file -------------------------------------------------------------------------------


def test_the_examples_run_alone_and_all_together(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = str(Path(__file__).parent.parent / "examples" / "answer_validation_example.py")
    runpy.run_path(file)["example_1_basic_validation"]()
    assert "passed: True" in capsys.readouterr().out
    runpy.run_path(file, run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert printed[2:4] == ["strict: passed False", "lenient: passed True"]
    assert printed[4].endswith("a fixed window. passed: True")
    assert [r.getMessage()[:24] for r in caplog.records if r.name == "__main__"] == ["unsupported: It was train"[:24]]


if __name__ == "__main__":
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", __file__]))
