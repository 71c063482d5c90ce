"""How a tree is cut: modules, lines, importers, settings and patterns, per folder.

python lab/tools/shape.py [FOLDER...]     several folders are set side by side
"""

import argparse
import ast
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class Module:
    """One product module: what it imports of the product, and what is counted in it."""

    name: str
    folder: str
    lines: int
    imports: set[str] = field(default_factory=set)
    patterns: int = 0
    settings: int = 0


@dataclass(frozen=True)
class Shape:
    """The counts of some modules."""

    modules: int
    lines: int
    median: float
    single: int
    settings: int
    patterns: int

    def row(self) -> list[str]:
        """The counts as text."""
        return [f"{value:,.0f}" for value in vars(self).values()]


HEADS = ("modules", "lines", "median lines", "one importer", "settings", "re.compile")
SETTINGS = ("Settings", "Context", "Group", "BaseSettings")


def main() -> None:
    """Print one table per tree, the whole of it in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, default=[Path(__file__).resolve().parents[2]])
    for tree in parser.parse_args().trees:
        print(f"\n{tree.resolve()}\n\n| folder | {' | '.join(HEADS)} |\n|{' --- |' * (len(HEADS) + 1)}")
        for folder, shape in shapes(tree).items():
            print(f"| {folder} | {' | '.join(shape.row())} |")


def shapes(tree: Path) -> dict[str, Shape]:
    """The counts of each folder of the package, and of all together."""
    modules = read(tree)
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        for target in module.imports & modules.keys() - {module.name}:
            importers[target].add(module.name)
    folders: dict[str, list[Module]] = defaultdict(list)
    for module in modules.values():
        folders[module.folder].append(module)
    return {name: counted(folders[name], importers) for name in sorted(folders)} | {
        "all": counted(list(modules.values()), importers)
    }


def counted(modules: list[Module], importers: dict[str, set[str]]) -> Shape:
    """The counts of some modules."""
    return Shape(
        modules=len(modules),
        lines=sum(module.lines for module in modules),
        median=median(module.lines for module in modules),
        single=sum(len(importers[module.name]) == 1 for module in modules),
        settings=sum(module.settings for module in modules),
        patterns=sum(module.patterns for module in modules),
    )


def read(tree: Path) -> dict[str, Module]:
    """Every module of the package, by name; its folders are those that `pyproject.toml` maps."""
    config = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    places: dict[str, str] = config["tool"]["setuptools"]["package-dir"]
    modules = {}
    for package, place in places.items():
        for path in sorted((tree / place).rglob("*.py")):
            inner = path.relative_to(tree / place).with_suffix("").parts
            name = ".".join([package, *(part for part in inner if part != "__init__")])
            folder = "/".join([place, *inner[:-1]])
            modules[name] = measured(name, folder, path.read_text(encoding="utf-8"))
    return modules


def measured(name: str, folder: str, text: str) -> Module:
    """One module, read without running it."""
    module = Module(name, folder, len(text.splitlines()), patterns=len(re.findall(r"\bre\.compile\(", text)))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("cragraph"):
            module.imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            module.imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and (named := ast.unparse(node)).startswith("cragraph."):
            module.imports.add(named)  # its package imports it when it is named
        elif isinstance(node, ast.ClassDef):
            module.settings += options(node)
    return module


def options(node: ast.ClassDef) -> int:
    """The settings that a class declares: its fields that are given a `Field`."""
    bases = {ast.unparse(base) for base in node.bases}
    model = node.name == "Context" or bases & set(SETTINGS)
    config = node.name == "ValidationConfig"
    return (
        sum(isinstance(item, ast.AnnAssign) and is_option(item.value, config) for item in node.body)
        if (model or config)
        else 0
    )


def is_option(value: Any, plain: bool) -> bool:
    """Whether a field's default makes it a setting; in a plain dataclass, every field is one."""
    return value is not None and (plain or (isinstance(value, ast.Call) and ast.unparse(value.func) == "Field"))


if __name__ == "__main__":
    main()
