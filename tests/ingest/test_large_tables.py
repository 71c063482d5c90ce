"""A table of very many rows is in whole, in columns: figures over all of it, any row by an exact value."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from openpyxl import Workbook

from cragraph import create_graph, load_settings
from cragraph.documents import Limits
from cragraph.documents.tables import PART
from cragraph.errors import StoreError
from cragraph.run import Assistant
from cragraph.store import Store, forget, ingest, open_store
from cragraph.tables import StoredTables, compute
from cragraph.testing import HashEmbeddings
from tests.ingest.conftest import write

pytestmark = pytest.mark.slow
ROWS = 200_000
SMALL = Limits(rows=20)
Sale = tuple[int, str, int]


@pytest.fixture(scope="module")
def sales() -> list[Sale]:
    random = Random(7)
    return [(n, random.choice(["north", "south", "east"]), random.randint(100, 99_999)) for n in range(1, ROWS + 1)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, sales: list[Sale]) -> Path:
    folder = tmp_path_factory.mktemp("large")
    lines = "".join(f"S-{n},{region},{cents / 100:.2f}\n" for n, region, cents in sales)
    (folder / "sales.csv").write_text("sale,region,amount_gbp\n" + lines, encoding="utf-8")
    report = Assistant(load_settings(store=str(folder / "store"))).ingest([folder / "sales.csv"])
    assert (report.partial, report.failed, report.chunks) == ([], [], 1_001)
    return folder / "store"


def asked(store: Path, question: str, **options: Any) -> dict[str, Any]:
    return dict(create_graph(load_settings(store=str(store), **options)).compile().invoke({"question": question}))


def test_a_figure_is_computed_over_all_rows_and_accepted(store: Path, sales: list[Sale]) -> None:
    response = asked(store, "What is the sum of amount_gbp in sales.csv?")
    total = sum(cents for *_, cents in sales)
    assert (response["computed"]["value"], response["computed"]["rows"]) == (f"{total / 100:.2f}".rstrip("0"), ROWS)
    assert response["accepted"]
    assert response["degraded"] == []


def test_a_filter_narrows_the_rows_that_a_figure_is_computed_over(store: Path, sales: list[Sale]) -> None:
    response = asked(store, "What is the average amount_gbp in sales.csv?", where={"region": "east"})
    cents = [cents for _, region, cents in sales if region == "east"]
    assert response["computed"]["value"] == f"{sum(cents) / len(cents) / 100:.2f}"
    assert response["computed"]["rows"] == len(cents)
    assert response["accepted"]


def test_rows_are_counted_by_what_the_question_names(store: Path, sales: list[Sale]) -> None:
    response = asked(store, "How many sales were there in the region south?")
    assert response["computed"]["value"] == str(sum(region == "south" for _, region, _ in sales))
    assert response["accepted"]


def test_a_row_is_found_by_its_value_quoted_and_verified(store: Path, sales: list[Sale]) -> None:
    number, region, cents = sales[173_220]
    response = asked(store, f"What is the amount of sale S-{number}?")
    assert f"{cents / 100:.2f}" in response["answer"]
    assert response["accepted"]
    row = f"sale: S-{number} | region: {region} | amount_gbp: {cents / 100:.2f}"
    assert response["citations"][0]["quote"] == row


def test_the_list_of_documents_says_how_the_table_is_kept(store: Path) -> None:
    how = "figures are computed over all, any row is found by an exact value, and the first 1,000 by meaning"
    [document] = Assistant(load_settings(store=str(store))).documents()
    assert (document.tables, document.left_out) == ((f"200,000 rows as a table: {how}",), "")


# -- with few rows ----------------------------------------------------------------------------------------------------


def birds(path: Path, count: int = 50) -> Path:
    return write(path, "bird,ring,grams\n" + "".join(f"robin {n},R{n},{n}.5\n" for n in range(1, count + 1)))


def total(store: Store, source: Path) -> list[str]:
    tables = StoredTables(lambda: store).of(source.as_posix())
    query: Any = {"source": "", "table": "", "operation": "sum", "column": "grams", "where": []}
    return [compute(query, table)["value"] for table in tables]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with a large table in it."""
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(birds(tmp_path / "birds.csv"), store, limits=SMALL)
    return tmp_path


def test_a_table_moves_with_its_file_and_goes_with_it(kept: Path) -> None:
    source = kept / "birds.csv"
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        store.move([source.as_posix()], "garden")
        store.rename("garden", "yard")
        assert total(store, source) == ["1300"]
        [row] = store.lexical("ring R44", 1)
        assert (row["text"], row["metadata"]["collection"]) == ("bird: robin 44 | ring: R44 | grams: 44.5", "yard")
        assert store.get([row["chunk_id"]])[0]["text"] == row["text"]
        assert store.lexical("R44", 1, {"collection": "default"}) == []
        forget(store, source)
        assert store.index.rows("SELECT count(*) FROM parts") == [(0,)]
        assert store.get([row["chunk_id"]]) == []


@pytest.mark.parametrize("drop", [lambda store: store.drop("garden"), lambda store: store.release("gone")])
def test_what_no_file_holds_is_not_kept(kept: Path, drop: Callable[[Store], object]) -> None:
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        store.move([(kept / "birds.csv").as_posix()], "garden")
        drop(store)
        [(parts,)] = store.index.rows("SELECT count(*) FROM parts")
        assert bool(parts) == bool(store.documents())


def test_a_file_that_changed_has_its_new_rows(kept: Path) -> None:
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        source = birds(kept / "birds.csv", 30)
        assert ingest(source, store, limits=SMALL).changed == [source.as_posix()]
        assert total(store, source) == ["480"]
        birds(kept / "birds.csv", 9)
        ingest(source, store, limits=SMALL)
        assert total(store, source) == ["49.5"]
        assert store.documents()[0].tables == ()


def test_a_filter_finds_a_row_that_no_passage_has(kept: Path) -> None:
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        found = store.lexical("robin", 5, {"$and": [{"ring": "R44"}, {"grams": {"$gt": 40}}]})
        assert [passage["text"] for passage in found] == ["bird: robin 44 | ring: R44 | grams: 44.5"]


def test_a_part_that_is_not_what_was_written_is_told_and_the_file_is_read_again(kept: Path) -> None:
    source = kept / "birds.csv"
    with closing(sqlite3.connect(kept / "store" / "cragraph.db")) as db, db:
        db.execute("UPDATE parts SET data = zeroblob(40) WHERE col = 2")
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        assert any("cragraph ingest" in problem for problem in store.problems())
        assert (total(store, source), store.documents()[0].complete) == ([], False)
        assert ingest(source, store, limits=SMALL).changed == [source.as_posix()]
        assert (total(store, source), store.problems()) == (["1300"], [])


def test_a_part_that_rots_while_the_store_is_open_is_never_computed_with(kept: Path) -> None:
    source = kept / "birds.csv"
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        with closing(sqlite3.connect(kept / "store" / "cragraph.db")) as db, db:
            db.execute("UPDATE parts SET data = zeroblob(40) WHERE col = 2")
        with pytest.raises(StoreError, match="not what was written"):
            total(store, source)
        assert any("not what was written" in note for note in store.notes)
        assert ingest(source, store, limits=SMALL).changed == [source.as_posix()]
        assert total(store, source) == ["1300"]


def test_a_store_of_the_version_before_is_opened_and_takes_tables(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(write(tmp_path / "a.txt", "The mill opened in 1820."), store, limits=None)
    with closing(sqlite3.connect(tmp_path / "store" / "cragraph.db")) as db, db:
        db.executescript("DROP TABLE tables; DROP TABLE parts; PRAGMA user_version = 4;")
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        assert [p["text"] for p in store.lexical("mill", 3)] == ["The mill opened in 1820."]
        source = birds(tmp_path / "birds.csv")
        ingest(source, store, limits=SMALL)
        assert total(store, source) == ["1300"]


def test_a_column_that_only_later_rows_have_is_empty_in_the_others(tmp_path: Path) -> None:
    lines = [{"bird": f"robin {n}"} | ({"grams": n} if n > 30_000 else {}) for n in range(1, 40_001)]
    source = write(tmp_path / "birds.jsonl", "\n".join(map(json.dumps, lines)))
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(source, store, limits=SMALL)
        assert total(store, source) == [str(sum(range(30_001, 40_001)))]
        assert [p["text"] for p in store.lexical("robin 29999", 1)] == ["bird: robin 29999"]


def test_rows_that_fill_their_parts_to_the_last_are_filtered_and_computed(tmp_path: Path) -> None:
    source = birds(tmp_path / "birds.csv", PART)
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(source, store, limits=SMALL)
        [table] = store.tables(source.as_posix(), {"ring": f"R{PART}"})
        assert (table.size, table.cite(0)["quote"]) == (1, f"bird: robin {PART} | ring: R{PART} | grams: {PART}.5")


@pytest.mark.parametrize(
    ("where", "rows"),
    [({"row": {"$lte": 3}}, 3), ({"chunk_index": 0}, 1), ({"row": 51}, 0), ({"$and": [{"row": 7}]}, 1)],
)
def test_a_filter_by_what_is_no_column_narrows_the_rows_too(kept: Path, where: dict[str, Any], rows: int) -> None:
    with open_store(kept / "store", HashEmbeddings(48)) as store:
        tables = store.tables((kept / "birds.csv").as_posix(), where)
        assert [table.size for table in tables] == [rows] * bool(rows)


def test_a_caption_above_a_sheet_leaves_one_table_with_all_rows(tmp_path: Path) -> None:
    book = Workbook()
    for row in (["Birds of the year"], ["ring", "grams"], *([f"R{n}", n] for n in range(1, 51))):
        book.active.append(row)
    book.save(source := tmp_path / "birds.xlsx")
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(source, store, limits=SMALL)
        assert total(store, source) == ["1275"]
        [table] = store.tables(source.as_posix(), {"row": 49})
        assert table.cite(0)["quote"] == "ring: R47 | grams: 47"
        assert store.lexical("R47", 1)[0]["metadata"]["row"] == 49
