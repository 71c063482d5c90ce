"""Parses a chat model's reply as a record."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate
from math import ceil
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from cragraph.errors import ModelError

_TAG = "think|thinking|thought|reasoning"
_THOUGHT = re.compile(
    rf"<({_TAG})>.*?</\1>\s*"  # a whole thought
    rf"|\A.*?</(?:{_TAG})>\s*"  # a thought that the chat template opened
    rf"|<(?:{_TAG})>.*\Z",  # a thought cut off by the token limit
    re.S | re.I,
)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_QUOTES = {0x201C: '"', 0x201D: '"'}
RUN: Final = 160  # characters of a repetition at least; it must also repeat a text three times
DEEPEST = 32  # nested brackets at most: no record has as many, and the repair takes quadratic time


def without_thinking(text: str) -> str:
    """The text without ``<think>…</think>``, also if the first or the last tag is missing."""
    before = ""
    while before != text:
        before, text = text, _THOUGHT.sub("", text, count=1)
    return text.strip()


_ITEM: Final = re.compile(r"^\d+(?=[.)] )", re.M)


def repetition(text: str) -> int:
    """The end for a text that repeats the same words at least three times up to its end; 0 for other texts.

    Items that differ only in their numbers count as equal.
    """
    text = _ITEM.sub(lambda number: "0" * len(number[0]), text.rstrip())
    before = text.rfind(text[-40:], 0, -1)
    if len(text) < RUN or before < 0:
        return 0
    period = len(text) - 40 - before
    times = max(3, ceil(RUN / period))
    run = text[-period * times :]
    if run != run[:period] * times or not any(map(str.isalnum, run)):
        return 0
    start = len(text) - len(run)
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    end = start + period
    while text[end : end + 1] in tuple(".!?"):
        end += 1
    return end


def values_in(text: str) -> Iterator[Any]:
    """Every object and list in the text, likeliest first: in code fences, in prose, repaired if broken."""
    plain = without_thinking(text)
    for source in (*(match[1].strip() for match in _FENCE.finditer(plain)), plain):
        value = _read(source)
        if isinstance(value, list) and not source.startswith("["):
            yield from (item for item in value if isinstance(item, dict | list))
        if isinstance(value, dict | list):
            yield value


def _read(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text, strict=False)
    depths = accumulate((letter in "{[") - (letter in "}]") for letter in text)
    if not 0 < max(depths, default=0) <= DEEPEST:
        return None
    # Imported here: it takes a twentieth of a second, and only a broken reply needs it.
    import json_repair

    with suppress(ValueError, RecursionError):
        return json_repair.loads(text.translate(_QUOTES), skip_json_loads=True)
    return None


_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e[-+]?\d+)?", re.I)
_OUT_OF = re.compile(rf"({_NUMBER.pattern})\s*(?:/|out of|of|von)\s*({_NUMBER.pattern})", re.I)
_PERCENT = re.compile(rf"({_NUMBER.pattern})\s*(?:%|percent)", re.I)
_IN_WORDS = {"none": 0.0, "low": 0.2, "medium": 0.5, "moderate": 0.5, "high": 0.9, "full": 1.0, "perfect": 1.0}
_YES = frozenset({"true", "yes", "y", "1", "supported", "ja", "fully supported"})
_NO = frozenset({"false", "no", "n", "0", "unsupported", "not supported", "nein", "partially", "none", "null", ""})


def read_score(value: Any) -> float:
    """A score as 0..1 from 0.8, "0.8", "8/10", "80%", 8 (of ten) or 80 (of a hundred); other values are refused."""
    if isinstance(value, dict) and len(value) == 1:
        return read_score(next(iter(value.values())))
    text = str("" if value is None else value).strip()
    if isinstance(value, int | float):
        share = _share(float(value))
    elif (ratio := _OUT_OF.search(text)) and _float(ratio[2]) > 0:
        share = _float(ratio[1]) / _float(ratio[2])
    elif percent := _PERCENT.search(text):
        share = _float(percent[1]) / 100
    elif number := _NUMBER.search(text):
        share = _share(_float(number[0]))
    elif text.lower() in _IN_WORDS:
        share = _IN_WORDS[text.lower()]
    else:
        raise ValueError(f"no score in {text[:40]!r}")
    return min(1.0, max(0.0, share))


def _float(text: str) -> float:
    return float(text.replace(",", "."))


def _share(number: float) -> float:
    if not math.isfinite(number) or number > 100:
        raise ValueError(f"{number:g} is on no known scale" if math.isfinite(number) else "not a finite number")
    return number if number <= 1 else number / 10 if number <= 10 else number / 100


def read_whole(value: Any) -> int:
    """A whole number from 3, 3.0, "3", "[3]", "passage 3" or [3]; 0 for other values."""
    if isinstance(value, list | tuple):
        value = value[0] if value else 0
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    if isinstance(value, int | float):
        return int(value)
    number = re.search(r"\d{1,9}", str(value or ""))
    return int(number[0]) if number else 0


def read_flag(value: Any) -> bool:
    """True or false from a boolean, a number or a word; other values are refused."""
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = str(value if value is not None else "").strip().lower().rstrip(".!")
    if word in _YES or word in _NO:
        return word in _YES
    raise ValueError(f"neither true nor false: {word[:40]!r}")


def read_text(value: Any) -> str:
    """Text, also from null, a number or a list of lines."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return " ".join(read_text(item) for item in value)
    text = str("" if value is None else value).strip()
    return "" if text.lower() in ("none", "null", "n/a", "not found", "-", "...", "…") else text


def read_lines(value: Any) -> list[str]:
    """A list of texts, also from one text with a line each, or from objects with one text."""
    if isinstance(value, str):
        value = value.splitlines()
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        raise ValueError("no list of texts")
    lines = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", read_text(item)) for item in value)
    return [line for line in lines if line]


Score = Annotated[float, BeforeValidator(read_score)]
Whole = Annotated[int, BeforeValidator(read_whole)]
Flag = Annotated[bool, BeforeValidator(read_flag)]
Text = Annotated[str, BeforeValidator(read_text)]
Lines = Annotated[list[str], BeforeValidator(read_lines)]

Record = TypeVar("Record", bound=BaseModel)


class UnreadableError(ModelError):
    """A reply without the wanted record, even after repair."""


def parse(text: str, record: type[Record]) -> Record:
    """Read the first value in the text that fits `record`. Raises `UnreadableError` if there is none.

    The last row of a reply that was cut off is left out.
    """
    why = "no JSON in it"
    cut = without_thinking(text).rstrip("` \n")[-1:] not in ("}", "]")
    for value in [*values_in(text), *_bare(text, record)]:
        for shape in _shapes(value, record):
            try:
                return record.model_validate(shape)
            except ValidationError as error:
                first = error.errors()[0]
                why = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
            with suppress(ValidationError):
                if cut and len(first["loc"]) > 1 and first["loc"][1] == len(shape[first["loc"][0]]) - 1 > 0:
                    return record.model_validate({**shape, first["loc"][0]: shape[first["loc"][0]][:-1]})
    text = text if len(text) <= 80 else f"{text[:80]}…"
    raise UnreadableError(f"the reply {text!r} could not be read as {record.__name__}: {why}.")


@cache
def schema_of(record: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema for Ollama's `format`, bare, because small grammars are compiled faster and models copy them."""
    whole = record.model_json_schema(mode="serialization")
    plain: Mapping[str, Any] = _plain(whole, whole.get("$defs", {}))
    return plain


_NOISE = frozenset({"title", "$defs", "default", "description", "optional"})
MOST_ITEMS, MOST_LETTERS = 24, 600  # bounds for lists and texts without one: a small model may write without end


def _plain(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, Mapping):
        if "$ref" in part:
            return _plain(definitions[part["$ref"].rpartition("/")[2]], definitions)
        kept = {key: value for key, value in part.items() if key not in _NOISE}
        if "properties" in kept:
            properties = {name: _plain(value, definitions) for name, value in kept["properties"].items()}
            needed = [name for name, value in kept["properties"].items() if not value.get("optional")]
            return {**kept, "properties": properties, "required": needed}
        plain = {key: _plain(value, definitions) for key, value in kept.items()}
        bound = {"array": {"maxItems": MOST_ITEMS}, "string": {"maxLength": MOST_LETTERS}}
        return {**({} if "enum" in plain else bound.get(str(plain.get("type")), {})), **plain}
    return [_plain(item, definitions) for item in part] if isinstance(part, list) else part


def _bare(text: str, record: type[Record]) -> list[Any]:
    needed = [(name, info.annotation) for name, info in record.model_fields.items() if info.is_required()]
    plain = without_thinking(text).strip("`* \n")
    if len(needed) != 1 or not plain or any(bracket in plain for bracket in "{}[]"):
        return []
    name, kind = needed[0]
    return [{name: plain}] if len(plain) <= (300 if kind is str else 40) and "\n" not in plain else []


def _shapes(value: Any, record: type[BaseModel]) -> list[Any]:
    """The possible readings of a value: as it is, unwrapped, or as the rows of the record's only list."""
    needed = [name for name, info in record.model_fields.items() if info.is_required()]
    lists = [name for name in needed if "list" in str(record.model_fields[name].annotation).lower()]
    rows = lists[0] if len(lists) == 1 else ""
    value = _renamed(value)
    if isinstance(value, list):
        return ([{rows: value}] if rows else []) + (value if len(value) == 1 else [])
    shapes = [value]
    inner = next(iter(value.values())) if len(value) == 1 else None
    if isinstance(inner, dict):
        shapes.append(inner)
    elif isinstance(inner, list) and rows:
        shapes.append({rows: inner})
    if rows and isinstance(value.get(rows), dict):
        shapes.append({rows: [value[rows]]})
    elif rows and rows not in value:
        shapes.append({rows: [value]})  # one row instead of a list of rows
    return shapes


_BREAK = re.compile(r"[\s-]+|(?<=[a-z])(?=[A-Z])")  # between the words of a field's name


def _renamed(value: Any) -> Any:
    """Values with the records' field names, in nested rows too."""
    if isinstance(value, dict):
        return {_BREAK.sub("_", str(key).strip()).lower(): _renamed(item) for key, item in value.items()}
    return [_renamed(item) for item in value] if isinstance(value, list) else value
