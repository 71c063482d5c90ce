"""What each dependency weighs: MB that it brings alone, and with what only it needs; of the environment this runs in.

python lab/tools/weigh.py [EXTRA ...]
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


TOGETHER = {"chromadb": "langchain-chroma", "pydantic-settings": "pydantic", "langgraph": "langchain-core"}
"""Libraries that would go with another one; each is counted there."""


def main() -> None:
    """Print a table of the dependencies, the heaviest first, and one of the heaviest packages that they bring."""
    wanted = [
        *PROJECT["dependencies"],
        *(one for extra in sys.argv[1:] for one in PROJECT["optional-dependencies"][extra]),
    ]
    asked = [Requirement(one) for one in wanted]
    everything = closure(asked)
    groups: dict[str, set[str]] = {}
    for one in asked:
        groups.setdefault(TOGETHER.get(one.name, one.name), set()).add(one.name)
    print("| library | MB | MB with what only it brings |\n| --- | --- | --- |")
    print(f"| all | {weight(everything):.0f} | |")
    rows = []
    for names in groups.values():
        rest = closure(other for other in asked if other.name not in names)
        rows.append((weight(everything - rest), weight(map(name, names)), ", ".join(sorted(names))))
    for with_it, own, library in sorted(rows, reverse=True):
        print(f"| {library} | {own:.1f} | {with_it:.1f} |")
    print("\n| package | MB |\n| --- | --- |")
    for package in sorted(everything, key=size, reverse=True)[:12]:
        print(f"| {package} | {weight({package}):.1f} |")


def closure(asked: Iterable[Requirement]) -> set[str]:
    """The names of installed packages that requirements bring, themselves included."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [(name(one.name), frozenset(one.extras)) for one in asked]
    while waiting:
        package = waiting.pop()
        if package in found or installed(package[0]) is None:
            continue
        found.add(package)
        waiting += needs(*package)
    return {package for package, _ in found}


def needs(package: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package needs here, with its extras."""
    for line in getattr(installed(package), "requires", None) or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield name(one.name), frozenset(one.extras)


@cache
def installed(package: str) -> Distribution | None:
    """A package that is installed."""
    try:
        return distribution(package)
    except PackageNotFoundError:
        return None


@cache
def size(package: str) -> int:
    """Bytes of a package's files, without what Python compiles of them."""
    files = getattr(installed(package), "files", None) or ()
    paths = (Path(str(file.locate())) for file in files if not str(file).endswith(".pyc"))
    return sum(path.stat().st_size for path in paths if path.is_file())


def weight(packages: Iterable[str]) -> float:
    """MB of some packages."""
    return sum(map(size, packages)) / 1e6


def name(text: str) -> str:
    """A package's name in its one form."""
    return re.sub(r"[-_.]+", "-", text).lower()


if __name__ == "__main__":
    main()
