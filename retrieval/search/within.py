"""Whether a passage is among those that a metadata filter lets through."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from cragraph.types import Passage

_FIELDS: Final = frozenset({"doc_id", "chunk_id", "chunk_index", "start_index", "source", "filename", "page"})

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": lambda value, bound: value > bound,
    "$gte": lambda value, bound: value >= bound,
    "$lt": lambda value, bound: value < bound,
    "$lte": lambda value, bound: value <= bound,
}


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
    return all(_test(value, operator, operand) for operator, operand in tests.items())


def _test(value: Any, operator: str, operand: Any) -> bool:
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
