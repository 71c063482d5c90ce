"""The library face: verify, and verify and correct."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from cragraph import (
    IDK,
    Context,
    create_graph,
    create_verifier,
    load_settings,
    read,
    verify,
    verify_and_correct,
)
from cragraph.api import _parts
from cragraph.errors import InputError, SettingsError
from cragraph.run import Assistant
from cragraph.testing import FakeJudge
from cragraph.verification.judges.verdicts import verdict_of

SEA = "The sea is salt because rivers carry minerals into it."
LAKES = "Most lakes are fresh water."
WRONG = "Revenue was $394 billion in 2023."
TRUE = "Revenue was $383 billion in 2023."


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("judge", ["lexical", "embedding", "auto"])
def test_a_supported_answer_has_a_verdict_with_exact_evidence(judge: str) -> None:
    passages = [LAKES, f"This is known. {SEA} So it is."]
    found = verify(SEA, passages, judge=judge)
    (claim,) = found.claims
    assert (claim["verdict"], found.confidence, found.level, found.is_grounded) == ("supported", 1.0, "high", True)
    evidence = claim["evidence"]
    assert evidence is not None
    assert passages[evidence["passage"]][evidence["start"] : evidence["end"]] == evidence["quote"]


@pytest.mark.parametrize("judge", ["lexical", "embedding", "auto"])
def test_another_figure_is_not_support_however_similar_the_sentence(judge: str) -> None:
    found = verify(WRONG, [TRUE], judge=judge)
    assert found.claims[0]["verdict"] in ("unsupported", "contradicted")
    assert not found.is_grounded
    assert found.confidence < 0.5


def test_a_question_that_is_no_question_is_refused_at_every_door() -> None:
    long = "what is a lake, and " * 50_000
    for ask in (
        lambda: verify(SEA, [SEA], long),
        lambda: create_verifier().compile().invoke({"answer": SEA, "passages": [SEA], "question": long}),
        lambda: Assistant(load_settings(store=None)).search(long, 3),
        lambda: Assistant(load_settings(store=None)).verify(SEA, [SEA], long),
    ):
        with pytest.raises(InputError, match="1,000,000 characters"):
            ask()


@pytest.mark.parametrize(
    ("answer", "passages", "said"),
    [(3, [SEA], "answer came as a int"), (SEA, SEA, "one str"), (SEA, [3], "passage 0 is a int")],
)
def test_input_of_the_wrong_shape_is_named(answer: object, passages: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        verify(answer, passages)  # type: ignore[arg-type]


def test_a_judge_that_is_not_available_says_what_it_needs() -> None:
    with pytest.raises(SettingsError, match="llm"):
        verify(SEA, [SEA], judge="llm")


def test_a_judge_of_one_s_own_is_asked() -> None:
    judge = FakeJudge({"sea": 0.95})
    assert verify(SEA, [LAKES], judge=judge).claims[0]["judge"] == "fake"
    assert judge.asked == [SEA]


def test_an_answer_that_fails_is_corrected_from_the_given_passages() -> None:
    result = verify_and_correct("What was revenue in 2023?", WRONG, [TRUE, LAKES])
    assert "$383 billion" in result.final_response
    assert (result.attempts, result.additional_context_used, result.is_grounded) == (1, False, True)
    wrong, right = (h["confidence"] for h in result.history)
    assert wrong <= 0.15 < 0.7 < right
    assert result.verification_history == result.history


def test_an_answer_that_cannot_be_mended_comes_back_flagged_or_withheld() -> None:
    flagged = verify_and_correct("Who rules the moon?", "Queen Selene rules the moon.", [SEA, LAKES])
    assert (flagged.abstained, flagged.is_grounded) == (False, False)
    withheld = verify_and_correct(
        "Who rules the moon?", "Queen Selene rules the moon.", [SEA, LAKES], on_low_confidence="abstain"
    )
    assert (withheld.final_response, withheld.abstained) == (IDK, True)


def test_the_verify_graph_returns_claims_and_signals() -> None:
    graph = create_verifier(load_settings()).compile()
    found = graph.invoke(
        {"question": "Why salt?", "answer": SEA, "passages": [SEA]}, context=Context(policy="similarity")
    )
    assert found["claims"][0]["verdict"] == "supported"
    assert {"relevance", "faithfulness"} <= found["signals"].keys()
    assert (found["models"]["judge"], found["degraded"]) == ("encoder", [])


@pytest.mark.parametrize(
    ("store", "said"), [(None, "There is nothing to search"), ("nowhere", "No documents found in nowhere")]
)
def test_a_graph_without_a_store_answers_with_what_to_do(store: str | None, said: str) -> None:
    response = create_graph(load_settings(store=store)).compile().invoke({"question": "Why?"})
    assert (response["abstained"], response["attempts"]) == (True, [])
    assert said in response["issues"][0]
    assert response["answer"] == f"Nothing was searched: {response['issues'][0]}"


LENT = ["In 2023, revenue was $383 billion.", "The library lends books for three weeks. Spare keys hang in the office."]


def test_a_claim_is_read_as_it_is_judged_in_an_answer() -> None:
    claim = "Revenue was $394 billion."
    reading, [judged] = read(claim, LENT), verify(claim, LENT).claims
    assert (reading.supported, reading.contradicted) == (judged["support"], judged["contradiction"])
    assert reading.quote == judged["evidence"]
    assert reading.misses == ("$394 billion",)
    assert reading.rests_on == ("Revenue",)
    assert reading.answers is None


def test_a_question_is_read_with_the_quote_that_answers_it() -> None:
    reading = read("How long can I keep a book?", LENT)
    assert reading.answers is not None
    assert reading.answers > 0.7
    assert reading.quote is not None
    assert reading.quote["quote"] == "The library lends books for three weeks."
    assert LENT[1][reading.quote["start"] : reading.quote["end"]] == reading.quote["quote"]
    assert (reading.rests_on, reading.misses) == (("book",), ("long", "keep"))
    assert reading.supported is None
    unknown = read("Who painted the ceiling?", LENT).answers
    assert unknown is not None
    assert unknown < 0.3


@pytest.mark.parametrize("text", ["", "  ", None, 3])
def test_what_cannot_be_read_is_refused_by_name(text: Any) -> None:
    with pytest.raises(InputError, match="wanted a claim or a question"):
        read(text, LENT)


def test_many_first_calls_share_one_verifier_and_so_one_gate() -> None:
    settings, ready = load_settings(top_k=7), Barrier(12)

    def first(_: int) -> int:
        ready.wait()
        return id(_parts(settings).verifier)

    with ThreadPoolExecutor(12) as pool:
        assert len(set(pool.map(first, range(12)))) == 1


def test_what_the_reader_cannot_read_is_never_certain() -> None:
    text = "Das Werk in Bremen wurde 1952 gegründet."
    found = verify(text, [text], "Wann wurde das Werk in Bremen gegründet?")
    assert found.claims[0]["verdict"] == "supported"
    assert found.confidence == found.supported == 0.5
    assert [said for said in found.issues if "not calibrated" in said]
    assert [said for said in found.degraded if "not calibrated" in said]


def test_a_plain_function_may_be_the_judge() -> None:
    def by_length(claims: Any, passages: Any, notes: Any, *, question: str = "") -> list[Any]:
        return [verdict_of(claim, "supported", 1.0, 0.0, None, "It is short.", "") for claim in claims]

    verification = verify(SEA, [LAKES], judge=by_length)
    assert (verification.judge, verification.degraded) == ("by_length", ())
