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

from cragraph import load_settings
from tests.doors.conftest import SEA, TEA
from tests.support.cases import cases
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
async def here(folder: Path) -> AsyncIterator[Any]:
    """A client of a server in this process."""
    from cragraph.mcp import Documents

    settings = load_settings(store=str(folder / "store"))
    async with mcp.Client(Documents(settings, folder / "notes")) as client:
        yield client


@asynccontextmanager
async def http(folder: Path, *options: str) -> AsyncIterator[str]:
    """The address of a server over HTTP."""
    port = free_port()
    command = [*COMMAND, "--http", "--port", str(port), *options]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        while server.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/mcp")
                break
            except httpx.ConnectError:
                time.sleep(0.05)
        for headers in (
            {"host": "evil.example"},
            {"host": "["},
            {"origin": "http://["},
            {"origin": "http://x.example"},
        ):
            refused = httpx.post(f"http://127.0.0.1:{port}/mcp", headers=headers, json={})
            assert refused.status_code in (403, 421)
        yield f"http://127.0.0.1:{port}/mcp"
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
        assert tools == {"search", "ask", "verify", "ingest", "collections"}
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
    async with http(folder) as url, mcp.Client(url) as client:
        wrong = {"answer": "The Mariana Trench is 9,935 metres deep.", "files": ["notes/sea.md"]}
        assert said(await client.call_tool("verify", wrong))["claims"][0]["verdict"] == "contradicted"
        assert (await client.list_resources()).resources == []


async def failed(client: Any, tool: str, **arguments: Any) -> str:
    """What a tool said that could not do its work."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return str(result.content[0].text)


@pytest.mark.parametrize(("tool", "arguments", "words"), cases("doors/mcp", "errors of ours come"))
async def test_errors_of_ours_come_through_with_their_text(
    folder: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with here(folder) as client:
        said_of_it = await failed(client, tool, **arguments)
    assert words in said_of_it
    assert "Error executing" not in said_of_it
    assert "pydantic" not in said_of_it


async def test_an_error_that_nobody_expected_says_so_without_a_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("/home/somebody/secret")

    monkeypatch.setattr("cragraph.run.Assistant.search", broken)
    monkeypatch.setattr("cragraph.run.Assistant.documents", broken)
    async with here(folder) as client:
        assert await failed(client, "search", query="x") == (
            "search failed in a way that the server did not expect; its log says why."
        )
        with pytest.raises(mcp.MCPError) as error:
            await client.list_resources()
        assert "secret" not in str(error.value)


async def test_links_in_the_folder_lead_no_agent_out_of_it(folder: Path) -> None:
    (folder / "secret.md").write_text("# Secret\n\nThe code of the vault is 4711.\n")
    (folder / "private").mkdir()
    (folder / "private" / "more.md").write_text("# More\n\nThe code of the house is 4712.\n")
    (folder / "notes" / "link.md").symlink_to(folder / "secret.md")
    (folder / "notes" / "sub").mkdir()
    (folder / "notes" / "sub" / "deep.md").symlink_to(Path("../../secret.md"))
    (folder / "notes" / "out").symlink_to(folder / "private", target_is_directory=True)
    (folder / "notes" / "again.md").symlink_to("sea.md")
    async with here(folder) as client:
        report = said(await client.call_tool("ingest", {"path": "."}))
        assert sorted(Path(path).name for path in report["added"]) == ["again.md", "tea.md"]
        out = {Path(each["path"]).name: each["reason"] for each in report["skipped"]}
        assert all("leads out of the folder" in out[name] for name in ("link.md", "deep.md", "out"))
        for path in ("link.md", "sub/deep.md", "out", "out/more.md"):
            assert "--root" in await failed(client, "ingest", path=path)
            assert "--root" in await failed(client, "verify", answer="The code is 4711.", files=[path])
        assert "no file that can be read" in await failed(client, "verify", answer="The code is 4711.", files=["sub"])
        found = said(await client.call_tool("verify", {"answer": "The code of the vault is 4711.", "files": ["."]}))
        assert found["claims"][0]["verdict"] != "supported"
        assert sum("leads out of the folder" in sentence for sentence in found["degraded"]) == 3
        for passage in said(await client.call_tool("search", {"query": "code of the vault house", "k": 50})):
            assert "471" not in passage["text"]


async def test_a_token_is_asked_of_every_caller_over_http(folder: Path) -> None:
    token = "a-token-of-the-sea"
    async with http(folder, "--token", token) as url:
        for header in ({}, {"authorization": "Bearer wrong"}, {"cookie": "cragraph_token="}):
            assert httpx.post(url, headers=header, json={}).status_code == 401
        assert httpx.post(url, headers={"authorization": f"Bearer {token}"}, json={}).status_code != 401


def test_every_line_over_stdio_is_answered(folder: Path) -> None:
    """Also those that hold half a character, as JavaScript writes it, or are no message at all."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    half = r"the \ud83d sea"
    passages = {"answer": half, "passages": [half]}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).replace("\\\\", "\\")
            for number, (method, params) in enumerate(
                [
                    ("tools/call", {"name": "verify", "arguments": passages}),
                    ("tools/call", {"name": "ask", "arguments": {"question": half, "options": {half: half}}}),
                    ("tools/call", {"name": half, "arguments": {half: half}}),
                    ("resources/read", {"uri": f"cragraph://documents/{half}"}),
                    (half, {}),
                ],
                1,
            )
        ),
        "no JSON",
        '{"jsonrpc": "2.0", "id": 7, "method": 7}',
        "[1, 2]",
    ]
    server = subprocess.Popen(
        COMMAND, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server:
        answers = []
        server.stdin.write(lines[0] + "\n")
        server.stdin.flush()
        answers.append(json.loads(server.stdout.readline()))
        server.stdin.write("\n".join(lines[1:]) + "\n")
        server.stdin.flush()
        answers += [json.loads(server.stdout.readline()) for _ in lines[2:]]
        server.stdin.close()
    by_id = {answer["id"]: answer for answer in answers if answer.get("id") is not None}
    assert by_id.keys() == {0, 1, 2, 3, 4, 5, 7}
    assert by_id[1]["result"]["isError"] is False
    assert "no option 'the \ufffd sea'" in by_id[2]["result"]["content"][0]["text"]
    assert len([answer for answer in answers if answer.get("id") is None]) == 2
    assert "\ud83d" not in json.dumps(answers)
