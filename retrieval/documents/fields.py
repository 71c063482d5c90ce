"""What of a record can be filtered by: its scalars, each under a name of its own."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cragraph.retrieval.documents.normalise import one_line

Scalar = str | int | float | bool
Reading = Callable[[str], Scalar]

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""The fields of what is no record."""

LONGEST: Final = 256
"""Characters of a value that is filtered by at most: what is longer is text to be found, not a value to be equal to."""

TAKEN: Final = frozenset(
    (
        "source", "filename", "page", "doc_id", "chunk_index", "start_index",
        "format", "heading", "table_header", "last_page", "rows", "row",
    )
)  # fmt: skip
"""Names that say something of every passage; a column of that name is filtered by as `column.<name>`."""

_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_FRACTION = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{1,18}")


def fields_of(record: Mapping[str, Any], reading: Reading = str) -> dict[str, Scalar]:
    """The scalars of a record by column, nested ones by `outer.inner`, lists of scalars joined by commas.

    `reading` makes a value of a text: `value_of` for formats without types of their own.
    """
    fields: dict[str, Scalar] = {}
    for path, leaf in leaves(record):
        value = reading(one_line(leaf)) if isinstance(leaf, str) else leaf
        name = field_name(path)
        if name and not (isinstance(value, str) and len(value) > LONGEST):
            fields.setdefault(name, value)
    return fields


def value_of(cell: str) -> Scalar:
    """A cell as a number, true or false where it is plainly one; `007`, `1,234` and `12 %` stay text."""
    if cell.casefold() in ("true", "false"):
        return cell.casefold() == "true"
    if _WHOLE.fullmatch(cell):
        return int(cell)
    return float(cell) if _FRACTION.fullmatch(cell) else cell


def field_name(path: str) -> str:
    """A column's name as both sides of a store can filter by it: without signs that mean something to them."""
    name = " ".join(re.sub(r'[":]', " ", path).split()).lstrip("_$# ")
    return f"column.{name}" if name in TAKEN else name


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Scalar]]:
    """Every leaf of nested data with its path, without the empty ones; a list of scalars is one leaf."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if all(not isinstance(inner, Mapping | list | tuple) for inner in value):
            yield from leaves(", ".join(str(inner) for inner in value if inner is not None), name)
        else:
            for number, inner in enumerate(value, start=1):
                yield from leaves(inner, f"{name}.{number}" if name else str(number))
    elif value is not None and str(value).strip():
        yield name, value if isinstance(value, str | int | float) else str(value)
