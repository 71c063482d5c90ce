"""Collections of a store: their names, and filters that name them."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
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


class Collections:
    """The collections of a store, by their names; the store says which there are, and where it lies."""

    location: str

    def names(self) -> list[str]:
        """The collections, the default one first."""
        raise NotImplementedError

    def known(self, name: str) -> str:
        """The stored name of a collection, ignoring case; InputError if there is none."""
        wanted, names = checked_name(name), self.names()
        if (found := self.home(wanted, names)) not in names:
            close = get_close_matches(wanted, names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none yet'}."
            raise InputError(f"there is no collection {wanted!r} in {self.location}: {hint}")
        return found

    def home(self, name: str, names: Iterable[str] | None = None) -> str:
        """The stored name of a collection, ignoring case, or the name of a new one."""
        name = checked_name(name)
        return {one.casefold(): one for one in names or self.names()}.get(name.casefold(), name)

    def renaming(self, old: str, new: str) -> tuple[str, str]:
        """The stored name of a collection and its new name; InputError if that is the name of another."""
        old, new = self.known(old), checked_name(new)
        if (taken := self.home(new)) in self.names() and taken != old:
            raise InputError(
                f"there is a collection {taken!r} already; wanted another name: move the documents of {old!r} there "
                f"with `cragraph collections move --from {old} --to {new}`."
            )
        return old, new


def with_names(where: Any, known: Callable[[str], str]) -> Any:
    """A filter with the names of collections as they are written in the store; InputError for an unknown one."""

    def read(key: Any, value: Any, depth: int) -> Any:
        if depth > 3 * DEEPEST:  # which is refused when the fields are checked
            return value
        if isinstance(value, Mapping):
            return {name: read(key if str(name)[:1] == "$" else name, v, depth + 1) for name, v in value.items()}
        if isinstance(value, list | tuple):
            return [read(key, item, depth + 1) for item in value]
        return known(value) if key == FIELD and isinstance(value, str) else value

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
