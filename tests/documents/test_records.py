import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from cragraph.documents import Document, load
from cragraph.documents.records import GROUP, Record, field_name, grouped
from cragraph.errors import DocumentError
from tests.support.cases import cases


def documents(path: Path, content: str | bytes) -> list[Document]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(load(path))


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


@pytest.mark.parametrize(("value", "text"), cases("documents/records", "json is flattened"))
def test_json_is_flattened_to_lines(tmp_path: Path, value: object, text: str) -> None:
    [document] = documents(tmp_path / "a.json", json.dumps(value))
    assert document.text == text


@pytest.mark.parametrize(("name", "content", "message"), cases("documents/records", "what cannot be read"))
def test_what_cannot_be_read_says_what_to_do(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        documents(tmp_path / name, content)


@pytest.mark.parametrize(("column", "field"), cases("documents/records", "a column whose name"))
def test_a_column_whose_name_is_taken_gets_another(column: str, field: str) -> None:
    assert field_name(column) == field
