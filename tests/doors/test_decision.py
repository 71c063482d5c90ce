"""Thresholds and low-confidence policies through the function, the graph, the shell and HTTP: one decision."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cragraph import Context, Report, create_graph, load_settings, verify
from cragraph.errors import InputError
from cragraph.testing import HashEmbeddings
from cragraph.types import IDK, called, distinct_digits, doubt_of, further, standing
from tests.doors.conftest import Shell
from tests.doors.test_serve import serving, told
from tests.support.cases import cases

NOTES = {
    "machine.md": "# Machines\n\nThe drill costs 400 euros. The lathe costs 1,200 euros and stands in the hall.\n",
    "people.md": "# People\n\nAda runs the workshop. She came in 2019. The workshop opens at nine.\n",
}
QUESTIONS = (
    "What does the drill cost?", "How much does Ada earn?", "Who runs the workshop?", "When does the workshop close?",
    "Where does the lathe stand?", "What is the wage of the apprentice?", "Is the drill blue?",
)  # fmt: skip
ANSWERS = ("The drill costs 400 euros.", "The drill costs 450 euros.", "Ada leads the workshop.", "The lathe is old.")
EXITS = {"accepted": 0, "refused": 3, "doubtful": 5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decided")
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    """A server that holds the notes."""
    with serving(folder) as address, httpx.Client() as client:
        for name in NOTES:
            client.post(f"{address}/documents", files={"file": (name, (folder / name).read_text())}).raise_for_status()
        yield address


def options(threshold: float | None, low: str | None) -> dict[str, Any]:
    given = {"confidence_threshold": threshold, "on_low_confidence": low}
    return {name: value for name, value in given.items() if value is not None}


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.enable_socket
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(QUESTIONS),
    st.sampled_from([None, 0.2, 0.5, 0.7, 0.9, 1.0]),
    st.sampled_from([None, "doubt", "abstain", "flag", "prune"]),
)
def test_a_question_is_decided_on_once_for_graph_shell_and_http(
    shell: Shell, folder: Path, url: str, question: str, threshold: float | None, low: str | None
) -> None:
    chosen = options(threshold, low)
    store = str(folder / "store")
    graph = create_graph(load_settings(store=store)).compile()
    response = graph.invoke({"question": question}, context=Context(**chosen))
    decision = response["decision"]
    with httpx.Client(timeout=60) as client:
        body = {"question": question, "options": chosen}
        over_http = client.post(f"{url}/ask", json=body).json()
        streamed = told(client.post(f"{url}/ask/stream", json=body))[-1][1]
    flags = [*(["--threshold", str(threshold)] if threshold is not None else [])]
    flags += ["--on-low-confidence", low] if low else []
    ran, plain = (shell("ask", question, "--store", store, "-q", *flags, *more) for more in (["--json"], []))
    assert over_http["decision"] == streamed["response"]["decision"] == ran.json["decision"] == decision
    for found in (over_http, ran.json, streamed["response"]):
        for name in ("answer", "accepted", "is_grounded", "abstained", "confidence", "confidence_level"):
            assert found[name] == response[name]
    outcome = decision["outcome"]
    assert ran.code == plain.code == EXITS[outcome]
    assert plain.out.startswith("Doubtful (") is (outcome == "doubtful")
    said = f"· {outcome} · the threshold is {decision['threshold']:.2f}"
    assert (said in plain.out) is (outcome != "doubtful"), "a doubt is said once"
    assert f'<article class="cragraph {outcome}">' in streamed["html"]
    assert decision["set_by"] == ("default" if threshold is None else "person")
    assert decision["threshold"] == (0.7 if threshold is None else threshold)
    assert response["abstained"] is (response["answer"] == IDK)
    if not response["accepted"]:
        assert (outcome == "refused") or low != "abstain"
        assert not response["is_grounded"]


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.enable_socket
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(ANSWERS),
    st.sampled_from([None, 0.3, 0.7, 0.99]),
    st.sampled_from(["auto", "claims", "weighted"]),
)
def test_a_given_answer_is_decided_on_once_for_function_graph_and_shell(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str, threshold: float | None, policy: str
) -> None:
    source, question = folder / "machine.md", "What does the drill cost?"
    chosen = options(threshold, None) | {"policy": policy}
    passages = [{"text": NOTES["machine.md"].split("\n\n")[1].strip()}]
    found = verify(answer, passages, question, settings=load_settings(store=None, **chosen))
    graph = create_graph(load_settings(store=None)).compile()
    inputs = {"question": question, "answer": answer, "passages": passages}
    context = Context(**chosen, max_crag_attempts=0, show_claims=True, min_chunks=1)
    response = graph.invoke(inputs, context=context)
    assert response["attempts"][0]["verification"]["decision"] == asdict(found.decision)
    if threshold is not None:
        monkeypatch.setenv("CRAG_CONFIDENCE_THRESHOLD", str(threshold))
    given_to = ("verify", "--answer", answer, "--question", question, "--source", str(source), "--policy", policy)
    ran, plain = shell(*given_to, "--json"), shell(*given_to)
    monkeypatch.delenv("CRAG_CONFIDENCE_THRESHOLD", raising=False)
    decision = ran.json["decision"]
    assert ran.json["accepted"] is (decision["outcome"] == "accepted")
    assert (decision["threshold"], decision["set_by"]) == (found.decision.threshold, found.decision.set_by)
    assert f"· {decision['outcome']} · the threshold is {decision['threshold']:.2f}" in plain.out
    assert f'class="cragraph {found.decision.outcome}"' in str(Report(found))


def test_config_prints_the_threshold_that_is_in_force(shell: Shell, tmp_path: Path) -> None:
    def printed() -> str:
        return next(line for line in shell("config").out.splitlines() if line.startswith("confidence_threshold"))

    sea = ["The sea is salt."]
    assert printed().split() == ["confidence_threshold", "0.7", "default"]
    assert verify("The sea is salt.", sea).threshold == 0.7
    (tmp_path / "cragraph.yaml").write_text("calibration: {encoder: {threshold: 0.62}}\n")
    assert "0.7" in printed()
    assert "default; 0.62 where encoder judges, by calibration" in printed()
    found = verify("The sea is salt.", sea, settings=load_settings())
    assert (found.threshold, found.decision.set_by) == (0.62, "calibration")
    (tmp_path / "cragraph.yaml").write_text("confidence_threshold: 0.9\ncalibration: {encoder: {threshold: 0.62}}\n")
    assert printed().split()[:3] == ["confidence_threshold", "0.9", "cragraph.yaml"]
    found = verify("The sea is salt.", sea, settings=load_settings())
    assert (found.threshold, found.decision.set_by) == (0.9, "person")


class Failing(HashEmbeddings):
    """Works until it is told to fail."""

    fails = False

    def embed_documents(self, texts: Any) -> Any:
        if self.fails:
            raise RuntimeError("CUDA out of memory")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        if self.fails:
            raise RuntimeError("CUDA out of memory")
        return super().embed_query(text)


def test_embeddings_of_a_caller_that_fail_are_noted_and_done_without(tmp_path: Path, folder: Path) -> None:
    from cragraph.store import ingest, open_store

    model = Failing()
    with open_store(str(tmp_path / "own"), model) as store:
        ingest([folder / name for name in NOTES], store)
        model.fails = True
        graph = create_graph(load_settings(store=None), store=store, embeddings=model).compile()
        response = graph.invoke(
            {"question": "What does the drill cost, and who runs the workshop?"},
            context=Context(on_low_confidence="flag"),
        )
    assert "400 euros" in response["answer"]
    said = " ".join(response["degraded"])
    assert "the search was by words alone" in said
    assert "sentences were compared without it" in said
    assert "RuntimeError: CUDA out of memory" in said


GERMAN = "Der Graben ist 10.935 Meter tief. Das Meer ist salzig."
CHINESE = "\u6d77\u6c34\u662f\u54b8\u7684\u3002"  # the sea is salt


@pytest.mark.parametrize("low", ["prune", "flag", "doubt", "abstain"])
@pytest.mark.parametrize(("question", "answer", "passages"), cases("doors/decision", "an answer that nobody"))
def test_an_answer_that_nobody_could_read_is_not_accepted_above_what_it_may_be_worth(
    question: str, answer: str, passages: list[str], low: Any
) -> None:
    context = Context(confidence_threshold=0.85, on_low_confidence=low, max_crag_attempts=0)
    inputs = {"question": question, "answer": answer, "passages": passages}
    response = create_graph(load_settings(store=None)).compile().invoke(inputs, context=context)
    assert (response["accepted"], response["is_grounded"]) == (False, False)
    assert response["confidence"] <= 0.8


@pytest.mark.parametrize("name", ["retrieval_score", "rerank_score"])
@pytest.mark.parametrize("came", ["x", [1], {"a": 1}, float("nan"), "nan"])
def test_a_score_that_is_no_number_is_refused_by_its_name(name: str, came: Any) -> None:
    passages = [{"text": "The drill costs 400 euros."}, {"text": "Ada runs the workshop.", name: came}]
    graph = create_graph(load_settings(store=None)).compile()
    with pytest.raises(InputError, match=f"{name} of passage 1 came as"):
        graph.invoke({"question": QUESTIONS[0], "passages": passages})


@pytest.mark.parametrize(
    ("confidence", "threshold", "shown"),
    [(0.6954, 0.7, ("0.6954", "0.7000")), (0.44, 0.7, ("0.44", "0.70")), (0.7, 0.7, ("0.70", "0.70"))],
)
def test_confidence_and_threshold_are_told_with_the_digits_that_tell_them_apart(
    confidence: float, threshold: float, shown: tuple[str, str]
) -> None:
    assert distinct_digits(confidence, threshold) == shown
    decision = {"outcome": "doubtful", "confidence": confidence, "threshold": threshold, "set_by": "default"}
    assert doubt_of(decision) == f"Doubtful ({shown[0]}, wanted {shown[1]}): "
    assert standing(decision) == f"Confidence {shown[0]} · doubtful · the threshold is {shown[1]}"


def test_that_the_confidence_is_below_the_threshold_is_said_once() -> None:
    inputs = {"question": "How long is it?", "passages": ["The bridge is 300 metres long and 20 metres wide."]}
    context = Context(confidence_threshold=1.0, on_low_confidence="flag", max_crag_attempts=0, min_chunks=1)
    response = create_graph(load_settings(store=None)).compile().invoke(inputs, context=context)
    why = response["decision"]["why"]
    assert (response["decision"]["outcome"], why in response["issues"]) == ("doubtful", True)
    assert why.endswith("is below the threshold of 1.00.")
    assert further([why, "Another."], response["decision"]) == ["Another."]
    page = Report(response).fragment
    assert (why in page, page.count("Doubtful")) == (False, 1)
    assert " · threshold 1.00" in page


@pytest.mark.parametrize(("calls", "tokens", "cost"), cases("doors/decision", "what chat models cost"))
def test_what_chat_models_cost_is_told_in_words(calls: int, tokens: dict[str, int], cost: str) -> None:
    assert called(calls, tokens) == cost


@pytest.mark.parametrize("context", [5, "high", ["high"]])
def test_options_that_are_no_mapping_are_not_passed_over(context: Any) -> None:
    graph = create_graph(load_settings(store=None)).compile()
    with pytest.raises(InputError, match="The context came as"):
        graph.invoke({"question": QUESTIONS[0], "passages": ["x"]}, context=context)
