"""Finding and mending the JSON in what a small model wrote."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from cragraph.models.thinking import without_thinking

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
_COMMENT = re.compile(r"(?<![:\"'\w])//[^\n]*|/\*.*?\*/", re.S)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_BARE_KEY = re.compile(r"(?<=[{,])(\s*)([A-Za-z_]\w*)(\s*):")
_WORDS = {"true": "True", "false": "False", "null": "None", "nan": "None", "infinity": "None"}
_WORD = re.compile(r"(?<![\w\"'])-?(true|false|null|nan|infinity)(?![\w\"'])", re.I)
_OPENER = re.compile(r"[{\[]")
MOST_UNBALANCED = 4
"""Brackets without a partner that are tried as a reply that was cut off; each costs a pass over the text."""
_CLOSERS = {"{": "}", "[": "]"}


def values_in(text: str) -> Iterator[Any]:
    """Every JSON value that can be read in the text, likeliest first; each may be looser than JSON allows.

    Looks into code fences, then at each balanced bracket, past prose on both sides; mends single quotes,
    trailing commas, comments, bare keys, Python's words, and a reply that was cut off before its last
    bracket.
    """
    plain = without_thinking(text)
    for source in [*(match[1] for match in _FENCE.finditer(plain)), plain]:
        for candidate in _candidates(source):
            for read in (_strict, _mended, _as_python):
                try:
                    value = read(candidate)
                except (ValueError, SyntaxError, MemoryError, RecursionError):
                    continue
                if isinstance(value, dict | list):
                    yield value
                    break


def _candidates(text: str) -> Iterator[str]:
    stripped = text.strip()
    if stripped[:1] in _CLOSERS:
        yield stripped
    position = unbalanced = 0
    while (found := _OPENER.search(text, position)) is not None and unbalanced < MOST_UNBALANCED:
        end, missing = _balance(text, found.start())
        yield text[found.start() : end] + missing
        unbalanced += bool(missing)
        position = found.start() + 1 if missing else end


def _balance(text: str, start: int) -> tuple[int, str]:
    """Where the value that begins at `start` ends, and the closers that are missing there."""
    stack: list[str] = []
    quote = ""
    skip = False
    for index in range(start, len(text)):
        character = text[index]
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            quote = "" if character == quote else quote
        elif character == '"':
            quote = character
        elif character in _CLOSERS:
            stack.append(_CLOSERS[character])
        elif stack and character == stack[-1]:
            stack.pop()
            if not stack:
                return index + 1, ""
    return len(text), (quote if quote == '"' else "") + "".join(reversed(stack))


def _strict(text: str) -> Any:
    return json.loads(text, strict=False, parse_constant=lambda _: None)


def _mended(text: str) -> Any:
    text = text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"})
    text = _BARE_KEY.sub(r'\1"\2"\3:', _COMMENT.sub("", text))
    text = re.sub(r",\s*([\"'][^\"']*[\"']\s*:?\s*)?(?=[}\]]*\Z)", "", text) if text.endswith(("}", "]")) else text
    return _strict(_TRAILING_COMMA.sub("", text))


def _as_python(text: str) -> Any:
    """Single quotes, True and None: a Python literal, which is read as data only."""
    text = _COMMENT.sub("", text).translate({0x201C: '"', 0x201D: '"'})
    return ast.literal_eval(_WORD.sub(lambda match: _WORDS[match[1].lower()], text).strip())
