"""Quoted material in prompts: delimited by a code that nothing quoted can contain."""

import re
import unicodedata
from collections.abc import Sequence
from hashlib import blake2b
from itertools import count
from secrets import token_bytes
from typing import Final

from cragraph.types import Passage

_SECRET: Final = token_bytes(16)
"""Drawn at start-up, so that nobody outside this process can compute a marker."""

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
    """A code of four hexadecimal digits that none of the texts contains.

    It is a keyed hash of the first text: passages that a correction appends leave it as it is, so that a server has
    read all before them. One that is in a text is passed over: a document that writes its own marker down has another.
    Without `seed` the key is drawn at random when the process starts; with one, a seeded run can be repeated.
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
    """The text with everything defused that could pass for the prompt's own structure; its words stay.

    Invisible and control characters go; occurrences of the marker, look-alikes of our delimiters,
    chat-template tokens and lines that begin like a speaker's turn are altered visibly but minimally.
    """
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
    """The passages as numbered, delimited material, numbered from 1, each with its source."""
    blocks = []
    for number, passage in enumerate(passages, start=1):
        named = neutral(passage["filename"] or passage["source"], marker)
        source = re.sub(r'[\s"<>]+', " ", named)[:80].strip()
        page = f" p. {passage['page']}" if passage["page"] is not None else ""
        head = f"<<passage {marker} {number}: {source}{page}>>"
        blocks.append(f"{head}\n{neutral(passage['text'], marker)}\n<<end {marker}>>")
    return "\n\n".join(blocks)
