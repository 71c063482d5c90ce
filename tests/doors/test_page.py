"""The page as a person meets it: at every width, in the light and in the dark, and by keyboard alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cragraph import Report
from cragraph.log import Entry, History
from tests.doors.conftest import SEA, TEA
from tests.doors.test_serve import serving
from tests.support.browser import chromium
from tests.support.cases import cases

pytestmark = [pytest.mark.server, pytest.mark.enable_socket, pytest.mark.slow]

WIDTHS = (320, 375, 768, 1024, 1280, 1920)
LONG = "the_complete_and_unabridged_minutes_of_the_extraordinary_general_meeting_of_2026-03-14_final_v2.md"
DEPTH = "How deep is the Mariana Trench?"
BROKEN = """() => [...document.querySelectorAll("button, summary, legend, label")].flatMap(made => {
    const walk = document.createTreeWalker(made, NodeFilter.SHOW_TEXT), broken = [];
    for (let text; text = walk.nextNode();) for (const word of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].filter(box => box.width).map(box => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
    }
    return broken;
})"""
"""Words of buttons and labels that stand on more than one line; a word of a person's own may be longer than a line."""
WIDE = """() => [...document.querySelectorAll("body *")].filter(one =>
    one.getBoundingClientRect().right > innerWidth + 1
    && !one.closest(".sr, .skip")).map(one => one.outerHTML.slice(0, 120))"""
FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one), label = one.labels?.[0];
    return {name: (one.getAttribute("aria-label") ?? (label ?? one).textContent).trim(), inside: one !== document.body,
    outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth)} }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=600) as client:
        yield client


@pytest.fixture
def url(tmp_path: Path, http: httpx.Client) -> Iterator[str]:
    """A server with documents of long names in three collections."""
    with serving(tmp_path) as address:
        for name, text, collection in (
            ("sea.md", SEA, "default"),
            (LONG, TEA, "work"),
            (
                f"x{LONG}",
                "# Minutes\n\nThe chair thanked the caterers.\n",
                "Donaudampfschifffahrtsgesellschaftskapitäne",
            ),
        ):
            sent = http.post(f"{address}/documents", params={"collection": collection}, files={"file": (name, text)})
            assert '"added"' in sent.text, sent.text
        yield address


def opened(
    browser: Any, url: str, width: int = 1280, scheme: str = "light", height: int = 900
) -> tuple[Any, list[str]]:
    """A page at a width, and what goes wrong in it."""
    page, errors = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme), []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.locator("#docs li").first.wait_for(state="attached")
    return page, errors


def ask(page: Any, question: str) -> Any:
    """Ask, and wait for the answer; returns it."""
    before = page.locator("#talk article").count()
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(f"#talk article >> nth={before}").wait_for()
    return page.locator("#talk article").last


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_breaks_at_any_width(browser: Any, url: str, scheme: str) -> None:
    page, errors = opened(browser, url, WIDTHS[0], scheme)
    ask(page, DEPTH)
    ask(page, "Who won the 1998 chess olympiad?")
    for tab, pressed in (
        ("Ask", ()),
        ("Documents", (f"Move {LONG} to", "Rename the collection work", "Forget sea.md")),
        ("History", (f"Keep as a test: {DEPTH}",)),
        ("Settings", ()),
    ):
        page.get_by_role("tab", name=tab).click()
        for name in pressed:
            page.get_by_role("button", name=name).click()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, page.evaluate(WIDE))
            assert page.evaluate(WIDE) == [], (tab, width)
            unbroken = {word for word in page.evaluate(BROKEN) if len(word) < 25 and word not in LONG}
            assert unbroken == set(), (tab, width, unbroken)
    assert errors == []
    page.close()


def test_a_page_without_documents_says_where_they_go(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("Question").fill(DEPTH)
        page.keyboard.press("Enter")
        told = page.get_by_role("alert").inner_text()
        assert told == "There are no documents yet: add files under Documents."
        page.close()


def test_what_was_decided_stands_above_each_answer(browser: Any, url: str) -> None:
    page, _ = opened(browser, url)
    assert ask(page, DEPTH).locator(".badge").inner_text().startswith("✓ Accepted · 0.9")
    assert ask(page, "Who won the 1998 chess olympiad?").locator(".badge").inner_text().startswith("– Refused · 0.")
    page.get_by_role("tab", name="Settings").click()
    page.get_by_label("Confidence from which an answer is accepted").fill("1")
    page.get_by_label("Confidence from which an answer is accepted").dispatch_event("change")
    page.get_by_role("tab", name="Ask").click()
    doubtful = ask(page, DEPTH)
    assert doubtful.inner_text().lower().count("doubtful") == 1, "a doubt is said once"
    assert doubtful.locator(".badge").inner_text().startswith("? Doubtful · 0.9")
    assert doubtful.locator(".badge").evaluate("e => getComputedStyle(e).color") != page.evaluate(
        "getComputedStyle(document.body).color"
    )
    page.close()


# -- collections -------------------------------------------------------------------------------------------------------


def test_a_question_is_asked_in_the_collections_that_are_chosen(browser: Any, url: str) -> None:
    page, _ = opened(browser, url)
    among = page.get_by_role("group", name="Search in")
    assert among.get_by_role("checkbox").count() == 3
    with page.expect_request("**/ask/stream") as all_of_them:
        ask(page, DEPTH)
    assert all_of_them.value.post_data_json["options"] == {}
    among.get_by_label("default").uncheck()
    with page.expect_request("**/ask/stream") as some:
        answer = ask(page, DEPTH)
    assert some.value.post_data_json["options"] == {
        "collection": ["Donaudampfschifffahrtsgesellschaftskapitäne", "work"]
    }
    assert "10,935" not in answer.inner_text()
    for name in ("work", "Donaudampfschifffahrtsgesellschaftskapitäne"):
        among.get_by_label(name).click()
    boxes = among.get_by_role("checkbox").all()
    assert [box.is_checked() for box in boxes] == [True] * 3, "where none would be left, all are chosen again"
    with page.expect_request("**/ask/stream") as none:
        assert "10,935" in ask(page, DEPTH).inner_text()
    assert none.value.post_data_json["options"] == {}
    page.close()


def test_a_number_without_its_zero_is_sent(browser: Any, url: str) -> None:
    page, _ = opened(browser, url)
    page.get_by_role("tab", name="Settings").click()
    page.locator("#option-confidence_threshold").fill(".5")
    page.locator("#option-confidence_threshold").press("Tab")
    page.get_by_role("tab", name="Ask").click()
    with page.expect_request("**/ask/stream") as asked:
        ask(page, DEPTH)
    assert asked.value.post_data_json["options"] == {"confidence_threshold": 0.5}
    page.close()


def test_the_collection_that_a_server_was_started_with_is_the_one_that_is_chosen_at_first(
    browser: Any, tmp_path: Path, http: httpx.Client
) -> None:
    with serving(tmp_path, {"collection": ("work",)}) as url:
        for name, text, collection in (("sea.md", SEA, "work"), ("tea.md", TEA, "home")):
            http.post(f"{url}/documents", params={"collection": collection}, files={"file": (name, text)})
        page, errors = opened(browser, url)
        among = page.get_by_role("group", name="Search in")
        assert {name: among.get_by_label(name).is_checked() for name in ("work", "home")} == {
            "work": True,
            "home": False,
        }
        assert "10,935" in ask(page, DEPTH).inner_text()
        among.get_by_label("home").check()
        with page.expect_request("**/ask/stream") as both:
            ask(page, DEPTH)
        assert both.value.post_data_json["options"] == {"collection": ["home", "work"]}
        assert errors == []
        page.close()


def test_collections_are_filled_moved_renamed_and_forgotten_on_the_page(
    browser: Any, url: str, tmp_path: Path, http: httpx.Client
) -> None:
    page, errors = opened(browser, url)
    (tmp_path / "moon.md").write_text("# The moon\n\nThe moon is 384,400 km away.\n")
    page.get_by_role("tab", name="Documents").click()
    page.get_by_label("Collection", exact=True).fill("sky")
    page.get_by_label("Drop files here").set_input_files(tmp_path / "moon.md")
    page.get_by_text("moon.md: ready").wait_for()
    page.get_by_role("heading", name="sky").wait_for()
    page.get_by_role("button", name="Move moon.md to another collection").click()
    page.keyboard.type("work")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement === document.querySelector('#docs button')")
    places = {d["name"]: d["collection"] for d in http.get(f"{url}/documents").json()}
    assert (places["moon.md"], places[LONG]) == ("work", "work")
    page.get_by_role("button", name="Rename the collection work").click()
    page.keyboard.type("board")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="board").wait_for()
    forget = page.locator("#docs .group", has_text="board").get_by_role("button").last
    forget.click()
    assert forget.inner_text() == "Forget all 2?", "the first press asks"
    page.keyboard.press("Escape")
    assert forget.inner_text() == "Forget"
    forget.click()
    forget.click()
    page.get_by_role("heading", name="board").wait_for(state="detached")
    assert "board" not in {held["name"] for held in http.get(f"{url}/collections").json()}
    assert errors == []
    page.close()


# -- history -----------------------------------------------------------------------------------------------------------


def test_what_was_asked_is_listed_searched_asked_again_kept_and_forgotten(
    browser: Any, url: str, http: httpx.Client
) -> None:
    page, errors = opened(browser, url)
    ask(page, DEPTH)
    ask(page, "When did tea come to Europe?")
    page.get_by_role("tab", name="History").click()
    rows = page.locator("#entries > li")
    page.wait_for_function("() => document.querySelectorAll('#entries > li').length === 2")
    assert "When did tea come to Europe?" in rows.first.inner_text()
    page.get_by_label("Words to look for").fill("trench")
    page.wait_for_function("() => document.querySelectorAll('#entries > li').length === 1")
    page.get_by_role("button", name=f"Ask again: {DEPTH}").click()
    page.locator("#talk article >> nth=2").wait_for()
    page.get_by_role("tab", name="History").click()
    page.wait_for_function("() => document.querySelectorAll('#entries > li').length === 2")
    page.get_by_role("button", name=f"Keep as a test: {DEPTH}").first.click()
    page.keyboard.type("10,935 metres")
    page.keyboard.press("Enter")
    page.get_by_text("Kept as a test: “10,935 metres”").wait_for()
    assert [e["expect"] for e in http.get(f"{url}/history").json()["entries"]] == ["10,935 metres", None, None]
    page.get_by_role("button", name=f"Forget this entry: {DEPTH}").last.click()
    page.get_by_role("button", name=f"Forget this entry: {DEPTH}: Forget it?").click()
    page.wait_for_function("() => document.querySelectorAll('#entries > li').length === 1")
    page.get_by_label("Words to look for").fill("")
    page.wait_for_function("() => document.querySelectorAll('#entries > li').length === 2")
    page.get_by_role("button", name="Forget all", exact=True).click()
    page.get_by_role("button", name="Forget all: Forget every entry?").click()
    page.get_by_text("Nothing was asked yet.").wait_for()
    assert errors == []
    page.close()


def test_long_lists_have_pages_so_that_the_page_never_becomes_long(
    browser: Any, tmp_path: Path, http: httpx.Client
) -> None:
    with serving(tmp_path) as url:
        for number in range(45):
            http.post(f"{url}/documents", files={"file": (f"{number:02}.md", f"The number of this page is {number}.")})
        log = History(tmp_path / "store" / "history.sqlite")
        for number in range(45):
            log.add(Entry(f"What is number {number}?", "A long answer. " * 20))
        page, errors = opened(browser, url, 390)
        for tab, rows, first, last in (
            ("Documents", "#docs li:not(.pages)", "00.md", "44.md"),
            ("History", "#entries li:not(.pages)", "What is number 44?", "What is number 0?"),
        ):
            page.get_by_role("tab", name=tab).click()
            shown = page.locator(rows)
            shown.nth(19).wait_for()
            assert (shown.count(), first in shown.first.inner_text()) == (20, True)
            assert page.evaluate("document.documentElement.scrollHeight") < 10_000
            for number, count in ((2, 20), (3, 5)):
                page.get_by_role("button", name="Next page").click()
                page.locator("section:visible").get_by_text(f"Page {number}").wait_for()  # two full pages are alike
                assert shown.count() == count
            assert last in shown.last.inner_text()
            page.get_by_role("button", name="Previous page").click()
            page.locator("section:visible").get_by_text("Page 2").wait_for()
        page.get_by_role("tab", name="Documents").click()
        page.get_by_label("Find a document").fill("07")
        assert page.locator("#docs li").count() == 1
        assert errors == []
        page.close()


def test_a_server_that_keeps_no_log_shows_no_history(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path, {"history": False}) as url:
        page = browser.new_page()
        with page.expect_response("**/history*"):
            page.goto(url)
        page.wait_for_load_state("networkidle")
        assert page.get_by_text("History", exact=True).is_hidden()
        assert page.get_by_role("tab").all_inner_texts() == ["Ask", "Documents", "Settings"]
        page.close()


# -- by keyboard -------------------------------------------------------------------------------------------------------


def test_everything_is_reached_by_keyboard_in_the_order_of_the_page_and_is_seen_to_have_the_focus(
    browser: Any, url: str
) -> None:
    page, _ = opened(browser, url)
    ask(page, DEPTH)
    for steps, wanted in (
        (0, ["Ask", "claim 1", "Question", "default", "work", "New conversation"]),
        (1, ["Documents", "Drop files here, or choose", "Collection", "Find a document",
             f"Move {LONG} to another collection", f"Forget {LONG}"]),
        (2, ["History", "Words to look for", f"Ask again: {DEPTH}", f"Forget this entry: {DEPTH}", "Forget all"]),
        (3, ["Settings", "How strict the check is", "How many passages are read", "OpenAPI"]),
    ):  # fmt: skip
        page.locator(".skip").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight") if steps else None
        names = ["To the question"]
        while (focused := page.evaluate(FOCUSED))["inside"] and focused["name"] not in names[:1] and len(names) < 80:
            names.append(focused["name"])
            page.keyboard.press("Tab")
            assert focused["outline"] >= 2, focused
        places = [next((i for i, name in enumerate(names) if one in name), -1) for one in wanted]
        assert places == sorted(places), (places, names)
        assert places[0] > 0, names
    page.close()


def test_a_line_to_fill_in_is_left_by_escape_and_the_focus_goes_back(browser: Any, url: str) -> None:
    page, _ = opened(browser, url)
    page.get_by_role("tab", name="Documents").click()
    move = page.get_by_role("button", name="Move sea.md to another collection")
    move.focus()
    page.keyboard.press("Enter")
    assert "Move sea.md to the collection" in page.evaluate(FOCUSED)["name"]
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED)["name"] == "Move sea.md to another collection"
    assert page.locator(".fill").count() == 0
    page.keyboard.press("Enter")
    page.keyboard.type("a/b")
    page.keyboard.press("Enter")
    page.locator("#problem", has_text="wanted a name").wait_for()
    assert "Move sea.md to the collection" in page.evaluate(FOCUSED)["name"], "what was wrong can be mended there"
    page.close()


def test_after_something_is_forgotten_the_focus_is_on_the_next(browser: Any, url: str) -> None:
    page, _ = opened(browser, url)
    page.get_by_role("tab", name="Documents").click()
    page.get_by_role("button", name="Forget sea.md").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED)["name"] == "Forget sea.md: Forget it?", "the first press asks"
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Forget sea.md").wait_for(state="detached")
    page.wait_for_function("() => document.activeElement.tagName === 'BUTTON'")
    page.close()


# -- what was computed -------------------------------------------------------------------------------------------------

COMPUTED = {
    "query": {
        "source": f"/files/{LONG}",
        "table": "",
        "operation": "sum",
        "column": "cost_gbp",
        "where": [{"column": "injury", "test": "=", "values": ["yes"]}],
    },
    "answer": "The sum of cost_gbp is 1,240 GBP.",
    "value": "1240",
    "unit": "GBP",
    "labels": [],
    "rows": 9,
    "missing": 1,
    "rounded": False,
    "cited": [
        {"chunk_id": f"c{n}", "start": 0, "end": 9, "quote": f"<b>incident {n}</b> | {LONG} | cost_gbp: {n}00"}
        for n in range(1, 7)
    ],
    "probability": 0.9,
}


def test_what_was_computed_is_shown_with_its_rows_at_every_width(browser: Any, tmp_path: Path) -> None:
    decision = {"outcome": "doubtful", "confidence": 0.44, "threshold": 0.7, "set_by": "default", "why": "Too low."}
    response: dict[str, Any] = json.loads(
        json.dumps(
            {
                "question": "How much did the incidents with an injury cost?", "answer": COMPUTED["answer"],
                "computed": COMPUTED, "decision": decision, "confidence": 0.44, "confidence_level": "very low",
                "verification": None, "issues": [], "degraded": [], "attempts": [], "models": {}, "citations": [],
                "is_grounded": False, "accepted": False,
            }
        )
    )  # fmt: skip
    Report(response).save(tmp_path / "report.html")
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    shown = page.locator(".computed").inner_text()
    assert f"sum of cost_gbp over 9 rows (1 more without a figure) of {LONG} where injury = yes" in shown
    assert "1 rows have no figure" not in shown
    assert "1 row has no figure there and was left out." in shown
    assert "<b>incident 1</b>" in shown
    assert "and 3 more rows" in shown
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(WIDE) == [], width
    page.close()


@pytest.mark.parametrize(
    ("query", "rows", "words"),
    cases("doors/page", "a query is said"))  # fmt: skip
def test_a_query_is_said_in_words(query: dict[str, Any], rows: int, words: str) -> None:
    from cragraph.types import in_words

    assert in_words({"query": {"source": "/x/a.csv", "table": "", "where": []} | query, "rows": rows}) == words
