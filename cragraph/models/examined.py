"""What a model is worth: by its size, or by its examination (`cragraph exam`), which is kept by the model's digest."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cragraph.models import http
from cragraph.private import private

CAPABLE: Final = 2.0
"""Least odds of a written answer at which a model is asked before the passages are quoted, and asked as a judge."""


@dataclass(frozen=True)
class Worth:
    """Ratios of probabilities: 1 says nothing.

    `writes` are the odds that an answer which the model wrote from the passages is right. `supports` is the ratio of
    "supported" for true and for false claims, `rejects` the ratio of rejections for false and for true claims.
    `declines`, below 1, is the ratio of "I don't know" for questions that the passages answer and that they do not
    answer. `source` is the origin of the ratios.
    """

    writes: float
    supports: float
    rejects: float
    declines: float
    source: str = "the size of the model"

    @property
    def capable(self) -> bool:
        """Whether the model is asked before the passages are quoted."""
        return self.writes >= CAPABLE

    @property
    def judges(self) -> bool:
        """Whether a verdict of the model is worth a call."""
        return min(self.supports, self.rejects) >= CAPABLE

    @property
    def probability(self) -> float:
        """The probability, 0..1, that an answer of the model is right."""
        return self.writes / (1 + self.writes)


NEUTRAL: Final = Worth(0.93, 1.0, 1.0, 1.0, "nothing that it has shown")
"""A neutral model: its answers are as good as those on which the embedded reading was fitted (`verification.evidence`),
and its verdicts say nothing."""

BY_SIZE: Final[tuple[tuple[float, Worth], ...]] = (
    (1.0, Worth(0.7, 1.0, 1.0, 0.8)),
    (2.0, Worth(0.93, 1.3, 1.3, 0.7)),
    (6.0, Worth(4.0, 3.0, 3.0, 0.35)),
)
"""Models of fewer billions of parameters than the first number. The first two rows are of Qwen2.5 with 0.5 and 1.5
billion parameters (`lab.benchmarks.prompts`, `.model_judges`)."""

LARGE: Final = Worth(10.0, 8.0, 8.0, 0.15)
"""Any larger model, and one of a provider that tells no size, from the replies of `lab.benchmarks.large_model`."""


def by_size(billions: float | None) -> Worth:
    """The worth of a model by its size in billions of parameters; None for an unknown size."""
    return next((worth for limit, worth in BY_SIZE if billions is not None and billions < limit), LARGE)


# -- worth ---------------------------------------------------------------------------------------------------------

PATIENCE_S: Final = 5.0  # seconds for a server to list its models
SOURCE: Final = "its examination"


def folder() -> Path:
    """The folder of examinations: `cragraph/exams` in the user's configuration folder."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "cragraph" / "exams"


def place_of(model: Any, name: str) -> Path | None:
    """The file of a model's examination: by the digest that Ollama tells, else by name and server.

    None if Ollama does not tell the digest.
    """
    url = str(getattr(model, "base_url", None) or getattr(model, "openai_api_base", None) or "")
    key = f"{name} {url}" if getattr(model, "_llm_type", "") != "chat-ollama" else _digest(url, str(model.model))
    return folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json" if key else None


def read(path: Path) -> dict[str, Any]:
    """The content of a file; empty if it is missing or cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def write(path: Path, kept: Mapping[str, Any]) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_suffix(".part")
    with private(beside) as sink:
        json.dump(kept, sink, indent=1)
    beside.replace(path)


def worth_shown(model: Any, name: str) -> Worth | None:
    """The examined worth of a model; None if its examination is not complete."""
    try:
        if not any(folder().glob("*.json")):
            return None  # without examinations the server need not be asked
        path = place_of(model, name)
        shown = read(path).get("worth") if path else None
        return Worth(**shown) if shown else None
    except (OSError, RuntimeError, TypeError):  # no home, or a file of another version
        return None


def first_asked(model: Any, name: str) -> bool:
    """Whether a model was not examined and this was not reported yet; the next call returns False."""
    try:
        path = place_of(model, name)
        if path is None or path.exists() or (told := path.with_suffix(".told")).exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        told.touch()
    except (OSError, RuntimeError):
        return False
    return True


def _digest(url: str, name: str) -> str:
    try:
        told = http.json_of(http.fetched(f"{url}/api/tags", seconds=PATIENCE_S))["models"]
        plain = name.removesuffix(":latest")
        return next(str(row["digest"]) for row in told if str(row["name"]).removesuffix(":latest") == plain)
    except Exception:  # without a usable reply the digest is unknown
        return ""
