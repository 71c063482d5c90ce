"""Every setting acts: with another value the same thing comes out otherwise, where a user would see it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.errors import CragError
from cragraph.run import Assistant
from cragraph.search.questions import NO_WRITER
from cragraph.settings import Settings, load_settings
from cragraph.verification.policies import JudgeCalibration
from tests.support.nli import make_nli

FILES = {
    "revenue": "Revenue was $383 billion in 2023.\n\nThe board met in May.\n\nCosts were $120 billion in 2023.",
    "lakes": "The lakes freeze in winter. The ferries stop then. In spring they sail again to all of the islands.",
    **{f"branch-{n}": f"The branch number {n} had a revenue of ${n} million in 2023." for n in range(1, 13)},
}
QUESTION = "What was revenue in 2023?"
VAGUE = "How many penguins does the company employ?"
CORRECTED = "What was revenue in 2023, and where do the ferries sail?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("settings")
    (home / "docs").mkdir()
    for name, text in FILES.items():
        (home / "docs" / f"{name}.md").write_text(text)
    Assistant(Settings(store=str(home / "store"), chunk_size=60)).ingest([home / "docs"])
    (home / "prompts").mkdir()
    (home / "prompts" / "rerank.md").write_text((Path(__file__).parents[2] / "prompts" / "rerank.md").read_text() + "!")
    make_nli(home / "prompts")
    return home


@pytest.fixture(autouse=True)
def in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    (folder / "mine.py").write_text(
        "from langchain_core.retrievers import BaseRetriever\nfrom langchain_core.documents import Document\n\n"
        "class Mine(BaseRetriever):\n"
        "    def _get_relevant_documents(self, query, *, run_manager):\n"
        "        return [Document(page_content='Revenue was $1 in 2023.'), Document(page_content='It rained.')]\n\n"
        "retriever = Mine()\n"
    )


# -- where it is seen --------------------------------------------------------------------------------------------

VOLATILE = {"started", "timings_ms", "put"}


def run(settings: Settings, question: str = QUESTION, **given: Any) -> Any:
    """The whole state of a run, without times; the error where it raises one."""
    try:
        graph = create_graph(settings).compile(checkpointer=InMemorySaver())
        thread: Any = {"configurable": {"thread_id": "1"}}
        *_, state = graph.stream({"question": question, **given}, thread, stream_mode="values")
    except CragError as error:
        return str(error)
    plain = json.loads(json.dumps({k: v for k, v in state.items() if k not in VOLATILE}, default=str))
    for attempt in plain.get("attempts", ()):
        attempt.get("verification", {}).pop("ms", None)
    return plain


def corrected(settings: Settings) -> Any:
    """A run whose answer must be corrected."""
    return run(settings, CORRECTED)


def given(settings: Settings) -> Any:
    """A run that is given an answer and its passages."""
    return run(settings, answer="Revenue was $394 billion in 2023.", passages=[FILES["revenue"], FILES["lakes"]])


def verified(settings: Settings) -> Any:
    """What the verifier says of an answer."""
    passages = [{"text": "Word has it that DE0007 rose.", "isin": "DE0007"}, {"text": "DE0007 gained in May."}]
    found = Assistant(settings).verify("Word has it that DE0007 rose. It is up in May.", passages).to_dict()
    return {name: value for name, value in found.items() if name != "ms"}


def chat(settings: Settings) -> Any:
    """What a chat model is called with."""
    parts = Parts(settings)
    caller, judging = parts.chat, parts.judging_chat
    if caller is None:
        return None
    names = ("base_url", "num_ctx", "num_predict", "openai_api_base")
    model = {name: getattr(caller.model, name, None) for name in names}
    return caller.title, judging.title, caller.timeout_s, parts.gate.places, parts.gate.per_minute, model


def ingested(settings: Settings) -> Any:
    """What an ingest of the files takes in."""
    report = Assistant(settings.model_copy(update={"store": None})).ingest([Path("docs")])
    return sorted(report.added), report.chunks, str(report.skipped), str(report.failed)


def read(settings: Settings) -> Any:
    """The passages of files without a store."""
    return [passage["text"] for passage in Assistant(settings).read([Path("docs")])]


def parts(settings: Settings) -> Any:
    """The parts that are built."""
    built = Parts(settings)
    hashes = built.prompts["rerank"].text if hasattr(built.prompts["rerank"], "text") else str(built.prompts["rerank"])
    return type(built.embeddings).__name__, sorted(built.judges), hashes, built.quoting is None


def logged(settings: Settings) -> Any:
    """What the metrics log holds after a run."""
    run(settings)
    return Path("runs.jsonl").exists()


def remembered(settings: Settings) -> Any:
    """Whether a question is in the log after it was asked."""
    Path(settings.store or "", "history.sqlite").unlink(missing_ok=True)
    *_, _ = Assistant(settings, "shell").ask(QUESTION)
    return Path(settings.store or "", "history.sqlite").exists()


@dataclass(frozen=True)
class Case:
    """A value of a setting, the settings beside it, and where its effect is seen."""

    value: Any
    seen: Callable[[Settings], Any] = run
    beside: dict[str, Any] = field(default_factory=dict)


STRICT = {"confidence_threshold": 1.0, "on_low_confidence": "flag"}
OLLAMA = {"model": "ollama:llama3.2"}
CASES = {
    "mode": Case("low"),
    "confidence_threshold": Case(1.0, given, {"on_low_confidence": "abstain", "max_crag_attempts": 0}),
    "max_crag_attempts": Case(0, corrected, STRICT),
    "verify": Case(False),
    "policy": Case("similarity"),
    "judge": Case("lexical"),
    "min_chunks": Case(50),
    "top_k": Case(2),
    "where": Case({"filename": "lakes.md"}),
    "sources": Case(("docs/lakes.md",)),
    "on_low_confidence": Case("flag", given, {"max_crag_attempts": 0, "confidence_threshold": 1.0}),
    "best_of": Case(2),
    "show_claims": Case(True),
    "known_facts": Case(("DE0007 fell.",), verified),
    "deadline_s": Case(1e-6, corrected, STRICT),
    "store": Case("elsewhere"),
    "retriever": Case("mine:retriever"),
    "collection": Case(("others",)),
    "embeddings": Case("ollama:nomic-embed-text", parts),
    "model": Case("ollama:llama3.2", chat),
    "judge_model": Case("ollama:qwen3", chat, OLLAMA),
    "base_url": Case("http://localhost:9/v1", chat, {"model": "openai:gpt-4o-mini"}),
    "ollama_host": Case("http://localhost:9", chat, OLLAMA),
    "num_ctx": Case(4096, chat, OLLAMA),
    "timeout_s": Case(7.0, chat, OLLAMA),
    "max_concurrency": Case(2, chat, OLLAMA),
    "calls_per_minute": Case(9, chat, OLLAMA),
    "prompts": Case(Path("prompts"), parts),
    "nli_model": Case(Path("prompts"), parts),
    "reranker": Case("none"),
    "multi_query": Case(True),
    "extractive_fallback": Case(False, parts, OLLAMA),
    "source_weights": Case({"branch-*": 0.0}),
    "chunk_size": Case(60, ingested),
    "max_file_mb": Case(0.00006, ingested),
    "reliability_weights": Case(
        {"retrieval_quality": 1, "source_agreement": 0, "hallucination_score": 0, "consistency_score": 0}, verified,
        {"policy": "reliability"},
    ),
    "calibration": Case({"lexical": JudgeCalibration(slope=0.2)}, verified, {"judge": "lexical"}),
    "history": Case(False, remembered),
    "metrics_log": Case(Path("runs.jsonl"), logged),
}  # fmt: skip


def test_no_setting_is_left_out() -> None:
    assert CASES.keys() == Settings.model_fields.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_setting_acts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    case = CASES[name]
    usual = {"store": "store", **case.beside}
    assert Settings(**usual).model_dump().get(name) != case.value
    assert as_usual(case.seen, json.dumps(usual)) != case.seen(load_settings(**usual | {name: case.value}))


@cache
def as_usual(seen: Callable[[Settings], Any], usual: str) -> Any:
    """What is seen without the setting, twice the same."""
    once, again = (seen(load_settings(**json.loads(usual))) for _ in range(2))
    assert once == again, "what is compared is not stable"
    return once


def test_without_a_chat_model_several_queries_are_said_not_to_be_written() -> None:
    assert NO_WRITER in run(load_settings(store="store", multi_query=True))["degraded"]
    assert NO_WRITER in run(load_settings(store="store", retriever="mine:retriever", multi_query=True))["degraded"]
    assert NO_WRITER not in run(load_settings(store="store"))["degraded"]


def test_the_largest_file_counts_where_an_answer_is_verified_against_a_folder() -> None:
    assert len(read(load_settings(store=None, max_file_mb=0.00006))) < len(read(load_settings(store=None)))


def test_the_message_on_a_large_file_names_the_setting() -> None:
    skipped = ingested(load_settings(store=None, max_file_mb=0.00006))[2]
    assert "raise max_file_mb (CRAG_MAX_FILE_MB) to take it in" in skipped
