"""Files that would stop a careless reader: each is refused by name and reason, or read in time that grows with it."""

import cProfile
import os
import pstats
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.documents import Document, Limits, Skipped, discover, load, shown_name, split
from cragraph.documents.document import Draft
from cragraph.documents.formats.html import draft as html
from cragraph.documents.formats.markdown import draft as markdown
from cragraph.errors import DocumentError
from lab.benchmarks import malformed

ENDED_FROM_OUTSIDE = {"nested_forms", "unpacks_to_a_gigabyte", "packed_text", "names"}
"""What takes a process of its own with limits, or is passed over before it is read."""


@pytest.mark.parametrize("kind", sorted(malformed.KINDS.keys() - ENDED_FROM_OUTSIDE))
def test_every_kind_of_malformed_file_is_read_or_refused_by_name(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(malformed, "SIZE", 1_000)
    refused = malformed.KINDS[kind].refused
    for n in range(3):
        name, content = malformed.made(kind, n)
        path = tmp_path / name
        path.write_bytes(content)
        reason, texts = "", []
        try:
            texts = [passage["text"] for document in load(path) for passage in split(document)]
        except DocumentError as error:
            reason = str(error)
        assert reason.startswith(str(path)) if refused else bool(texts) or reason.startswith(str(path))
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "".join(texts))


@pytest.mark.parametrize(
    ("name", "content", "limits", "message"),
    [
        ("a.csv", "a,b,c\n1,2,3\n4,5,6\n", Limits(fields=2), r"3 columns, over the limit of 2 \(fields\)"),
        ("a.jsonl", '{"a": 1, "b": {"c": 2, "d": 3}}', Limits(fields=2), "over the limit of 2"),
        ("a.md", "---\na: 1\nb: 2\nc: 3\n---\nwords", Limits(fields=2), "values of front matter or more"),
        ("a.md", "|a|b|c|\n|-|-|-|\n|1|2|3|\n", Limits(fields=2), "3 columns"),
        ("a.html", "<table><tr><th>a<th>b<th>c<tr><td>1<td>2<td>3</table>", Limits(fields=2), "columns"),
        ("a.txt", "words " * 9, Limits(characters=50), r"54 characters, over the limit of 50 \(characters\)"),
        ("a.html", "<p>" + "words " * 9, Limits(characters=50), "characters"),
        ("a.md", "---\n" + "k: &a v\n" * 9_000 + "---\nwords", Limits(), "characters of front matter"),
    ],
)
def test_a_file_over_a_limit_is_refused_with_the_limits_name(
    tmp_path: Path, name: str, content: str, limits: Limits, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DocumentError, match=message):
        list(load(tmp_path / name, limits=limits))
    assert list(load(tmp_path / name)) if limits != Limits() else True


def calls(read: Callable[[str], Draft], markup: str) -> int:
    """How many calls of functions it takes to read and split a text."""
    profile = cProfile.Profile()
    draft = profile.runcall(read, markup)
    document = Document(draft.text, draft.blocks, draft.headings, source="s", filename="f", doc_id="i", format="md")
    profile.runcall(split, document)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("read", "piece"),
    [
        (html, "<li>item"),
        (html, "<ol><li>item</ol>"),
        (html, "<div><table><tr><td>a<td>b</table>"),
        (html, "<b>"),
        (html, "a<sup>2</sup><del>b</del> "),
        (html, "<math><mfrac><mi>a</mi>"),
        (html, "<script type='math/tex'>a^{</script>"),
        (html, "<aside><a>b</a></aside>"),
        (html, "<p><form><input value='a'>"),
        (markdown, "a ``b <!-- c --> "),
        (markdown, "|a|b|\n|-|-|\n|1|2|\n\n"),
        (markdown, "[a](b "),
        (markdown, "~~a~~ "),
        (markdown, "$a^{$ "),
        (markdown, "<sup>2"),
        (markdown, "<table>\n\n"),
        (markdown, "<div>\n\na\n\n"),
        (markdown, "Tea ....... "),
        (markdown, "~~~\n"),
        (markdown, "> - a\n"),
    ],
)
def test_twice_as_much_takes_no_more_than_twice_the_work(read: Callable[[str], Draft], piece: str) -> None:
    once, twice = (calls(read, "<ol>" * (read is html) + piece * count) for count in (200, 400))
    assert twice < 2.3 * once + 2_000


def test_a_row_that_swallows_rows_is_an_error_at_the_line_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"open\n2,lost\n3,"closed"\n')
    with pytest.raises(DocumentError, match="breaks off at line 2"):
        list(load(path))
    path.write_text('a,b\n1,"two\nlines"\n3,"a ""quoted"" word"\n4,5" pipe\n')
    [document] = load(path)
    assert [document.text.count(word) for word in ("two lines", 'a "quoted" word', '5" pipe')] == [1, 1, 1]


def test_files_whose_names_cannot_be_shown_are_passed_over_with_a_reason(tmp_path: Path) -> None:
    names = [b"caf\xe9.md", b"\x1b[2J.md", b"a\nb.md"]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("words")
    (tmp_path / "[red]é $x.md").write_text("words")
    found = list(discover(tmp_path))
    skipped = [item for item in found if isinstance(item, Skipped)]
    assert len(found) - len(skipped) == 1
    assert [shown_name(item.path).rsplit("/", 1)[1] for item in skipped] == [r"\x1b[2J.md", r"a\nb.md", r"caf\udce9.md"]
    assert {item.reason for item in skipped} == {"its name is not UTF-8 or holds control characters; rename it"}
    assert shown_name("é \u202e.md") == r"é \u202e.md"


def test_a_row_keeps_its_sound_values_where_others_are_no_numbers_of_a_store(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name\\udcff": "\\ud800 x", "big": 99999999999999999999, "inf": 1e999, "n": 7}')
    [document] = load(path)
    [passage] = split(document)
    kept = {name: passage["metadata"][name] for name in ("name\ufffd", "big", "inf", "n")}
    assert kept == {"name\ufffd": "\ufffd x", "big": "99999999999999999999", "inf": "inf", "n": 7}
