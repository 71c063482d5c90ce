"""Facts: which of a claim the evidence has, lacks or contradicts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.facts import Comparison, compare, extract
from cragraph.language.facts.polarity import negations, opposite_words, possible

MATCHED = [
    ("$394 billion", "$394 billion"),
    ("$394 billion", "394,000 million dollars"),
    ("$394bn", "$394,000,000,000"),
    ("$394 billion", "$394,328 million"),
    ("394 billion", "$394 billion"),
    ("1.5 kg", "1.49 kg"),
    ("about 400 cars", "394 cars"),
    ("400 cars", "about 394 cars"),
    ("more than 300 cars", "312 cars"),
    ("under 400 cars", "394 cars"),
    ("5 miles", "8.05 km"),
    ("3 years", "36 months"),
    ("100 °C", "212 °F"),
    ("8%", "8 percent"),
    ("five people", "5 people"),
    ("twelve cars", "a dozen cars"),
    ("the 3rd time", "the third time"),
    ("Jan 5, 2023", "2023-01-05"),
    ("January 2023", "5 January 2023"),
    ("in 2023", "on 2023-01-05"),
    ("January 5, 2023", "It was January 5. The year was 2023"),
    ("in the 1990s", "in 1994"),
    ("FY23", "fiscal year 2023"),
    ("Q3 2023", "the third quarter of 2023"),
    ("He met Angela Merkel", "Chancellor Merkel spoke"),
    ("He joined IBM", "He joined International Business Machines"),
    ("He joined International Business Machines", "He joined IBM"),
    ("5:30 pm", "17:30"),
    ("sales of $394.3 billion", "Net sales (in millions): 394,328"),
    ("sales of 8%", "Growth | 8 | 9"),
    ("There are 612 kilograms of apples", "item: apples | kilograms: 612"),
    ("There are 612 kg of apples", "item: apples; kilograms: 612"),
    ("There are 612 apples", "item: apples | kilograms: 612"),
    ("0.612 tonnes", "kilograms: 612"),
    ("11 pounds", "weight (kg): 5"),
    ("The saddle costs 89 pounds", "item: saddle | price_gbp: 89.00"),
    ("The saddle costs £89", "It is sold for eighty-nine pounds"),
    ("3.9 million pounds", "a profit of £3.9 million"),
    ("Apples cost $12", "item: apples | price_usd: 12"),
    ("Sales were $14.5 million", "region: north | revenue (USD millions): 14.5"),
    ("Sales were $14.5 million", "(in millions)\nSales (USD): 14.5"),
    ("Sales were $14.5 million", "Sales (in $ millions): 14.5"),
    ("kilograms: 612", "apples | 612"),
    ("It grew by 5%", "growth (%): 5"),
    ("It holds 2012 kilograms", "Kilograms: 2012"),
    ("It cost 2,400,000 dollars", "It cost USD 2.4 million"),
    ("30 paid days off", "30 days of paid leave"),
    ("a third of users", "33% of users"),
    ("It opened in May", "It opened on May 4, 2021"),
    ("Unit 4 was closed", "In Unit 4 work has stopped"),
]

NOT_MATCHED = [
    ("$394 billion", "$383 billion"),
    ("$394 billion", "€394 billion"),
    ("$394 billion", "$394 million"),
    ("1.49 kg", "1.5 kg"),
    ("1.5 kg", "1.56 kg"),
    ("5%", "5 percentage points"),
    ("5 percentage points", "5%"),
    ("5 km", "5 miles"),
    ("5 km", "5 kg"),
    ("The saddle costs 98 pounds", "item: saddle | price_gbp: 89.00"),
    ("It weighs 89 pounds", "It costs $89"),
    ("about 400 cars", "500 cars"),
    ("more than 300 cars", "290 cars"),
    ("more than 300 cars", "900 cars"),
    ("March 2021", "April 2021"),
    ("January 5, 2023", "January 6, 2023"),
    ("January 5, 2023", "in 2023"),
    ("in 2022", "in 2023"),
    ("Q3 2023", "Q2 2023"),
    ("in the 1990s", "in 2004"),
    ("He flew to Paris", "He flew to London"),
    ("five people", "six people"),
    ("5 cars", "5%"),
    ("612 kilograms", "kilograms: 615"),
    ("612 kilograms", "litres: 612"),
    ("612 kilograms", "tonnes: 612"),
    ("$12", "price_eur: 12"),
    ("12 months", "month: 12"),
    ("It opened in March", "It opened in April"),
    ("the Boeing 737", "the Boeing 747"),
    ("Unit 4 was closed", "Unit 5 has 4 doors"),
]


def compared(claim: str, evidence: str) -> Comparison:
    return compare(extract(claim), extract(evidence), evidence)


@pytest.mark.parametrize(("claim", "evidence"), MATCHED)
def test_the_evidence_has_the_fact(claim: str, evidence: str) -> None:
    result = compared(claim, evidence)
    assert result.matched
    assert result.share == 1.0


@pytest.mark.parametrize(("claim", "evidence"), NOT_MATCHED)
def test_the_evidence_has_not_the_fact(claim: str, evidence: str) -> None:
    assert compared(claim, evidence).share < 1.0


def test_another_value_of_the_same_kind_conflicts_and_is_named() -> None:
    [(mine, theirs)] = compared("It was $394 billion.", "It was $383 billion.").conflicting
    assert (mine.text, theirs.text) == ("$394 billion", "$383 billion")


def test_another_value_under_the_same_unit_conflicts() -> None:
    [(mine, theirs)] = compared("There are 612 kilograms.", "item: apples | kilograms: 600").conflicting
    assert (mine.text, theirs.text) == ("612 kilograms", "600")


def test_nothing_of_the_kind_is_missing_and_no_conflict() -> None:
    result = compared("It was $394 billion.", "It was large, in 2023.")
    assert [fact.text for fact in result.missing] == ["$394 billion"]
    assert not result.conflicting


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [("Unit 4 was closed.", "Unit 5 was closed."), ("The Boeing 737 flew.", "The Boeing 747 flew."),
     ("See page 3.", "See page 4.")],
)  # fmt: skip
def test_numbers_of_things_are_names_and_never_conflict(claim: str, evidence: str) -> None:
    assert not compared(claim, evidence).conflicting


def test_a_value_that_the_claim_names_too_is_no_rival() -> None:
    result = compared("Sales were $394 billion and costs $223 billion.", "Costs were $223 billion.")
    assert [fact.text for fact in result.matched] == ["$223 billion"]
    assert [fact.text for fact in result.missing] == ["$394 billion"]


def test_no_facts_are_no_reproach() -> None:
    assert compared("It rose.", "It fell in 2023.") == Comparison()
    assert Comparison().share == 1.0


@given(
    st.floats(0.1, 9999, allow_nan=False),
    st.sampled_from(["million", "billion", "km", "kg", "%", "dollars", "years", ""]),
)
@settings(deadline=None)
def test_a_fact_matches_itself(value: float, unit: str) -> None:
    text = f"It was {value:.2f} {unit}."
    assert compared(text, text).share == 1.0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It did not rise.", 1),
        ("It didn't rise and never fell.", 2),
        ("Not only did it rise.", 0),
        ("No. 5 is sold.", 0),
        ("No less than five came.", 0),
        ("Members pay nothing.", 0),
        ("Er hat kein Geld.", 1),
        ("It rose.", 0),
        ("He failed to pay.", 1),
    ],
)
def test_negations_are_counted(text: str, count: int) -> None:
    assert negations(text) == count


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Sales increased.", "Sales decreased by far.", ("increased", "decreased")),
        ("Sales rose.", "Sales fell.", ("rose", "fell")),
        ("It came before the war.", "It came after the war.", ("before", "after")),
        ("It is always open.", "It is never open.", ("always", "never")),
        ("It has more than it.", "It has less than it.", ("more", "less")),
        ("Sales rose.", "Sales rose, then fell.", None),
        ("Sales rose.", "Sales grew.", None),
        ("Sales fell 12 percent.", "Sales were up 12 percent.", ("fell", "up")),
        ("Sales were down by 5%.", "Sales rose by 5%.", ("down", "rose")),
        ("Sales rose by $3 million.", "Sales were up $3 million.", None),
        ("Sales fell.", "They set up a shop.", None),
    ],
)
def test_opposite_words_are_found(claim: str, evidence: str, expected: tuple[str, str] | None) -> None:
    assert opposite_words(claim, evidence) == expected


def test_what_may_be_is_told_from_what_is() -> None:
    assert possible("Sales may rise.")
    assert not possible("Sales rose.")


def test_a_name_put_together_from_two_others_is_missing() -> None:
    evidence = "Ms Vera Tolland lets the flat to Mr Ilja Broome. The Averdung family owns it."
    assert compared("It is let to Ilja Tolland.", evidence).missing
    assert not compared("It is let to Ilja Broome by the Averdungs.", evidence).missing
