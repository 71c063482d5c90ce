"""cragraph: corrective RAG on your own machine.

>>> from cragraph import create_graph
>>> graph = create_graph().compile()
>>> graph.invoke({"question": "When does the loop stop?"})["answer"]

Names are imported when they are first used, so that the command line starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from cragraph.api import CorrectionResult, averify, averify_and_correct, verify, verify_and_correct
    from cragraph.build import create_graph, create_verifier
    from cragraph.errors import (
        CragError,
        DeadlineError,
        DocumentError,
        InputError,
        ModelError,
        ModelNotFoundError,
        ModelUnavailableError,
        SettingsError,
        StoreError,
        StoreLockedError,
        StoreMismatchError,
        WeightsError,
    )
    from cragraph.graph.context import Context
    from cragraph.settings import Settings, load_settings
    from cragraph.types import IDK, Attempt, Citation, Claim, Evidence, Passage, Verdict
    from cragraph.validation import AnswerValidator, ValidationConfig, validate_answer, verify_supported
    from cragraph.verification.policies import calculate_confidence
    from cragraph.verification.result import Verification

_HOMES = {
    "cragraph.api": ("CorrectionResult", "averify", "averify_and_correct", "verify", "verify_and_correct"),
    "cragraph.errors": (
        "CragError",
        "DeadlineError",
        "DocumentError",
        "InputError",
        "ModelError",
        "ModelNotFoundError",
        "ModelUnavailableError",
        "SettingsError",
        "StoreError",
        "StoreLockedError",
        "StoreMismatchError",
        "WeightsError",
    ),
    "cragraph.build": ("create_graph", "create_verifier"),
    "cragraph.graph.context": ("Context",),
    "cragraph.settings": ("Settings", "load_settings"),
    "cragraph.types": ("IDK", "Attempt", "Citation", "Claim", "Evidence", "Passage", "Verdict"),
    "cragraph.validation": ("AnswerValidator", "ValidationConfig", "validate_answer", "verify_supported"),
    "cragraph.verification.policies": ("calculate_confidence",),
    "cragraph.verification.result": ("Verification",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "IDK",
    "AnswerValidator",
    "Attempt",
    "Citation",
    "Claim",
    "Context",
    "CorrectionResult",
    "CragError",
    "DeadlineError",
    "DocumentError",
    "Evidence",
    "InputError",
    "ModelError",
    "ModelNotFoundError",
    "ModelUnavailableError",
    "Passage",
    "Settings",
    "SettingsError",
    "StoreError",
    "StoreLockedError",
    "StoreMismatchError",
    "ValidationConfig",
    "Verdict",
    "Verification",
    "WeightsError",
    "__version__",
    "averify",
    "averify_and_correct",
    "calculate_confidence",
    "create_graph",
    "create_verifier",
    "load_settings",
    "validate_answer",
    "verify",
    "verify_and_correct",
    "verify_supported",
]


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name not in _HOME:
        raise AttributeError(f"module 'cragraph' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
