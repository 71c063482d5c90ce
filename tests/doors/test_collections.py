"""Collections as a person or a program meets them: in the shell, over HTTP, by agents, and as a graph."""

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph import create_graph, load_settings
from cragraph.errors import InputError
from cragraph.run import Assistant
from cragraph.serve import create_app
from tests.doors.conftest import SEA, TEA, Shell
from tests.support.asgi import JSON, call, form
from tests.support.cases import cases

DEPTH = "How deep is the Mariana Trench?"
SHIPS = "When did tea come to Europe?"


@pytest.fixture
def filled(shell: Shell, notes: Path) -> Shell:
    """The sea in the collection `work`, tea in `home`."""
    assert shell("ingest", str(notes / "sea.md"), "--collection", "work", "-q").code == 0
    assert shell("ingest", str(notes / "tea.md"), "--collection", "home", "-q").code == 0
    return shell


# -- in the shell ------------------------------------------------------------------------------------------------------


def test_a_question_is_answered_from_one_collection_some_or_all(filled: Shell) -> None:
    assert "10,935" in filled("ask", DEPTH, "-q").out
    assert "10,935" in filled("ask", DEPTH, "--collection", "work", "-q").out
    elsewhere = filled("ask", DEPTH, "--collection", "home", "--json", "--show-claims", "-q")
    assert elsewhere.code == 3
    assert "sea.md" not in elsewhere.out
    assert "10,935" not in elsewhere.out
    both = ("--collection", "home", "--collection", "work")
    assert "10,935" in filled("ask", DEPTH, *both, "-q").out
    assert "10,935" in filled("ask", DEPTH, "--collection", "home,work", "-q").out
    found = filled("search", "Tea ships to Europe", "--collection", "work", "--json").json
    assert {passage["filename"] for passage in found} == {"sea.md"}
    assert filled("ask", SHIPS, "--collection", "home", "--json", "-q").json["citations"][0]["metadata"]["collection"]


def test_a_setting_chooses_the_collection_and_an_option_goes_before_it(
    filled: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CRAG_COLLECTION", "home")
    assert filled("ask", DEPTH, "-q").code == 3
    assert "10,935" in filled("ask", DEPTH, "--collection", "work", "-q").out
    assert "10,935" in filled("ask", DEPTH, "--collection", "all", "-q").out
    (tmp_path / "moon.md").write_text("The moon is 384,400 kilometres away from the earth.")
    filled("ingest", "moon.md", "-q")
    assert [row["collection"] for row in filled("docs", "--collection", "all", "--json").json] == [
        "home",
        "work",
        "home",
    ]
    assert len(filled("docs", "--json").json) == 2
    monkeypatch.setenv("CRAG_COLLECTION", "home, work")
    assert "10,935" in filled("ask", DEPTH, "-q").out
    refused = filled("ingest", "moon.md", "-q")
    assert (refused.code, "wanted one, as a file is in one collection" in refused.err) == (2, True)


def test_collections_are_listed_moved_renamed_and_forgotten(filled: Shell, notes: Path) -> None:
    assert filled("collections").out == "home  1 document, 1 chunk\nwork  1 document, 1 chunk\n"
    assert filled("collections", "--json").json[0] == {"name": "home", "documents": 1, "chunks": 1}
    assert "in home" in filled("docs").out
    moved = filled("collections", "move", str(notes / "tea.md"), "--to", "work")
    assert moved.out == f"moved {notes / 'tea.md'}\n"
    assert [row["collection"] for row in filled("docs", "--json").json] == ["work", "work"]
    assert filled("collections", "rename", "work", "Tee & Meer").out == "work is Tee & Meer now\n"
    assert "10,935" in filled("ask", DEPTH, "--collection", "Tee & Meer", "-q").out
    assert len(filled("collections", "move", "--from", "Tee & Meer", "--to", "home", "--json").json["moved"]) == 2
    assert len(filled("collections", "forget", "home", "--json").json["removed"]) == 2
    assert filled("ask", DEPTH, "-q").code != 0
    assert (notes / "sea.md").exists()


@pytest.mark.parametrize(("words", "said"), cases("doors/collections", "what cannot be done"))
def test_what_cannot_be_done_with_collections_is_explained(filled: Shell, words: tuple[str, ...], said: str) -> None:
    ran = filled(*words)
    assert (ran.code, said in ran.err) == (2, True), ran.err


# -- as a graph --------------------------------------------------------------------------------------------------------


def test_a_run_of_a_graph_is_narrowed_by_its_context(filled: Shell) -> None:
    graph = create_graph(load_settings(store=".cragraph")).compile()
    for chosen, found in ((None, True), ("work", True), (["home", "work"], True), ("home", False), ("all", True)):
        answer = graph.invoke({"question": DEPTH}, context={"collection": chosen})
        assert ("10,935" in answer["answer"]) is found, chosen
    with pytest.raises(InputError, match="there is no collection 'x'"):
        graph.invoke({"question": DEPTH}, context={"collection": ["x"]})
    for wrong in (7, [], "", [""], [7]):  # none chosen must not mean all: a program may have found that none is allowed
        with pytest.raises(InputError, match="collection"):
            list(Assistant(load_settings(store=".cragraph")).ask(DEPTH, context={"collection": wrong}))


def test_corrections_stay_in_the_collection(filled: Shell, notes: Path) -> None:
    graph = create_graph(load_settings(store=".cragraph")).compile()
    options: dict[str, Any] = {
        "collection": "home",
        "confidence_threshold": 1.0,
        "max_crag_attempts": 3,
        "min_chunks": 1,
    }
    state = graph.invoke({"question": f"{DEPTH} And which ships brought tea?"}, context=options | {"show_claims": True})
    assert "sea.md" not in json.dumps(state)
    assert "10,935" not in json.dumps(state)


# -- over HTTP and by agents -------------------------------------------------------------------------------------------


@pytest.fixture
def app(tmp_path: Path) -> Any:
    app = create_app(load_settings(store=str(tmp_path / "store"), max_file_mb=0.01), files_in=tmp_path / "files")
    for name, text, query in ((b"sea.md", SEA, b"collection=work"), (b"tea.md", TEA, b"")):
        assert call(app, "POST", "/documents", query=query, **form(name, text.encode())).events[-1][0] == "done"
    return app


def sent(app: Any, method: str, path: str, body: Any = None) -> Any:
    return call(app, method, path, body=json.dumps(body).encode() if body else b"", headers=JSON)


def test_collections_over_http(app: Any, tmp_path: Path) -> None:
    assert [(one["name"], one["documents"]) for one in sent(app, "GET", "/collections").json] == [
        ("default", 1),
        ("work", 1),
    ]
    documents = {d["name"]: d for d in sent(app, "GET", "/documents").json}
    assert {name: d["collection"] for name, d in documents.items()} == {"sea.md": "work", "tea.md": "default"}
    for chosen, found in (("work", True), (["default"], False), ("all", True)):
        answer = sent(app, "POST", "/ask", {"question": DEPTH, "options": {"collection": chosen}})
        assert ("10,935" in answer.json["answer"]) is found, chosen
        passages = sent(app, "POST", "/search", {"query": "Mariana Trench", "collection": chosen}).json
        assert any(p["filename"] == "sea.md" for p in passages) is found
    assert sent(app, "POST", "/ask", {"question": DEPTH, "options": {"collection": "none"}}).status == 400
    source = documents["tea.md"]["source"]
    assert sent(app, "POST", "/documents/move", {"source": source, "to": "work"}).json == {"moved": [source]}
    assert sent(app, "POST", "/documents/move", {"source": "nowhere", "to": "work"}).status == 400
    assert sent(app, "PATCH", "/collections/work", {"name": "board"}).json == {"name": "board"}
    assert sent(app, "PATCH", "/collections/board", {"name": "a/b"}).status == 400
    assert len(sent(app, "DELETE", "/collections/board").json["removed"]) == 2
    assert sent(app, "DELETE", "/collections/board").status == 400
    assert not [path for path in (tmp_path / "files").rglob("*") if path.is_file()], "dropped files go with it"
    assert "collection" in sent(app, "GET", "/options").json["properties"]


def test_a_token_is_asked_of_those_who_manage_collections(tmp_path: Path) -> None:
    app = create_app(load_settings(store=str(tmp_path)), token="s3cret-of-the-sea", files_in=tmp_path / "files")
    for method, path in (("GET", "/collections"), ("PATCH", "/collections/x"), ("DELETE", "/collections/x")):
        assert call(app, method, path).status == 401
    assert call(app, "POST", "/documents/move").status == 401


async def test_agents_search_one_collection_and_list_them(filled: Shell, notes: Path) -> None:
    mcp = pytest.importorskip("mcp")
    from cragraph.mcp import Documents

    async with mcp.Client(Documents(load_settings(store=".cragraph"), notes)) as client:

        async def used(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            return result.is_error or result.structured_content, result

        told, _ = await used("collections")
        assert [held["name"] for held in told["result"]] == ["home", "work"]
        found, _ = await used("search", query="Mariana Trench", collection=["home"])
        assert {passage["source"] for passage in found["result"]} == {str(notes / "tea.md")}
        answer, _ = await used("ask", question=DEPTH, options={"collection": ["home"]})
        assert answer["abstained"]
        moved, _ = await used("ingest", path="tea.md", collection="work")
        assert moved["moved"] == [str(notes / "tea.md")]
        _, refused = await used("search", query="x", collection=["none"])
        assert "there is no collection 'none'" in refused.content[0].text
        resources = await client.list_resources()
        read = [(await client.read_resource(one.uri)).contents[0].text for one in resources.resources]
        assert sorted(text[:9] for text in read) == ["# Tea\n\nGr", "# The sea"]
