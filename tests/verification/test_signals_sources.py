"""Signals measured on verdicts, scores and similarities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import HashEmbeddings, quoted, verdict
from cragraph.verification.signals import SIGNALS, NotMeasured, SignalOptions, key_claims
from cragraph.verification.sources import Closeness, by_vectors, by_words, measure_closeness
from tests.support.cases import cases


def test_relevance_is_the_similarity_of_question_and_answer_and_needs_a_question(material) -> None:
    assert SIGNALS["relevance"](material(question="Why?", closeness=Closeness((), 0.8))) == 0.8
    with pytest.raises(NotMeasured, match="needs a question"):
        SIGNALS["relevance"](material(question=" "))


def test_faithfulness_is_the_mean_over_claims_of_the_closest_passage(material) -> None:
    rows = ((0.9, 0.1), (0.2, 0.5))
    assert SIGNALS["faithfulness"](material(closeness=Closeness(rows))) == pytest.approx(0.7)
    assert SIGNALS["faithfulness"](material()) == 0.0


@pytest.mark.parametrize(
    ("supports", "score"), [([], 0.0), ([1.0], 0.0), ([0.5, 1.0], 0.25), ([0.0, 0.0], 1.0), ([0.9, 0.6, 0.3], 0.4)]
)
def test_hallucination_is_one_less_the_mean_support(supports: list[float], score: float, material) -> None:
    claims = [verdict(support=s) for s in supports]
    assert SIGNALS["hallucination"](material(verdicts=claims)) == pytest.approx(score)


def test_facts_of_the_founding_example_are_two_thirds_verified(material) -> None:
    claims = [
        verdict("supported", "Apple's revenue was $394 billion"),
        verdict("supported", "Revenue increased 8% YoY"),
        verdict("unsupported", "iPhone sales were $200B"),
    ]
    assert SIGNALS["fact_score"](material(verdicts=claims)) == pytest.approx(2 / 3)


def test_the_fact_score_is_a_half_when_its_judge_failed_and_nothing_without_claims(material) -> None:
    assert SIGNALS["fact_score"](material(verdicts=[verdict("unjudged")] * 3)) == 0.5
    assert SIGNALS["fact_score"](material(verdicts=[verdict("unjudged"), verdict("supported")])) == 0.5
    assert SIGNALS["fact_score"](material()) == 0.0


def test_only_the_top_ten_passages_verify_a_fact(material) -> None:
    passages = as_passages([f"Passage {n}." for n in range(12)])
    claims = [verdict(evidence=quoted(passages, 9)), verdict(evidence=quoted(passages, 10))]
    assert SIGNALS["fact_score"](material(verdicts=claims)) == 0.5


def test_at_most_five_key_claims_are_taken_those_with_figures_first_in_the_answers_order() -> None:
    texts = ["So it is.", "It rose by 5%.", "Well.", "The Alps are high.", "It fell by 3%.", "Yes.", "No.", "Is it?"]
    claims = [verdict(text=text) for text in texts] + [verdict(text="I like 5.", type="opinion")]
    chosen = [v["text"] for v in key_claims(claims)]
    assert len(chosen) == 5
    assert chosen == sorted(chosen, key=texts.index)
    assert {"It rose by 5%.", "It fell by 3%.", "The Alps are high."} <= set(chosen)


def passage(**scores: object) -> dict[str, object]:
    return {"text": f"t{scores}", **scores}


@pytest.mark.parametrize(("passages", "quality"), cases("verification/signals_sources", "retrieval quality"))
def test_retrieval_quality_is_the_mean_score_and_a_half_for_what_has_none(passages, quality: float, material) -> None:
    assert SIGNALS["retrieval_quality"](material(passages=passages)) == pytest.approx(quality)


def test_sources_agree_that_are_like_a_claim_and_do_not_contradict_it(material) -> None:
    texts = ["one", "two", "three", "four"]
    rows = ((0.9, 0.5, 0.49, 0.1), (0.0, 0.0, 0.0, 0.8))
    claims = [verdict("supported"), verdict("unsupported")]
    assert SIGNALS["source_agreement"](material("x", texts, claims, closeness=Closeness(rows))) == 0.75
    against = [verdict("supported"), verdict("contradicted", evidence=quoted(as_passages(texts), 3))]
    assert SIGNALS["source_agreement"](material("x", texts, against, closeness=Closeness(rows))) == 0.5
    opinion = [verdict("supported"), verdict("supported", type="opinion")]
    assert SIGNALS["source_agreement"](material("x", texts, opinion, closeness=Closeness(rows))) == 0.5
    assert SIGNALS["source_agreement"](material()) == 0.0


def test_claims_more_than_seven_tenths_similar_to_a_passage_are_attributed(material) -> None:
    claims = [verdict(), verdict(), verdict(), verdict(type="opinion")]
    rows = ((0.71, 0.0), (0.7, 0.2), (0.1, 0.9), (0.0, 0.0))
    found = material("x", ["a", "b"], claims, closeness=Closeness(rows))
    assert SIGNALS["attribution_coverage"](found) == pytest.approx(2 / 3)
    strict = material(
        "x", ["a", "b"], claims, closeness=Closeness(rows), options=SignalOptions(attribution_threshold=0.8)
    )
    assert SIGNALS["attribution_coverage"](strict) == pytest.approx(1 / 3)
    assert SIGNALS["attribution_coverage"](material()) == 0.0


class Broken(HashEmbeddings):
    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result

    def embed_documents(self, texts: object) -> object:  # type: ignore[override]
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    "result", [RuntimeError("out of memory"), [[1.0, 0.0]], [[float("nan")] * 2] * 4, [], [1.0, 2.0, 3.0, 4.0]]
)
def test_an_embedding_model_that_breaks_is_replaced_by_shared_words_and_noted(result: object) -> None:
    notes = Notes()
    found = measure_closeness(
        Broken(result), "What shines?", "Gold shines.", ["Gold shines."], as_passages(["gold"]), notes
    )
    assert found.rows == ((0.5,),)
    assert found.question_to_answer == 1.0
    assert len(notes.sentences) == 1
    assert "measured by shared words" in notes.sentences[0]


WORDS = st.lists(st.sampled_from(["gold", "lead", "iron", "tin", "zinc"]), min_size=1, max_size=6).map(" ".join)


@given(WORDS, WORDS, st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_similarities_stay_within_their_bounds(question: str, answer: str, claims: list[str], texts: list[str]) -> None:
    for found in (
        by_vectors(HashEmbeddings(), question, answer, claims, as_passages(texts)),
        by_words(question, answer, claims, texts),
    ):
        assert all(0.0 <= value <= 1.0 + 1e-6 for row in found.rows for value in row)
        assert 0.0 <= found.question_to_answer <= 1.0 + 1e-6
        assert len(found.rows) == len(claims)
