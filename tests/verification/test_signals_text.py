"""Signals measured on the words of question, answer and passages."""

import pytest

from cragraph.passages import as_passages
from cragraph.testing import verdict
from cragraph.verification.signals import (
    SIGNALS,
    UNCERTAINTY_PHRASES,
    NotMeasured,
    SignalOptions,
    coverage,
    issues_of,
    keyword_overlap,
)
from tests.support.cases import cases

APPLE = {"ticker": "AAPL", "year": 2023, "filing_type": "10-Q"}


# -- alignment -------------------------------------------------------------------------------------------------


def test_keyword_overlap_is_the_share_of_the_answers_words_averaged_over_the_passages() -> None:
    # apple, revenue, 394, billion: 4 of 4, 2 of 4, 0 of 4
    texts = ["Apple had a revenue of $394 billion.", "Revenue at Apple grew.", "Phones are sold."]
    assert keyword_overlap("Apple's revenue was $394 billion".replace("'s", ""), texts) == pytest.approx(0.5)


def test_only_the_top_five_passages_are_aligned() -> None:
    assert keyword_overlap("gold", ["gold"] * 5 + ["lead"] * 5) == 1.0
    assert keyword_overlap("gold", ["lead"] * 5 + ["gold"] * 5) == 0.0


def test_an_injected_score_takes_the_place_of_keyword_overlap(material) -> None:
    assert SIGNALS["alignment"](material("gold", ["gold"], alignment=0.85)) == 0.85
    assert SIGNALS["alignment"](material("gold", ["gold"])) == 1.0


# -- citation coverage -----------------------------------------------------------------------------------------


def test_the_founding_example_is_fully_covered() -> None:
    passages = as_passages([{"text": "x", **APPLE}] * 5)
    assert coverage("Apple's revenue was $394 billion [Source: AAPL 10-Q 2023]", passages) == 1.0


@pytest.mark.parametrize(("answer", "value"), cases("verification/signals_text", "cited sources and patterns"))
def test_cited_sources_and_patterns_make_the_coverage(answer: str, value: float) -> None:
    passages = as_passages([{"text": "x", "ticker": "AAPL"}, {"text": "y", "ticker": "MSFT"}])
    assert coverage(answer, passages) == pytest.approx(value)


def test_which_fields_identify_a_source_is_a_setting(material) -> None:
    passages = [{"text": "x", "court": "Third Circuit", "ticker": "AAPL"}]
    assert SIGNALS["citation_coverage"](material("The Third Circuit held so.", passages)) == 0.0
    options = SignalOptions(identifier_fields=("court",))
    assert SIGNALS["citation_coverage"](material("The third circuit held so.", passages, options=options)) == 1.0


# -- completeness ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "question", "value"), cases("verification/signals_text", "completeness weighs substance finish")
)
def test_completeness_weighs_substance_finish_and_the_questions_words(
    answer: str, question: str, value: float, material
) -> None:
    assert SIGNALS["completeness"](material(answer, question=question)) == pytest.approx(value)


# -- uncertainty -----------------------------------------------------------------------------------------------


def test_three_phrases_make_an_answer_wholly_uncertain(material) -> None:
    values = [
        SIGNALS["uncertainty"](material(text))
        for text in (
            "So.",
            "Perhaps, perhaps.",
            "Perhaps it might.",
            "Perhaps it might, possibly.",
            "May, could, might, likely.",
        )
    ]
    assert values == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])


def test_the_list_of_phrases_is_the_founding_one() -> None:
    founding = ["might", "possibly", "perhaps", "unclear", "may", "could", "probably", "likely"]
    assert list(UNCERTAINTY_PHRASES) == [
        *founding,
        "i think",
        "i believe",
        "not sure",
        "don't know",
        "cannot determine",
    ]


# -- consistency -----------------------------------------------------------------------------------------------


def test_internal_consistency_is_the_share_of_claims_that_contradict_no_other(material) -> None:
    texts = ["Revenue was $394 billion.", "Costs fell.", "Revenue was $383 billion.", "Staff grew."]
    assert SIGNALS["internal_consistency"](material(verdicts=[verdict(text=t) for t in texts])) == 0.5
    assert SIGNALS["internal_consistency"](material(verdicts=[verdict(text=texts[0])])) == 1.0
    assert SIGNALS["internal_consistency"](material()) == 1.0


def test_quotations_that_disagree_are_a_conflict_of_the_passages_and_not_of_the_answer(material) -> None:
    texts = ["Revenue was $394 billion.", "Revenue was $383 billion."]
    quotes = [
        verdict(text=t, evidence={"quote": t, "passage": n, "chunk_id": str(n), "start": 0, "end": len(t)})
        for n, t in enumerate(texts)
    ]
    assert SIGNALS["internal_consistency"](material(verdicts=quotes)) == 1.0
    assert SIGNALS["internal_consistency"](material(verdicts=[quotes[0], verdict(text=texts[1])])) == 0.0


def test_knowledge_consistency_is_whole_without_known_facts_and_unmeasured_without_a_judge(material) -> None:
    signal = SIGNALS["knowledge_consistency"]
    assert signal(material()) == 1.0
    assert signal(material(knowledge=[verdict("contradicted"), verdict("unsupported")])) == 0.5
    with pytest.raises(NotMeasured):
        signal(material(knowledge=[verdict("unjudged")]))
    with pytest.raises(NotMeasured):
        signal(material(knowledge=[verdict("supported"), verdict("unjudged")]))


# -- issues ----------------------------------------------------------------------------------------------------


def test_issues_have_the_founding_wording_below_their_bounds() -> None:
    assert issues_of({"alignment": 0.49, "citation_coverage": 0.49, "fact_score": 0.69}) == [
        "Answer may not be well-supported by retrieved sources",
        "Many sources are not cited in the answer",
        "Some claims in the answer could not be verified",
    ]
    assert issues_of({"alignment": 0.5, "citation_coverage": 0.5, "fact_score": 0.7}) == []
    assert issues_of({}) == []
