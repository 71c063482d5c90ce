"""Metadata filters: checked against the fields there are, and put the way Chroma wants them."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.retrieval.store.fractions import exact, whole
from cragraph.types import Passage

RANGES: Final = ("$gt", "$gte", "$lt", "$lte")
OPERATORS: Final = ("$eq", "$ne", "$in", "$nin", *RANGES)
_FIELDS: Final = frozenset({"doc_id", "chunk_id", "chunk_index", "start_index", "source", "filename", "page"})

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
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


def fits(passage: Passage, where: Mapping[str, Any] | None) -> bool:
    """Whether the filter, in Chroma's language, holds for a passage that was found without it.

    As in the store, a passage without the field equals nothing, and types never match across.
    """
    return all(_holds(passage, key, wanted) for key, wanted in (where or {}).items())


def _holds(passage: Passage, key: str, wanted: Any) -> bool:
    if key in ("$and", "$or"):
        found = (fits(passage, part) for part in wanted)
        return all(found) if key == "$and" else any(found)
    value = passage[key] if key in _FIELDS else passage["metadata"].get(key)  # type: ignore[literal-required]
    tests = wanted if isinstance(wanted, Mapping) else {"$eq": wanted}
    return all(_passes(value, operator, operand) for operator, operand in tests.items())


def _passes(value: Any, operator: str, operand: Any) -> bool:
    if operator in _COMPARE:
        return _is_number(value) and _is_number(operand) and _COMPARE[operator](value, operand)
    among = any(_equal(value, option) for option in (operand if operator in ("$in", "$nin") else [operand]))
    return among if operator in ("$eq", "$in") else not among


def _equal(value: Any, operand: Any) -> bool:
    return _kind(value) is _kind(operand) and bool(value == operand)


def _kind(value: Any) -> type:
    return float if _is_number(value) else type(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
