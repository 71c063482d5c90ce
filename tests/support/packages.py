"""Packages that are not installed here: modules of their names, with the record of a real installation."""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest


def install(
    folder: Path,
    patch: pytest.MonkeyPatch,
    name: str,
    modules: Mapping[str, str],
    points: Mapping[str, str] | None = None,
) -> None:
    """Put a package's modules on the path, by name, with its entry points by group; gone when the test ends."""
    place = folder / f"site-{name}"
    record = place / f"{name.replace('-', '_')}-1.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("".join(f"[{group}]\n{line}\n" for group, line in (points or {}).items()))
    for module, code in modules.items():
        (place / f"{module}.py").write_text(code)
        patch.setitem(sys.modules, module, None)  # so that it is taken away again at the end
        del sys.modules[module]
    patch.syspath_prepend(str(place))
    importlib.invalidate_caches()
