"""A checked filter as a SQL condition over the index, with the meaning it has in Chroma."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cragraph.retrieval.store.records import FIELDS

_COMPARE: Final = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


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
    return _compare(key, operator, operand)


def _compare(key: str, operator: str, operand: Any) -> tuple[str, list[Any]]:
    if operator in _COMPARE:
        column, kind, values = _column(key)
        numeric = f"{kind} IN ('integer', 'real')"
        return f"coalesce({numeric} AND {column} {_COMPARE[operator]} ?, 0)", [*values, *values, operand]
    options: Sequence[Any] = operand if operator in ("$in", "$nin") else [operand]
    parts = [_equal(key, option) for option in options]
    anyone = "(" + " OR ".join(part for part, _ in parts) + ")"
    values = [item for _, own in parts for item in own]
    return (f"NOT {anyone}" if operator in ("$ne", "$nin") else anyone), values


def _equal(key: str, value: Any) -> tuple[str, list[Any]]:
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
