from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from cragraph.documents import Document, load
from cragraph.errors import DocumentError


def loaded(path: Path) -> Document:
    [document] = load(path)
    return document


def test_headings_lists_and_tables_are_kept_in_order(tmp_path: Path) -> None:
    word = docx.Document()
    word.core_properties.title, word.core_properties.author = "Report", "Ada"
    word.add_heading("Results", 1)
    word.add_paragraph("Revenue rose.")
    table = word.add_table(3, 3)
    for row, cells in zip(
        table.rows, [("", "2023", "2022"), ("Revenue", "394", "383"), ("Costs", "9", "8")], strict=True
    ):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    word.add_heading("Outlook", 2)
    word.add_paragraph("first", style="List Bullet")
    word.add_paragraph("second", style="List Bullet")
    word.save(str(tmp_path / "a.docx"))
    document = loaded(tmp_path / "a.docx")
    assert document.text == (
        "Results\n\nRevenue rose.\n\n2023 | 2022\nRevenue | 2023: 394 | 2022: 383\nCosts | 2023: 9 | 2022: 8\n\n"
        "Outlook\n\n- first\n- second"
    )
    assert [(heading.level, heading.title) for heading in document.headings] == [(1, "Results"), (2, "Outlook")]
    assert document.metadata == {"title": "Report", "author": "Ada"}


def test_insertions_and_links_are_read_and_deletions_and_hidden_runs_are_not(tmp_path: Path) -> None:
    word = docx.Document()
    paragraph = word.add_paragraph("kept ")
    for markup in (
        "<w:ins {}><w:r><w:t>inserted </w:t></w:r></w:ins>",
        "<w:del {}><w:r><w:delText>deleted </w:delText></w:r></w:del>",
        "<w:moveFrom {}><w:r><w:t>moved </w:t></w:r></w:moveFrom>",
        "<w:hyperlink {}><w:r><w:t>linked</w:t></w:r></w:hyperlink>",
        "<w:r {}><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>",
    ):
        paragraph._p.append(parse_xml(markup.format(nsdecls("w"))))
    word.save(str(tmp_path / "a.docx"))
    assert loaded(tmp_path / "a.docx").text == "kept inserted linked"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip at all", "not a .docx"),
        (b"\xd0\xcf\x11\xe0 old or encrypted", "without a password"),
    ],
)
def test_a_broken_or_encrypted_file_says_what_to_do(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(DocumentError, match=message):
        loaded(tmp_path / "a.docx")
