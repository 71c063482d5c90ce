"""Prompts, one per file, and the means to fill them safely."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from importlib.resources import files
from itertools import count, groupby
from pathlib import Path
from secrets import token_bytes
from typing import Final

from cragraph.errors import SettingsError
from cragraph.types import Passage

VARIABLES: Final[Mapping[str, str]] = {
    "generate": "question passages marker idk?",
    "generate_plainly": "question passages marker",
    "regenerate": "question passages marker idk? previous failed",
    "judge": "question? passages marker claims count?",
    "claims": "answer marker",
    "alignment": "question passages marker answer",
    "consistency": "answer facts marker",
    "rerank": "question passages marker",
    "multi_query": "question count?",
    "requery": "question? passages? failed unanswered? count? marker?",
    "contextualize": "question messages",
    "compute": "question tables marker",
}
"""What each prompt may use; a person's own may leave out what has a question mark, such as a question of context."""

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
        self,
        passages: Sequence[Passage] | None,
        seed: int | None,
        quoted: Mapping[str, str],
        values: Mapping[str, object],
    ) -> list[tuple[str, str]]:
        """The messages about passages, numbered and delimited by one code; `quoted` texts are made harmless."""
        texts = quoted.values() if passages is None else [passage["text"] for passage in passages]
        marker = marker_for(*texts, seed=seed)
        tame = {name: neutral(text, marker) for name, text in quoted.items()}
        return self.fill(passages=delimited(passages or (), marker), marker=marker, **tame, **values)


@dataclass(frozen=True)
class Prompts:
    """The prompts of one run: the shipped ones, each replaced by the file of its name in `folder` if there is one."""

    folder: Path | None = None

    def __getitem__(self, name: str) -> Prompt:
        return self._all[name]

    @cached_property
    def _all(self) -> dict[str, Prompt]:
        return {name: load(name, self.folder) for name in VARIABLES}


def load(name: str, folder: Path | str | None = None) -> Prompt:
    """Read one prompt: ``NAME.md`` in `folder` if there is such a file, else the shipped prompt.

    Raises `SettingsError` for an unknown name, a folder that is not there, or a prompt that cannot work.
    """
    if name not in VARIABLES:
        raise SettingsError(f"no prompt is called {name!r}; wanted one of {', '.join(sorted(VARIABLES))}.")
    if folder is not None and not Path(folder).is_dir():
        raise SettingsError(f"the prompt folder {str(folder)!r} is not a folder: create it, or unset CRAG_PROMPTS.")
    if folder is not None and (own := Path(folder) / f"{name}.md").is_file():
        return parse(name, own.read_text(encoding="utf-8"), str(own))
    return parse(name, files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8"), f"{name}.md")


def parse(name: str, text: str, where: str) -> Prompt:
    """Read a prompt from the text of its file; errors name the file as `where`."""
    sections = _SECTIONS.match(text)
    if sections is None:
        raise SettingsError(f"{where} has no two parts; wanted a line '# system', its text, a line '# user', its text.")
    used, listed = set(_VARIABLE.findall(text)), VARIABLES[name].split()
    every = {variable.rstrip("?") for variable in listed}
    unknown, missing = used - every, every.intersection(listed) - used
    if unknown:
        known = ", ".join(sorted(f"{{{{{variable}}}}}" for variable in every))
        raise SettingsError(f"{where} uses {{{{{min(unknown)}}}}}, which {name} does not have; it has {known}.")
    if missing:
        raise SettingsError(f"{where} does not use {{{{{min(missing)}}}}}, without which {name} cannot work: add it.")
    digest = sha256(text.encode("utf-8")).hexdigest()[:12]
    return Prompt(name, sections["system"].strip(), sections["user"].strip(), digest)


# -- quoted material -------------------------------------------------------------------------------------------

_SECRET: Final = token_bytes(16)  # drawn at start-up, so that nobody outside this process can compute a marker

_INVISIBLE = re.compile(
    "[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f"
    "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\U000e0000-\\U000e0fff]"
)
"""Characters that show nothing: they hide words from a reader and split words that a filter looks for."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_DELIMITER = re.compile(r"<\s*<(?=\s*/?\s*(?:passage|answer|claims|facts|end)\b)", re.I)
"""What our own delimiters look like, with any code or none."""

_TEMPLATE = re.compile(
    r"<\|[^|>\n]{0,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<\uff5c[^>\n]{0,40}\uff5c>|"
    r"</?(?:system|assistant|user|human|tool_call|think|thinking)\b[^>\n]{0,40}>",
    re.I,
)
"""The control tokens of common chat templates: in a document they are text, in a prompt some servers obey them."""

_ROLE_LINE = re.compile(r"^([ \t#*>-]*)(system|assistant|user|human|developer)([ \t]*:)", re.I | re.M)


def marker_for(*texts: str, seed: int | None = None) -> str:
    """A code of four hexadecimal digits that no text contains, made by a keyed hash of the first text.

    The code stays the same if a correction appends passages, so that a server can reuse its reading of the prompt.
    Without `seed` the key is drawn at random when the process starts.
    """
    key = _SECRET if seed is None else b"seed %d" % seed
    taken = [folded(text) for text in texts]
    for attempt in count():
        digest = blake2b(digest_size=2 + attempt // 64, key=key)  # a hexadecimal dump may hold every short code
        for text in (str(attempt), *texts[:1]):
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        marker = digest.hexdigest()
        if not any(marker in text for text in taken):
            return marker
    raise AssertionError


def folded(text: str) -> str:
    """The text as a reader perceives it: compatibility forms unified, invisible characters gone, lower case."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()


def neutral(text: str, marker: str) -> str:
    """The text with all signs defused that could pass for the prompt's own structure; the words stay."""
    text = _CONTROL.sub("", _INVISIBLE.sub("", text))
    unified = unicodedata.normalize("NFKC", text)
    if any(len(known.findall(unified)) > len(known.findall(text)) for known in (_DELIMITER, _TEMPLATE)):
        text = unified  # written in compatibility characters, such as full-width ones, to look like ours
    text = text.translate(_WIDE)
    text = _TEMPLATE.sub(lambda match: match[0].translate(_TAME), text)
    text = _DELIMITER.sub(lambda match: match[0].translate(_TAME), text)
    text = _ROLE_LINE.sub(r"\1\2 \3", text)
    if marker in folded(text):
        text = re.sub(re.escape(marker), "(code)", unicodedata.normalize("NFKC", text), flags=re.I)
    return text


_WIDE = {0xFF1C: "<", 0xFF1E: ">", 0xFE64: "<", 0xFE65: ">", 0x226A: "<<", 0x226B: ">>"}
_TAME = {ord("<"): "\u2039", ord(">"): "\u203a", ord("["): "(", ord("]"): ")", ord("|"): "\u00a6"}


def delimited(passages: Sequence[Passage], marker: str) -> str:
    """The passages as numbered, delimited material, numbered from 1, each with its source and heading.

    Consecutive rows of one file form one block, each row behind its number.
    """
    blocks = []
    numbered = enumerate(passages, start=1)
    for (_, is_row), some in groupby(numbered, key=lambda one: (one[1]["source"], "row" in one[1]["metadata"])):
        own = list(some)
        for rows in [own] if is_row else [[one] for one in own]:
            number, passage = rows[0]
            numbers = str(number) if len(rows) == 1 else f"{number}-{rows[-1][0]}"
            texts = (passage["text"] if len(rows) == 1 else f"[{n}] {p['text']}" for n, p in rows)
            head = f"<<passage {marker} {numbers}: {_titled(passage, marker)}>>"
            lines = "\n".join(neutral(text, marker) for text in texts)
            blocks.append(f"{head}\n{lines}\n<<end {marker}>>")
    return "\n\n".join(blocks)


def _titled(passage: Passage, marker: str) -> str:
    """The origin of a passage: its file, page, date and headings, without words that its text has."""
    heading, day = (str(passage["metadata"].get(name) or "") for name in ("heading", "dated"))
    parts = [passage["filename"] or passage["source"]]
    parts += [f"p. {passage['page']}"] if passage["page"] is not None else []
    parts += [f"of {day}"] if day and day not in heading and day not in passage["text"] else []
    parts += [f"({heading})"] if heading and heading.rpartition(" > ")[2] not in passage["text"] else []
    return re.sub(r'[\s"<>]+', " ", neutral(" ".join(parts), marker))[:120].strip()
