import pytest

from cragraph.language.words import keywords, numbers, plain_years, terms
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.search.questions import Decompose
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("sales of FY2023", "sales of 2023"),
        ("FY23 and FY'22, CY 2021", "2023 and 2022, 2021"),
        ("FY1998", "1998"),
        ("FY2023E, FY203, SIFY23 and fy23", "FY2023E, FY203, SIFY23 and fy23"),
        ("sales in 2023", "sales in 2023"),
    ],
)
def test_a_year_written_as_a_fiscal_year_is_a_plain_one(written: str, plain: str) -> None:
    assert plain_years(written) == plain


def test_the_words_of_a_question_match_a_fiscal_year_by_its_year() -> None:
    assert keywords("What were the sales of FY23?") == ["sales", "FY23"]
    assert terms("FY23 2023") == ("2023", "2023")
    assert numbers("Sales of FY23 were 1,200.5") == ["2023", "1200.5"]


def test_a_question_of_two_fiscal_years_is_taken_apart() -> None:
    parts = Decompose()("How did the tax rate change between FY2021 and FY2022?", Notes())
    assert parts == ["How did the tax rate change in 2021?", "How did the tax rate change in 2022?"]


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_fiscal_year_finds_the_year_in_the_documents(mode: str) -> None:
    with open_store(None, HashEmbeddings(64)) as store:
        store.add(as_passages([f"Net sales of the fiscal year {year} rose." for year in range(2015, 2024)]))
        search = SearchRetriever(store, mode=mode)  # type: ignore[arg-type]
        assert "2019" in search(["net sales FY19"], 1, Notes())[0]["text"]
