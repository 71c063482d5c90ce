"""Prompts as data: one Markdown file each, replaceable from a person's own folder, known by the hash of its text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

from cragraph.errors import SettingsError
from cragraph.prompts.data import delimited, marker_for, neutral
from cragraph.types import Passage

VARIABLES: Final[Mapping[str, frozenset[str]]] = {
    "generate": frozenset({"question", "passages", "marker", "idk"}),
    "regenerate": frozenset({"question", "passages", "marker", "idk", "previous", "failed"}),
    "judge": frozenset({"question", "passages", "marker", "claims", "count"}),
    "claims": frozenset({"answer", "marker"}),
    "alignment": frozenset({"question", "passages", "marker", "answer"}),
    "consistency": frozenset({"answer", "facts", "marker"}),
    "rerank": frozenset({"question", "passages", "marker"}),
    "multi_query": frozenset({"question", "count"}),
    "requery": frozenset({"question", "passages", "failed", "unanswered", "count", "marker"}),
    "contextualize": frozenset({"question", "messages"}),
    "verify_supported": frozenset({"question", "passages", "marker", "answer"}),
}
"""What each prompt may use; all of it but `OPTIONAL` must appear."""

OPTIONAL: Final = frozenset({"question", "count", "idk", "unanswered"})
"""Variables that a person's own prompt may leave out (`question` only where it is context)."""

_ASKS: Final = frozenset({"generate", "regenerate", "rerank", "multi_query", "contextualize", "alignment"})
"""Prompts that are senseless without the question."""

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_SECTIONS = re.compile(r"\A\s*# system\s*\n(?P<system>.*?)^# user\s*\n(?P<user>.*)\Z", re.S | re.M)


@dataclass(frozen=True)
class Prompt:
    """One prompt: a system and a user text with ``{{variables}}``; `digest` is 12 hex digits of its SHA-256."""

    name: str
    system: str
    user: str
    digest: str

    def fill(self, **values: object) -> list[tuple[str, str]]:
        """The (role, text) messages with the variables replaced, in one pass: a value's own braces stay."""
        both = (("system", self.system), ("human", self.user))
        return [(role, _VARIABLE.sub(lambda match: str(values[match[1]]), text)) for role, text in both]

    def on(
        self, passages: Sequence[Passage], seed: int | None, quoted: Mapping[str, str] | None = None, **values: object
    ) -> list[tuple[str, str]]:
        """The messages about passages, numbered and delimited by one code; what is `quoted` cannot leave its place."""
        marker = marker_for(*(passage["text"] for passage in passages), seed=seed)
        tame = {name: neutral(text, marker) for name, text in (quoted or {}).items()}
        return self.fill(passages=delimited(passages, marker), marker=marker, **tame, **values)


@dataclass(frozen=True)
class Prompts:
    """The prompts of one run: the shipped ones, each replaced by the file of its name in `folder` if there is one."""

    folder: Path | None = None

    def __getitem__(self, name: str) -> Prompt:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(VARIABLES)

    @property
    def digests(self) -> dict[str, str]:
        """The version of each prompt, by name."""
        return {name: prompt.digest for name, prompt in self._all.items()}

    @cached_property
    def _all(self) -> dict[str, Prompt]:
        return {name: load(name, self.folder) for name in VARIABLES}


def load(name: str, folder: Path | str | None = None) -> Prompt:
    """Read one prompt, from `folder` where it has ``NAME.md``, else the shipped one.

    Raises `SettingsError` for an unknown name, a folder that is not there, missing sections, unknown
    variables, or variables without which the prompt cannot work.
    """
    if name not in VARIABLES:
        raise SettingsError(f"no prompt is called {name!r}; wanted one of {', '.join(sorted(VARIABLES))}.")
    if folder is not None and not Path(folder).is_dir():
        raise SettingsError(f"the prompt folder {str(folder)!r} is not a folder: create it, or unset CRAG_PROMPTS.")
    own = Path(folder) / f"{name}.md" if folder is not None else None
    if own is not None and own.is_file():
        return parse(name, own.read_text(encoding="utf-8"), str(own))
    return parse(name, files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8"), f"{name}.md")


def parse(name: str, text: str, where: str) -> Prompt:
    """Read a prompt from the text of its file; `where` is named in errors."""
    sections = _SECTIONS.match(text)
    if sections is None:
        raise SettingsError(f"{where} has no two parts; wanted a line '# system', its text, a line '# user', its text.")
    used = set(_VARIABLE.findall(text))
    optional = OPTIONAL - {"question"} if name in _ASKS else OPTIONAL
    optional = optional | {"passages", "marker"} if name == "requery" else optional
    unknown, missing = used - VARIABLES[name], VARIABLES[name] - used - optional
    if unknown:
        known = ", ".join(sorted(f"{{{{{variable}}}}}" for variable in VARIABLES[name]))
        raise SettingsError(f"{where} uses {{{{{min(unknown)}}}}}, which {name} does not have; it has {known}.")
    if missing:
        raise SettingsError(f"{where} does not use {{{{{min(missing)}}}}}, without which {name} cannot work: add it.")
    digest = sha256(text.encode("utf-8")).hexdigest()[:12]
    return Prompt(name, sections["system"].strip(), sections["user"].strip(), digest)
