"""Collections of a store: their names, and filters that name them."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, cast

from cragraph.errors import InputError
from cragraph.store.filters import DEEPEST, Where, fits
from cragraph.store.records import DEFAULT, FIELD
from cragraph.types import Passage

EVERY: Final = "all"  # the name for all collections
OLD: Final = "cragraph"  # the former name of the default collection
_LONGEST: Final = 100  # bytes of a name


@dataclass(frozen=True)
class Held:
    """A collection with its number of documents and passages."""

    name: str
    documents: int
    chunks: int


def checked_name(name: str) -> str:
    """A valid name of a collection; raises InputError for an invalid one."""
    given = unicodedata.normalize("NFC", str(name)).strip()
    if given.casefold() in (OLD, DEFAULT):
        return DEFAULT
    bad = not given or not given.isprintable() or given[0] in ".-" or any(sign in given for sign in '/\\:*?"<>|,')
    if bad or len(given.encode("utf-8", "replace")) > _LONGEST or given.casefold() == EVERY:
        raise InputError(
            f"the collection came as {name!r:.120}; wanted a name of at most {_LONGEST} bytes that begins with a "
            f'letter or a digit and has no comma and none of / \\ : * ? " < > |, other than {EVERY!r}, which means '
            "every one: choose another."
        )
    return given


def known_name(name: str, names: Iterable[str], location: str) -> str:
    """The name among `names` that equals this one, ignoring case; InputError if there is none."""
    wanted, names = checked_name(name), list(names)
    if (found := {one.casefold(): one for one in names}.get(wanted.casefold())) is None:
        close = get_close_matches(wanted, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none yet'}."
        raise InputError(f"there is no collection {wanted!r} in {location}: {hint}")
    return found


def with_names(where: Any, names: Sequence[str], location: str) -> Any:
    """A filter with the names of collections as they are written in the store; InputError for an unknown one."""

    def read(key: Any, value: Any, depth: int) -> Any:
        if depth > 3 * DEEPEST:  # which is refused when the fields are checked
            return value
        if isinstance(value, Mapping):
            return {name: read(key if str(name)[:1] == "$" else name, v, depth + 1) for name, v in value.items()}
        if isinstance(value, list | tuple):
            return [read(key, item, depth + 1) for item in value]
        return known_name(value, names, location) if key == FIELD and isinstance(value, str) else value

    return read("", where, 0)


def may_pass(where: Where, name: str, depth: int = 0) -> bool:
    """Whether a filter may let passages of a collection through."""
    for key, value in (where or {}).items():
        if key in ("$and", "$or") and isinstance(value, list | tuple) and depth <= DEEPEST:
            parts = [may_pass(part, name, depth + 1) for part in value if isinstance(part, Mapping)]
            if not (all if key == "$and" else any)(parts):
                return False
        elif key == FIELD and not fits(cast("Passage", {"metadata": {FIELD: name}}), {FIELD: value}):
            return False
    return True
