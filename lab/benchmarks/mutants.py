"""Mutation check: change one thing at a time in a module and see whether its tests notice.

    python lab/benchmarks/mutants.py [MODULE:TEST_FILE …]

Each comparison, arithmetic operator, number, boolean operator, constant and returned clamp of the module is changed in
turn in a copy of the package; the tests run against the copy. A mutant that passes all tests has survived: either a
test is missing, or the change makes no difference. Survivors are listed with their line.
"""

import ast
import copy
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = (
    "cragraph/verification/decision.py:tests/verification/test_decision.py",
    "cragraph/verification/policies.py:tests/verification/test_policies.py",
    "cragraph/verification/result.py:tests/verification/test_result.py,tests/verification/test_levels.py,"
    "tests/verification/test_policies.py,tests/verification/test_signals_sources.py",
    "graph/routing.py:tests/graph/test_routing.py",
    "cragraph/search/retriever.py:tests/search/test_fusion.py,tests/search/test_retriever.py",
    "cragraph/store/filters.py:tests/store/test_filters.py,tests/store/test_parsing.py,tests/search/test_within.py",
)
LIBRARIES = ("hypothesis", "langchain_core.embeddings", "langgraph.graph", "numpy", "pydantic_settings")
LONGEST = 300
"""Seconds that the tests of one mutant may take."""
FOLDERS = ("evals", "generation", "graph", "models", "nodes", "prompts", "retrieval", "testing", "text", "verification")

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def mutants(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Every changed copy of a module with the line and the change; texts and annotations are left alone."""
    count = sum(1 for _ in ast.walk(tree))
    for index in range(count):
        for choice in range(2):
            changed = copy.deepcopy(tree)
            node = next(n for i, n in enumerate(ast.walk(changed)) if i == index)
            before = ast.unparse(node) if isinstance(node, ast.expr) else ""
            if not _change(node, choice):
                break
            yield f"line {getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}", changed


def _change(node: ast.AST, choice: int) -> bool:
    """Change a node in place in its first or second way; False when it has no such way."""
    if isinstance(node, ast.Compare) and choice == 0:
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp) and choice == 0 and type(node.op) in OPERATORS:
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp) and choice == 0:
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and choice == 0:
        node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPPED and choice == 0:
        node.func.id = SWAPPED[node.func.id]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool) and choice == 0:
        node.value = not node.value
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float) and (choice == 0 or node.value):
        node.value = node.value + 1 if choice == 0 else node.value * 0.9
    else:
        return False
    return True


def package(folder: Path, module: str) -> Path:
    """A copy of the package in the test's folder; the file of the module in it, which may be overwritten."""
    target = folder / "cragraph"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "app", target, ignore=skip)
    home, _, rest = module.partition("/")
    for name in FOLDERS:
        # Only what is changed is copied; the others are read where they are.
        if name == home:
            shutil.copytree(ROOT / name, target / name, ignore=skip)
        else:
            (target / name).symlink_to(ROOT / name)
    return target / rest if home == "app" else target / module


def survives(folder: Path, tests: list[str]) -> bool:
    """Whether the tests pass, in a process forked from this one, which has loaded the large libraries already."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    signal.alarm(LONGEST)  # a changed loop may never end
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))  # so that the copy is what is imported
    os.chdir(ROOT)
    loaded = "ignore::pytest.PytestAssertRewriteWarning"  # of plugins that are loaded already
    os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-W", loaded, *tests]))


def main() -> None:
    for library in LIBRARIES:
        import_module(library)
    for pair in sys.argv[1:] or DEFAULT:
        module, _, names = pair.partition(":")
        tests = names.split(",")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = package(folder, module)
            source = file.read_text(encoding="utf-8")
            if not survives(folder, tests):
                sys.exit(f"{module}: the tests fail without a mutation; mend them first.")
            total, alive = 0, []
            for change, tree in mutants(ast.parse(source)):
                file.write_text(ast.unparse(tree), encoding="utf-8")
                total += 1
                if survives(folder, tests):
                    alive.append(change)
            print(f"{module}: {total} mutants, {total - len(alive)} noticed, {len(alive)} survived", flush=True)
            for change in alive:
                print(f"  {change}", flush=True)


if __name__ == "__main__":
    main()
