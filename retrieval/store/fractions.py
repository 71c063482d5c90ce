"""Comparisons with fractions, said so that Chroma gets them right.

Chroma's local engine cuts a fraction down to a whole number before it compares it with a whole one: `{"x": {"$gte":
0.5}}` lets 0 through, `{"x": {"$gt": -0.5}}` does not. The forms below hold for whole and broken numbers alike.
"""

import math
from typing import Any

_EXACT = 2.0**53


def whole(value: Any) -> Any:
    """A float without a fraction as an int; anything else as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def exact(key: str, operator: str, value: Any) -> dict[str, Any]:
    """One comparison of a field, in a form that means the same to Chroma as to a person."""
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
