"""Reading a model's reply as a flat record, and asking once more when it cannot be read."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cragraph.errors import ModelError
from cragraph.models.chat_call import ChatCaller, Messages
from cragraph.models.json_repair import values_in
from cragraph.models.thinking import without_thinking
from cragraph.protocols import Notes

Record = TypeVar("Record", bound=BaseModel)

REPAIR = (
    "That could not be read as the JSON that was asked for ({why}). Reply again with the JSON object only: no prose, "
    "no code fence, no comments."
)


class UnreadableError(ModelError):
    """A reply that holds no such record, after mending."""


def parse(text: str, record: type[Record]) -> Record:
    """Read the first value in the text that fits `record`; raise `UnreadableError` where there is none.

    Names are compared without case, spaces and dashes; a bare list is taken for the record's only list; a
    record wrapped in one more object is unwrapped.
    """
    why = "no JSON in it"
    for value in [*values_in(text), *_bare(text, record)]:
        for shape in _shapes(value, record):
            try:
                return record.model_validate(shape)
            except ValidationError as error:
                first = error.errors()[0]
                why = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    raise UnreadableError(f"the reply {_short(text)!r} could not be read as {record.__name__}: {why}.")


def ask(
    caller: ChatCaller, messages: Messages, record: type[Record], notes: Notes, *, temperature: float = 0.0
) -> Record:
    """Call the model for a record, with one repair try; raise `UnreadableError` when that cannot be read
    either.
    """
    schema = schema_of(record)
    reply = caller(messages, notes, schema=schema, temperature=temperature)
    try:
        return parse(reply.text, record)
    except UnreadableError as error:
        why = str(error).rpartition(": ")[2]
    repair = [*messages, ("ai", reply.text[:2000] or "(nothing)"), ("human", REPAIR.format(why=why))]
    return parse(caller(repair, notes, schema=schema, temperature=temperature).text, record)


@cache
def schema_of(record: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema for Ollama's `format`: definitions inlined, titles and defaults gone, because small
    grammars are compiled faster and models copy what they see."""
    whole = record.model_json_schema(mode="serialization")
    plain: Mapping[str, Any] = _plain(whole, whole.get("$defs", {}))
    return plain


_NOISE = frozenset({"title", "$defs", "default", "description", "minLength", "maxLength", "optional"})


def _plain(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, Mapping):
        if "$ref" in part:
            return _plain(definitions[part["$ref"].rpartition("/")[2]], definitions)
        kept = {key: value for key, value in part.items() if key not in _NOISE}
        if "properties" in kept:
            properties = {name: _plain(value, definitions) for name, value in kept["properties"].items()}
            needed = [name for name, value in kept["properties"].items() if not value.get("optional")]
            return {**kept, "properties": properties, "required": needed}
        return {key: _plain(value, definitions) for key, value in kept.items()}
    return [_plain(item, definitions) for item in part] if isinstance(part, list) else part


def _bare(text: str, record: type[Record]) -> list[Any]:
    needed = [(name, info.annotation) for name, info in record.model_fields.items() if info.is_required()]
    plain = without_thinking(text).strip("`* \n")
    if len(needed) != 1 or not plain or any(bracket in plain for bracket in "{}[]"):
        return []
    name, kind = needed[0]
    return [{name: plain}] if len(plain) <= (300 if kind is str else 40) and "\n" not in plain else []


def _shapes(value: Any, record: type[BaseModel]) -> list[Any]:
    needed = [(name, str(info.annotation)) for name, info in record.model_fields.items() if info.is_required()]
    lists = [name for name, kind in needed if "list" in kind.lower()]
    if isinstance(value, list):
        wrapped = [{lists[0]: _renamed(value, record)}] if len(lists) == 1 else []
        return wrapped + ([_renamed(value[0], record)] if len(value) == 1 else [])
    shapes = [_renamed(value, record)]
    if len(value) == 1:
        inner = next(iter(value.values()))
        if isinstance(inner, dict):
            shapes.append(_renamed(inner, record))
        elif isinstance(inner, list) and len(lists) == 1:
            shapes.append({lists[0]: _renamed(inner, record)})
    if len(lists) == 1 and isinstance(shapes[0].get(lists[0]), dict):
        shapes.append({lists[0]: [shapes[0][lists[0]]]})
    elif len(lists) == 1 and lists[0] not in shapes[0]:
        shapes.append({lists[0]: [shapes[0]]})  # one row where a list of rows was asked for
    return shapes


def _renamed(value: Any, record: type[BaseModel]) -> Any:
    """Field names as the records write them, in nested rows too."""
    if isinstance(value, dict):
        return {_key(str(key)): _renamed(item, record) for key, item in value.items()}
    return [_renamed(item, record) for item in value] if isinstance(value, list) else value


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())).lower()


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
