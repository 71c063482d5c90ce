"""Files that others may have written: allowed settings of a folder, and YAML with bounded memory.

A user who unpacks an archive and asks in it has not chosen its settings. So settings that run code, or name a server, a
token or a place outside, count only in a file that the user trusts, which is remembered by path and content.
"""

import json
import logging
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import yaml

from cragraph.private import private

logger = logging.getLogger(__name__)

FILES: Final = ("cragraph.yaml", "config.yaml", ".env")
PERSONS: Final = frozenset(
    ("retriever", "model", "judge_model", "base_url", "ollama_host", "prompts", "nli_model", "metrics_log", "token")
)
"""Settings that a folder may not set: code, servers, tokens, written files, and texts for a model or judge."""
BUILT_IN: Final = {"embeddings": ("embedded",), "reranker": ("auto", "none", "lexical", "nearest", "llm")}
DEEPEST: Final = 20  # nesting of YAML at most
LARGEST: Final = 1_000_000  # characters of a settings file at most
_TOLD: Final[set[str]] = set()


def home() -> Path:
    """The user's configuration folder."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "cragraph"


def harmless(name: str, value: Any) -> bool:
    """Whether a setting neither runs code nor names a server, a token or a place outside the folder."""
    if value in (None, ""):
        return True
    if name == "store":
        place = str(value)  # `~` is expanded where the store is opened
        plain = not {":", "\0"} & {*place} and place[0] != "~"
        return plain and Path(place).resolve().is_relative_to(Path().resolve())
    if name == "judge":
        return ":" not in str(value)
    return name not in PERSONS and (name not in BUILT_IN or value in BUILT_IN[name])


def allowed(file: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """The allowed settings of a file in the working folder; the others are left out, with one line of notice."""
    refused = sorted(name for name, value in values.items() if not harmless(name, value))
    if not refused or is_trusted(file):
        return dict(values)
    line = (
        f"{file} sets {', '.join(refused)}, which a folder may not do: left out. If you mean it, `cragraph trust .` "
        f"or set it in {home() / 'config.yaml'}, in the environment or as an option."
    )
    if line not in _TOLD:
        _TOLD.add(line)
        logger.warning(line)
    return {name: value for name, value in values.items() if name not in refused}


def is_trusted(file: Path) -> bool:
    """Whether the user trusts a file with its present content."""
    return file.is_file() and _remembered().get(str(file.resolve())) == _digest(file)


def trust(*files: Path) -> None:
    """Trust files with their present content."""
    home().mkdir(mode=0o700, parents=True, exist_ok=True)
    known = _remembered() | {str(file.resolve()): _digest(file) for file in files}
    part = home() / f".trusted.{os.getpid()}.part"
    with private(part, encoding="utf-8") as written:
        json.dump(known, written, indent=1)
    part.replace(home() / "trusted.json")


def _remembered() -> dict[str, str]:
    try:
        known = json.loads((home() / "trusted.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def check_yaml(text: str, *, aliases: bool = False) -> None:
    """Raise YAMLError for YAML that is nested too deeply, and for aliases, a few lines of which can fill the memory,
    unless the caller counts the expanded values."""
    depth = 0
    if len(text) > LARGEST:
        raise yaml.YAMLError(f"it has {len(text):,} characters; wanted {LARGEST:,} at most")
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if (isinstance(event, yaml.AliasEvent) and not aliases) or depth > DEEPEST:
            why = "an alias; wanted the value itself" if depth <= DEEPEST else f"more than {DEEPEST} levels"
            raise yaml.MarkedYAMLError(problem=why, problem_mark=event.start_mark)  # type: ignore[arg-type]
