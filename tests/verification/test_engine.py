import logging
from threading import Event
from typing import Any

import pytest

from cragraph.errors import ModelError
from cragraph.passages import as_passages
from cragraph.protocols import Answered, Notes
from cragraph.testing import FakeJudge, HashEmbeddings
from cragraph.types import IDK, AnswerSpan, Claim
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.verifier import Verifier, VerifierOptions

PASSAGES = as_passages([{"text": "Gold shines and is heavy.", "ticker": "AU"}, "Lead is heavy and dull."])
ANSWER = "Gold shines. Lead floats."


class Failing(FakeJudge):
    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        self.asked += [c["text"] for c in claims]
        raise TimeoutError("no token for 120 s")


class Garbage(FakeJudge):
    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        found = super().__call__(claims, passages, notes)
        return [v | self.damage for v in found] if isinstance(self.damage, dict) else self.damage  # type: ignore[attr-defined]


def build(**more: Any) -> Verifier:
    given = {
        "judges": {"good": FakeJudge({"Gold": 0.9}, "good"), "bad": Failing({}, "bad")},
        "fallback": ["good"],
        "extractor": SentenceExtractor(),
        "embeddings": HashEmbeddings(),
    }
    return Verifier(**given | more)


def run(
    verifier: Verifier, answer: str = ANSWER, passages: Any = PASSAGES, question: str = "What shines?", **options: Any
):
    return verifier(question, answer, passages, Notes(), **{"judge": "good"} | options)


def test_an_answer_is_judged_measured_and_scored() -> None:
    found = run(build())
    assert [(v["text"], v["verdict"]) for v in found.claims] == [
        ("Gold shines.", "supported"),
        ("Lead floats.", "unsupported"),
    ]
    assert (found.confidence, found.level, found.is_grounded, found.judge, found.policy) == (
        0.4,
        "very low",
        False,
        "good",
        "claims",
    )
    assert found.hallucination_score == pytest.approx(0.55)
    assert found.signals["fact_score"] == 0.5
    assert found.issues == ("Some claims in the answer could not be verified",)
    assert found.degraded == ()
    assert found.ms > 0


# -- failure ---------------------------------------------------------------------------------------------------


def test_a_judge_that_fails_is_stood_in_for_and_the_response_says_so() -> None:
    notes = Notes()
    found = build()("", ANSWER, PASSAGES, notes, judge="bad")
    assert found.judge == "good"
    assert found.degraded == ("Judge 'bad' failed (TimeoutError: no token for 120 s); 'good' took over.",)
    assert notes.sentences == list(found.degraded)
    assert notes.models["judge"] == "good"


@pytest.mark.parametrize(
    "damage",
    [
        [],
        None,
        "supported",
        [{}],
        {"verdict": "true"},
        {"support": float("nan")},
        {"support": None},
        {"contradiction": float("inf")},
    ],
)
def test_a_judge_that_returns_garbage_is_stood_in_for(damage: Any) -> None:
    judge = Garbage({"Gold": 0.9}, "odd")
    judge.damage = damage  # type: ignore[attr-defined]
    found = run(build(judges={"odd": judge, "good": FakeJudge({"Gold": 0.9}, "good")}), judge="odd")
    assert found.judge == "good"
    assert "Judge 'odd' failed" in found.degraded[0]


def test_when_no_judge_is_left_the_claims_are_unjudged_and_nothing_is_invented() -> None:
    found = run(build(judges={"bad": Failing({}, "bad")}, fallback=[]), judge="bad")
    assert {v["verdict"] for v in found.claims} == {"unjudged"}
    assert (found.confidence, found.is_grounded, found.judge, found.claims_checked, found.passed) == (
        0.0,
        False,
        "none",
        0,
        False,
    )
    assert "2 claim(s) could not be judged" in found.issues
    assert any("no judge is left" in sentence for sentence in found.degraded)
    assert any("fact score of 0.5" in sentence for sentence in found.degraded)
    assert found.signals["fact_score"] == 0.5


class Broken:
    name = "broken"

    def __call__(self, *_: Any) -> list[Claim]:
        raise ModelError("no JSON")


def test_when_verification_fails_altogether_the_answer_comes_back_unjudged(caplog: pytest.LogCaptureFixture) -> None:
    notes = Notes()
    with caplog.at_level(logging.ERROR):
        found = build(source_weight=Broken())("", ANSWER, PASSAGES, notes, judge="good")
    assert (found.confidence, found.is_grounded, found.judge, found.failed) == (0.0, False, "none", True)
    assert [(v["text"], v["verdict"]) for v in found.claims] == [(ANSWER, "unjudged")]
    assert found.issues == ("Verification failed: nothing was judged, and the confidence of 0.0 says only that",)
    assert notes.sentences == ["Verification failed (no JSON)."]
    assert "verification failed" in caplog.text
    assert found.to_dict()["claims"][0]["verdict"] == "unjudged"


# -- sources ---------------------------------------------------------------------------------------------------


# -- inputs at the edges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["", "  \n", IDK])
def test_an_answer_without_a_claim_has_no_confidence(answer: str) -> None:
    found = run(build(), answer)
    assert (found.claims, found.confidence, found.is_grounded) == ((), 0.0, False)


@pytest.mark.parametrize("passages", [[], as_passages([""]), as_passages(["  \n"])])
def test_without_passages_nothing_is_supported_and_no_judge_is_asked(passages: Any) -> None:
    judge = FakeJudge({"Gold": 0.9}, "good")
    found = run(build(judges={"good": judge}), passages=passages, policy_scores=True)
    assert {v["verdict"] for v in found.claims} == {"unsupported"}
    assert judge.asked == []
    assert (found.confidence, found.is_grounded) == (0.0, False)


# -- known facts and alignment ---------------------------------------------------------------------------------


# -- cache, coverage ----------------------------------------------------------------------------


def test_a_claim_is_judged_once_within_and_across_runs() -> None:
    judge = FakeJudge({"Gold": 0.9}, "good")
    verifier = build(judges={"good": judge})
    run(verifier)
    again = run(verifier, "Lead floats. Gold shines.")
    assert judge.asked == ["Gold shines.", "Lead floats."]
    assert [v["start"] for v in again.claims] == [0, 13]
    run(verifier, passages=PASSAGES[:1])
    assert len(judge.asked) == 4


# -- does it answer the question? ------------------------------------------------------------------------------


class Reader:
    name = "reader"

    def __init__(self, found: Any) -> None:
        self.found = found
        self.asked: list[tuple[str, str, int]] = []

    def __call__(self, question: str, answer: str, passages: Any, notes: Notes) -> Answered:
        self.asked.append((question, answer, len(passages)))
        if isinstance(self.found, Exception):
            raise self.found
        return Answered(self.found, (SPAN,))


SPAN = AnswerSpan(passage=0, chunk_id=PASSAGES[0]["chunk_id"], start=0, end=4, text="Gold")


def test_the_confidence_is_that_the_answer_answers_and_is_supported() -> None:
    reader = Reader(0.5)
    found = run(build(scorer=reader), "Gold shines.")
    assert (found.confidence, found.answered, found.supported) == (0.5, 0.5, 1.0)
    assert found.answer_spans == (SPAN,)
    assert (found.summary()["answered"], found.summary()["supported"]) == (0.5, 1.0)
    assert found.issues == ()
    assert reader.asked == [("What shines?", "Gold shines.", 2)]


class Hanging(FakeJudge):
    """Says nothing until it is released."""

    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> Any:
        self.release.wait()  # type: ignore[attr-defined]
        return super().__call__(claims, passages, notes)


def test_a_judge_that_hangs_is_stood_in_for_after_its_time_limit() -> None:
    judge = Hanging({"Gold": 0.9}, "hanging")
    judge.release = Event()  # type: ignore[attr-defined]
    options = VerifierOptions(judge_timeout=0.05)
    found = run(
        build(judges={"hanging": judge, "good": FakeJudge({"Gold": 0.9}, "good")}, options=options), judge="hanging"
    )
    judge.release.set()  # type: ignore[attr-defined]
    assert found.judge == "good"
    assert found.degraded == ("Judge 'hanging' failed (TimeoutError: no verdict within 0.05 s); 'good' took over.",)
