import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from cragraph.documents import Document, load, split
from cragraph.documents.formats.delimited import CELL_LIMIT
from cragraph.documents.records import GROUP, Record, field_name, grouped, value_of
from cragraph.errors import DocumentError
from tests.support.cases import cases


def documents(path: Path, content: str | bytes) -> list[Document]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(load(path))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_carry_their_column_names(tmp_path: Path, delimiter: str) -> None:
    lines = ["country,capital,2023", 'France,"Paris, the city",67', "Spain,Madrid,"]
    rows = [
        line.replace(",", delimiter) if '"' not in line else f'France{delimiter}"Paris, the city"{delimiter}67'
        for line in lines
    ]
    [document] = documents(tmp_path / "a.csv", "\n".join(rows))
    assert document.text == ("country: France | capital: Paris, the city | 2023: 67\ncountry: Spain | capital: Madrid")
    assert document.metadata == {"rows": "1-2"}


def test_a_table_without_column_names_gets_numbers(tmp_path: Path) -> None:
    [document] = documents(tmp_path / "a.csv", "1,Paris\n2,Madrid\n")
    assert document.text.splitlines()[0] == "column 1: 1 | column 2: Paris"


def test_a_first_column_without_a_name_labels_its_rows(tmp_path: Path) -> None:
    [document] = documents(tmp_path / "a.csv", ",2023,2022\nRevenue,394,383\n")
    assert document.text == "Revenue | 2023: 394 | 2022: 383"


def test_ragged_rows_and_line_ends_in_cells_are_read(tmp_path: Path) -> None:
    [document] = documents(tmp_path / "a.tsv", 'name\tnote\r\nA\t"two\r\nlines"\textra\r\nB\r\n')
    assert document.text == "name: A | note: two lines | column 3: extra\nname: B"


def test_rows_with_a_body_of_text_are_documents_of_their_own(tmp_path: Path) -> None:
    first, second = documents(tmp_path / "a.csv", "id,title,text\n1,Moon,It is far.\n2,,It is near.\n")
    assert first.text == "Moon\n\nIt is far."
    assert (first.title, first.metadata["id"]) == ("Moon", 1)
    assert second.text == "It is near."


def test_a_large_file_is_read_as_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,value\n" + "".join(f"row {n},{n}\n" for n in range(50_000)) + '"never closed')
    first = list(islice(load(path), 3))
    assert first[0].text.startswith("name: row 0 | value: 0")
    assert all(len(document.text.splitlines()) <= GROUP for document in first)


def test_a_row_put_in_changes_one_group_and_not_every_one_after_it(tmp_path: Path) -> None:
    lines = [f"row {n},{n}" for n in range(2000)]
    before = documents(tmp_path / "a.csv", "\n".join(["name,value", *lines]))
    after = documents(tmp_path / "a.csv", "\n".join(["name,value", *lines[:100], "new,0", *lines[100:]]))
    changed = {document.doc_id for document in after} - {document.doc_id for document in before}
    assert len(before) > 30
    assert len(changed) <= 3


def test_equal_groups_of_one_file_have_different_ids(tmp_path: Path) -> None:
    same = "\n".join(["name,value", *["same,1"] * (GROUP * 3)])
    ids = [document.doc_id for document in documents(tmp_path / "a.csv", same)]
    assert len(ids) == len(set(ids)) > 1


def test_groups_hold_every_line_once() -> None:
    lines = [f"line {n}" for n in range(500)]
    text = "\n".join(draft.text for draft in grouped(Record(0, "", {"": line}) for line in lines))
    assert text.splitlines() == lines


def test_json_lines_with_text_are_documents_and_others_rows(tmp_path: Path) -> None:
    rows = [{"_id": "d1", "title": "Moon", "text": "It is far.", "metadata": {"year": 1969, "tags": ["a", "b"]}}]
    [document] = documents(tmp_path / "a.jsonl", "\ufeff" + "\n\n".join(map(json.dumps, rows)))
    assert document.metadata == {"_id": "d1", "title": "Moon", "year": 1969, "tags": "a, b"}
    [document] = documents(tmp_path / "b.jsonl", '{"a": 1, "b": {"c": [1, 2], "d": null}}\n"bare"\n')
    assert document.text == "a: 1 | b.c: 1, 2\nbare"


def test_a_broken_line_is_named_after_the_rows_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\n{"text": \n')
    stream: Iterator[Document] = load(path)
    assert next(stream).text == "good"
    with pytest.raises(DocumentError, match="line 2 is not JSON"):
        next(stream)


def test_a_list_of_objects_inside_json_is_a_table_of_its_own(tmp_path: Path) -> None:
    value = {
        "as of": "May",
        "fleet": {"boats": [{"name": "Tern", "kind": "dinghy"}, {"name": "Coot", "kind": "scull"}]},
    }
    rest, table = documents(tmp_path / "a.json", json.dumps(value))
    assert rest.text == "as of: May"
    assert table.text == "name: Tern | kind: dinghy\nname: Coot | kind: scull"
    assert table.title == "fleet.boats"
    assert table.blocks[1].fields == {"row": 2, "name": "Coot", "kind": "scull"}


def test_objects_by_name_are_a_table(tmp_path: Path) -> None:
    shelves = {"A": {"for": "dogs", "rows": 4}, "B": {"for": "cats", "rows": 2}}
    [alone] = documents(tmp_path / "a.json", json.dumps(shelves))
    assert alone.text == "key: A | for: dogs | rows: 4\nkey: B | for: cats | rows: 2"
    value = {"shop": "Loft", "shelf": shelves, "one": {"a": {"b": 1}}}
    rest, inside = documents(tmp_path / "b.json", json.dumps(value))
    assert rest.text == "shop: Loft\none.a.b: 1"
    assert inside.text == "shelf: A | for: dogs | rows: 4\nshelf: B | for: cats | rows: 2"


@pytest.mark.parametrize(("value", "text"), cases("documents/records", "json is flattened"))
def test_json_is_flattened_to_lines(tmp_path: Path, value: object, text: str) -> None:
    [document] = documents(tmp_path / "a.json", json.dumps(value))
    assert document.text == text


@pytest.mark.parametrize(("name", "content", "message"), cases("documents/records", "what cannot be read"))
def test_what_cannot_be_read_says_what_to_do(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        documents(tmp_path / name, content)


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="not closed"):
        documents(tmp_path / "a.csv", 'a,b\n1,"' + "many words in it\n" * (CELL_LIMIT // 16))


def test_a_file_that_is_gone_is_a_document_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="check that it exists"):
        next(load(tmp_path / "gone.txt"))


def test_the_source_is_the_path_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    assert next(load(tmp_path / "a.txt")).source == str(tmp_path / "a.txt")
    named = next(load(tmp_path / "a.txt", source="a.txt"))
    assert (named.source, named.filename, named.format) == ("a.txt", "a.txt", "txt")


def test_every_row_is_a_passage_that_its_columns_can_filter(tmp_path: Path) -> None:
    table = "country,population,share,EU,zip,note\nFrance,67,0.5,true,01234,\nSpain,47,12.25,True,5,\n"
    [document] = documents(tmp_path / "a.csv", table)
    first, second = split(document)
    assert first["text"] == "country: France | population: 67 | share: 0.5 | EU: true | zip: 01234"
    fields = {"country": "France", "population": 67, "share": 0.5, "EU": True, "zip": "01234", "row": 1}
    assert {name: first["metadata"][name] for name in fields} == fields
    assert "note" not in first["metadata"]
    assert (second["metadata"]["EU"], second["metadata"]["zip"], second["metadata"]["row"]) == (True, 5, 2)
    assert document.text[second["start_index"] :] == second["text"]


def test_json_keeps_its_own_types_and_nested_fields_their_path(tmp_path: Path) -> None:
    row = {"id": "7", "n": 7, "ok": False, "deep": {"x": 1.5, "list": [1, 2]}, "none": None, "long": "word " * 100}
    [document] = documents(tmp_path / "a.jsonl", json.dumps(row))
    [passage] = split(document)
    kept = {"id": "7", "n": 7, "ok": False, "deep.x": 1.5, "deep.list": "1, 2", "row": 1}
    assert {name: value for name, value in passage["metadata"].items() if name in {*row, *kept}} == kept
    assert passage["text"].startswith("id: 7 | n: 7 | ok: false | deep.x: 1.5")


@pytest.mark.parametrize(("column", "field"), cases("documents/records", "a column whose name"))
def test_a_column_whose_name_is_taken_gets_another(column: str, field: str) -> None:
    assert field_name(column) == field


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("7", 7), ("-7", -7), ("0", 0), ("007", "007"), ("1.50", 1.5), ("1e5", "1e5"), ("1,234", "1,234"),
        ("12 %", "12 %"), ("TRUE", True), ("false", False), ("yes", "yes"), ("9" * 30, "9" * 30), ("nan", "nan"),
    ],
)  # fmt: skip
def test_a_cell_is_a_number_only_where_it_is_plainly_one(cell: str, value: object) -> None:
    assert value_of(cell) == value
    assert type(value_of(cell)) is type(value)


def test_a_row_longer_than_a_chunk_keeps_its_fields_in_every_piece(tmp_path: Path) -> None:
    [document] = documents(tmp_path / "a.csv", f"name,note\nA,{'many words in it ' * 30}\nB,short\n")
    passages = split(document, chunk_size=200, chunk_overlap=0)
    assert [passage["metadata"]["name"] for passage in passages] == ["A"] * (len(passages) - 1) + ["B"]
    assert len(passages) > 3
