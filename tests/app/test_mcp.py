"""The tools for agents, called by a real client over stdio and over HTTP."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.conftest import SEA, TEA
from tests.support.ports import free_port

mcp = pytest.importorskip("mcp")

pytestmark = [pytest.mark.server, pytest.mark.enable_socket, pytest.mark.filterwarnings("ignore")]

COMMAND = (sys.executable, "-m", "cragraph", "mcp")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "sea.md").write_text(SEA)
    (tmp_path / "notes" / "tea.md").write_text(TEA)
    return tmp_path


@asynccontextmanager
async def stdio(folder: Path) -> AsyncIterator[Any]:
    parameters = mcp.StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:]], cwd=folder)
    async with mcp.Client(parameters) as client:
        yield client


@asynccontextmanager
async def http(folder: Path) -> AsyncIterator[Any]:
    port = free_port()
    server = subprocess.Popen([*COMMAND, "--http", "--port", str(port)], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        while server.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/mcp")
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        refused = httpx.post(f"http://127.0.0.1:{port}/mcp", headers={"host": "evil.example"}, json={})
        assert refused.status_code in (403, 421)
        async with mcp.Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        server.terminate()
        server.wait()


def said(result: Any) -> Any:
    """What a tool returned."""
    assert not result.is_error, result.content
    value = result.structured_content
    return value["result"] if value and set(value) == {"result"} else value or json.loads(result.content[0].text)


async def test_an_agent_ingests_asks_searches_verifies_and_reads(folder: Path) -> None:
    async with stdio(folder) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"search", "ask", "verify", "ingest"}
        early = await client.call_tool("ask", {"question": "How deep is it?"})
        assert early.is_error
        assert "ingest" in early.content[0].text
        assert len(said(await client.call_tool("ingest", {"path": "notes"}))["added"]) == 2
        steps: list[str] = []

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            steps.append(message or "")

        question = {"question": "How deep is the Mariana Trench?"}
        answer = said(await client.call_tool("ask", question, progress_callback=progress))
        assert "10,935" in answer["answer"]
        assert answer["citations"][0]["source"].endswith("sea.md")
        assert answer["claims"][0]["verdict"] == "supported"
        assert steps[:2] == ["retrieve", "rerank"]
        best = said(await client.call_tool("search", {"query": "green tea", "k": 1}))
        assert best[0]["source"].endswith("tea.md")
        wrong = {"answer": "The Mariana Trench is 9,935 metres deep.", "files": ["notes/sea.md"]}
        found = said(await client.call_tool("verify", wrong))
        assert found["claims"][0]["verdict"] == "contradicted"
        outside = await client.call_tool("ingest", {"path": "/etc/hostname"})
        assert outside.is_error
        assert "--root" in outside.content[0].text
        resources = (await client.list_resources()).resources
        assert {resource.name for resource in resources} == {"sea.md", "tea.md"}
        uri = next(resource.uri for resource in resources if resource.name == "tea.md")
        assert "oolong" in (await client.read_resource(uri)).contents[0].text


async def test_the_same_tools_answer_over_http(folder: Path) -> None:
    async with http(folder) as client:
        wrong = {"answer": "The Mariana Trench is 9,935 metres deep.", "files": ["notes/sea.md"]}
        assert said(await client.call_tool("verify", wrong))["claims"][0]["verdict"] == "contradicted"
        assert (await client.list_resources()).resources == []
