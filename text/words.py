"""Words of a text: as written, without stopwords, and as stems."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

WORD: Final = re.compile(r"[^\W_]+(?:[.,'’\-][^\W_]+)*")

_STOPWORDS = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each few for from further had has
have having he her here hers him his how i if in into is it its itself just me more most my no nor
not now of off on once only or other our out over own same she should so some such than that the
their them then there these they this those through to too under until up very was we were what when
where which while who whom whose why will with would you your
"""

STOPWORDS: Final = frozenset(_STOPWORDS.split())


def words(text: str) -> list[str]:
    """The words and figures of a text, lower case, in order; ``$394`` is ``394``, ``10-Q`` stays whole."""
    return [match.group().lower().replace("’", "'") for match in WORD.finditer(text)]


def content_words(text: str) -> set[str]:
    """The distinct words of a text without stop words; all its words where nothing else is left."""
    found = set(words(text))
    return found - STOPWORDS or found


def overlap(text: str, other: str) -> float:
    """Share of the content words of `text` that occur in `other`, 0..1; 0.0 for a text without words."""
    wanted = content_words(text)
    return len(wanted & set(words(other))) / len(wanted) if wanted else 0.0


_TOKEN: Final = re.compile(
    r"[\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_ENDINGS: Final = (
    ("ations", "at"), ("ation", "at"), ("ational", "at"), ("iveness", "iv"), ("fulness", "ful"), ("ments", ""),
    ("ment", ""), ("nesses", ""), ("ness", ""), ("ities", ""), ("ity", ""), ("ingly", ""), ("edly", ""), ("ings", ""),
    ("ing", ""), ("ied", "y"), ("ies", "y"), ("ically", "ic"), ("ally", "al"), ("sses", "ss"),
    ("ions", ""), ("ion", ""),
    ("ers", ""), ("er", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""), ("e", ""),
)  # fmt: skip
_CONTRACTED: Final = re.compile(r"[’']s\b")
_IRREGULAR: Final = {
    "was": "be", "were": "be", "is": "be", "are": "be", "been": "be", "has": "have", "had": "have", "won": "win",
    "began": "begin", "begun": "begin", "born": "birth", "died": "death", "dead": "death", "wrote": "write",
    "written": "write", "made": "make", "led": "lead", "grew": "grow", "grown": "grow", "rose": "rise", "fell": "fall",
    "men": "man", "women": "woman", "children": "child", "people": "person", "built": "build", "sold": "sell",
    "bought": "buy", "held": "hold", "found": "find", "said": "say", "told": "tell", "came": "come", "went": "go",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "became": "become", "lost": "lose",
    "left": "leave",
    "sang": "sing", "sung": "sing", "known": "know", "knew": "know", "ran": "run", "saw": "see", "seen": "see",
}  # fmt: skip

LIGHT: Final = 0.15
"""Weight of a function word: its order and presence tell little about what is claimed."""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word; of three letters at least, so that short words stay what they are."""
    word = _IRREGULAR.get(word, word)
    if len(word) < 4 or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            found = word[: -len(ending)] + instead
            if len(found) > 3 and found[-1] == found[-2] and found[-1] not in "lsz":
                found = found[:-1]
            return found[:-1] + "i" if found[-1] == "y" else found
    return word[:-1] + "i" if word[-1] == "y" else word


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """The terms of a text in order; Chinese, Japanese and Korean runs as pairs of characters."""
    found: list[str] = []
    for token in _TOKEN.findall(_CONTRACTED.sub("", text.lower())):
        if token[0].isdigit():
            found.append(token.replace(",", "").rstrip(".:"))
        elif token[0] >= "\u3040" and (token[0] <= "\u9fff" or "\uac00" <= token[0] <= "\ud7af"):
            found.extend([token] if len(token) == 1 else [token[i : i + 2] for i in range(len(token) - 1)])
        else:
            found.append(stem(token))
    return tuple(found)


_LIGHT_STEMS: Final = frozenset(stem(word) for word in STOPWORDS) | STOPWORDS | {"be", "have"}


@lru_cache(maxsize=65536)
def weight(term: str) -> float:
    """How much a term says, 0.15..1.6: a function word little, a long word or a number much.

    A stand-in for inverse document frequency that needs no corpus: the passages of one question all speak of the same
    matter, so that frequencies among them mislead.
    """
    if term in _LIGHT_STEMS:
        return LIGHT
    if term[0].isdigit():
        return 1.4
    if term[0] >= "\u3040":
        return 1.0
    return min(1.6, 0.55 + 0.11 * len(term))


def is_light(term: str) -> bool:
    """Whether a term is a function word."""
    return term in _LIGHT_STEMS


@lru_cache(maxsize=16384)
def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring terms of a text that are no function words."""
    heavy = [term for term in terms(text) if term not in _LIGHT_STEMS]
    return frozenset(pairwise(heavy))
