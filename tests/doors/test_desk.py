"""Many askers at one server: the page answers, the line has a length, who leaves ends their run, Ctrl-C ends all."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from cragraph.serve.dropped import Dropped
from tests.doors.test_serve import serving
from tests.support.ollama import OllamaServer, Reply
from tests.support.ports import free_port

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket]

QUESTION = {"question": "How deep is the Mariana Trench?"}
OPEN = 200


def until(what: str, happened: object, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(0.02)


def stalled() -> OllamaServer:
    return OllamaServer(lambda request: Reply(fault="stall"), max_parallel=1_000)


def test_with_200_asks_open_the_page_answers_and_says_how_many_wait(tmp_path: Path) -> None:
    with stalled() as model, serving(tmp_path, {"model": "ollama:llama3.2", "ollama_host": model.url}) as url:
        client = httpx.Client(timeout=60, limits=httpx.Limits(max_connections=OPEN + 20))
        client.post(f"{url}/documents", files={"file": ("sea.md", b"The Mariana Trench is 10,935 metres deep.")})
        streams = [client.stream("POST", f"{url}/ask/stream", json=QUESTION) for _ in range(OPEN)]
        with ThreadPoolExecutor(OPEN) as pool:
            opened = list(pool.map(lambda stream: stream.__enter__(), streams))
            until("a model was asked", lambda: model.chats)
            for path in ("/", "/options", "/documents"):
                assert client.get(f"{url}{path}").status_code == 200
            first = next(opened[-1].iter_text())
            list(pool.map(lambda stream: stream.__exit__(None, None, None), streams))
        client.close()
    assert first.startswith('event: waiting\ndata: {"before": ')


def test_a_run_ends_when_its_asker_leaves_and_the_next_begins(tmp_path: Path) -> None:
    with stalled() as model, serving(tmp_path, {"model": "ollama:llama3.2", "ollama_host": model.url}) as url:
        client = httpx.Client(timeout=60)
        client.post(f"{url}/documents", files={"file": ("sea.md", b"The Mariana Trench is 10,935 metres deep.")})
        for number in range(1, 7):  # more than there are places
            with client.stream("POST", f"{url}/ask/stream", json=QUESTION):
                until("the model was asked", lambda number=number: len(model.chats) >= number)
        client.close()
    assert len(model.chats) >= 6


def test_too_many_of_one_client_are_told_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "cragraph.serve.Desk", lambda *places: __import__("cragraph.serve.desk", fromlist=["Desk"]).Desk(1, 5, 1)
    )
    with stalled() as model, serving(tmp_path, {"model": "ollama:llama3.2", "ollama_host": model.url}) as url:
        client = httpx.Client(timeout=60)
        client.post(f"{url}/documents", files={"file": ("sea.md", b"The Mariana Trench is 10,935 metres deep.")})
        with client.stream("POST", f"{url}/ask/stream", json=QUESTION):
            until("the model was asked", lambda: model.chats)
            answer = client.post(f"{url}/ask", json=QUESTION)
        client.close()
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
    assert answer.json()["error"].startswith("1 runs are open, 1 of them yours")


def test_ctrl_c_ends_the_server_while_runs_are_held(tmp_path: Path) -> None:
    port = free_port()
    with stalled() as model:
        command = [sys.executable, "-m", "cragraph", "serve", "--port", str(port), "--store", str(tmp_path / "db")]
        given = os.environ | {"CRAG_MODEL": "ollama:llama3.2", "OLLAMA_HOST": model.url}
        server = subprocess.Popen(command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        client = httpx.Client(timeout=60)
        url = f"http://127.0.0.1:{port}"

        def up() -> bool:
            try:
                return client.get(url).status_code == 200
            except httpx.TransportError:
                return False

        until("the server is up", up, 60)
        client.post(f"{url}/documents", files={"file": ("sea.md", b"The Mariana Trench is 10,935 metres deep.")})
        with ThreadPoolExecutor(8) as pool:
            streams = [client.stream("POST", f"{url}/ask/stream", json=QUESTION) for _ in range(8)]
            list(pool.map(lambda stream: stream.__enter__(), streams))
            until("the model was asked", lambda: model.chats, 60)
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=30)  # the model is never done
        client.close()


def test_what_a_killed_server_left_of_an_upload_goes_with_the_next_one(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dropped = Dropped(tmp_path)
    path, new = dropped.keep("a.md", BytesIO(b"one"))
    note = next(tmp_path.glob("*.pending"))
    assert new
    note.rename(note.with_name(note.name.replace(str(os.getpid()), str(ended.pid))))
    (tmp_path / f".{ended.pid}-0123456789abcdef.part").write_text("half")
    mine, _ = dropped.keep("b.md", BytesIO(b"two"))
    assert not path.exists()
    assert mine.exists()
    dropped.settle(mine)
    assert sorted(one.name for one in tmp_path.iterdir()) == [mine.parent.name]
