"""What a test server answers: replies, faults, and the scripts that choose among them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

Fault = Literal["reset", "stall", "garbage", "endless", "unfinished"]
"""How a stream goes wrong after `Reply.after` tokens.

`reset`: the connection is reset. `stall`: nothing more is sent, the connection stays open. `garbage`: bytes
that are not JSON. `endless`: the content is repeated until `num_predict`, or for ever. `unfinished`: the
stream ends politely without its last line (`"done": true`).
"""


@dataclass(frozen=True)
class Reply:
    """One answer of the server.

    `content` is text, sent as it is whatever `format` asked for, so that a test can play a model that
    ignores it; a mapping or a list is written as JSON and conformed to the schema in `format`, as
    constrained decoding would. `status` from 400 on answers with `error` as Ollama does; `error` with status
    200 is sent in mid-stream, after `after` tokens. `delay_s` passes before the first byte. `cut` splits the
    body into network writes of so many bytes. `logprobs` are told where they are asked for.
    """

    content: str | Mapping[str, Any] | Sequence[Any] = ""
    thinking: str = ""
    status: int = 200
    error: str = ""
    fault: Fault | None = None
    after: int = 0
    delay_s: float = 0.0
    cut: int | None = None
    logprobs: Sequence[Any] = ()

    def text(self, schema: Any) -> str:
        """The content as the model would write it under `format`."""
        if isinstance(self.content, str):
            return self.content
        return json.dumps(conform(self.content, schema), ensure_ascii=False)


@dataclass
class Request:
    """One request that the server received.

    `seen` is the prompt after truncation to `num_ctx`: what a model would have read. `broken` turns true
    when the caller hung up before the end.
    """

    path: str
    body: Mapping[str, Any]
    model: str = ""
    seen: str = ""
    prompt_tokens: int = 0
    truncated: bool = False
    broken: bool = False
    started: float = 0.0
    ended: float = 0.0
    messages: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        """All message contents, as they were sent."""
        return "\n".join(str(message.get("content", "")) for message in self.messages)

    @property
    def options(self) -> Mapping[str, Any]:
        """The sampling and context options."""
        return self.body.get("options") or {}

    @property
    def format(self) -> Any:
        """The JSON schema (or "json") that was asked for, None without one."""
        return self.body.get("format")

    @property
    def fields(self) -> list[str]:
        """The property names of the schema that was asked for: a handy way to tell one kind of call from
        another.
        """
        schema = self.format
        return list(schema.get("properties", {})) if isinstance(schema, Mapping) else []


Answer = str | Mapping[str, Any] | Reply
Script = Answer | Sequence[Answer] | Callable[[Request], Answer] | None


def as_reply(answer: Answer) -> Reply:
    """Read any way of writing an answer as a `Reply`."""
    return answer if isinstance(answer, Reply) else Reply(answer)


def player(script: Script) -> Callable[[Request], Reply]:
    """Turn a script into a function of the request.

    One answer is repeated for ever; a sequence is played once, in order, and then answers 500; a callable
    decides request by request; None echoes the end of the prompt.
    """
    if script is None:
        return lambda request: Reply(f"You said: {request.prompt[-80:]}")
    if isinstance(script, str | Mapping | Reply):
        reply = as_reply(script)
        return lambda _: reply
    if callable(script):
        return lambda request: as_reply(script(request))
    return _in_order(script)


def by_pattern(rules: Mapping[str, Script]) -> Callable[[Request], Reply]:
    """Choose a script by the first regular expression found in the prompt; no match answers 500."""
    compiled = [(re.compile(pattern, re.S), player(script)) for pattern, script in rules.items()]

    def choose(request: Request) -> Reply:
        for pattern, play in compiled:
            if pattern.search(request.prompt):
                return play(request)
        return Reply(status=500, error=f"no rule matches the prompt that ends with {request.prompt[-80:]!r}")

    return choose


def by_fields(rules: Mapping[str, Script]) -> Callable[[Request], Reply]:
    """Choose a script by a field of the requested schema; the rule named "" answers requests without a
    schema.
    """
    players = {name: player(script) for name, script in rules.items()}

    def choose(request: Request) -> Reply:
        asked = request.fields
        for name, play in players.items():
            if name in asked or (name == "" and not asked):
                return play(request)
        return Reply(status=500, error=f"no rule for a schema with the fields {asked}")

    return choose


def _in_order(answers: Sequence[Answer]) -> Callable[[Request], Reply]:
    left, lock = list(answers), Lock()

    def play(_: Request) -> Reply:
        with lock:
            if left:
                return as_reply(left.pop(0))
        return Reply(status=500, error=f"the script of {len(answers)} replies is used up")

    return play


_EMPTY: Mapping[str, Any] = {
    "string": "",
    "number": 0,
    "integer": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def conform(value: Any, schema: Any) -> Any:
    """Shape a value as constrained decoding would: only known properties, every required one present."""
    if not isinstance(schema, Mapping):
        return value
    schema = _resolved(schema, schema)
    return _conform(value, schema, schema)


def _conform(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    schema = _resolved(schema, root)
    if isinstance(value, Mapping) and "properties" in schema:
        names = schema["properties"]
        kept = {name: _conform(value[name], part, root) for name, part in names.items() if name in value}
        for name in schema.get("required", []):
            part = _resolved(names[name], root)
            kept.setdefault(name, (part.get("enum") or [_EMPTY.get(part.get("type", ""), "")])[0])
        return kept
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_conform(item, schema["items"], root) for item in value]
    return value


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return root.get("$defs", {}).get(name, schema) if name else schema
