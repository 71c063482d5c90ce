"""Knowing when a model says that it does not know, in whatever words."""

import re
from typing import Final

from cragraph.generation.phrases import plain
from cragraph.text.markers import CITED
from cragraph.text.sentences import sentence_spans
from cragraph.types import IDK

_MATERIAL: Final = (
    r"(?:(?:the|these|those|any|your|provided|given|supplied|available|retrieved) )*"
    r"(?:passages?|documents?|context|sources?|texts?|information|excerpts?|material)(?: (?:provided|given|above))?"
)
_NOT: Final = r"(?:do(?:es)?\s?n't|do(?:es)? not|did not|didn't|cannot|can't)"
_SAY: Final = (
    r"(?:contain|mention|provide|include|say|state|specify|give|answer|address|offer|discuss|cover|reveal|disclose)"
)
_FOUND: Final = r"(?:mentioned|provided|stated|specified|given|found|contained|included|covered|answered|available)"
_DECLINES: Final = re.compile(
    r"\bI (?:do not|don't|cannot|can't|am unable to|am not able to|was unable to|could not|couldn't) "
    r"(?:know|find|answer|determine|say|tell|provide an answer|locate)\b"
    rf"|\b{_MATERIAL} {_NOT} {_SAY}\b"
    rf"|\b(?:is|are|was|were) (?:not|never) (?:\w+ly )?{_FOUND} (?:in|by) {_MATERIAL}"
    rf"|\bno (?:\w+ )?(?:information|mention|details?|answer)\b[^.]{{0,80}}\b(?:in|by) {_MATERIAL}"
    rf"|\bthere (?:is|are) (?:no|not enough|insufficient) (?:\w+ )?information\b"
    rf"|\bcan(?:not| not|'t) be (?:answered|determined|found)\b[^.]{{0,40}}\b(?:from|in|with|by) {_MATERIAL}"
    r"|\A\W*(?:unknown|n/?a|unanswerable|no answer|not (?:mentioned|stated|specified|found))\W*\Z"
    r"|\bich wei(?:ß|ss) (?:es |das )?nicht\b|\bje ne sais pas\b|\bno lo s[eé]\b",
    re.I,
)


def settled(answer: str) -> str:
    """The answer, or exactly `IDK` where it declines to answer.

    An answer without citations whose first sentence declines is `IDK`. Where other sentences do answer, only the
    sentence that a model was told to decline with is left out, and what was answered stays.
    """
    text = answer.replace("\u2019", "'")
    spans = sentence_spans(text)
    declines = [_declines(text[start:end]) for start, end in spans]
    if not any(declines):
        return answer
    if all(declines) or (declines[0] and not CITED.search(text)):
        return IDK
    kept = [answer[start:end] for start, end in spans if plain(text[start:end]) != plain(IDK)]
    return " ".join(kept) if len(kept) < len(spans) else answer


def _declines(sentence: str) -> bool:
    return not CITED.search(sentence) and _DECLINES.search(sentence) is not None
