"""Citation markers: their patterns, their places in a text, and the passages that they name."""

import re
from dataclasses import dataclass
from typing import Final

WIDEST: Final = 20  # passages of a range such as ``[1-3]`` at most; a wider range is no citation

CITATION: Final = (
    r"(?:\[(?:\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*|\^\w{1,20}"
    r"|(?:[Ss]ources?|[Dd]oc(?:ument)?|[Pp]assages?)\b[^\[\]\n]{0,80})\](?!\()"
    r"|\((?:[Ss]ources?|[Cc]itations?):[^()\n]{0,120}\)|【[^】\n]{0,80}】|(?:(?<=[^\W\d_]{4})|(?<=[.,;:!?\"'”’)\]]))[¹²³⁰-⁹]+)"
)
"""Pattern of one marker: ``[1]``, ``[1, 2]``, ``[^1]``, ``[Source: 10-Q]``, ``(Source: 1)``, ``【1】``, ``¹``.

A raised figure behind another figure or a unit (``10⁶``, ``40 m²``) is an exponent, or a mark of the text itself."""
CITED: Final = re.compile(CITATION)
RAISED: Final = r"(?:[⁽⁺⁻]?[¹²³⁰-⁹ᵃ-ᶻⁱⁿʰ-ʸˡˢˣ]+⁾?|\^\(\w{1,3}\))"
"""Pattern of a raised mark or exponent behind a figure or a word: ``830²``, ``387⁽¹³⁾``, ``830^(b)``."""
_MARK: Final = re.compile(rf"(?<=[\d)%])\s?{RAISED}$")
_MARKED: Final = re.compile(rf"(?:[ \t]?{CITATION})+")

_NUMBERS: Final = r"\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*"
_NOUN: Final = r"(?:(?:sources?|passages?|documents?|docs?|refs?|citations?)\s*:?\s*)"
_MARKER: Final = re.compile(
    rf"\[{_NOUN}?#?(?P<square>{_NUMBERS})\](?!\()"
    rf"|【{_NOUN}?(?P<wide>{_NUMBERS})(?:[:†][^】\n]{{0,60}})?】"
    rf"|\({_NOUN}(?P<round>{_NUMBERS})\)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)|``[^\n]+?``|`[^`\n]+`",
    re.MULTILINE | re.DOTALL,
)
_LABEL: Final = re.compile(
    r"^[ \t>]*(?:[-*+•][ \t]+)?(?:\*\*)?(?P<label>\[\^?\d{1,3}\])(?=:|(?:\*\*)?[ \t]+\S)", re.MULTILINE
)
_BEFORE: Final = re.compile(r"[\w)\]]+$")
_AFTER: Final = re.compile(r"\s?(?:[-+*/]?=|\[|\(|\.\w)")


@dataclass(frozen=True)
class Marker:
    """One marker, or several in a row: ``answer[start:end]``, and the passages that it names, counted from 1."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(answer: str) -> list[Marker]:
    """The citation markers of an answer in order: ``[1]``, ``[1, 2]``, ``[1-3]``, ``[Source: 1]``, ``【1】``…

    Brackets in code, labels of a list ("[1] first item"), links and array indices are not markers. Markers that
    stand side by side come as one.
    """
    untouchable = code_spans(answer) + [match.span("label") for match in _LABEL.finditer(answer)]
    markers: list[Marker] = []
    for match in _MARKER.finditer(answer):
        if any(start < match.end() and match.start() < end for start, end in untouchable):
            continue
        numbers = _numbers(match.group("square") or match.group("wide") or match.group("round"))
        if not any(numbers) or _is_index(answer, match.start(), match.end()):
            continue
        last = markers[-1] if markers else None
        if last and not answer[last.end : match.start()].strip(" ,") and "\n" not in answer[last.end : match.start()]:
            markers[-1] = Marker(last.start, match.end(), tuple(dict.fromkeys((*last.numbers, *numbers))))
        else:
            markers.append(Marker(match.start(), match.end(), numbers))
    return markers


def code_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of code blocks and code spans."""
    return [match.span() for match in _CODE.finditer(text)]


def without_mark(value: str) -> str:
    """A value without the raised mark of a footnote behind its figure: ``415²``, ``(75)⁽¹⁾``."""
    return _MARK.sub("", value)


def without_references(text: str) -> str:
    """A document's text without references to its own sources: `[12]` would be taken for one of our citations."""
    if "[" not in text:
        return text
    kept, done = [], 0
    for marker in find_markers(text):
        kept.append(text[done : marker.start].rstrip(" \t"))
        done = marker.end
    return "".join([*kept, text[done:]])


def without_markers(text: str) -> str:
    """The text for judging: without citation markers and without markdown emphasis."""
    bare = _MARKED.sub("", text)
    return bare.replace("**", "").replace("__", "").strip() if "**" in bare or "__" in bare else bare.strip()


def _numbers(text: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for part in re.split(r"[,;]", text.replace("^", "").replace(" ", "")):
        first, _, last = part.replace("–", "-").partition("-")
        low, high = int(first), int(last or first)
        if high - low >= WIDEST or high < low:
            return ()
        numbers += range(low, high + 1)
    return tuple(dict.fromkeys(numbers))


def _is_index(text: str, start: int, end: int) -> bool:
    """Whether the bracket is glued to a name as in ``x[1]`` or ``rows_seen[0]`` rather than to a word of prose."""
    glued = _BEFORE.search(text[max(0, start - 40) : start])
    if not glued or text[start] != "[" or glued.group().endswith("]"):
        return False
    name = glued.group()
    return len(name) == 1 or "_" in name or bool(_AFTER.match(text, end) and text[end : end + 1] != ".")
