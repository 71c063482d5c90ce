"""Tokens as the test server counts them, its truncation, and its embeddings."""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import sqrt
from typing import Any

NUM_KEEP = 4
"""How many tokens at the start survive truncation, Ollama's default `num_keep`."""

_PIECE = re.compile(r"\s*(?:[A-Za-z]{1,8}|\d{1,3}|[^\sA-Za-z\d]{1,2})|\s+$")


def tokens_of(text: str) -> list[str]:
    """Cut text into pieces that join to it again; about four characters of English prose each."""
    return _PIECE.findall(text)


def rendered(messages: Sequence[Mapping[str, Any]]) -> str:
    """The prompt as a chat template lays it out."""
    return "".join(f"<|{m.get('role', 'user')}|>\n{m.get('content', '')}\n" for m in messages)


def fitted(messages: Sequence[Mapping[str, Any]], num_ctx: int) -> tuple[str, int, bool]:
    """What a model with `num_ctx` reads: the text, its tokens, and whether some of it was lost.

    As Ollama does it, silently: the oldest messages go first, the system message and the last one stay; if
    that is still too long, the first `NUM_KEEP` tokens stay and the rest is cut from the front to half of
    the context.
    """
    kept = list(messages)
    while len(tokens_of(rendered(kept))) > num_ctx:
        droppable = [m for m in kept[:-1] if m.get("role") != "system"]
        if not droppable:
            break
        kept.remove(droppable[0])
    pieces = tokens_of(rendered(kept))
    if len(pieces) > num_ctx:
        room = max(1, (num_ctx - NUM_KEEP) // 2)
        pieces = pieces[:NUM_KEEP] + pieces[-room:]
        return "".join(pieces), len(pieces), True
    return "".join(pieces), len(pieces), len(kept) < len(messages)


def embedding(text: str, dimensions: int) -> list[float]:
    """A unit vector of hashed words: the same text always has the same one, and shared words bring texts
    closer.
    """
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = blake2b(word.encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] & 1 else -1.0
    length = sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
