"""Imports run one way, and stand at the top of a file."""

import tomllib
from pathlib import Path

from lab.tools.shape import read

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAYERS = [layer.split(" | ") for layer in CONFIG["tool"]["importlinter"]["contracts"][0]["layers"]]


def place(name: str) -> tuple[int, str] | None:
    """The layer of a module, from the top, and the part of the layer that it belongs to."""
    found = ((n, part) for n, layer in enumerate(LAYERS) for part in layer if f"{name}.".startswith(f"{part}."))
    return next(found, None)


def test_no_module_names_one_of_a_layer_above_its_own() -> None:
    wrong = []
    for module in read(ROOT).values():
        for named in module.imports:
            above, below = place(module.name), place(named)
            if above and below and above[1] != below[1] and above[0] >= below[0]:
                wrong.append(f"{module.name} names {named}")
    assert wrong == []
