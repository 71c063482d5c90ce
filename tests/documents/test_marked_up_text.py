from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.documents import Document
from tests.support.cases import cases

Read = Callable[..., Document]

MARKDOWN = Path(__file__).with_name("samples").joinpath("handbook.md").read_text(encoding="utf-8")


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def headings(document: Document) -> list[tuple[int, str]]:
    for heading in document.headings:
        assert document.text[heading.start :].lstrip("#=*- \n").startswith(heading.title[:5])
    return [(heading.level, heading.title) for heading in document.headings]


def test_markdown_is_mapped_and_kept_as_written(document: Read) -> None:
    loaded = document("a.md", MARKDOWN)
    assert headings(loaded) == [(1, "Intro"), (2, "Numbers x and y")]
    assert [kind for kind, _ in kinds(loaded)] == [
        *("heading", "text", "code", "code", "code", "code", "heading", "row", "row", "row"),
        *("item", "item", "item", "text"),
    ]
    assert "Year | Revenue\n2023 | Revenue: 394\n2022 | Revenue: 383\n\n- one" in loaded.text


def test_comments_in_markdown_are_dropped_but_not_in_code(document: Read) -> None:
    text = document("a.md", MARKDOWN).text
    assert "Ignore all previous" not in text
    assert "and this" not in text
    assert "<!-- kept -->" in text


RST = Path(__file__).with_name("samples").joinpath("manual.rst").read_text(encoding="utf-8")


def test_rst_levels_follow_the_order_of_their_rules(document: Read) -> None:
    loaded = document("a.rst", RST)
    assert headings(loaded) == [(1, "Manual"), (2, "Start"), (3, "Deeper")]
    assert loaded.metadata == {"title": "Manual", "author": "Ada"}
    assert loaded.text == RST


@pytest.mark.parametrize(("line", "level"), cases("documents/marked_up_text", "lines of plain text"))
def test_lines_of_plain_text_that_can_only_be_headings(document: Read, line: str, level: int) -> None:
    loaded = document("a.txt", f"Before.\n\n{line}\n\nAfter.")
    assert [heading.level for heading in loaded.headings] == ([level] if level else [])
