import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_fiscal_year_finds_the_year_in_the_documents(mode: str) -> None:
    with open_store(None, HashEmbeddings(64)) as store:
        store.add(as_passages([f"Net sales of the fiscal year {year} rose." for year in range(2015, 2024)]))
        search = SearchRetriever(store, mode=mode)  # type: ignore[arg-type]
        assert "2019" in search(["net sales FY19"], 1, Notes())[0]["text"]
