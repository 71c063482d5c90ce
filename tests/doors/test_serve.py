"""The page and the HTTP interface, over real HTTP and in a real browser."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType
from typing import Any

import httpx
import pytest
import uvicorn

from cragraph import load_settings
from cragraph.models.encoder import Encoder
from cragraph.serve import create_app
from tests.doors.conftest import SEA, TEA
from tests.support.browser import chromium
from tests.support.cases import cases
from tests.support.ollama import OllamaServer
from tests.support.ports import free_port

HTTP = httpx.Client(timeout=600)

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


@pytest.fixture(scope="module", autouse=True)
def closing() -> Iterator[None]:
    yield
    HTTP.close()


@contextmanager
def serving(folder: Path, parts: Mapping[str, Any] = MappingProxyType({}), **options: Any) -> Iterator[str]:
    """The URL of a server with an empty store."""
    port = free_port()
    settings = load_settings(store=str(folder / "store"), max_file_mb=0.01, **parts)
    app = create_app(settings, files_in=folder / "files", **options)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that holds the two documents."""
    with serving(tmp_path_factory.mktemp("served")) as address:
        for name, text in (("sea.md", SEA), ("tea.md", TEA)):
            HTTP.post(f"{address}/documents", files={"file": (name, text)}).raise_for_status()
        yield address


FOUNDING = {
    "overall_score", "answer_source_alignment", "citation_coverage", "fact_verification_score", "issues",
    "verified_sources", "unverified_claims",
}  # fmt: skip


def told(answer: httpx.Response) -> list[tuple[str, Any]]:
    """The events of a stream."""
    parts = (part.split("\n") for part in answer.text.split("\n\n") if part)
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in parts]


def test_a_question_is_answered_verified_and_searched_for(url: str) -> None:
    question = {"question": "How deep is the Mariana Trench?"}
    answer = HTTP.post(f"{url}/ask", json=question).json()
    assert "10,935" in answer["answer"]
    assert answer["citations"][0]["verified"]
    stream = told(HTTP.post(f"{url}/ask/stream", json=question))
    assert [data["node"] for kind, data in stream if kind == "node"][:2] == ["retrieve", "rerank"]
    assert [kind for kind, _ in stream].count("begin") == [kind for kind, _ in stream].count("node")
    assert stream[-1][0] == "done"
    assert re.search(r'class="claim quoted" href="#m\w+-e1"', stream[-1][1]["html"])
    passages = [{"text": "The tower is 300 metres tall.", "page": 3}]
    found = HTTP.post(f"{url}/verify", json={"answer": "The tower is 330 metres tall.", "passages": passages}).json()
    assert found["claims"][0]["verdict"] == "contradicted"
    best = HTTP.post(f"{url}/search", json={"query": "green tea", "k": 1}).json()
    assert best[0]["filename"] == "tea.md"
    paths = HTTP.get(f"{url}/openapi.json").json()["paths"]
    assert paths.keys() >= {"/ask", "/ask/stream", "/verify", "/search", "/documents", "/options"}


@pytest.mark.parametrize(("body", "options"), cases("doors/serve", "a request may use"))
def test_a_request_may_use_the_founding_documents_names(
    url: str, body: dict[str, Any], options: dict[str, Any]
) -> None:
    answer = HTTP.post(f"{url}/ask", json=body | {"options": options}).json()
    assert "10,935" in answer["answer"]
    assert ("sources" in answer) == ("query" in body)
    assert answer.get("sources", answer["citations"]) == answer["citations"]
    unverified = body.get("enable_verification") is False or "low" in (body.get("inference_mode"), options.get("mode"))
    assert (answer["verification"] is None) == unverified
    verification = answer["verification"] or {}
    assert (verification.keys() >= FOUNDING) == ("query" in body and not unverified and not options)
    assert ("claims" in verification) == ("show_claims" in options)


@pytest.mark.parametrize(("body", "code", "said"), cases("doors/serve", "wrong requests are explained"))
def test_wrong_requests_are_explained(url: str, body: dict[str, Any], code: int, said: str) -> None:
    answer = HTTP.post(f"{url}/ask", json=body)
    assert (answer.status_code, said in answer.text) == (code, True), answer.text


def test_a_document_goes_while_another_is_still_being_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embed, begun, gone = Encoder.embed_documents, Event(), Event()

    def slowly(self: Encoder, texts: Sequence[str]) -> Any:
        if any("HMS Challenger" in text for text in texts):
            begun.set()
            assert gone.wait(300)
        return embed(self, texts)

    with serving(tmp_path) as url:
        HTTP.post(f"{url}/documents", files={"file": ("tea.md", TEA)}).raise_for_status()
        monkeypatch.setattr(Encoder, "embed_documents", slowly)
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(HTTP.post, f"{url}/documents", files={"file": ("sea.md", SEA)})
            assert begun.wait(300)
            [tea] = HTTP.get(f"{url}/documents").json()
            assert HTTP.delete(f"{url}/documents", params={"source": tea["source"]}).json()["removed"]
            gone.set()
            assert told(slow.result())[-1][0] == "done"
        assert [document["name"] for document in HTTP.get(f"{url}/documents").json()] == ["sea.md"]


@pytest.mark.parametrize(("headers", "code"), cases("doors/serve", "other sites are refused"))
def test_other_sites_are_refused(url: str, headers: dict[str, str], code: int) -> None:
    for method, path in (("GET", "/documents"), ("POST", "/ask"), ("DELETE", "/documents?source=x")):
        assert HTTP.request(method, url + path, headers=headers).status_code == code


def test_a_body_that_does_not_end_is_cut_off(url: str) -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"question": "'
        for _ in range(40):
            yield b"x" * 100_000

    with suppress(httpx.WriteError):  # it may hang up while this is still being sent
        answer = HTTP.post(f"{url}/ask", content=endless(), headers={"content-type": "application/json"})
        assert answer.status_code == 413


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def test_the_page_asks_shows_evidence_and_goes_on(url: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.keyboard.type("How deep is the Mariana Trench?")  # the question has the focus
    page.keyboard.press("Enter")
    page.locator("#talk article").wait_for()
    page.get_by_role("link", name="claim 1").first.click()
    assert "10,935 metres deep" in page.locator(":target mark").inner_text()
    page.get_by_label("Question").fill("<img src=x onerror=alert(1)> When did tea come to Europe?")
    page.get_by_role("button", name="Ask").click()
    page.locator("#talk article >> nth=1").wait_for()
    assert page.locator("#talk img").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.get_by_role("button", name="New conversation").click()
    assert page.locator("#talk article").count() == 0
    assert errors == []
    page.close()


def test_escape_stops_a_run_and_keeps_the_question(browser: Any, tmp_path: Path) -> None:
    with OllamaServer("The Mariana Trench is deep [1]." * 9, tokens_per_s=5) as ollama:
        parts = {"model": "ollama:llama3.2", "judge": "encoder", "ollama_host": ollama.url}
        with serving(tmp_path, parts) as url:
            HTTP.post(f"{url}/documents", files={"file": ("sea.md", SEA)}).raise_for_status()
            page = browser.new_page()
            page.goto(url)
            # It says so until the first step is told, which may be at once.
            page.evaluate(
                "new MutationObserver(() => { window.toldFirst ||= document.getElementById('steps').textContent })"
                ".observe(document.getElementById('steps'), {childList: true})"
            )
            page.keyboard.type("How deep is it?")
            page.keyboard.press("Enter")
            page.locator("#steps li").nth(2).wait_for()  # the answer is being written
            assert page.evaluate("window.toldFirst") == "starting …"
            page.keyboard.press("Escape")
            assert page.get_by_role("alert").inner_text() == "Stopped."
            assert page.get_by_label("Question").input_value() == "How deep is it?"
            page.close()


def test_a_person_decides_on_the_page_what_becomes_of_a_doubtful_answer(browser: Any, tmp_path: Path) -> None:
    wrong = "The Mariana Trench is 900 metres deep [1]."
    with OllamaServer(wrong) as ollama:
        parts = {"model": "ollama:llama3.2", "judge": "encoder", "ollama_host": ollama.url, "max_crag_attempts": 0}
        parts |= {"extractive_fallback": False}  # else the passages answer
        with serving(tmp_path, parts) as url:
            HTTP.post(f"{url}/documents", files={"file": ("sea.md", SEA)}).raise_for_status()
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.goto(url)
            page.get_by_role("tab", name="Settings").click()
            page.get_by_label("What is returned below the threshold").select_option("ask")
            page.get_by_role("tab", name="Ask").click()
            form = page.get_by_role("form", name="Your decision")
            for choice, fields, said in (
                ("Accept it", {}, "A person accepted this answer."),
                ("Give no answer", {}, "A person chose not to answer."),
                ("Verify what I wrote", {"Answer": "The Mariana Trench is 10,935 metres deep."}, "10,935 metres deep"),
            ):
                page.get_by_label("Question").fill("How deep is the Mariana Trench?")
                page.keyboard.press("Enter")
                form.wait_for()
                assert form.get_by_label("Answer").input_value() == wrong
                assert "contradicted" in page.locator(".waits .card").first.inner_text()
                for name, text in fields.items():
                    form.get_by_label(name).fill(text)
                form.get_by_role("button", name=choice).click()
                form.wait_for(state="detached")
                assert said in page.locator("#talk article").last.inner_text()
            assert page.locator("#talk article").count() == 3
            page.close()
            options = {"on_low_confidence": "ask"}
            question = {"question": "How deep is the Mariana Trench?", "options": options}
            assert "nobody can be asked" in HTTP.post(f"{url}/ask", json=question).json()["error"]
            [*_, (kind, waits)] = told(HTTP.post(f"{url}/ask/stream", json=question))
            assert kind == "review"
            for decision, last in (
                ("what", "review"),
                ({"choice": "search", "queries": ["depth"]}, "review"),
                ("accept", "done"),
            ):
                [*_, (kind, waits)] = told(
                    HTTP.post(f"{url}/ask/resume", json={"run": waits["run"], "decision": decision})
                )
                assert kind == last, waits
            late = HTTP.post(f"{url}/ask/resume", json={"run": "gone", "decision": "accept"})
            assert (late.status_code, "ask the question again" in late.text) == (400, True)
