"""The report: what it shows, where it shows it, and that nothing in it runs or is fetched."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from cragraph import Report, load_settings, process, verify, verify_and_correct
from cragraph.passages import as_passage
from cragraph.report import pages
from cragraph.report.pages import PagePictures, boxes_of
from cragraph.run import Assistant
from tests.documents.conftest import pdf_bytes
from tests.support.browser import chromium

Shell = Callable[..., Any]

PASSAGES = ["The tower was built in 1889 by a company of engineers.", "It is 300 metres tall.", "Paris is a city."]
ANSWER = "The tower was built in 1889 [1]. It is 330 metres tall [2]."


def claims_in(page: str) -> list[tuple[str, str]]:
    """The verdict and the words of every claim that is marked in the answer."""
    found = re.findall(r'<a class="claim (\w+)"[^>]*>(.*?)<sup', page)
    return [(verdict, re.sub(r"<[^>]+>", "", words)) for verdict, words in found]


def test_every_claim_is_coloured_where_it_stands_in_the_answer() -> None:
    page = str(Report(verify(f"{ANSWER} Paris is a city [3].", PASSAGES, "How tall is it?")))
    assert claims_in(page) == [
        ("supported", "The tower was built in 1889"), ("contradicted", "It is 330 metres tall"),
        ("quoted", "Paris is a city"),
    ]  # fmt: skip
    assert "<u>330 metres</u>" in page
    assert "How tall is it?" in page


def test_evidence_is_highlighted_in_its_passage_between_its_neighbours() -> None:
    chunks = [
        {"text": text, "doc_id": "d", "source": "tower.md", "page": 7, "chunk_index": i, "start_index": 100 * i}
        for i, text in enumerate(PASSAGES)
    ]
    page = str(Report(verify("It is 300 metres tall.", chunks)))
    card = re.search(r'id="e1">(.*)', page, re.S)
    assert card is not None
    assert "<mark>It is 300 metres tall.</mark>" in card[1]
    assert "tower.md, page 7" in card[1]
    assert re.findall(r'class="beside">([^<]*)', card[1]) == [PASSAGES[0], PASSAGES[2]]


def test_nothing_in_it_is_obeyed() -> None:
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(2)> \"'&\u202e"
    passages = [{"text": f"The tower is tall. {hostile}", "source": hostile, "heading": hostile}]
    page = str(Report(verify(f"The tower is tall. {hostile}", passages, hostile)))
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)


def test_a_notebook_shows_verifications_and_corrections_in_a_frame_without_scripts() -> None:
    shown = verify("It is 300 metres tall.", PASSAGES)._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox=""' in shown
    corrected = verify_and_correct("How tall is it?", "It is 300 metres tall.", PASSAGES)._repr_html_()
    assert "300 metres" in corrected


def test_attempts_show_what_failed_and_what_changed() -> None:
    shared = {"confidence": 0.4, "claims_checked": 1, "claims_supported": 0, "new_passages": 2, "is_grounded": False}
    claim = {"text": "It is red.", "start": 0, "end": 10, "verdict": "contradicted", "support": 0.1, "evidence": None}
    attempts = [
        {"attempt": 1, "answer": "It is red.", "queries": ["colour?"], "verification": {"claims": [claim]}, **shared},
        {"attempt": 2, "answer": "It is blue.", "queries": ["red or blue"], **shared},
    ]
    response = {
        "question": "?", "answer": "It is blue.", "attempts": attempts, "confidence": 0.8, "confidence_level": "medium",
        "is_grounded": True, "verification": None, "issues": [], "degraded": ["One thing."], "models": {},
    }  # fmt: skip
    page = str(Report(response))
    assert "<del> red.</del><ins> blue.</ins>" in page
    assert "searched for “red or blue”" in page
    assert "<li>! contradicted: It is red.</li>" in page
    assert "One thing." in page


def test_the_page_of_a_pdf_is_shown_with_the_quote_boxed(shell: Shell, tmp_path: Path) -> None:
    lines = [(72.0, 80.0 + 14 * i, text) for i, text in enumerate(PASSAGES)]
    for name, turn in (("flat.pdf", 0), ("turned.pdf", 90)):
        (tmp_path / name).write_bytes(pdf_bytes([lines], rotate=turn))
        ran = shell("verify", "--answer", PASSAGES[0], "--source", name, "--report", "out.html", "-q")
        assert ran.code == 0, ran.err
        page = (tmp_path / "out.html").read_text()
        assert page.count("data:image/png;base64,") == 1
        [box] = re.findall(r'<i style="left:([\d.]+)%;top:([\d.]+)%;width:([\d.]+)%;height:([\d.]+)%', page)
        left, top, width, height = map(float, box)
        if turn == 0:
            assert (round(left), round(top)) == (round(72 / 6.12), round(72 / 7.92))
            assert width > 10 * height
        else:
            assert height > 10 * width
            assert left > 85


def test_a_row_of_a_table_is_boxed_where_the_page_has_it_without_the_names_of_its_columns() -> None:
    rows = [("Net sales", "$", "14,694", "$", "14,544"), ("Net sales", "$", "9,000", "$", "8,000")]
    places = (72, 300, 310, 400, 410)
    texts = [(x, 100 + 20 * n, cell) for n, row in enumerate(rows) for x, cell in zip(places, row, strict=True)]
    page = pypdfium2.PdfDocument(pdf_bytes([texts]))[0]
    [(left, top, width, height)] = boxes_of(page, "Net sales | 2023: $9,000 | 2022: $8,000")
    assert top < 120 / 792 < top + height + 0.01
    assert left * 612 == pytest.approx(72, abs=3)
    assert (left + width) * 612 > 410
    assert not boxes_of(page, "Net sales | 2023: $9,001 | 2022: $8,000")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.mark.slow
def test_many_rows_become_a_table_to_sort_and_filter(shell: Shell, tmp_path: Path, browser: Any) -> None:
    rows = [
        {"id": "a", "answer": "It is 330 metres tall.", "passages": PASSAGES},
        {"id": "b", "answer": "It is 300 metres tall.", "passages": PASSAGES},
        {
            "id": "c",
            "question": "What kind of place is <b>Paris</b>?",
            "answer": "Paris is a city.",
            "passages": PASSAGES,
        },
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = shell("verify", "--jsonl", "rows.jsonl", "--out", "v.jsonl", "--report", "out.html")
    assert ran.code == 0, ran.err
    assert "passages" not in json.loads((tmp_path / "v.jsonl").read_text().splitlines()[0])
    page = browser.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "out.html").as_uri())
    ids = "tbody tr:not([hidden]) td:first-child"
    assert page.locator("output").inner_text() == "3 of 3"
    page.get_by_role("button", name="confidence").click()
    assert page.locator(ids).first.inner_text() == "a"
    page.get_by_role("button", name="confidence").click()
    assert page.locator(ids).last.inner_text() == "a"
    page.get_by_label("Show").select_option("not grounded")
    assert page.locator(ids).all_inner_texts() == ["a"]
    page.get_by_label("Show").select_option("all")
    page.get_by_label("Search").fill("paris is")
    assert "c" in page.locator(ids).all_inner_texts()
    page.get_by_label("Search").fill("330")
    assert page.locator(ids).all_inner_texts() == ["a"]
    page.get_by_role("link", name="contradicted").click()
    assert page.locator("#r1e1").is_visible()
    assert errors == []
    page.close()


@pytest.mark.slow
def test_a_click_on_a_claim_marks_its_evidence(tmp_path: Path, browser: Any) -> None:
    path = Report(verify(ANSWER, PASSAGES)).save(tmp_path / "out.html")
    for width in (360, 1200):
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 700})
            page.goto(path.as_uri())
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            assert page.evaluate("document.querySelector(':target').id") == "e1"
            page.get_by_role("link", name="contradicted").click()
            assert page.evaluate("document.querySelector(':target mark').textContent") == PASSAGES[1]
            assert page.locator("#e2").is_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.close()


THREADS = """
import sys
from threading import Thread
from cragraph.passages import as_passage
from cragraph.report.pages import PagePictures

path, quotes = sys.argv[1], sys.argv[2:]

def draw():
    for _ in range(4):
        pictures = PagePictures([path])
        for page, quote in enumerate(quotes, 1):
            assert "base64" in pictures(as_passage({"text": quote, "source": path, "page": page}), quote)

threads = [Thread(target=draw) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert "pypdfium2" not in sys.modules
print("drawn")
"""


@pytest.mark.slow
def test_many_threads_draw_at_once_and_none_of_it_in_this_process(tmp_path: Path) -> None:
    lines = [[(72.0, 80.0 + 14 * i, f"{text} On page {n}.") for i, text in enumerate(PASSAGES)] for n in range(3)]
    (tmp_path / "tower.pdf").write_bytes(pdf_bytes(lines))
    quotes = [f"{PASSAGES[1]} On page {n}." for n in range(3)]
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(tmp_path / "tower.pdf"), *quotes], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "drawn\n"), done.stderr


@pytest.fixture
def tower(tmp_path: Path) -> Path:
    (tmp_path / "tower.pdf").write_bytes(pdf_bytes([[(72.0, 80.0, PASSAGES[0])]]))
    return tmp_path / "tower.pdf"


def pictured(pictures: PagePictures, path: Path) -> bool:
    return "base64" in pictures(as_passage({"text": PASSAGES[0], "source": str(path), "page": 1}), PASSAGES[0])


@pytest.mark.slow
@pytest.mark.parametrize("end", ["import os; os._exit(9)", "while True: pass", "bytearray(1 << 40)", "raise OSError"])
def test_a_page_that_ends_takes_too_long_or_fills_the_process_is_left_out_and_said(
    tower: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    (tower.parent / "hostile.py").write_text(f"def drawn(wanted):\n    {end}\n")
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c"))
    monkeypatch.chdir(tower.parent)
    hostile = process.Worker("hostile", "drawn", seconds=0.2, memory_mb=512)
    with monkeypatch.context() as patched:
        patched.setattr(pages, "PDFIUM", hostile)
        pictures = PagePictures([str(tower)])
        assert not pictured(pictures, tower)
        assert pictures.failed == 1
        assert not pictured(pictures, tower)
        assert pictures.failed == 1
    hostile.close()
    assert pictured(PagePictures([str(tower)]), tower)


@pytest.mark.slow
def test_only_files_that_the_store_read_are_drawn_whatever_a_document_names(tower: Path, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere" / "secret.pdf"
    secret.parent.mkdir()
    secret.write_bytes(pdf_bytes([[(72.0, 80.0, "The key is 4711.")]]))
    (tmp_path / "notes").mkdir()
    stated = "".join(f"{name}: {secret}\n" for name in ("path", "source", "filename"))
    (tmp_path / "notes" / "a.md").write_text(f"---\n{stated}page: 1\nheadings: x\nscores: 5\n---\nThe key is 4711.\n")
    assistant = Assistant(load_settings(store=str(tmp_path / "store")))
    assistant.ingest([tmp_path / "notes", tower])
    for question, drawn in (("What is the key?", False), ("When was the tower built?", True)):
        [*_, done] = assistant.ask(question)
        assert ("base64" in str(assistant.report(done))) is drawn
        assert str(secret) not in str(assistant.report(done))
    [found] = [p for p in assistant.search("key", 5) if "4711" in p["text"]]
    assert found["filename"] == "a.md"
    assert found["metadata"]["column.page"] == 1
    told = Report(verify("The key is 4711.", [{"text": "The key is 4711.", "source": str(secret), "page": 1}]))
    assert "base64" not in str(told)
    tower.write_bytes(pdf_bytes([[(72.0, 80.0, PASSAGES[0]), (72.0, 180.0, "Another state.")]]))
    assert str(tower) not in assistant.parts.store.files


@pytest.mark.slow
def test_the_process_that_draws_is_started_again_where_it_ended(tower: Path) -> None:
    assert pictured(PagePictures([str(tower)]), tower)
    pages.PDFIUM.close()
    assert pictured(PagePictures([str(tower)]), tower)
