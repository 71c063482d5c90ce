"""What comes in at the HTTP interface: hostile headers, bodies and names, tokens that keep nobody out, uploads."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph import Report, load_settings, verify
from cragraph.errors import InputError, SettingsError, StoreError
from cragraph.guard import Guard, checked_token, listen, token_for, whole_json, with_token
from cragraph.serve import FAILED, create_app
from cragraph.serve.dropped import Dropped, checked_name
from cragraph.trust import trust
from tests.doors.conftest import SEA, TEA, Shell
from tests.support.asgi import JSON, Answer, call, form
from tests.support.cases import cases

TOKEN = "a-token-of-the-sea+/="


@pytest.fixture
def app(tmp_path: Path) -> Any:
    return create_app(load_settings(store=str(tmp_path / "store"), max_file_mb=0.01), files_in=tmp_path / "files")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An application that holds a document; what it is asked must leave it there."""
    folder = tmp_path_factory.mktemp("held")
    app = create_app(load_settings(store=str(folder / "store"), max_file_mb=0.01), files_in=folder / "files")
    assert call(app, "POST", "/documents", **form(b"sea.md", SEA.encode())).events[-1][0] == "done"
    return app


def ask(app: Any, path: str, body: str | bytes) -> Answer:
    return call(app, "POST", path, body=body if isinstance(body, bytes) else body.encode(), headers=JSON)


def dropped(app: Any, name: bytes, text: str) -> dict[str, Any]:
    """The report of an upload."""
    kind, report = call(app, "POST", "/documents", **form(name, text.encode())).events[-1]
    assert kind == "done", report
    return dict(report)


def kept(folder: Path) -> list[Path]:
    return [path for path in (folder / "files").rglob("*") if path.is_file()]


# -- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token", ["", "  ", " " * 20, "short", "x" * 15, "with space in the token", "ümlaut-in-the-token"]
)
def test_a_token_that_keeps_nobody_out_is_refused_at_every_door(
    token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    with pytest.raises(SettingsError, match="wanted at least 16"):
        create_app(load_settings(store=None), token=token, files_in=tmp_path)
    with pytest.raises(SettingsError, match="wanted at least 16"):
        Guard(None, token=token, hosts=())
    for command in (("serve",), ("mcp", "--http")):
        ran = shell(*command, "--port", "1", "--token", token)
        assert (ran.code, "--token came" in ran.err, "wanted at least 16" in ran.err) == (2, True, True), ran.err
        monkeypatch.setenv("CRAG_TOKEN", token)
        ran = shell(*command, "--port", "1")
        assert (ran.code, "CRAG_TOKEN came" in ran.err) == (2, True), ran.err
        monkeypatch.delenv("CRAG_TOKEN")


def test_a_token_is_made_up_where_others_can_reach_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "127.0.0.2", "::", "example.org"):
        assert len(checked_token(token_for(host, None) or "")) == 32
    assert token_for("127.0.0.1", None) is None
    assert token_for("127.0.0.1", TOKEN) == TOKEN
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"CRAG_TOKEN={TOKEN[::-1]}\nCRAG_MODE=high\n")
    assert token_for("127.0.0.1", None) is None  # a folder's own, which nobody trusted
    trust(tmp_path / ".env")
    assert token_for("127.0.0.1", None) == TOKEN[::-1]
    assert load_settings().mode == "high"
    monkeypatch.setenv("CRAG_TOKEN", TOKEN)
    assert token_for("127.0.0.1", None) == token_for("0.0.0.0", None) == TOKEN


def test_an_empty_host_does_not_open_every_address() -> None:
    with pytest.raises(SettingsError, match="--host came empty"):
        listen(lambda *_: None, host=" ", port=0, token=None, tell=lambda *_: None)


def test_the_printed_address_lets_a_browser_in_whatever_signs_the_token_has(tmp_path: Path) -> None:
    app = create_app(load_settings(store=None), token=TOKEN, files_in=tmp_path)
    query = with_token("http://127.0.0.1:1", TOKEN).partition("?")[2]
    moved = call(app, "GET", "/", query=query.encode())
    assert moved.status == 303
    cookie = moved.headers["set-cookie"].partition(";")[0]
    assert call(app, "GET", "/options", headers={"cookie": cookie}).status == 200
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert call(app, "GET", "/options", headers={"authorization": f"{scheme} {TOKEN}"}).status == 200
    for header in ({}, {"cookie": "cragraph_token="}, {"authorization": "Bearer "}, {"authorization": b"Bearer \xff"}):
        assert call(app, "GET", "/options", headers=header).status == 401


# -- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/search", "/documents"])
def test_a_request_that_announces_too_much_is_refused_before_it_comes(app: Any, path: str) -> None:
    refused = call(app, "POST", path, body=b"{", headers=JSON | {"content-length": "99999999999"})
    assert (refused.status, "larger than" in refused.error) == (413, True)


@pytest.mark.parametrize(
    ("header", "value", "code"),
    [
        ("host", "[", 421),
        ("host", "[::1", 421),
        ("host", "", 421),
        ("host", b"\xff\xfe", 421),
        ("host", "127.0.0.1.evil.example", 421),
        ("origin", "http://[", 403),
        ("origin", "http://[::1", 403),
        ("origin", b"\xff", 403),
        ("origin", "null", 403),
        ("cookie", b"\xff=;;", 401),
        ("authorization", b"\xff", 401),
    ],
)
def test_headers_that_cannot_be_read_are_refused_before_anything_else(
    tmp_path: Path, header: str, value: str | bytes, code: int
) -> None:
    app = create_app(load_settings(store=None), token=TOKEN, files_in=tmp_path)
    for method, path in (("GET", "/"), ("POST", "/search"), ("DELETE", "/documents")):
        answer = call(app, method, path, headers={header: value})
        assert (answer.status, bool(answer.error), answer.raised) == (code, True, "")


HALF = r"the \ud83d sea \udc00"


@pytest.mark.parametrize(("path", "body"), cases("doors/doors", "half a character"))
def test_half_a_character_is_answered_like_any_other_sign(held: Any, path: str, body: Any) -> None:
    answer = ask(held, path, json.dumps(body).replace("\\\\", "\\"))
    assert (answer.status, answer.raised) == (200, ""), answer.body
    answer.body.decode()
    assert b"event: error" not in answer.body


@pytest.mark.parametrize(
    ("path", "body", "code", "said"),
    [
        ("/search", r'{"query": "sea", "\ud800": 1}', 422, "\ufffd: Extra inputs"),
        ("/search", r'{"query": "sea", "where": {"\ud800": 1}}', 400, "no field '\ufffd'"),
        ("/search", '{"query": "sea", "k": 1e400}', 422, "k: wanted a finite number"),
        ("/search", '{"query": "sea", "where": {"page": NaN}}', 400, "finite number"),
        ("/search", b"\xff\xfe{", 422, "JSON"),
        ("/search", "[" * 100_000, 400, "parsing the body"),
        ("/search", '{"query": ' + "9" * 5000 + "}", 400, "parsing the body"),
        ("/verify", '{"answer": "x", "passages": [["x"]]}', 422, "passages.0"),
        ("/verify", '{"answer": "x", "passages": [{"text": ["x"]}]}', 400, "passage 0 is a dict without `text`"),
        ("/verify", '{"answer": "x", "passages": [{"text": "x", "metadata": [1]}]}', 400, "metadata of passage 0"),
        (
            "/verify",
            '{"answer": "x", "passages": [{"text": "x", "chunk_index": "y"}]}',
            400,
            "chunk_index of passage 0",
        ),
        ("/ask", '{"question": "x", "options": {"judge": "foo"}}', 400, "judge came as 'foo': wanted one of auto"),
        ("/ask", '{"question": "x", "options": {"top_k": 99}}', 400, "top_k came as 99: wanted 1 to 50"),
        ("/ask", '{"question": "x", "options": {"treshold": 1}}', 400, "no option 'treshold'"),
        ("/ask/stream", '{"question": "x", "options": {"mode": 7}}', 400, "wanted low, balanced or high"),
        ("/ask/resume", r'{"run": "\ud800", "decision": "\ud800"}', 400, "no waiting run of this name"),
    ],
)
def test_what_cannot_be_answered_is_said_in_plain_words(
    held: Any, path: str, body: str | bytes, code: int, said: str
) -> None:
    answer = ask(held, path, body)
    assert (answer.status, answer.raised) == (code, ""), answer.body
    assert said in answer.error
    assert "pydantic" not in answer.error


@pytest.mark.parametrize("source", [b"~nosuch/x", b"%00", b"%ed%a0%80", b"%ff", b"a" * 5000, b"~", b"%20"])
def test_what_is_not_in_the_store_cannot_be_forgotten(held: Any, source: bytes) -> None:
    answer = call(held, "DELETE", "/documents", query=b"source=" + source)
    assert (answer.status, answer.raised, bool(answer.error)) == (400, "", True)


def test_a_fault_of_the_server_is_said_without_its_words(tmp_path: Path) -> None:
    app = create_app(load_settings(store=None), files_in=tmp_path)

    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError("/home/somebody/secret")

    answer = call(app, "GET", "/broken")
    assert (answer.status, answer.error) == (500, "The server failed; its log says why.")


@given(st.text(alphabet=st.sampled_from('\\ud8dcDC90"/ \n🐋é'), max_size=60))
def test_mending_a_json_text_changes_halves_of_characters_and_nothing_else(text: str) -> None:
    mended = whole_json(text)
    assert whole_json(mended) == mended
    for quoted in (text, mended):
        try:
            read = json.loads(f'"{quoted}"', strict=False)
        except ValueError:
            continue
        if quoted is mended:
            assert not any("\ud800" <= sign <= "\udfff" for sign in read)
        wanted = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in read)
        assert json.loads(f'"{mended}"', strict=False) == wanted


# -- uploads ---------------------------------------------------------------------------------------------------------


def test_a_file_of_the_same_name_replaces_no_other(app: Any, tmp_path: Path) -> None:
    [first] = dropped(app, b"notes.md", SEA)["added"]
    second = dropped(app, b"notes.md", TEA)
    assert second["same_name"] == [first]
    assert Path(first).read_text() == SEA
    assert sorted(path.read_text() for path in kept(tmp_path)) == sorted([SEA, TEA])
    names = [document["name"] for document in call(app, "GET", "/documents").json]
    assert len({*names}) == 2
    assert all(name.endswith("/notes.md") for name in names)
    again = dropped(app, b"notes.md", SEA)
    assert again["unchanged"] == [first]
    assert "10,935" in ask(app, "/ask", '{"question": "How deep is the Mariana Trench?"}').json["answer"]
    call(app, "DELETE", "/documents", query=f"source={first}".encode())
    assert [path.read_text() for path in kept(tmp_path)] == [TEA]


@pytest.mark.parametrize(
    ("name", "content"), [(b"broken.docx", "no archive"), (b"broken.json", "{"), (b"run.exe", "MZ"), (b"void.md", "")]
)
def test_a_file_that_cannot_be_read_is_not_kept(app: Any, tmp_path: Path, name: bytes, content: str) -> None:
    report = dropped(app, name, content)
    assert report["failed"] or report["skipped"]
    assert not list((tmp_path / "files").iterdir())


def test_a_file_that_cannot_be_ingested_is_not_kept(app: Any, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    answer = call(app, "POST", "/documents", **form(b"sea.md", SEA.encode()))
    assert answer.events[-1][0] == "error"
    assert not list((tmp_path / "files").iterdir())


@pytest.mark.parametrize(
    "name",
    [b"a\x00b.md", b"x" * 300 + b".md", "é".encode() * 130 + b".md", b"a\nb.md", b"..", b".hidden", b"a\xed\xa0\x80.md",
     "\u202efdp.md".encode(), b"\x1b[2J.md"],
)  # fmt: skip
def test_a_name_that_no_file_should_have_is_refused(app: Any, tmp_path: Path, name: bytes) -> None:
    answer = call(app, "POST", "/documents", **form(name, b"# Sea"))
    assert (answer.status, answer.raised) == (400, "")
    assert "wanted a name" in answer.error
    assert not (tmp_path / "files").exists() or not list((tmp_path / "files").iterdir())


def test_what_is_kept_is_for_its_owner_alone(app: Any, tmp_path: Path) -> None:
    dropped(app, b"sea.md", SEA)
    for path in [tmp_path / "files", *(tmp_path / "files").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


@pytest.mark.parametrize("way", ["Report.save", "ask --report", "verify --report", "verify --out", "verify --junit"])
def test_reports_are_for_their_owner_alone(tmp_path: Path, notes: Path, shell: Shell, way: str) -> None:
    target = tmp_path / "made"
    if way == "Report.save":
        Report(verify("The sea is salt.", [SEA])).save(target)
    elif way == "ask --report":
        shell("ask", "Why is the sea salt?", "--source", str(notes), "--report", str(target))
    else:
        row = {"answer": "The sea is salt.", "passages": [SEA]}
        (tmp_path / "rows.jsonl").write_text(json.dumps(row))
        shell("verify", "--jsonl", "rows.jsonl", way.split()[1], str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_only_what_was_dropped_is_deleted_when_it_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    own = tmp_path / "files" / "own.md"
    own.write_text(SEA)
    folder = Dropped(tmp_path / "files")
    with (tmp_path / "sea.md").open("w+b") as content:
        content.write(SEA.encode())
        content.seek(0)
        path, new = folder.keep("sea.md", content)
    assert new
    changed = path.with_name("other.md")
    changed.write_text("changed by hand")
    for other in (own, changed, tmp_path / "sea.md", tmp_path / "files"):
        folder.discard(other)
        assert other.exists()
    folder.discard(path)
    assert not path.exists()
    assert changed.exists()


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("no folder")
    with (tmp_path / "sea.md").open("w+b") as content, pytest.raises(StoreError, match="choose another with --files"):
        Dropped(tmp_path / "files").keep("sea.md", content)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files", "sea.md"]


def test_one_request_deletes_one_document_and_no_folder(app: Any, tmp_path: Path) -> None:
    sources = [*dropped(app, b"sea.md", SEA)["added"], *dropped(app, b"tea.md", TEA)["added"]]
    for broad in ("/", str(tmp_path), str(Path(sources[0]).parent), ".", "sea.md", f"{sources[0]}/"):
        answer = call(app, "DELETE", "/documents", query=f"source={broad}".encode())
        assert (answer.status, "There is no document" in answer.error) == (400, True)
    assert len(kept(tmp_path)) == len(call(app, "GET", "/documents").json) == 2
    assert call(app, "DELETE", "/documents", query=f"source={sources[0]}".encode()).json == {"removed": sources[:1]}
    assert [path.name for path in kept(tmp_path)] == ["tea.md"]


def test_a_folder_before_the_name_is_dropped_with_every_kind_of_slash() -> None:
    assert checked_name("C:\\docs\\report.pdf") == checked_name("../../report.pdf") == "report.pdf"
    with pytest.raises(InputError):
        checked_name(None)


@pytest.mark.parametrize(
    "decision",
    cases("doors/doors", "a run that waits"))  # fmt: skip
def test_a_run_that_waits_takes_any_decision_without_failing(held: Any, decision: Any) -> None:
    options = {"on_low_confidence": "ask", "confidence_threshold": 1, "max_crag_attempts": 0}
    asked = ask(held, "/ask/stream", json.dumps({"question": "How deep is the Mariana Trench?", "options": options}))
    kind, waits = asked.events[-1]
    assert kind == "review"
    for one in (decision, "accept"):
        if kind == "review":
            answer = ask(held, "/ask/resume", json.dumps({"run": waits["run"], "decision": one}))
            assert (answer.status, answer.raised) == (200, "")
            kind, waits = answer.events[-1]
            assert waits.get("error") != FAILED
    assert kind in ("done", "error")
