"""What is imported or made when it is first used, so that a command loads what it needs."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    once = cached_property
else:

    class once(cached_property):
        """A cached property that is computed once, also where several threads need it first at the same moment."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            with _LOCK:
                return super().__get__(instance, owner)


_LOCK: Final = RLock()


def exports(package: str, homes: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Callable[[str], Any]:
    """A package's `__getattr__`: its modules, and the names that `homes` lists by module, imported when first used."""
    home = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def __getattr__(name: str) -> Any:
        if name in home:
            return getattr(import_module(home[name]), name)
        if not name.startswith("_") and find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
