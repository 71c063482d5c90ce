import subprocess
import sys

import pytest

HEAVY = ("chromadb", "onnxruntime", "matplotlib", "langchain_chroma", "torch")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["cragraph.search", "cragraph.search.rerankers", "lab.evals.retrieval"])
def test_importing_search_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
