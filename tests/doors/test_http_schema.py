"""Whatever a request to the HTTP interface holds, made up from its own schema, it is answered and never by a 500."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cragraph import load_settings
from cragraph.serve import FAILED, create_app
from tests.doors.conftest import SEA
from tests.support.asgi import call, form

HOSTILE = (
    "", " ", "\0", "\ud800", "the \udfff sea", "~nosuch/x", "../../x", "/", "[", "%", "a" * 300, "é\u0301\u202e", "{}",
    "null", "$and", "1e400", "How deep is the Mariana Trench?", "sea.md", "The trench is 9 metres deep [1]. It is 🐋.",
)  # fmt: skip
NAMES = (
    "text", "metadata", "page", "chunk_index", "start_index", "source", "filename", "doc_id", "title", "heading",
    "headings", "role", "content", "type", "retrieval_score", "rerank_score", "year", "$and", "$or",
    "$in", "$nin", "$gt", "$ne", "choice", "answer", "queries",
)  # fmt: skip

TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=40)
NUMBERS = st.integers(-3, 300) | st.sampled_from([10**30, -(2**63), 0.5, float("inf"), float("nan"), 1e308])
LEAVES = TEXTS | NUMBERS | st.booleans() | st.none()
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | TEXTS, inner, max_size=4),
    max_leaves=8,
)


@cache
def app() -> Any:
    """An application that holds a document, a small one, so that a question takes little time."""
    folder = Path(mkdtemp())
    made = create_app(load_settings(store=str(folder / "store"), max_file_mb=0.01), files_in=folder / "files")
    assert call(made, "POST", "/documents", **form(b"sea.md", SEA.encode())).events[-1][0] == "done"
    return made


@cache
def schema() -> Mapping[str, Any]:
    return dict(call(app(), "GET", "/openapi.json").json)


@cache
def options() -> Mapping[str, Any]:
    return dict(call(app(), "GET", "/options").json)


def fitting(wanted: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a JSON schema allows, or nearly."""
    if "$ref" in wanted:
        found: Any = root
        for step in wanted["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return fitting(found, root)
    if "anyOf" in wanted:
        return st.one_of([fitting(one, root) for one in wanted["anyOf"]])
    if "enum" in wanted:
        return st.sampled_from(wanted["enum"])
    match wanted.get("type"):
        case "string":
            return TEXTS
        case "integer":
            return st.integers(wanted.get("minimum", -3), wanted.get("maximum", 20)) | NUMBERS
        case "number":
            return st.floats(wanted.get("minimum", 0.1), wanted.get("maximum", 9)) | NUMBERS
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return st.lists(fitting(wanted.get("items", {}), root), max_size=3)
        case "object" if "properties" in wanted:
            fields = {
                name: fitting(options(), options()) if name == "options" else nearly(fitting(one, root))
                for name, one in wanted["properties"].items()
            }
            needed = {name: fields.pop(name) for name in wanted.get("required", ())}
            return st.fixed_dictionaries(needed, optional=fields)
        case "object":
            named = st.fixed_dictionaries({"text": TEXTS}, optional=dict.fromkeys(NAMES[1:], ANYTHING))
            return named | st.dictionaries(st.sampled_from(NAMES) | TEXTS, ANYTHING, max_size=4)
    return ANYTHING


def nearly(wanted: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what is wanted, now and then anything."""
    return st.integers(0, 7).flatmap(lambda dice: wanted if dice else ANYTHING)


def operations() -> list[tuple[str, str]]:
    return [(method.upper(), path) for path, ways in schema()["paths"].items() for method in ways]


OPERATIONS = [
    ("POST", "/ask"), ("POST", "/ask/stream"), ("POST", "/ask/resume"), ("POST", "/verify"), ("POST", "/search"),
    ("GET", "/documents"), ("POST", "/documents"), ("DELETE", "/documents"), ("GET", "/options"),
    ("POST", "/documents/move"), ("GET", "/collections"), ("PATCH", "/collections/{name}"),
    ("DELETE", "/collections/{name}"), ("GET", "/history"), ("DELETE", "/history"), ("DELETE", "/history/{number}"),
    ("PUT", "/history/{number}/kept"), ("DELETE", "/history/{number}/kept"),
]  # fmt: skip


def test_every_operation_of_the_schema_is_tried() -> None:
    assert sorted(operations()) == sorted(OPERATIONS)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_request_is_answered_by_a_500(method: str, path: str, data: st.DataObject) -> None:
    about, sent = schema()["paths"][path][method.lower()], {}
    content = about.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        value = data.draw(nearly(fitting(content["application/json"]["schema"], schema())), "body")
        text = json.dumps(value, ensure_ascii=data.draw(st.booleans(), "as ASCII"))
        sent = {"body": text.encode("utf-8", "surrogatepass"), "headers": {"content-type": "application/json"}}
    elif content:
        name = data.draw(TEXTS, "name").encode("utf-8", "surrogatepass").replace(b"\r", b"").replace(b"\n", b"")
        suffix = data.draw(st.sampled_from([b"", b".md", b".csv", b".json", b".html", b".docx"]), "suffix")
        sent = form(
            name + suffix, data.draw(st.sampled_from([b"", SEA.encode(), b"\xff\0", b"{", b"a,b\n1,2\n"]), "file")
        )
    for name in [parameter["name"] for parameter in about.get("parameters", ()) if parameter["in"] == "path"]:
        value = data.draw(st.sampled_from(["1", "-1", "9" * 30, "nowhere", *HOSTILE]) | TEXTS, name)
        path = path.replace(f"{{{name}}}", value.encode("utf-8", "replace").decode().replace("/", "_") or "x")
    named = [parameter["name"] for parameter in about.get("parameters", ()) if parameter["in"] == "query"]
    values = {name: data.draw(st.sampled_from(HOSTILE[2:]) | TEXTS, name) for name in named}
    # "/" would take out what the next examples are asked about.
    query = "&".join(
        f"{k}={quote_from_bytes(v.encode('utf-8', 'surrogatepass'))}" for k, v in values.items() if v != "/"
    )
    answer = call(app(), method, path, query=query.encode(), **sent)
    assert (answer.raised, answer.status != 500) == ("", True)
    assert FAILED.encode() not in answer.body
    answer.body.decode()
    if answer.status >= 400:
        assert answer.error
    elif "event-stream" in answer.headers["content-type"]:
        assert answer.events[-1][0] in ("done", "error", "review")
    else:
        json.loads(answer.body, parse_constant=pytest.fail)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(
    st.dictionaries(
        st.sampled_from(["host", "origin", "cookie", "authorization", "content-type", "sec-fetch-site", "accept"]),
        st.sampled_from(
            ["[", "http://[", "127.0.0.1:x", "[::1%25]:80", "null", "cross-site", "Bearer", "=;=", "::1", ""]
        )
        | st.binary(max_size=20).map(lambda value: value.replace(b"\n", b"")),
    )
)
def test_no_header_is_answered_by_a_500(headers: dict[str, Any]) -> None:
    for method, path in (("GET", "/"), ("GET", "/options"), ("POST", "/search"), ("POST", "/documents")):
        answer = call(app(), method, path, headers=headers, body=b"{}")
        assert (answer.raised, answer.status < 500) == ("", True)
