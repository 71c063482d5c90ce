"""Phrases of people and models for not knowing an answer."""

import re
from typing import Final

from cragraph.language.markers import CITED
from cragraph.language.sentences import sentences

_MATERIAL: Final = (
    r"(?:any of )?(?:(?:the|these|those|any|your|provided|given|supplied|available|retrieved) )*"
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


def declining(sentence: str) -> bool:
    """Whether a sentence cites nothing and says that the answer is not known."""
    return not CITED.search(sentence) and _DECLINES.search(sentence.replace("\u2019", "'")) is not None


def declines(text: str) -> bool:
    """Whether a text says that the answer is not known: all of it, or its first sentence if it cites nothing."""
    said = [declining(sentence) for sentence in sentences(text)]
    return bool(said) and (all(said) or (said[0] and not CITED.search(text)))
