from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.grounding import ClaimWord, Grounding
from cragraph.models.grounding_features import readable
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.encoder import EncoderJudge, held
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.policies import curves

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


def test_a_true_claim_in_other_words_is_never_called_contradicted_without_a_conflict_shown() -> None:
    passages = as_passages(["The shop is closed on Sundays. 50% of users are paying customers."])
    sure = Grounding(0.05, 0.05, 0.9)
    claims = [claim(text, text) for text in ("The shop is shut on Sundays.", "Half of the users pay.")]
    verdicts = EncoderJudge(FakeModel([sure, sure]))(claims, passages, Notes())
    assert [verdict["verdict"] for verdict in verdicts] == ["unsupported", "unsupported"]


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


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Revenue was $3.5 million.", "contradicted"),
        ("Sales fell in May.", "contradicted"),
        ("Revenue was $3.2 million at Initech.", "partially_supported"),
        ("Berlin is not the capital.", "contradicted"),
    ],
)
def test_facts_and_words_hold_against_a_claim_however_sure_the_network_is(text: str, label: str) -> None:
    model = FakeModel([Grounding(0.99, 0.01, 0.0)])
    passages = as_passages(["Revenue was $3.2 million. Sales rose in May.", "Berlin is the capital."])
    [verdict] = EncoderJudge(model)([claim(text, text)], passages, Notes())
    assert verdict["verdict"] == label
    assert verdict["support"] < 0.5
    assert model.opinions[0][1], "the model was told that facts object"


@pytest.mark.parametrize("text", ["It rose.", "It  ROSE [1]", "Berlin is the capital."])
def test_a_sentence_that_was_copied_is_supported_without_the_network(text: str) -> None:
    model = FakeModel([])
    [verdict] = EncoderJudge(model)([claim(text, text)], PASSAGES, Notes())
    assert verdict["verdict"] == "supported"
    assert not model.asked


def test_a_part_of_a_sentence_is_read_for_the_rest_may_deny_it() -> None:
    passages = as_passages(["It is a rumour that the shop is closed on Sundays."])
    model = FakeModel([Grounding(0.03, 0.87, 0.1)])
    [verdict] = EncoderJudge(model)([claim("The shop is closed on Sundays.")], passages, Notes())
    assert verdict["verdict"] == "unsupported"
    assert model.asked[0][0] == ["The shop is closed on Sundays."]


def test_doubtful_words_are_pointed_at_in_the_answer_and_neighbours_share_a_span() -> None:
    model = FakeModel([Grounding(0.1, 0.2, 0.7, WORDS)])
    answer = f"In short: {TRUE}"
    [verdict] = EncoderJudge(model)([claim(TRUE, answer)], PASSAGES, Notes())
    assert [answer[a:b] for a, b in verdict["unsupported_spans"]] == ["$3.2 million"]
    assert verdict["reasoning"].startswith("Without support: '$3.2', 'million'; ")


def test_what_facts_object_to_is_pointed_at_beside_the_doubtful_words() -> None:
    text = "Revenue was $3.5 million at Initech."
    model = FakeModel([Grounding(0.1, 0.9, 0.0, (ClaimWord(0, 7, 0.9), ClaimWord(8, 11, 0.1)))])
    [verdict] = EncoderJudge(model)([claim(text, text)], PASSAGES, Notes())
    assert [text[a:b] for a, b in verdict["unsupported_spans"]] == ["Revenue", "$3.5 million", "Initech"]


def test_a_supported_claim_and_one_that_was_rephrased_have_no_spans() -> None:
    model = FakeModel([Grounding(0.9, 0.1, 0.0, WORDS), Grounding(0.1, 0.9, 0.0, WORDS)])
    rephrased = Claim(text="Revenue was $3.5 million.", start=3, end=10, type="factual")
    first, second = EncoderJudge(model)([claim(TRUE, TRUE), rephrased], PASSAGES, Notes())
    assert "unsupported_spans" not in first
    assert "unsupported_spans" not in second


def test_the_evidence_is_an_exact_quote() -> None:
    model = FakeModel([Grounding(0.8, 0.1, 0.1)])
    text = "The capital is Berlin."
    [verdict] = EncoderJudge(model)([claim(text, text)], PASSAGES, Notes())
    evidence = verdict["evidence"]
    assert evidence is not None
    assert evidence["quote"] == PASSAGES[1]["text"][evidence["start"] : evidence["end"]] == "Berlin is the capital."
    assert evidence["chunk_id"] == PASSAGES[1]["chunk_id"]


def test_without_another_judge_a_claim_in_another_script_is_unjudged_and_noted_while_the_others_are_judged() -> None:
    model = FakeModel([Grounding(0.8, 0.1, 0.1, WORDS)])
    notes = Notes()
    claims = [claim("매출은 증가했다."), claim(TRUE, TRUE)]
    verdicts = EncoderJudge(model)(claims, PASSAGES, notes)
    assert [v["verdict"] for v in verdicts] == ["unjudged", "supported"]
    assert model.asked == [([TRUE], ["Revenue was $3.2 million this year."])], "it reads the window that is quoted"
    assert notes.sentences == ["The encoder judge reads English only: what is in another language is unjudged."]


@pytest.mark.parametrize("text", ["매출은 증가했다.", "Der Umsatz ist im Jahr 2020 auf 3,2 Millionen gestiegen."])
def test_a_claim_in_another_language_is_left_to_the_other_judge(text: str) -> None:
    notes = Notes()
    judge = EncoderJudge(FakeModel([Grounding(0.8, 0.1, 0.1)]), LexicalJudge())
    verdicts = judge([claim(TRUE, TRUE), claim(text, text)], PASSAGES, notes)
    assert [v["judge"] for v in verdicts] == ["encoder", "lexical"]
    [said] = notes.sentences
    assert said.startswith("The encoder judge reads English only: 1 claim(s) were left to the judge 'lexical'")
    assert said.endswith("measured on English.")


@pytest.mark.parametrize("text", ["매출은 증가했다.", "Die Mühle wurde im Jahr 1820 von der Stadt eröffnet."])
def test_a_passage_in_another_language_is_left_out_and_noted(text: str) -> None:
    model = FakeModel([Grounding(0.8, 0.1, 0.1, WORDS)])
    notes = Notes()
    passages = [PASSAGES[0], *as_passages([text])]
    EncoderJudge(model)([claim("Revenue was $3.5 million.")], passages, notes)
    assert model.asked[0][1] == ["Revenue was $3.2 million this year."]
    assert notes.sentences == ["The encoder judge reads English only: passages in another language were left out."]


def test_an_english_claim_against_passages_in_another_language_is_left_to_the_other_judge() -> None:
    judge = EncoderJudge(FakeModel([]), LexicalJudge())
    [verdict] = judge([claim("Revenue rose.", "Revenue rose.")], as_passages(["매출은 증가했다."]), Notes())
    assert verdict["judge"] == "lexical"


def test_no_claims_give_no_verdicts() -> None:
    assert EncoderJudge(FakeModel([]))([], PASSAGES, Notes()) == []


def test_the_support_by_words_is_taken_into_account_for_each_claim() -> None:
    model = FakeModel([Grounding(0.8, 0.1, 0.1), Grounding(0.8, 0.1, 0.1)])
    claims = [claim(TRUE, TRUE), claim("Bananas grew in Norway.", "Bananas grew in Norway.")]
    EncoderJudge(model)(claims, PASSAGES, Notes())
    (held, fine), (invented, objected) = model.opinions
    assert held > 0.5 > invented
    assert objected
    assert not fine


MOVED = as_passages(
    [
        "It rained for most of the summer. The loan desk was moved into the town hall in May. "
        "People in a different building complained of the noise."
    ]
)
REWORDED = "Since spring people borrow books in a different building."


class Broken:
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise OSError("no server")

    def embed_query(self, text: str) -> list[float]:
        raise OSError("no server")


@dataclass
class Choosing(FakeModel):
    """Supports what is read with one text, and nothing else."""

    text: str = ""

    def judge(self, claims: Sequence[str], texts: Sequence[str]) -> list[Grounding]:
        self.asked.append((list(claims), list(texts)))
        return [Grounding(0.9, 0.1, 0.0) if text == self.text else Grounding(0.1, 0.9, 0.0) for text in texts]


def test_what_is_said_in_other_words_is_read_with_the_sentence_nearest_in_meaning_and_quotes_it() -> None:
    desk = "The loan desk was moved into the town hall in May."
    model = Choosing([], text=desk)
    [verdict] = EncoderJudge(model, embeddings=EmbeddedEncoder())([claim(REWORDED, REWORDED)], MOVED, Notes())
    [(claims, texts)] = model.asked
    assert claims == [REWORDED, REWORDED]
    assert texts[0] == "People in a different building complained of the noise.", "the window by words comes first"
    assert texts[1] == desk
    assert verdict["evidence"] is not None
    assert verdict["evidence"]["quote"] == desk


def test_the_window_by_words_is_quoted_where_it_supports_better() -> None:
    model = Choosing([], text="People in a different building complained of the noise.")
    [verdict] = EncoderJudge(model, embeddings=EmbeddedEncoder())([claim(REWORDED, REWORDED)], MOVED, Notes())
    assert verdict["evidence"] is not None
    assert verdict["evidence"]["quote"] == model.text


@pytest.mark.parametrize("text", ["Revenue was $3.2 million this year.", "Revenue was $3.5 million this year."])
def test_a_copy_and_a_claim_that_facts_contradict_are_compared_with_nothing_else(text: str) -> None:
    notes = Notes()
    [places] = held([claim(text, text)], PASSAGES, Broken(), notes)
    assert len(places) == 1
    assert notes.sentences == []


def test_without_an_embedding_model_evidence_is_looked_for_by_words_and_that_is_said() -> None:
    notes = Notes()
    [places] = held([claim(REWORDED, REWORDED)], MOVED, Broken(), notes)
    assert [place.window.text for place in places] == ["People in a different building complained of the noise."]
    [said] = notes.sentences
    assert said.startswith("The embedding model failed (OSError: no server)")
    assert said.endswith("evidence was looked for by words alone.")
