"""Raised, lowered and struck-out signs, and formulas, as text: `830²`, `10⁶`, `x^(n/2)`, `E = mc²`."""

import re
from typing import Any, Final

from lxml import etree

_UP: Final = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LETTERS: Final = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_DOWN: Final = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_RAISABLE: Final = re.compile(r"[0-9+\-−=()ni]+")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th|er|re|ère|e|ème|o|a|º|ª)", re.I)
_SPACED: Final = frozenset("=<>≤≥≈≠≡∼+−±×·⋅÷→⇒∈:")
_UNSEEN: Final = re.compile("[\u2061-\u2064\u200b]")
LONGEST_TEX: Final = 2000  # characters of a TeX formula at most; a longer one stays as written
STRUCK: Final = "\x1a"
"""Placeholder for struck-out words until `settled`; `clean` drops this character, so no text has it."""
_SEVERAL: Final = re.compile(rf"{STRUCK}(?:[ \v]*{STRUCK})+")
_REPLACED: Final = re.compile(rf" ?{STRUCK}[ \v]*(?=[^\W_]|[$€£(\"'“])")


def raised(text: str, before: str = "") -> str:
    """Raised signs behind `before`: in Unicode's superscripts, else as `^(…)`; never a part of a figure.

    Endings of ordinals (`1st`), other marks (`*`, `™`) and numbers in brackets (`[12]`) stay as they are.
    """
    text = text.strip()
    if _RAISABLE.fullmatch(text):
        return text.translate(_UP)
    # A letter behind a figure is a mark, and "a", "o" and "e" end ordinals of one or two digits alone.
    few = re.search(r"(?<![\d.,])\d{1,2}$" if len(text) == 1 else r"\d$", before)
    ordinal = few and _ORDINAL.fullmatch(text)
    if len(text) == 1 and text.isalpha() and not ordinal:
        return text.translate(_LETTERS) if "a" <= text <= "z" and text != "q" else f"^({text})"
    return text if ordinal or text.startswith("[") or not any(map(str.isalnum, text)) else f"^({text})"


def lowered(text: str, before: str = "") -> str:
    """Lowered signs: plain behind a letter (`H2O`), else in Unicode's subscripts, or as `_(…)`."""
    text = text.strip()
    if before[-1:].isalpha() and text.isalnum():
        return text
    plain = text.translate(_DOWN)
    return plain if not any(map(str.isalnum, text)) or (plain != text and not plain.isascii()) else f"_({text})"


def settled(line: str) -> str:
    """A line without struck-out words; a note replaces them if no other words follow in their place."""
    if STRUCK not in line:
        return line
    line = _REPLACED.sub(" ", _SEVERAL.sub(STRUCK, line))
    return line.replace(STRUCK, "(struck out)") if line.strip(f"{STRUCK} \v") else ""


def formula(tag: Any) -> str:
    """A formula in MathML on one line; its notes in another language, such as TeX, are left out."""
    return " ".join(_UNSEEN.sub("", _set(tag)).split())


def tex(source: str) -> str:
    """A TeX formula on one line; an unreadable one stays as written."""
    from latex2mathml.converter import convert

    try:
        return formula(etree.fromstring(convert(source))) if len(source) <= LONGEST_TEX else source
    except Exception:  # it may raise any error for unknown TeX
        return source


def _set(tag: Any) -> str:
    name = etree.QName(tag).localname if isinstance(tag.tag, str) else ""
    if name in ("annotation", "annotation-xml", "mphantom", ""):
        return ""
    parts = [_set(child) for child in tag]
    own = (tag.text or "").strip() if name != "mtext" else (tag.text or "")
    if name == "mo":
        return f" {own} " if own in _SPACED else own
    if name == "mspace":
        return " "
    first, *more = parts or [""]
    if name == "msup" and more:
        return first + raised(more[0], first)
    if name == "msub" and more:
        return first + lowered(more[0], first)
    if name in ("msubsup", "munderover") and len(more) > 1:
        return first + lowered(more[0], first) + raised(more[1])
    if name == "mfrac" and more:
        return f"{grouped(first)}/{grouped(more[0])}"
    if name == "msqrt":
        return f"√{grouped(''.join(parts))}"
    if name == "mroot" and more:
        return f"{raised(more[0])}√{grouped(first)}"
    if name in ("mtd", "mtr", "mlabeledtr"):
        return "".join(parts) + (" " if name == "mtd" else "; ")
    return own + "".join(parts)


def grouped(text: str) -> str:
    """A term of a formula, in brackets if it is more than a word."""
    text = text.strip()
    return text if re.fullmatch(r"[\w.,]*|\(.*\)", text) else f"({text})"
