from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cragraph.models.grounding import ClaimWord, Grounding, readable
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.embedded import EncoderJudge, LexicalJudge
from cragraph.verification.policies import curves
from tests.support.cases import cases

PASSAGES = as_passages(["Revenue was $3.2 million this year. It rose.", "Berlin is the capital."])
ANSWER = "In short: Revenue was $3.5 million. 매출은 증가했다."


def claim(text: str, answer: str = ANSWER) -> Claim:
    start = answer.find(text)
    return Claim(text=text, start=max(start, 0), end=max(start, 0) + len(text), type="factual")


@dataclass
class FakeModel:
    """Gives the groundings it was made with, and remembers what it was asked."""

    groundings: Sequence[Grounding]
    name: str = "fake@1"
    word_threshold: float = 0.4
    asked: list[tuple[list[str], list[str]]] = field(default_factory=list)
    opinions: list[tuple[float, bool]] = field(default_factory=list)

    def reads(self, text: str) -> bool:
        return readable(text)

    def judge(self, claims: Sequence[str], texts: Sequence[str]) -> list[Grounding]:
        self.asked.append((list(claims), list(texts)))
        return list(self.groundings[: len(claims)])

    def blend(self, found: Grounding, opinion: float, objected: bool) -> Grounding:
        self.opinions.append((opinion, objected))
        return found


WORDS = (ClaimWord(0, 7, 0.1), ClaimWord(8, 11, 0.1), ClaimWord(12, 16, 0.9), ClaimWord(17, 24, 0.6))
TRUE = "Revenue was $3.2 million."


@pytest.mark.parametrize(
    ("grounding", "label"),
    [
        (Grounding(0.8, 0.1, 0.1, WORDS), "supported"),
        (Grounding(0.1, 0.2, 0.7, WORDS), "unsupported"),
        (Grounding(0.3, 0.6, 0.1, WORDS), "partially_supported"),
        (Grounding(0.03, 0.87, 0.1, WORDS), "unsupported"),
    ],
)
def test_the_probabilities_decide_the_verdict(grounding: Grounding, label: str) -> None:
    [verdict] = EncoderJudge(FakeModel([grounding]))([claim(TRUE, TRUE)], PASSAGES, Notes())
    assert verdict["verdict"] == label
    assert verdict["support"] == curves()["encoder"].claim(grounding.supported)
    assert verdict["contradiction"] == grounding.contradicted
    assert verdict["judge"] == "encoder"


@pytest.mark.parametrize(("text", "label"), cases("verification/encoder_judge", "facts and words hold"))
def test_facts_and_words_hold_against_a_claim_however_sure_the_network_is(text: str, label: str) -> None:
    model = FakeModel([Grounding(0.99, 0.01, 0.0)])
    passages = as_passages(["Revenue was $3.2 million. Sales rose in May.", "Berlin is the capital."])
    [verdict] = EncoderJudge(model)([claim(text, text)], passages, Notes())
    assert verdict["verdict"] == label
    assert verdict["support"] < 0.5
    assert model.opinions[0][1], "the model was told that facts object"


@pytest.mark.parametrize("text", ["매출은 증가했다.", "Der Umsatz ist im Jahr 2020 auf 3,2 Millionen gestiegen."])
def test_a_claim_in_another_language_is_left_to_the_other_judge(text: str) -> None:
    notes = Notes()
    judge = EncoderJudge(FakeModel([Grounding(0.8, 0.1, 0.1)]), LexicalJudge())
    verdicts = judge([claim(TRUE, TRUE), claim(text, text)], PASSAGES, notes)
    assert [v["judge"] for v in verdicts] == ["encoder", "lexical"]
    [said] = notes.sentences
    assert said.startswith("The encoder judge reads English only: 1 claim(s) were left to the judge 'lexical'")
    assert said.endswith("measured on English.")
