"""What models have shown in an examination (`cragraph exam`), by their digest in the person's configuration folder."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cragraph.models import http
from cragraph.models.worth import Worth
from cragraph.private import private

PATIENCE_S: Final = 5.0  # seconds that a server may take to tell its models
SOURCE: Final = "its examination"


def folder() -> Path:
    """Where examinations are kept: `cragraph/exams` in the configuration folder of the person."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "cragraph" / "exams"


def place_of(model: Any, name: str) -> Path | None:
    """The file of a model's examination: by the digest that Ollama tells, else by name and server.

    None where Ollama does not tell the digest.
    """
    url = str(getattr(model, "base_url", None) or getattr(model, "openai_api_base", None) or "")
    key = f"{name} {url}" if getattr(model, "_llm_type", "") != "chat-ollama" else _digest(url, str(model.model))
    return folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json" if key else None


def read(path: Path) -> dict[str, Any]:
    """What is kept in a file; empty where there is none, or it cannot be read."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def write(path: Path, kept: Mapping[str, Any]) -> None:
    """Keep it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_suffix(".part")
    with private(beside) as sink:
        json.dump(kept, sink, indent=1)
    beside.replace(path)


def worth_shown(model: Any, name: str) -> Worth | None:
    """What a model has shown to be worth; None where it was not examined to the end."""
    try:
        if not any(folder().glob("*.json")):
            return None  # a server is not asked for nothing
        path = place_of(model, name)
        shown = read(path).get("worth") if path else None
        return Worth(**shown) if shown else None
    except (OSError, RuntimeError, TypeError):  # no home, or a file of another version
        return None


def first_asked(model: Any, name: str) -> bool:
    """Whether a model was not examined and nobody was told so before; the next call says False."""
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
    except Exception:  # whatever the server says instead, the digest is not known
        return ""
