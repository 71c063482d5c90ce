"""Facts: what is read out of a text, with its value and its place."""

# ruff: noqa: E501

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cragraph.language.facts import Fact, extract
from cragraph.language.facts.numbers import value_of

NUMBERS = {
    "three quarters of an hour": ("measure", 2700, "duration"),
    "a year and a half": ("measure", 47335428.0, "duration"),
    "394": ("number", 394, ""),
    "830²": ("number", 830, ""),
    "830² tonnes": ("measure", 830e6, "mass"),
    "830ᵇ tonnes": ("measure", 830e6, "mass"),
    "387⁽¹³⁾": ("number", 387, ""),
    "10⁶": ("number", 1e6, ""),
    "3 × 10⁸ metres": ("measure", 3e8, "length"),
    "40 m²": ("measure", 40, "area"),
    "1.250,50 euros": ("money", 1250.5, "EUR"),
    "1.250 euros": ("money", 1250, "EUR"),
    "$1.234 billion": ("money", 1.234e9, "USD"),
    "600 quid": ("money", 600, "GBP"),
    "1 in 5": ("percent", 20, ""),
    "three out of four": ("percent", 75, ""),
    "26:15 hours": ("measure", 94500, "duration"),
    "394,328": ("number", 394328, ""),
    "1.234.567,8": ("number", 1234567.8, ""),
    "3,5": ("number", 3.5, ""),
    "394 billion": ("number", 394e9, ""),
    "394bn": ("number", 394e9, ""),
    "5k": ("number", 5000, ""),
    "$394 billion": ("money", 394e9, "USD"),
    "US$ 394m": ("money", 394e6, "USD"),
    "€5m": ("money", 5e6, "EUR"),
    "394 million dollars": ("money", 394e6, "USD"),
    "2 Mrd. Euro": ("money", 2e9, "EUR"),
    "50 cents": ("money", 0.5, "USD"),
    "8%": ("percent", 8, ""),
    "8.5 per cent": ("percent", 8.5, ""),
    "5 percentage points": ("points", 5, ""),
    "50 basis points": ("points", 0.5, ""),
    "5 km": ("measure", 5000, "length"),
    "5 m": ("measure", 5, "length"),
    "12 kilograms": ("measure", 12000, "mass"),
    "36 months": ("measure", 36 * 2629746, "duration"),
    "32 °F": ("measure", 273.15, "temperature"),
    "2 square kilometres": ("measure", 2e6, "area"),
    "3rd": ("ordinal", 3, ""),
    "third": ("ordinal", 3, ""),
    "twenty-three": ("number", 23, ""),
    "two hundred and five": ("number", 205, ""),
    "five years": ("measure", 5 * 31556952, "duration"),
    "a dozen": ("number", 12, ""),
    "a million": ("number", 1e6, ""),
    "half a million": ("number", 5e5, ""),
    "two and a half million": ("number", 2.5e6, ""),
    "2,400,000 dollars": ("money", 2.4e6, "USD"),
    "USD 2.4 million": ("money", 2.4e6, "USD"),
    "a third of users": ("percent", 100 / 3, ""),
    "5:30 pm": ("time", 1050, ""),
}

FIELDS = {
    "kilograms: 612": ("measure", 612e3, "mass"),
    "item: apples | kilograms: 612 | shelf: A": ("measure", 612e3, "mass"),
    "item: apples; kilograms: 612": ("measure", 612e3, "mass"),
    "Kilograms: 2012": ("measure", 2012e3, "mass"),
    "price_usd: 12": ("money", 12, "USD"),
    "price ($): 12.50": ("money", 12.5, "USD"),
    "revenue (USD millions): 14.5": ("money", 14.5e6, "USD"),
    "Revenue (in $m): 14.5": ("money", 14.5e6, "USD"),
    "cents: 50": ("money", 0.5, "USD"),
    "weight (kg): 5": ("measure", 5000, "mass"),
    "Weight in kilograms: 5": ("measure", 5000, "mass"),
    "**Weight (kg):** 5": ("measure", 5000, "mass"),
    '{"weight_kg": 5}': ("measure", 5000, "mass"),
    "height_m: 1.8": ("measure", 1.8, "length"),
    "length (m) = 1.8": ("measure", 1.8, "length"),
    "days: 30": ("measure", 30 * 86400, "duration"),
    "growth (%): 5": ("percent", 5, ""),
    "margin_pct: 4.5": ("percent", 4.5, ""),
    "temperature (F): 32": ("measure", 273.15, "temperature"),
    "celsius: 20": ("measure", 293.15, "temperature"),
}
"""What a row of a table or a list of fields says of one figure."""

NO_FIELDS = {
    "min: 5": "least",
    "month: 5": "the fifth",
    "games won: 12": "no Korean money",
    "h: 3": "any letter may name a field",
    "apples: 612": "no unit at all",
    "Within ten kilometres: 612 people came": "a sentence goes on",
}

DATES = {
    "Jan 5, 2023": (2023, 1, 5),
    "January 5th, 2023": (2023, 1, 5),
    "5 January 2023": (2023, 1, 5),
    "2023-01-05": (2023, 1, 5),
    "25/12/2023": (2023, 12, 25),
    "12/25/2023": (2023, 12, 25),
    "5.12.2023": (2023, 12, 5),
    "March 2021": (2021, 3, None),
    "3. Oktober 1990": (1990, 10, 3),
    "14 juillet 1789": (1789, 7, 14),
    "May 4": (None, 5, 4),
    "2023": (2023, None, None),
    "FY23": (2023, None, None),
    "FY2023": (2023, None, None),
    "the month of June": (None, 6, None),
    "the 1990s": (1990, None, None),
}

NAMES = {
    "He met Angela Merkel there.": [("angela", "merkel")],
    "He flew to Paris.": [("paris",)],
    "The United States of America agreed.": [("united", "states", "america")],
    "He works at IBM.": [("ibm",)],
    "Sales rose.": [],
    "The sales rose in May.": [],
    "IBM rose.": [("ibm",)],
    "Merkel's party won.": [],
    "What was Adobe's revenue in FY2018?": [("adobe",)],
    "They beat IBM in Q1.": [("ibm",)],
    "Unit 4 was closed.": [("unit", "4")],
    "They fly the Boeing 737.": [("boeing", "737")],
    "He runs Windows 10 at home.": [("windows", "10")],
    "Sales 394": [],
    "FY2018 Revenue was high.": [],
    "The Acme plant grew.": [("acme",)],
    "At Siemens 30 people work.": [("siemens",)],
}


def one(text: str) -> Fact:
    [fact] = [fact for fact in extract(text) if fact.kind != "name"]
    return fact


@pytest.mark.parametrize(("text", "expected"), NUMBERS.items())
def test_a_number_is_read_with_its_scale_and_unit(text: str, expected: tuple[str, float, str]) -> None:
    fact = one(f"It was {text} then.")
    assert (fact.kind, fact.value, fact.unit) == (expected[0], pytest.approx(expected[1]), expected[2])


@pytest.mark.parametrize(("text", "expected"), FIELDS.items())
def test_the_name_of_a_field_gives_its_figure_a_unit(text: str, expected: tuple[str, float, str]) -> None:
    fact = one(text)
    assert (fact.kind, fact.value, fact.unit) == (expected[0], pytest.approx(expected[1]), expected[2])
    assert fact.text == text[fact.start : fact.end]
    assert fact.written is not None
    assert fact.written.bare


@pytest.mark.parametrize("text", NO_FIELDS)
def test_a_figure_whose_field_names_no_unit_stays_bare(text: str) -> None:
    assert [fact.kind for fact in extract(text) if fact.kind not in ("name", "measure")] == ["number"]


def test_the_name_of_the_next_field_is_no_unit_of_the_figure_above() -> None:
    assert [(f.value, f.unit) for f in extract("kilograms: 612\nlitres: 4")] == [(612e3, "mass"), (4.0, "volume")]
    assert [f.unit for f in extract("They sold 612\nkilograms of apples.") if f.kind != "name"] == ["mass"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("It weighs 2012 kilograms.", "measure"), ("It holds 2012 GB.", "measure"), ("In 2012 won the cup.", "date")],
)
def test_a_figure_before_a_unit_is_no_year(text: str, kind: str) -> None:
    assert [fact.kind for fact in extract(text)] == [kind]


def test_years_in_a_field_are_no_duration() -> None:
    assert [fact.kind for fact in extract("Fiscal years: 2021")] == ["date"]


@pytest.mark.parametrize(("text", "expected"), DATES.items())
def test_a_date_is_read(text: str, expected: tuple[int | None, ...]) -> None:
    fact = one(f"It was in {text} then.")
    assert (fact.kind, fact.date) == ("date", expected)


@pytest.mark.parametrize("text", ["Q3 2023", "3Q 2023", "the third quarter of 2023", "third-quarter of fiscal 2023"])
def test_a_quarter_is_read_with_its_year(text: str) -> None:
    fact = one(f"It rose in {text} again.")
    assert (fact.kind, fact.value, fact.date[0]) == ("quarter", 3, 2023)


@pytest.mark.parametrize(("text", "expected"), NAMES.items())
def test_names_are_capitalised_words_that_do_not_open_a_sentence(text: str, expected: list[tuple[str, ...]]) -> None:
    assert [fact.words for fact in extract(text) if fact.kind == "name"] == expected


def test_a_name_ends_before_its_possessive() -> None:
    [name] = [fact for fact in extract("We like Adobe's tools.") if fact.kind == "name"]
    assert (name.text, name.start, name.end) == ("Adobe", 8, 13)


def test_a_month_alone_is_a_date_and_the_verb_is_none() -> None:
    assert [fact.text for fact in extract("It came in May. He may come in time.")] == ["May"]


@pytest.mark.parametrize(
    ("text", "bound"),
    [("about 400 cars", "~"), ("nearly 400 cars", "~"), ("more than 400 cars", ">"), ("under 400 cars", "<"), ("400 cars", "")],
)  # fmt: skip
def test_a_number_knows_what_bounds_it(text: str, bound: str) -> None:
    assert one(f"There were {text}.").bound == bound


def test_a_year_that_counts_something_is_a_number() -> None:
    assert one("It has 2000 employees.").kind == "number"


def test_a_lone_one_is_no_number() -> None:
    assert value_of("one") is None
    assert not extract("He was the one.")


def test_the_verb_may_is_no_month() -> None:
    assert not extract("he may 5 times"[:6])


@given(st.text(max_size=200) | st.lists(st.sampled_from(["$", "394", ".", ",", " ", "billion", "Jan", "5", "2023", "%", "km", "-", "IBM", "New York", "one", "hundred"])).map("".join))  # fmt: skip
@example("0\x1fG")
@settings(max_examples=300, deadline=None)
def test_facts_stand_where_they_say(text: str) -> None:
    for fact in extract(text):
        assert text[fact.start : fact.end] == fact.text
        assert fact.text


@given(st.integers(0, 999_999))
@settings(deadline=None)
def test_grouping_thousands_does_not_change_a_number(value: int) -> None:
    grouped = [fact.value for fact in extract(f"It sold {value:,} cars") if fact.kind == "number"]
    assert grouped == [value]
