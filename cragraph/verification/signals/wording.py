"""Signals from the wording of an answer: completeness, uncertainty, and coverage of cited sources."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from cragraph.language.lexicon import listed, words_of
from cragraph.language.markers import without_markers
from cragraph.language.questions import declines
from cragraph.language.words import asked_words, terms, words
from cragraph.types import Passage

SUBSTANTIAL: Final = 8
_CLOSE: Final = 200  # characters at the end of an answer that show how it ends

_END: Final = re.compile(r"""[.!?…。！？:;|)\]}"'”’»`*]\s*(?:\[[\d,\s–-]+\]\s*)*$|\d\s*$""")
_LIST_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)


def completeness(question: str, answer: str) -> float:
    """0.4 substance + 0.2 finish + 0.4 coverage of the question's words; without a question 0.7 and 0.3.

    Substance is the number of words up to eight, finish whether the text ends like a sentence or a list, coverage the
    share of the question's content words in the answer. It favours full sentences that take up the question; a right
    answer of one word scores low. An empty answer, or one that only says that it does not know, is 0.0.
    """
    text = answer.strip()
    if not text or declines(text):
        return 0.0
    substance = min(len(words(without_markers(text))) / SUBSTANTIAL, 1.0)
    finish = 1.0 if _END.search(text[-_CLOSE:]) or _LIST_ITEM.search(text) else 0.0
    wanted = asked_words(question)
    if not wanted:
        return 0.7 * substance + 0.3 * finish
    present = set(terms(text))
    return 0.4 * substance + 0.2 * finish + 0.4 * sum(term in present for term in wanted) / len(wanted)


_BEGINS: Final = re.compile(r"^[\s\"'“‘«(\[*_>#–—•-]*[A-Z0-9$€£]")
_TWICE: Final = re.compile(r"\b(?!had\b|that\b)([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_PAIRS: Final = ("()", "[]", "“”")


def grammar(sentences: Sequence[str]) -> float:
    """Share of the sentences that are well formed, 0..1; 0.0 without any."""
    return sum(map(well_formed, sentences)) / len(sentences) if sentences else 0.0


def well_formed(sentence: str) -> bool:
    """Whether an English sentence begins and ends like one, has a verb, repeats no word and closes what it opens."""
    text = sentence.strip()
    closed = all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS)
    shaped = bool(_BEGINS.match(text) and _END.search(text)) and not _TWICE.search(text)
    return closed and shaped and has_verb(text)


_AUXILIARIES: Final = listed(
    "am is are was were be been being 's 're has have had do does did will would shall should may might could can must "
    "cannot 'll get gets got"
)
_VERBS: Final = _AUXILIARIES.union(*map(words_of, ("irregular_past", "irregular_participles", "present_verbs")))
_NO_VERBS: Final = listed("need feed seed weed deed shed sled breed speed greed hundred indeed")


def has_verb(sentence: str) -> bool:
    """Whether an English sentence has an auxiliary, a known form of a verb, or a word in *-ed* or *n't*."""
    found = re.findall(r"[^\W\d_]+|'(?:s|re|ll)\b", sentence.lower().replace("’", "'"))
    shaped = (word.endswith("ed") and len(word) > 3 and word not in _NO_VERBS for word in found)
    return not _VERBS.isdisjoint(found) or any(shaped) or "n't" in sentence.replace("’", "'")


UNCERTAINTY_PHRASES: Final = (
    "might", "possibly", "perhaps", "unclear", "may", "could", "probably", "likely", "i think", "i believe",
    "not sure", "don't know", "cannot determine",
)  # fmt: skip
"""Phrases of uncertainty (answer-validation formula)."""

FULL: Final = 3

_MONTH_BEFORE: Final = re.compile(
    r"(?i:\b(?:in|of|since|until|by|from|to|last|next|this|early|late|mid|on|\d{1,2})[ -])$"
)
_MONTH_AFTER: Final = re.compile(r"^,? ?\d")


def uncertainty_indicators(answer: str, phrases: Sequence[str] = UNCERTAINTY_PHRASES) -> list[str]:
    """The phrases that occur in the answer as whole words, in the order of the list, whatever their case."""
    text = answer.replace("’", "'")
    return [phrase for phrase in dict.fromkeys(phrases) if phrase.strip() and _occurs(phrase, text)]


def uncertainty(answer: str, phrases: Sequence[str] = UNCERTAINTY_PHRASES) -> float:
    """Distinct uncertainty phrases, three of them making 1.0; each costs the similarity policy 0.1."""
    return min(len(uncertainty_indicators(answer, phrases)) / FULL, 1.0)


_BESIDE: Final = 40  # characters beside a word that are looked at


def _occurs(phrase: str, text: str) -> bool:
    for match in _pattern(phrase).finditer(text):
        # "May 2023" and "in May" name a month.
        before, after = text[max(0, match.start() - _BESIDE) : match.start()], text[match.end() : match.end() + _BESIDE]
        if match[0] != "May" or not (_MONTH_BEFORE.search(before) or _MONTH_AFTER.match(after)):
            return True
    return False


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    pieces = (re.escape(piece) for piece in phrase.replace("’", "'").split())
    return re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)", re.IGNORECASE)


IDENTIFIER_FIELDS: Final = ("ticker", "year", "filing_type")
"""Metadata fields whose values cite their passage if they stand in an answer; without any, source and file name."""
BONUS: Final = 0.1
MOST_BONUS: Final = 0.3

CITING: Final = (
    r"\[source:?\s[^\]]+\]",
    r"\(source:?\s[^)]+\)",
    r"\baccording to\b",
    r"\bper the (?:[\w-]+ ){0,3}(?:filing|report|document|source)s?\b",
    r"\bin the (?:[\w-]+ ){0,4}filings?\b",
)
"""Patterns of citing in words; each occurrence adds a bonus of 0.1 (weighted verification formula)."""
_NUMBERED: Final = re.compile(r"[\[(【](?:source:?\s*)?(\d{1,3}(?:\s*[,–-]\s*\d{1,3})*)[\])】]", re.IGNORECASE)
_WHOLE_NAME_FROM: Final = 4  # shortest file stem that counts as naming its file: ``a.md`` is not cited by an article


def coverage(answer: str, passages: Sequence[Passage], fields: Sequence[str] = IDENTIFIER_FIELDS) -> float:
    """Share of the passages that the answer cites, and a bonus for citing in words; at most 1.

    A passage is cited if one of its identifiers, or ``[n]`` with its position, stands in the answer. It favours answers
    that name their sources; whether the name stands beside the right claim is verified by the citations.
    """
    if not passages:
        return 0.0
    ranges = [re.findall(r"\d+", part) for numbers in _NUMBERED.findall(answer) for part in numbers.split(",")]
    numbered = {number for ends in ranges for number in range(int(ends[0]), min(int(ends[-1]), 999) + 1)}
    cited = sum(
        position in numbered or any(names(answer, value) for value in identifiers(passage, fields))
        for position, passage in enumerate(passages, start=1)
    )
    bonus = min(BONUS * sum(len(re.findall(way, answer, re.IGNORECASE)) for way in CITING), MOST_BONUS)
    return min(cited / len(passages) + bonus, 1.0)


def identifiers(passage: Passage, fields: Sequence[str] = IDENTIFIER_FIELDS) -> list[str]:
    """The distinct values of a passage's identifier fields, in order; without any, its source and file name."""
    own: Mapping[str, Any] = passage["metadata"] | {name: v for name, v in passage.items() if name != "metadata"}
    values = dict.fromkeys(value for name in fields if own.get(name) is not None and (value := str(own[name]).strip()))
    for name in (passage["source"], passage["filename"]) if not values else ():
        if name.strip():
            path = PurePath(name.strip())
            values |= dict.fromkeys(
                (str(path), path.name, *([path.stem] if len(path.stem) >= _WHOLE_NAME_FROM else ()))
            )
    return list(values)


def names(answer: str, identifier: str) -> bool:
    """Whether the identifier stands in the answer as a whole word; a ticker in capitals must stand in capitals."""
    flags = 0 if identifier.isupper() and identifier.isalpha() else re.IGNORECASE
    return re.search(rf"(?<!\w){re.escape(identifier)}(?!\w)", answer, flags) is not None
