"""cragraph: corrective RAG on your own machine.

>>> from cragraph import create_graph
>>> graph = create_graph().compile()
>>> graph.invoke({"question": "When does the loop stop?"})["answer"]

Names are imported when they are first used. An import changes nothing of the program around it: no variable, no
logging, no warnings, no thread.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from cragraph.api import (
        CorrectionResult,
        Reading,
        averify,
        averify_and_correct,
        create_chat,
        create_graph,
        create_verifier,
        read,
        verify,
        verify_and_correct,
    )
    from cragraph.errors import CragError
    from cragraph.founding import (
        AnswerValidator,
        ClaimStatus,
        CRAGResult,
        ValidationConfig,
        VerificationResult,
        VerifiedClaim,
        chat_with_verification,
        corrective_rag_loop,
        validate_answer,
        verify_response,
        verify_supported,
    )
    from cragraph.graph.context import Context
    from cragraph.graph.state import Response
    from cragraph.report import Report
    from cragraph.settings import Settings, load_settings
    from cragraph.types import IDK, Citation
    from cragraph.verification.policies import calculate_confidence
    from cragraph.verification.result import Verification

_HOMES = {
    "api": (
        "CorrectionResult", "Reading", "averify", "averify_and_correct", "create_chat", "create_graph",
        "create_verifier", "read", "verify", "verify_and_correct",
    ),
    "errors": ("CragError",),
    "report": ("Report",),
    "graph.context": ("Context",),
    "graph.state": ("Response",),
    "settings": ("Settings", "load_settings"),
    "types": ("IDK", "Citation"),
    "founding": (
        "AnswerValidator", "CRAGResult", "ClaimStatus", "ValidationConfig", "VerificationResult", "VerifiedClaim",
        "chat_with_verification", "corrective_rag_loop", "validate_answer", "verify_response", "verify_supported",
    ),
    "verification.policies": ("calculate_confidence",),
    "verification.result": ("Verification",),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker would take every name for one that is there

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: eager, LangGraph's import would hold up `cragraph --help`."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


__all__ = [
    "IDK", "AnswerValidator", "CRAGResult", "Citation", "ClaimStatus", "Context", "CorrectionResult", "CragError",
    "Reading", "Report", "Response", "Settings", "ValidationConfig", "Verification", "VerificationResult",
    "VerifiedClaim",
    "__version__", "averify", "averify_and_correct", "calculate_confidence", "chat_with_verification",
    "corrective_rag_loop", "create_chat", "create_graph", "create_verifier", "load_settings", "read",
    "validate_answer", "verify", "verify_and_correct", "verify_response", "verify_supported",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
