"""Words of a text: as written, and as terms for matching questions, claims and passages.

Search, verification and generation all match by `terms`, so that what matches in one matches in the others.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

import Stemmer

from cragraph.language.lexicon import LEXICON, SAME, STOPWORDS, meanings, words_of
from cragraph.language.markers import RAISED

_WORD: Final = re.compile(r"[^\W_]+(?:(?:['’.&-]|(?<=\d),(?=\d))[^\W_]+)*")
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN: Final = re.compile(
    rf"[\uac00-\ud7af]+|[\u3040-\u30ff\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_{_CJK}][^\W_{_CJK}]*"
)
_MARKS: Final = re.compile(rf"(?:(?<=\d)|(?<=[^\W\d_]{{4}})){RAISED}")
"""Raised figures behind a figure or a word, which are removed: ``830²`` is not 8302; ``m²`` and ``km²`` stay."""
_CONTRACTED: Final = re.compile(r"(?:(?<!\bca)(?<!\bwo)n(?=['’]t\b))?['’](?:[sdmt]|re|ve|ll)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_FISCAL: Final = re.compile(r"\b(?:FY|CY)\s?['’]?(?P<century>19|20)?(?P<year>\d\d)\b")
_STEMMER: Final = Stemmer.Stemmer("english", 0)
_IRREGULAR: Final = meanings(LEXICON["irregular"])

TWO_SLIPS: Final = 8  # least letters of a word for which two slips are tolerated
LIGHT: Final = 0.15  # weight of a stopword


def words(text: str) -> list[str]:
    """The words as written, in order; ``U.S.``, ``10-K``, ``1,496.5`` and ``AT&T`` are one word each."""
    return _WORD.findall(text)


def shortened(text: str, length: int = 160) -> str:
    """One line of at most `length` characters, for people to read."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def is_stopword(word: str) -> bool:
    """Whether a word as written is a stopword; ``US``, ``IT`` and the month ``May`` are not."""
    return word.casefold() in STOPWORDS and word != "May" and not (len(word) > 1 and word.isupper())


def keywords(text: str) -> list[str]:
    """The words that are no stopwords, as written, in order; all words if there are no others."""
    every = words(text)
    return [word for word in every if not is_stopword(word)] or every


def stem(word: str) -> str:
    """The stem of a word: "increasing" and "increase" have one, and so have "fell" and "falling"."""
    return _term(word)[0]


def irregular(word: str) -> bool:
    """Whether a word is an irregular form of another: "sold", "men", "worse"."""
    return word.casefold() in _IRREGULAR


def tokens(text: str) -> list[str]:
    """The parts of a text that become terms, as written: runs of letters, figures, pairs of Chinese, Japanese or
    Korean characters; ``10-K`` is two."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MARKS.sub(" ", text))
    parts: list[str] = []
    for token in _TOKEN.findall(_CONTRACTED.sub("", plain_years(text))):
        if token[0] >= "\u3040" and len(token) > 1 and (token[0] <= "\u9fff" or "\uac00" <= token[0] <= "\ud7af"):
            parts += [token[i : i + 2] for i in range(len(token) - 1)]
        else:
            parts.append(token)
    return parts


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """The terms of a text in order: stems in lower case without diacritics, figures without thousands separators."""
    return tuple(_term(token)[0] for token in tokens(text))


@lru_cache(maxsize=16384)
def content_words(text: str) -> tuple[str, ...]:
    """The terms that are no stopwords, in order, with repetitions; all terms if there are no others."""
    read = [_term(token) for token in tokens(text)]
    return tuple(term for term, light in read if not light) or tuple(term for term, _ in read)


def asked_words(question: str) -> list[str]:
    """The distinct content words of a question that an answer would repeat; "tell" and "how many" are left out."""
    read = dict.fromkeys(_term(token) for token in tokens(question))
    return [term for term, light in read if not light and term not in _ASKING]


def overlap(text: str, other: str) -> float:
    """The share, 0..1, of the distinct content words of `text` that occur in `other`; 0.0 for a text without words."""
    wanted = set(content_words(text))
    return len(wanted & set(terms(other))) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=65536)
def weight(term: str) -> float:
    """The weight of a term, 0.15..1.6: small for a stopword, large for a long word or a number.

    It replaces inverse document frequency without a corpus: the passages of one question are all on one subject, so
    that their frequencies mislead.
    """
    if term in _LIGHT:
        return LIGHT
    if term[0].isdigit():
        return 1.4
    if term[0] >= "\u3040":
        return 1.0
    return min(1.6, 0.55 + 0.11 * len(term))


def is_light(term: str) -> bool:
    """Whether a term is the stem of a stopword."""
    return term in _LIGHT


@lru_cache(maxsize=16384)
def topic(text: str) -> frozenset[str]:
    """The subject of a text: its distinct terms that are neither stopwords nor figures."""
    return frozenset(term for term in terms(text) if term not in _LIGHT and not term[0].isdigit())


def share(wanted: Collection[str], present: Collection[str]) -> float:
    """The weighted share, 0..1, of wanted terms that are present; 0.0 for no terms."""
    total = sum(map(weight, wanted))
    return sum(weight(term) for term in wanted if term in present) / total if total else 0.0


def normalised(text: str) -> str:
    """The words of a text in lower case with single blanks between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


@lru_cache(maxsize=16384)
def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of neighbouring terms of a text, without the stopwords between them."""
    return frozenset(pairwise(term for term in terms(text) if term not in _LIGHT))


def plain_years(text: str) -> str:
    """The text with ``FY2023``, ``FY23`` and ``CY'23`` as ``2023``, which is what most documents write."""
    return _FISCAL.sub(lambda match: (match["century"] or "20") + match["year"], text)


def slipped(word: str, other: str, letters: int = 0) -> bool:
    """Whether two words differ by one slip, two for a long word: a letter added, missing, changed, or two swapped.

    `letters` is the length of the word as written, needed when stems are compared.
    """
    most = 1 if max(letters, len(word)) < TWO_SLIPS else 2
    if abs(len(word) - len(other)) > most:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(word, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and word[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return False
    return row[-1] <= most


@cache
def others(term: str) -> tuple[str, ...]:
    """The synonyms of a stem's words in the lexicon: words on the same side of an opposition, and deeds and things with
    several names, some of two words."""
    return tuple(dict.fromkeys(_others().get(term, ())))


@cache
def _others() -> dict[str, list[str]]:
    synonyms: dict[str, list[str]] = {}
    groups = [[word, *same] for word, same in SAME.items()]
    groups += [[key, *line.split()] for key, line in LEXICON["same_deed"].items()]
    for group in groups:
        for word in group:
            same = (other.replace("_", " ") for other in group if other != word)
            synonyms.setdefault(stem(word.replace("_", "-")), []).extend(same)
    return synonyms


_ENDS: Final = " ?!.,;:\"'“”‘’()[]"
_LONGEST_PHRASE: Final = 5  # words


def phrases(text: str) -> frozenset[str]:
    """The phrases of one to five words of a text, in lower case; figures also without thousands separators."""
    words = text.casefold().split()
    runs = (words[at : at + size] for size in range(1, _LONGEST_PHRASE + 1) for at in range(len(words) - size + 1))
    return frozenset({" ".join(run).strip(_ENDS) for run in runs} | {*numbers(text)} - {""})


def numbers(text: str) -> list[str]:
    """The numbers of a text without their thousands separators: ``1,496.5`` is ``1496.5``, ``FY23`` is ``2023``."""
    return [number.replace(",", "") for number in _NUMBER.findall(plain_years(text))]


@lru_cache(maxsize=65536)
def _term(token: str) -> tuple[str, bool]:
    """The term of a token, and whether it is a stopword."""
    if token[0].isdigit():
        return token.replace(",", ""), False
    folded = token.casefold()
    light = is_stopword(token)
    if not folded.isascii() and folded[0] < "\u3040":
        folded = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    stemmed: str = _STEMMER.stemWord(_IRREGULAR.get(folded, folded)) if folded.isascii() else folded
    return stemmed, light


_LIGHT: Final = frozenset(term for word in STOPWORDS for term in (word, _term(word)[0]))
_ASKING: Final = frozenset(_term(word)[0] for word in words_of("asking"))
