"""How a tree is cut: modules, lines, importers, settings and patterns, per folder; what a question and a claim cross.

    python lab/tools/shape.py [FOLDER...]     one table per folder
    python -m lab.tools.shape --crossed       the modules whose functions run for a question and for a claim, too

A late import is an import of our own package inside a function, or by a string; a class name repeats if two modules
define it.
"""

import argparse
import ast
import re
import sys
import tempfile
import threading
import tomllib
from collections import defaultdict
from collections.abc import Callable
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
    late: list[str] = field(default_factory=list)
    """The imports of our own that do not stand at the top of the file, each with its line."""
    classes: list[str] = field(default_factory=list)


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


ROOT = Path(__file__).resolve().parents[2]
BY_STRING = ("cragraph/__init__.py", "cragraph/cli/__init__.py")
"""Where modules of our own are imported by a string on purpose: public names and commands, when they are first used."""

HEADS = ("modules", "lines", "median lines", "one importer", "settings", "re.compile")
SETTINGS = ("Settings", "Context", "Group", "BaseSettings")


def main() -> None:
    """Print one table per tree, the whole of it in the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--crossed", action="store_true", help="trace a question and a claim of this tree")
    options = parser.parse_args()
    for tree in options.trees:
        print(f"\n{tree.resolve()}\n\n| folder | {' | '.join(HEADS)} |\n|{' --- |' * (len(HEADS) + 1)}")
        for folder, shape in shapes(tree).items():
            print(f"| {folder} | {' | '.join(shape.row())} |")
        modules = read(tree)
        late = [line for module in modules.values() for line in module.late]
        print(f"\nlate imports of our own: {len(late)}", *late, sep="\n  ")
        repeated = repeating(modules)
        print(f"class names that repeat: {len(repeated)}", *repeated, sep="\n  ")
    if options.crossed:
        for what, crossed in (("question", asked()), ("claim", verified())):
            print(f"modules that a {what} crosses: {len(crossed)}", *crossed, sep="\n  ")


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
            at = f"{place}/{'/'.join(path.relative_to(tree / place).parts)}"
            modules[name].late = [] if at in BY_STRING else late_imports(at, path.read_text(encoding="utf-8"))
    return modules


def late_imports(path: str, text: str) -> list[str]:
    """The imports of our own package inside functions, and those by a string that names the package."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                names += [ast.unparse(node.args[0]).strip("f'\"")]
            found += [f"{path}:{node.lineno} {name}" for name in names if name.startswith("cragraph")]  # type: ignore[attr-defined]
    return list(dict.fromkeys(found))


def repeating(modules: dict[str, Module]) -> list[str]:
    """The class names that several modules define, with these modules."""
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules.values():
        for name in module.classes:
            homes[name].append(module.name)
    return [f"{name}: {', '.join(where)}" for name, where in sorted(homes.items()) if len(where) > 1]


# -- what a question and a claim cross ------------------------------------------------------------------------------

NOTE = "# Lighthouse\n\nThe lighthouse was built in 1907. It is 41 metres high. Fog hides it in November.\n"


def asked() -> list[str]:
    """The modules whose functions run while a question is answered from a store, without a chat model."""
    from cragraph.run import Assistant
    from cragraph.settings import load_settings

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "note.md").write_text(NOTE, encoding="utf-8")
        assistant = Assistant(load_settings(store=f"{folder}/store", model=None), "shell")
        assistant.ingest([Path(folder) / "note.md"])
        list(assistant.ask("How high is the lighthouse?"))  # builds the parts
        return traced(lambda: list(assistant.ask("When was the lighthouse built?")))


def verified() -> list[str]:
    """The modules whose functions run while a claim is verified against a passage."""
    from cragraph import verify

    verify("Fog hides it in winter.", [NOTE])  # builds the parts
    return traced(lambda: verify("The lighthouse was finished in 1907.", [NOTE], "When was it built?"))


def traced(run: Callable[[], object]) -> list[str]:
    """The modules of the package that have a function which runs meanwhile, in any thread."""
    files: set[str] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        files.add(frame.f_code.co_filename)

    threading.setprofile_all_threads(note) if hasattr(threading, "setprofile_all_threads") else threading.setprofile(
        note
    )
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(
        name
        for name, module in sys.modules.items()
        if name.split(".")[0] == "cragraph" and getattr(module, "__file__", None) in files
    )


def measured(name: str, folder: str, text: str) -> Module:
    """One module, read without running it."""
    module = Module(name, folder, len(text.splitlines()), patterns=len(re.findall(r"\bre\.compile\(", text)))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("cragraph"):
            module.imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            module.imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            module.classes.append(node.name)
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
