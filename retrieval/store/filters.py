"""Metadata filters: typed by a person, checked against the fields, and put as Chroma, SQL or Python want them.

A filter means the same everywhere: a passage without the field is not equal to, nor among, any value, and types never
match across (the text "1" is not the number 1).
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.retrieval.store.records import FIELDS
from cragraph.types import Passage

RANGES: Final = ("$gt", "$gte", "$lt", "$lte")
OPERATORS: Final = ("$eq", "$ne", "$in", "$nin", *RANGES)

_TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
}


def checked_where(where: Mapping[str, Any] | None, fields: Mapping[str, str]) -> dict[str, Any] | None:
    """A filter with one key a level, values in the type of their field; None where nothing is filtered.

    `fields` are the names and types of `Store.fields()`. Several keys, or several operators on one field, mean "and".

    Raises:
        InputError: for an unknown field (naming those that exist), operator or value.
    """
    if not where:
        return None
    return _joined("$and", _clauses(where, fields))


def _clauses(where: Any, fields: Mapping[str, str]) -> list[dict[str, Any]]:
    if not isinstance(where, Mapping) or not where:
        raise InputError(f'a filter came as {where!r}; wanted an object such as {{"year": 2023}}.')
    found: list[dict[str, Any]] = []
    for key, value in where.items():
        if key in ("$and", "$or"):
            if not isinstance(value, list | tuple) or not value:
                raise InputError(
                    f'{key} came with {value!r}; wanted a list of filters, {{"{key}": [{{"year": 1}}, …]}}.'
                )
            found.append(_joined(key, [_joined("$and", _clauses(part, fields)) for part in value]))
        elif key not in fields:
            raise InputError(_unknown(str(key), fields))
        else:
            tests = value if isinstance(value, Mapping) else {"$eq": value}
            found += [_test(key, operator, operand, fields[key]) for operator, operand in tests.items()]
    if not found:
        raise InputError(f'the filter {dict(where)!r} tests nothing; wanted an object such as {{"year": 2023}}.')
    return found


def _joined(operator: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {operator: parts}


def _test(key: str, operator: str, operand: Any, type_: str) -> dict[str, Any]:
    if operator not in OPERATORS:
        raise InputError(f"{operator!r} on {key} is no operator; wanted one of {', '.join(OPERATORS)}.")
    if operator in RANGES:
        return exact(key, operator, _bound(key, operand, type_))
    if operator in ("$eq", "$ne"):
        return exact(key, operator, _value(key, operand, type_))
    if not isinstance(operand, list | tuple | set | frozenset) or not operand:
        raise InputError(f'{operator} on {key} came with {operand!r}; wanted a list of values, {{"$in": ["a", "b"]}}.')
    return _among(key, operator, [_value(key, item, type_) for item in operand])


def _among(key: str, operator: str, values: list[Any]) -> dict[str, Any]:
    """Chroma wants lists of one type, and takes fractions one by one; a mixed list becomes several tests."""
    groups: dict[type, list[Any]] = {}
    for value in map(whole, values):
        groups.setdefault(type(value), []).append(value)
    single, joined = ("$eq", "$or") if operator == "$in" else ("$ne", "$and")
    parts = [exact(key, single, fraction) for fraction in groups.pop(float, [])]
    return _joined(joined, [{key: {operator: group}} for group in groups.values()] + parts)


def _bound(key: str, operand: Any, type_: str) -> int | float:
    if "number" not in type_:
        raise InputError(f"{key} holds {type_}; wanted a field of numbers for a range: compare it with = or in.")
    value = _number(operand) if isinstance(operand, str) else operand
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{key} was compared with {operand!r}; wanted a number.")
    return value


def _value(key: str, operand: Any, type_: str) -> str | int | float | bool:
    """The operand in the type of the field, where that is one type and the operand can be read as it."""
    if not isinstance(operand, str | int | float):
        raise InputError(f"{key} was compared with {operand!r}; wanted text, a number, or true or false.")
    if type_ == "text" and not isinstance(operand, str):
        return str(operand).lower() if isinstance(operand, bool) else str(operand)
    if type_ == "number" and isinstance(operand, str):
        number = _number(operand)
        if number is None:
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


def _unknown(key: str, fields: Mapping[str, str]) -> str:
    close = get_close_matches(key, fields, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    known = ", ".join(f"{name} ({type_})" for name, type_ in sorted(fields.items()))
    return f"there is no field {key!r} in the store{hint} Fields that exist: {known or 'none, the store is empty'}."


_EXACT: Final = 2.0**53


def whole(value: Any) -> Any:
    """A float without a fraction as an int; anything else as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def exact(key: str, operator: str, value: Any) -> dict[str, Any]:
    """One comparison of a field, in a form that means the same to Chroma as to a person.

    Chroma's engine cuts a fraction down to a whole number before it compares it with a whole one:
    `{"x": {"$gte": 0.5}}` lets 0 through, `{"x": {"$gt": -0.5}}` does not. The forms here hold for whole and
    broken numbers alike.
    """
    value = whole(value)
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) >= _EXACT:
        return {key: {operator: value}}
    below, above = {key: math.floor(value)}, {key: math.ceil(value)}
    if operator == "$eq":
        return {"$and": [{key: {"$eq": value}}, _not(below), _not(above)]}
    if operator == "$ne":
        return {"$or": [{key: {"$ne": value}}, _is(below), _is(above)]}
    test = {key: {operator: value}}
    if operator in ("$gt", "$gte"):
        beyond, near, wrong = {key: {"$gte": above[key]}}, {key: {"$lt": above[key]}}, below
    else:
        beyond, near, wrong = {key: {"$lte": below[key]}}, {key: {"$gt": below[key]}}, above
    return {"$or": [beyond, {"$and": [test, near, _not(wrong)]}]}


def _is(number: dict[str, int]) -> dict[str, Any]:
    return {key: {"$eq": value} for key, value in number.items()}


def _not(number: dict[str, int]) -> dict[str, Any]:
    return {key: {"$ne": value} for key, value in number.items()}


# -- in SQL and in Python ------------------------------------------------------------------------------------------

_SIGNS: Final = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


def condition(where: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A SQL condition on `chunks AS c` and its values; `where` has one key a level, as Chroma wants it.

    As in Chroma, a passage without the field is not equal to, nor among, any value; types never match across
    (the text "1" is not the number 1).
    """
    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        parts = [condition(part) for part in value]
        joined = f" {key[1:].upper()} ".join(part for part, _ in parts)
        return f"({joined})", [item for _, values in parts for item in values]
    operator, operand = next(iter(value.items())) if isinstance(value, Mapping) else ("$eq", value)
    return _compared(key, operator, operand)


def _compared(key: str, operator: str, operand: Any) -> tuple[str, list[Any]]:
    if operator in _SIGNS:
        column, kind, values = _column(key)
        numeric = f"{kind} IN ('integer', 'real')"
        return f"coalesce({numeric} AND {column} {_SIGNS[operator]} ?, 0)", [*values, *values, operand]
    options: Sequence[Any] = operand if operator in ("$in", "$nin") else [operand]
    parts = [_equals(key, option) for option in options]
    anyone = "(" + " OR ".join(part for part, _ in parts) + ")"
    values = [item for _, own in parts for item in own]
    return (f"NOT {anyone}" if operator in ("$ne", "$nin") else anyone), values


def _equals(key: str, value: Any) -> tuple[str, list[Any]]:
    column, kind, values = _column(key)
    if isinstance(value, bool):
        return f"coalesce({kind} = ?, 0)", [*values, "true" if value else "false"]
    wanted = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return f"coalesce({kind} IN {wanted} AND {column} = ?, 0)", [*values, *values, value]


def _column(key: str) -> tuple[str, str, list[Any]]:
    """The value of a field, the kind of value it is, and the values that each of the two takes."""
    if key in FIELDS:
        return f"c.{key}", f"typeof(c.{key})", []
    return "json_extract(c.metadata, ?)", "json_type(c.metadata, ?)", [f'$."{key}"']


def fits(passage: Passage, where: Mapping[str, Any] | None) -> bool:
    """Whether the filter, in Chroma's language, holds for a passage that was found without it.

    As in the store, a passage without the field equals nothing, and types never match across.
    """
    return all(_holds(passage, key, wanted) for key, wanted in (where or {}).items())


def _holds(passage: Passage, key: str, wanted: Any) -> bool:
    if key in ("$and", "$or"):
        found = (fits(passage, part) for part in wanted)
        return all(found) if key == "$and" else any(found)
    value = passage[key] if key in (*FIELDS, "chunk_id") else passage["metadata"].get(key)  # type: ignore[literal-required]
    tests = wanted if isinstance(wanted, Mapping) else {"$eq": wanted}
    return all(_passes(value, operator, operand) for operator, operand in tests.items())


def _passes(value: Any, operator: str, operand: Any) -> bool:
    if operator in _TESTS:
        return _is_number(value) and _is_number(operand) and _TESTS[operator](value, operand)
    among = any(_same(value, option) for option in (operand if operator in ("$in", "$nin") else [operand]))
    return among if operator in ("$eq", "$in") else not among


def _same(value: Any, operand: Any) -> bool:
    return _kind(value) is _kind(operand) and bool(value == operand)


def _kind(value: Any) -> type:
    return float if _is_number(value) else type(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- as a person types it ------------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<sign>>=|<=|!=|==|=|<|>|\(|\)|,)|(?P<word>[^\s=<>!(),"']+))"""
)
_OPERATORS: Final = {"=": "$eq", "==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte"}
_EXAMPLE: Final = 'such as year=2023, year>=2020, "ticker in AAPL,MSFT", or two of them joined by and / or'
_Token = tuple[str, str]


def parse_where(expressions: str | Iterable[str]) -> dict[str, Any]:
    """A filter in Chroma's language from one or more expressions, all of which must hold.

    An expression compares a field by = != > >= < <=, `in a,b`, `not in a,b` or a range `2019..2021` (both ends
    included); `and`, `or` and brackets combine. Quote a value with spaces or signs in it. Unquoted numbers and true and
    false are read as such; `Store.dense` and `Store.lexical` put them into the type of the field.

    Raises:
        InputError: where an expression cannot be read; says where it stopped making sense.
    """
    texts = [expressions] if isinstance(expressions, str) else list(expressions)
    parts = [_Parser(text).whole() for text in texts]
    if not parts:
        return {}
    return parts[0] if len(parts) == 1 else {"$and": parts}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    def whole(self) -> dict[str, Any]:
        found = self._either()
        if self._next < len(self._tokens):
            raise self._error("and, or, or the end")
        return found

    def _either(self) -> dict[str, Any]:
        parts = [self._both()]
        while self._keyword("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else {"$or": parts}

    def _both(self) -> dict[str, Any]:
        parts = [self._one()]
        while self._keyword("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else {"$and": parts}

    def _one(self) -> dict[str, Any]:
        if self._sign("("):
            found = self._either()
            if not self._sign(")"):
                raise self._error("a closing bracket")
            return found
        return self._test(self._name())

    def _test(self, field: str) -> dict[str, Any]:
        negated = self._keyword("not")
        if self._keyword("in"):
            return {field: {"$nin" if negated else "$in": self._list()}}
        kind, sign = self._peek()
        if negated or kind != "sign" or sign not in _OPERATORS:
            raise self._error("one of = != > >= < <= in, not in")
        self._next += 1
        kind, value = self._peek()
        if kind == "word" and ".." in value and sign in ("=", "=="):
            self._next += 1
            first, _, last = value.partition("..")
            return {"$and": [{field: {"$gte": _typed(first)}}, {field: {"$lte": _typed(last)}}]}
        operand = self._value()
        return {field: operand} if sign in ("=", "==") else {field: {_OPERATORS[sign]: operand}}

    def _list(self) -> list[Any]:
        bracketed = self._sign("(")
        values = [self._value()]
        while self._sign(","):
            values.append(self._value())
        if bracketed and not self._sign(")"):
            raise self._error("a closing bracket")
        return values

    def _name(self) -> str:
        kind, token = self._peek()
        if kind not in ("word", "text"):
            raise self._error("the name of a field")
        self._next += 1
        return _unquoted(token) if kind == "text" else token

    def _value(self) -> Any:
        kind, token = self._peek()
        if kind not in ("word", "text"):
            raise self._error("a value (in quotes where it has spaces or signs)")
        self._next += 1
        return _unquoted(token) if kind == "text" else _typed(token)

    def _keyword(self, word: str) -> bool:
        kind, token = self._peek()
        found = kind == "word" and token.lower() == word
        self._next += found
        return found

    def _sign(self, sign: str) -> bool:
        found = self._peek() == ("sign", sign)
        self._next += found
        return found

    def _peek(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("end", "the end")

    def _error(self, wanted: str) -> InputError:
        return InputError(
            f"the filter {self._text!r} has {self._peek()[1]!r} where {wanted} was wanted; write it {_EXAMPLE}."
        )


def _tokens(text: str) -> Iterable[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise InputError(f"the filter {text!r} cannot be read from {text[position:]!r} on; write it {_EXAMPLE}.")
        position = match.end()
        kind = str(match.lastgroup)
        yield kind, match[kind]


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def _typed(word: str) -> str | int | float | bool:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if re.fullmatch(r"-?(0|[1-9]\d*)", word):
        return int(word)
    if re.fullmatch(r"-?(0|[1-9]\d*)\.\d+", word):
        return float(word)
    return word
