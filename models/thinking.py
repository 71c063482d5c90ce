"""Thoughts that a model wrote into its answer."""

import re

_CLOSED = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.S | re.I)
_UNOPENED = re.compile(r"\A.*?</(?:think|thinking|thought|reasoning)>\s*", re.S | re.I)
_UNCLOSED = re.compile(r"<(?:think|thinking|thought|reasoning)>.*\Z", re.S | re.I)


def without_thinking(text: str) -> str:
    """The text without ``<think>…</think>``, also where the first or the last tag is missing.

    Chat templates that open the block themselves leave only the closing tag; a model that ran out of tokens
    leaves only the opening one.
    """
    return _UNCLOSED.sub("", _UNOPENED.sub("", _CLOSED.sub("", text))).strip()
