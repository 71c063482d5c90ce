"""Parts that are built once, when they are first needed, by whichever thread comes first."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

PartT = TypeVar("PartT")

_LOCK = RLock()
"""Re-entrant, because one part is built of others."""


class part(Generic[PartT]):
    """A property that is computed once, under a lock, and then is a plain attribute."""

    def __init__(self, build: Callable[[Any], PartT]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, parts: None, owner: type) -> "part[PartT]": ...
    @overload
    def __get__(self, parts: object, owner: type) -> PartT: ...
    def __get__(self, parts: Any, owner: type) -> Any:
        """The part, built if it is not there yet."""
        if parts is None:
            return self
        with _LOCK:
            if self.name not in parts.__dict__:
                parts.__dict__[self.name] = self.build(parts)
        return parts.__dict__[self.name]


class Late:
    """Stands in for a part with a name and a call, which is built at the first call."""

    def __init__(self, get: Callable[[], Any]) -> None:
        self._get = get

    @property
    def name(self) -> str:
        """The part's name."""
        return str(self._get().name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the part."""
        return self._get()(*args, **kwargs)
