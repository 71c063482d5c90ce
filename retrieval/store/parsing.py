"""Filters as a person types them: `year=2023`, `year>=2020 and ticker in AAPL,MSFT`, `not` by `!=` and `not in`."""

import re
from collections.abc import Iterable
from typing import Any, Final

from cragraph.errors import InputError

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
