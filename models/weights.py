"""Finds the weights that ship inside the package and makes sure that they are the ones that were shipped.

A set of weights is a card, `models/data/<name>.json`, which names its files and their SHA-256 sums among whatever
else the model's reader wants to know (`version`, `dimension`, ...).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final

from cragraph.errors import WeightsError

DATA: Final = Path(__file__).parent / "data"
_REMEDY: Final = "reinstall cragraph (pip install --force-reinstall cragraph)"


@dataclass(frozen=True)
class Weights:
    """A card and the folder that its files lie in; `path` hands a file out only after checking it."""

    card: Mapping[str, Any]
    folder: Path

    @property
    def name(self) -> str:
        """The model's name, unique to these weights."""
        return str(self.card["name"])

    @property
    def version(self) -> str:
        """Changes whenever the weights do."""
        return str(self.card["version"])

    def path(self, filename: str) -> Path:
        """One of the card's files, present and undamaged (checked once a process); raises WeightsError otherwise."""
        wanted = self.card["files"].get(filename)
        if wanted is None:
            listed = ", ".join(self.card["files"])
            raise WeightsError(f"weights {self.name} list no file {filename!r}; wanted one of {listed}: {_REMEDY}.")
        path = self.folder / filename
        _check(path, str(wanted))
        return path


@cache
def weights(card: str, folder: Path = DATA) -> Weights:
    """Read the card called `card` (without `.json`); raises WeightsError where it is missing or unreadable."""
    path = folder / f"{card}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsError(f"weights card {path} is missing; it ships with the package: {_REMEDY}.") from error
    except (OSError, ValueError) as error:
        raise WeightsError(f"weights card {path} cannot be read ({error}): {_REMEDY}.") from error
    if not isinstance(content, dict) or not {"name", "version", "files"} <= content.keys():
        raise WeightsError(f"weights card {path} lacks name, version or files: {_REMEDY}.")
    return Weights(content, folder)


@cache
def _check(path: Path, wanted: str) -> None:
    try:
        with path.open("rb") as file:
            came = file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise WeightsError(f"weights file {path} is missing; it ships with the package: {_REMEDY}.") from error
    except OSError as error:
        raise WeightsError(f"weights file {path} cannot be read ({error}): {_REMEDY}.") from error
    if came != wanted:
        raise WeightsError(
            f"weights file {path} is damaged or of another version: its SHA-256 is {came[:12]}…, wanted "
            f"{wanted[:12]}…: {_REMEDY}."
        )
