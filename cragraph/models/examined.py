"""Results of examinations (`cragraph exam`), kept by model digest in the user's configuration folder."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cragraph.models import http
from cragraph.models.worth import Worth
from cragraph.private import private

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
    """Whether a model was not examined, and this has not been said before; the next call returns False."""
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
