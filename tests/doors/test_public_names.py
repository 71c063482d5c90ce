"""What `cragraph` promises to export."""

import subprocess
import sys

import pytest

import cragraph

PROMISED = {
    "create_graph", "create_verifier", "create_chat", "Settings", "Context", "verify", "averify", "verify_and_correct",
    "averify_and_correct", "validate_answer", "AnswerValidator", "ValidationConfig", "verify_supported",
    "calculate_confidence", "Verification", "CorrectionResult", "IDK", "Citation", "CragError", "Report",
    "load_settings",
    "__version__", "verify_response", "corrective_rag_loop", "chat_with_verification", "ClaimStatus", "VerifiedClaim",
    "VerificationResult", "CRAGResult", "Reading", "read", "Response",
}  # fmt: skip


def test_everything_promised_is_exported_and_importable() -> None:
    assert set(cragraph.__all__) == PROMISED
    for name in cragraph.__all__:
        assert getattr(cragraph, name) is not None


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'creat_graph'"):
        _ = cragraph.creat_graph


@pytest.mark.slow
@pytest.mark.parametrize("statement", ["import cragraph", "import cragraph.cli", "import cragraph.settings"])
def test_importing_it_loads_nothing_heavy(statement: str) -> None:
    heavy = ("torch", "chromadb", "onnxruntime", "langchain_ollama", "matplotlib", "pypdfium2", "bs4", "docx")
    code = f"import sys; {statement}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
