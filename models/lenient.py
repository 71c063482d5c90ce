"""Field types that read what small models write where a number, a flag or a list was asked for."""

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e[-+]?\d+)?", re.I)
_OUT_OF = re.compile(rf"({_NUMBER.pattern})\s*(?:/|out of|of|von)\s*({_NUMBER.pattern})", re.I)
_PERCENT = re.compile(rf"({_NUMBER.pattern})\s*(?:%|percent)", re.I)
_IN_WORDS = {"none": 0.0, "low": 0.2, "medium": 0.5, "moderate": 0.5, "high": 0.9, "full": 1.0, "perfect": 1.0}
_YES = frozenset({"true", "yes", "y", "1", "supported", "ja", "fully supported"})
_NO = frozenset({"false", "no", "n", "0", "unsupported", "not supported", "nein", "partially", "none", "null", ""})


def read_score(value: Any) -> float:
    """A score as 0..1: 0.8, "0.8", "8/10", "80%", 8 (of ten) or 80 (of a hundred); anything else is refused.

    A number above 1 is read on the smallest scale that holds it (10, then 100). Below 0 it counts as 0.
    """
    if value is None:
        raise ValueError("no score at all")
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return _unit(float(value))
    if isinstance(value, dict) and len(value) == 1:
        return read_score(next(iter(value.values())))
    text = str(value).strip()
    if ratio := _OUT_OF.search(text):
        whole = _float(ratio[2])
        if whole > 0:
            return _bounded(_float(ratio[1]) / whole)
    if percent := _PERCENT.search(text):
        return _bounded(_float(percent[1]) / 100)
    if number := _NUMBER.search(text):
        return _unit(_float(number[0]))
    if text.lower() in _IN_WORDS:
        return _IN_WORDS[text.lower()]
    raise ValueError(f"no score in {text[:40]!r}")


def read_whole(value: Any) -> int:
    """A whole number in 3, 3.0, "3", "[3]", "passage 3" or [3]; 0 where there is none."""
    if isinstance(value, list | tuple):
        value = value[0] if value else 0
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    if isinstance(value, int | float):
        return int(value)
    number = re.search(r"\d{1,9}", str(value or ""))
    return int(number[0]) if number else 0


def read_flag(value: Any) -> bool:
    """True or false in a flag, a number or a word; what is neither is refused rather than taken for true."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = str(value if value is not None else "").strip().lower().rstrip(".!")
    if word in _YES or word in _NO:
        return word in _YES
    raise ValueError(f"neither true nor false: {word[:40]!r}")


def read_text(value: Any) -> str:
    """Text, also where a model wrote null, a number or a list of lines."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return " ".join(read_text(item) for item in value)
    if isinstance(value, dict):
        return " ".join(read_text(item) for item in value.values())
    text = str(value).strip()
    return "" if text.lower() in ("none", "null", "n/a", "not found", "-") else text


def read_lines(value: Any) -> list[str]:
    """A list of texts, also where a model wrote one text with a line each, or objects with one text."""
    if isinstance(value, str):
        value = value.splitlines()
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        raise ValueError("no list of texts")
    lines = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", read_text(item)) for item in value)
    return [line for line in lines if line]


def _float(text: str) -> float:
    return float(text.replace(",", "."))


def _unit(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    if number > 100:
        raise ValueError(f"{number:g} is on no known scale")
    return _bounded(number if number <= 1 else number / 10 if number <= 10 else number / 100)


def _bounded(number: float) -> float:
    return min(1.0, max(0.0, number))


Score = Annotated[float, BeforeValidator(read_score)]
Whole = Annotated[int, BeforeValidator(read_whole)]
Flag = Annotated[bool, BeforeValidator(read_flag)]
Text = Annotated[str, BeforeValidator(read_text)]
Lines = Annotated[list[str], BeforeValidator(read_lines)]

MAY_BE_LEFT_OUT = Field(json_schema_extra={"optional": True})
"""Marks a field that the schema sent to a model does not require, so that no tokens are spent on an empty one."""
