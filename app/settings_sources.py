"""Where settings come from beside arguments, and which source to blame for a wrong one."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, YamlConfigSettingsSource

from cragraph.errors import SettingsError

PREFIX: Final = "CRAG_"
CONFIG_FILE: Final = "cragraph.yaml"
NOT_OURS: Final = frozenset({"CRAG_DATA", "CRAG_CONFIG"})
"""Variables with our prefix that are no settings: the evaluation data's folder, and the settings file's path."""


class OwnDotEnvSource(DotEnvSettingsSource):
    """The `.env` file without the variables of other programs, which may share it."""

    def __call__(self) -> dict[str, Any]:
        """Our variables, without their prefix."""
        ours = {f: v for f, v in super().__call__().items() if f in self.settings_cls.model_fields}
        strays = {n[len(PREFIX) :].lower(): v for n, v in self.env_vars.items() if n.upper().startswith(PREFIX)}
        return {n: v for n, v in strays.items() if n.split("__")[0] not in self.settings_cls.model_fields} | ours


class BlocksSource(YamlConfigSettingsSource):
    """The YAML file; its `verification:` and `crag:` blocks may hold per-run fields under their short names."""

    def __init__(self, settings_cls: type[BaseSettings], path: Path) -> None:
        super().__init__(settings_cls, yaml_file=path)

    def __call__(self) -> dict[str, Any]:
        """The file's settings, the blocks' per-run fields lifted to the top."""
        return lift_blocks(super().__call__())


LIFTED = ("confidence_threshold", "max_crag_attempts", "show_claims")


def lift_blocks(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the blocks ``verification: {enabled: true, …}`` and ``crag: {enabled: true}`` as per-run fields."""
    lifted = dict(data)
    crag = lifted.get("crag")
    if isinstance(crag, Mapping) and set(crag) == {"enabled"}:
        lifted["crag"] = crag["enabled"]
    block = lifted.get("verification")
    if isinstance(block, Mapping):
        rest = dict(block)
        for name in ("enabled", "enable"):
            if name in rest:
                lifted.setdefault("verify", rest.pop(name))
        for name in LIFTED:
            if name in rest:
                lifted.setdefault(name, rest.pop(name))
        lifted["verification"] = rest
    return lifted


def config_path() -> Path | None:
    """The settings file: CRAG_CONFIG, which must exist, else ``cragraph.yaml`` in the working folder."""
    named = os.environ.get("CRAG_CONFIG")
    path = Path(named or CONFIG_FILE)
    if named and not path.is_file():
        raise SettingsError(f"CRAG_CONFIG names {named}, which is not a file: correct it or unset it.")
    return path if path.is_file() else None


def refuse_unknown_variables(settings: type[BaseSettings]) -> None:
    """Raise SettingsError for a variable with our prefix that no setting has."""
    known = {f"{PREFIX}{name}".upper() for name in settings.model_fields}
    for variable in os.environ:
        if not variable.upper().startswith(PREFIX) or variable in NOT_OURS:
            continue
        head = variable.upper().split("__")[0]
        if head not in known:
            raise SettingsError(f"The environment variable {variable} is no setting{_hint(head, known)}.")


def explained(error: ValidationError, explicit: Mapping[str, Any], settings: type[BaseSettings]) -> str:
    """One line a problem: the source that holds it, what came and what was wanted."""
    lines = []
    for problem in error.errors():
        path = [str(part) for part in problem["loc"]]
        source = _source_of(path, explicit, settings)
        if problem["type"] == "extra_forbidden":
            known = set(settings.model_fields) if len(path) == 1 else set()
            lines.append(f"{source}: unknown setting {'.'.join(path)!r}{_hint(path[-1], known)}.")
        else:
            came = problem.get("input")
            lines.append(f"{source}: {'.'.join(path)} came as {came!r}: {problem['msg']}.")
    return "\n".join(lines)


def _source_of(path: list[str], explicit: Mapping[str, Any], settings: type[BaseSettings]) -> str:
    if _holds(explicit, path):
        return "argument"
    if _holds(EnvSettingsSource(settings)(), path):
        variable = PREFIX + "__".join(path).upper()
        return f"environment variable {variable if variable in os.environ else PREFIX + path[0].upper()}"
    if _holds(OwnDotEnvSource(settings)(), path):
        return ".env"
    return str(config_path() or "settings")


def _holds(data: Any, path: list[str]) -> bool:
    for part in path[:2]:
        if not isinstance(data, Mapping) or part not in data:
            return False
        data = data[part]
    return True


def _hint(name: str, known: set[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else "; see cragraph.example.yaml for the settings there are"
