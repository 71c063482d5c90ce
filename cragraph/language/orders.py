"""Orders: sentences of a document that speak to an assistant, or dictate an answer. They are no evidence.

An order has one of the forms of `order_alone` (the structure of a prompt, rules to be dropped, a verdict or an answer
given in advance), or it names an assistant and says what is to be answered. Instructions of a manual have neither form,
and questions of an examination are no orders.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from cragraph.errors import printable
from cragraph.language.lexicon import pattern, words_of
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import shortened

_ALONE, _QUIZ, _MACHINE, _ANSWERING, _DIRECTS, _DICTATES, _BACK = (
    pattern(f"order_{name}") for name in ("alone", "quiz", "machine", "answering", "directs", "dictates", "back")
)
_STEMS: Final = tuple(stem.replace("_", " ") for stem in words_of("order_stems"))
_LETTERS: Final = str.maketrans("аеорсухіѕјһԁІАЕОРСТХВНКМ", "aeopcyxisjhdIAEOPCTXBHKM")
_MIXED: Final = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[\u0400-\u052f])\w+")
_BLANKED: Final = re.compile(r"[^\n]")


def is_order(sentence: str) -> bool:
    """Whether a sentence is an order to an assistant, by its form."""
    text = _plain(sentence)
    if not _suspect(text):
        return False
    if _ALONE.search(text):
        return True
    if _QUIZ.search(text) or not (_DICTATES.search(text) or _BACK.search(text)):
        return False
    answering = {found.lastgroup for found in _ANSWERING.finditer(text)}
    asked_for = bool(_MACHINE.search(text)) + bool(_DIRECTS.search(text))
    return asked_for > 0 and min(len(answering), 2) + asked_for > 1


@lru_cache(maxsize=4096)
def order_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Offsets of the orders to an assistant in a text, in order.

    The rest of an order's line belongs to it, and so does the sentence that it points back to. An address and the order
    in the next sentence are one.
    """
    if not _suspect(_plain(text)):
        return ()
    spans: list[tuple[int, int]] = []
    sentences = sentence_spans(text)
    for place, (start, end) in enumerate(sentences):
        last = spans[-1] if spans else (0, 0)
        if spans and (not text[last[1] : start].count("\n") or text[: last[1]].endswith(":")):
            spans[-1] = (last[0], end)
            continue
        before = sentences[place - 1] if place else None
        beside = before is not None and "\n" not in text[before[1] : start]
        if is_order(text[start:end]):
            if before is not None and beside and _BACK.search(text[start:end]):
                start = before[0]
            spans.append((start, end))
        elif before is not None and _MACHINE.search(text[slice(*before)]) and is_order(text[before[0] : end]):
            spans.append((before[0], end))
    return tuple(spans)


def order_warning(text: str) -> str:
    """A sentence that quotes the orders in a text; empty if there are none."""
    spans = order_spans(text)
    count = sum(len(sentence_spans(text[start:end])) for start, end in spans)
    look = "sentence looks like an instruction" if count == 1 else "sentences look like instructions"
    quote = shortened(" ".join(printable(text[slice(*spans[0])]).split())) if spans else ""
    return f"{count} {look} to an assistant, and no evidence: “{quote}”" if spans else ""


def without_orders(text: str) -> str:
    """The text with its orders blanked, so that every offset stays."""
    for start, end in order_spans(text):
        text = text[:start] + _BLANKED.sub(" ", text[start:end]) + text[end:]
    return text


def _suspect(text: str) -> bool:
    """Whether a text has a word that every order has: a cheap test that most texts fail."""
    folded = text.casefold()
    return any(stem in folded for stem in _STEMS)


def _plain(text: str) -> str:
    """The text without invisible signs, and without letters of another script within Latin words."""
    text = text.replace("_", " ")
    if text.isascii():
        return text
    shown = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")
    return _MIXED.sub(lambda word: word[0].translate(_LETTERS), shown)
