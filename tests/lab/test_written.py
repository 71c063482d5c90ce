"""The texts that the reading network learns from: their form, tables included."""

from pathlib import Path

import pytest

from lab.training.reading.lists import asked_of
from lab.training.reading.written import FOLDERS, parsed

TABLE = """## table | Prices 2024
Item,Price £,Remarks
Latte,2.70,oat milk 30p extra
"Tea, black",1.80,

? what's a latte => Latte :: 2.70
? what do I pay for black tea => Tea, black :: 1.80
! what was a latte in 2022
"""


def test_a_table_is_read_as_rows_and_an_answer_stands_in_the_row_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "cafe.txt"
    path.write_text(TABLE, encoding="utf-8")
    [table] = parsed(path)
    assert table.text == "Item: Latte | Price £: 2.70 | Remarks: oat milk 30p extra\nItem: Tea, black | Price £: 1.80"
    assert [where for _, where in asked_of(table, "prices.csv")] == [
        ("prices.csv", "Item: Latte | Price £: 2.70 | Remarks: oat milk 30p extra", "2.70"),
        ("prices.csv", "Item: Tea, black | Price £: 1.80", "1.80"),
        ("", "", ""),
    ]


@pytest.mark.parametrize(("before", "after"), [("Latte :: 2.70", "Latte :: 1.80"), ("1.80,", "1.80")])
def test_a_row_that_does_not_keep_to_the_form_is_named(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "cafe.txt"
    path.write_text(TABLE.replace(before, after), encoding="utf-8")
    with pytest.raises(ValueError, match=r"cafe\.txt, text 1"):
        list(parsed(path))


def test_every_folder_keeps_to_the_form() -> None:
    for path in FOLDERS.glob("*.txt"):
        assert len(list(parsed(path))) >= 8, path.name
