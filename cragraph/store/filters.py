"""Metadata filters: parsed from text, checked against the fields of a store, and evaluated in SQL or in Python.

A passage without the field is not equal to any value, and the text "1" is not the number 1.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, Final
from unicodedata import normalize

from cragraph.errors import InputError, encodable
from cragraph.store.records import DEFAULT, FIELD, FIELDS
from cragraph.types import Passage

Where = Mapping[str, Any] | None  # a filter in Chroma's language; None lets everything through
RANGES: Final[Mapping[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "$gt": (">", operator.gt),
    "$gte": (">=", operator.ge),
    "$lt": ("<", operator.lt),
    "$lte": ("<=", operator.le),
}
OPERATORS: Final = ("$eq", "$ne", "$in", "$nin", *RANGES)
DEEPEST: Final = 16  # nesting of a filter at most: SQLite reads no more than some hundred nested brackets
_TOGETHER: Final = 100  # parts in one bracket at most: SQLite takes no more than a thousand


def checked_where(where: Where, fields: Mapping[str, str]) -> dict[str, Any] | None:
    """The filter with one key per level and values in the type of their field; None for an empty filter.

    `fields` are the names and types of `Store.fields()`. Several keys, or several operators on one field, mean "and".
    Raises InputError for an unknown field, operator or value.
    """
    return _joined("$and", _clauses(where, fields)) if where else None


def _clauses(where: Any, fields: Mapping[str, str], depth: int = 0) -> list[dict[str, Any]]:
    if depth > DEEPEST:
        raise InputError(
            f"a filter is nested more than {DEEPEST} deep; wanted one that is flat: put its parts together."
        )
    if not isinstance(where, Mapping) or not where:
        raise InputError(f'a filter came as {where!r}; wanted an object such as {{"year": 2023}}.')
    clauses: list[dict[str, Any]] = []
    for key, value in where.items():
        if key in ("$and", "$or"):
            if not isinstance(value, list | tuple) or not value:
                raise InputError(
                    f'{key} came with {value!r}; wanted a list of filters, {{"{key}": [{{"year": 1}}, …]}}.'
                )
            clauses.append(_joined(key, [_joined("$and", _clauses(part, fields, depth + 1)) for part in value]))
        elif key not in fields:
            close = get_close_matches(str(key), fields, n=1)
            hint = f"; did you mean {close[0]}?" if close else "."
            known = ", ".join(f"{name} ({type_})" for name, type_ in sorted(fields.items()))
            raise InputError(
                f"there is no field {str(key)!r} in the store{hint} Fields that exist: "
                f"{known or 'none, the store is empty'}."
            )
        else:
            tests = value if isinstance(value, Mapping) else {"$eq": value}
            clauses += [{key: {name: _operand(key, name, item, fields[key])}} for name, item in tests.items()]
    if not clauses:
        raise InputError(f'the filter {dict(where)!r} tests nothing; wanted an object such as {{"year": 2023}}.')
    return clauses


def _joined(name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {name: parts}


def _operand(key: str, name: str, operand: Any, type_: str) -> Any:
    if name not in OPERATORS:
        raise InputError(f"{name!r} on {key} is no operator; wanted one of {', '.join(OPERATORS)}.")
    if name in ("$eq", "$ne"):
        return _value(key, operand, type_)
    if name in RANGES:
        if "number" not in type_:
            raise InputError(f"{key} holds {type_}; wanted a field of numbers for a range: compare it with = or in.")
        value = _number(operand) if isinstance(operand, str) else operand
        if not _is_number(value) or value in (math.inf, -math.inf) or value != value:
            raise InputError(f"{key} was compared with {operand!r}; wanted a number.")
        return value
    if not isinstance(operand, list | tuple | set | frozenset) or not operand:
        raise InputError(f'{name} on {key} came with {operand!r}; wanted a list of values, {{"$in": ["a", "b"]}}.')
    return [_value(key, item, type_) for item in operand]


def _value(key: str, operand: Any, type_: str) -> str | int | float | bool:
    """The operand in the field's type, if the field has one type and the operand can be converted."""
    if not isinstance(operand, str | int | float):
        raise InputError(f"{key} was compared with {operand!r}; wanted text, a number, or true or false.")
    if isinstance(operand, float) and not math.isfinite(operand):
        raise InputError(f"{key} was compared with {operand}; wanted a finite number.")
    if type_ == "text" and not isinstance(operand, str):
        return str(operand).lower() if isinstance(operand, bool) else str(operand)
    if type_ == "number" and isinstance(operand, str):
        if (number := _number(operand)) is None:
            raise InputError(f"{key} holds numbers and was compared with {operand!r}; wanted a number.")
        return number
    if type_ == "true/false" and not isinstance(operand, bool):
        word = str(operand).lower()
        if word not in ("true", "false", "1", "0", "yes", "no"):
            raise InputError(f"{key} was compared with {operand!r}; wanted true or false.")
        return word in ("true", "1", "yes")
    return operand


def _number(text: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(text.replace("_", "x"))  # Python's 1_000 is no number to a person
        except ValueError:
            continue
    return None


# -- in SQL and in Python ----------------------------------------------------------------------------------------------


def condition(where: Where) -> tuple[str, list[Any]]:
    """A SQL condition on `chunks AS c` and its values; `where` is checked, and None lets everything through."""
    if not where:
        return "1", []
    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        return _either([condition(part) for part in value], key[1:].upper())
    ((name, operand),) = value.items()
    if key == FIELD:
        options = operand if name in ("$in", "$nin") else [operand]
        among = f"c.collection IN (SELECT id FROM collections WHERE name IN ({','.join('?' * len(options))}))"
        return f"NOT {among}" if name in ("$ne", "$nin") else among, [encodable(str(one)) for one in options]
    own = [] if key in FIELDS else [f'$."{key}"']
    column = f"c.{key}" if key in FIELDS else "json_extract(c.metadata, ?)"
    kind = f"typeof(c.{key})" if key in FIELDS else "json_type(c.metadata, ?)"
    sign = RANGES[name][0] if name in RANGES else "="
    options = operand if name in ("$in", "$nin") else [operand]
    tests: list[tuple[str, list[Any]]] = []
    for option in {option for option in options if isinstance(option, bool)}:
        tests.append((f"coalesce({kind} = ?, 0)", [*own, str(option).lower()]))
    # Any number of values is one parameter.
    for kinds, alike in (
        ("('text')", [encodable(option) for option in options if isinstance(option, str)]),
        ("('integer', 'real')", [_stored(option) for option in options if _is_number(option)]),
    ):
        if len(alike) == 1:
            tests.append((f"coalesce({kind} IN {kinds} AND {column} {sign} ?, 0)", [*own, *own, *alike]))
        elif alike:
            held = "IN (SELECT value FROM json_each(?))"
            tests.append((f"coalesce({kind} IN {kinds} AND {column} {held}, 0)", [*own, *own, json.dumps(alike)]))
    among, values = _either(tests, "OR")
    return f"NOT {among}" if name in ("$ne", "$nin") else among, values


def _stored(number: int | float) -> int | float:
    """A number as SQLite can compare it: integers of more than 64 bits as floats."""
    if isinstance(number, float) or -(1 << 63) <= number < 1 << 63:
        return number
    return float(max(min(number, 1 << 1000), -1 << 1000))


def _either(parts: list[tuple[str, list[Any]]], joint: str) -> tuple[str, list[Any]]:
    while len(parts) > _TOGETHER:
        parts = [_either(parts[at : at + _TOGETHER], joint) for at in range(0, len(parts), _TOGETHER)]
    return f"({f' {joint} '.join(part for part, _ in parts)})", [value for _, values in parts for value in values]


def fits(passage: Passage, where: Where) -> bool:
    """Whether a filter, checked or not, lets a passage through."""
    return all(_holds(passage, key, wanted) for key, wanted in (where or {}).items())


def _holds(passage: Passage, key: str, wanted: Any) -> bool:
    if key in ("$and", "$or"):
        return (all if key == "$and" else any)(fits(passage, part) for part in wanted)
    if key == FIELD:
        value, wanted = _folded(passage["metadata"].get(FIELD, DEFAULT)), _folded(wanted)
    else:
        value = passage[key] if key in (*FIELDS, "chunk_id") else passage["metadata"].get(key)  # type: ignore[literal-required]
    for name, operand in (wanted if isinstance(wanted, Mapping) else {"$eq": wanted}).items():
        if name in RANGES:
            passes = _is_number(value) and _is_number(operand) and RANGES[name][1](value, operand)
        else:
            options = operand if name in ("$in", "$nin") else [operand]
            among = any(value == option and isinstance(value, bool) is isinstance(option, bool) for option in options)
            passes = among is (name in ("$eq", "$in"))
        if not passes:
            return False
    return True


def _folded(value: Any) -> Any:
    """The names of collections in small letters."""
    if isinstance(value, Mapping):
        return {name: _folded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_folded(item) for item in value]
    return value.strip().casefold() if isinstance(value, str) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- as a person types it ----------------------------------------------------------------------------------------------

_WORD: Final = r"""[^\s=<>!(),"']"""
_VALUE: Final = rf"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|{_WORD}+)"""
_SIGNS: Final = {"=": "$eq", "==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte"}
_EXAMPLE: Final = 'such as year=2023, year>=2020, "ticker in AAPL,MSFT", or two of them joined by and / or'


def parse_where(expressions: str | Iterable[str]) -> dict[str, Any]:
    """A filter in Chroma's language from one or more expressions, all of which must hold.

    An expression compares a field by = != > >= < <=, `in a,b`, `not in a,b` or a range `2019..2021` (both ends
    included); `and`, `or` and brackets combine. Quote a value with spaces or signs in it. Unquoted numbers and true and
    false are read as such. Raises InputError where an expression stops making sense.
    """
    texts = [expressions] if isinstance(expressions, str) else list(expressions)
    return _joined("$and", [_Parser(text).whole() for text in texts]) if texts else {}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at = normalize("NFC", text), 0  # as names and values are stored

    def whole(self) -> Any:
        where = self._any_of()
        self._need(r"\Z", "and, or, or the end")
        return where

    def _any_of(self) -> Any:
        return self._several("or", partial(self._several, "and", self._one))

    def _several(self, joint: str, part: Callable[[], Any]) -> Any:
        parts = [part()]
        while self._took(joint):
            parts.append(part())
        return parts if joint == "," else _joined(f"${joint}", parts)

    def _one(self) -> Any:
        if self._took(r"\("):
            where = self._any_of()
            self._need(r"\)", "a closing bracket")
            return where
        field = _unquoted(self._need(_VALUE, "the name of a field"))
        negated = self._took("not")
        if self._took("in"):
            bracketed = self._took(r"\(")
            values = self._several(",", lambda: _typed(self._value()))
            if bracketed:
                self._need(r"\)", "a closing bracket")
            return {field: {"$nin" if negated else "$in": values}}
        sign = _SIGNS[self._need("(?!)" if negated else "[=!<>]=|[=<>]", "one of = != > >= < <= in, not in")]
        value = self._value()
        if ".." in value and value[0] not in "\"'" and sign == "$eq":
            first, _, last = value.partition("..")
            return {"$and": [{field: {"$gte": _typed(first)}}, {field: {"$lte": _typed(last)}}]}
        return {field: _typed(value) if sign == "$eq" else {sign: _typed(value)}}

    def _value(self) -> str:
        return self._need(_VALUE, "a value (in quotes where it has spaces or signs)")

    def _took(self, pattern: str) -> str | None:
        """Consume and return the next token if it fits the pattern; words are taken whole."""
        ends = rf"(?!{_WORD})" if pattern.isalpha() else ""
        match = re.compile(rf"\s*({pattern}){ends}\s*", re.I).match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match and match[1]

    def _need(self, pattern: str, wanted: str) -> str:
        if (taken := self._took(pattern)) is not None:
            return taken
        rest = self._text[self._at :].strip()
        came = re.match(rf"{_VALUE}|[=!<>]=|[=<>(),]|\Z", rest)
        where = (
            f"has {came[0] or 'the end'!r} where {wanted} was wanted" if came else f"cannot be read from {rest!r} on"
        )
        raise InputError(f"the filter {self._text!r} {where}; write it {_EXAMPLE}.")


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token[:1] in ("'", '"') else token


def _typed(token: str) -> str | int | float | bool:
    """A token as true, false or a number if it is one; a quoted token is text."""
    if token.lower() in ("true", "false"):
        return token.lower() == "true"
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", token):
        return float(token) if "." in token else int(token)
    return _unquoted(token)
