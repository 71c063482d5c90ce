"""Polarity: negation, opposite words and modality, by words alone."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, product
from typing import Final

from cragraph.language.lexicon import ANTONYMS, OPPOSITES, pattern
from cragraph.language.words import irregular, is_light, stem, terms, topic

NEGATION: Final = pattern("negation")
_NO_NEGATION: Final = pattern("no_negation")
_NEGATIVE: Final = pattern("negative")
_DEGREE: Final = pattern("degree")
_CLAUSE_END: Final = re.compile(r"[,;:.!?()](?!\d)|\b(?:but|although|because|while|aber|mais)\b", re.IGNORECASE)
_SCOPE: Final = 60  # reach of a negation in characters
_POSSIBLE: Final = pattern("possible")


@cache
def opposites(*, wide: bool = False) -> Mapping[str, frozenset[str]]:
    """The stems of each stem's opposites: by the lexicon, and with `wide` by WordNet too."""
    table: dict[str, set[str]] = {}
    for group in (*OPPOSITES, *(ANTONYMS if wide else ())):
        first, *others = ([stem(word) for word in side.split(",")] for side in group.split("/"))
        for one, other in product(first, chain(*others)):
            table.setdefault(one, set()).add(other)
            table.setdefault(other, set()).add(one)
    return {word: frozenset(words) for word, words in table.items()}


@cache
def _alike() -> Mapping[str, frozenset[str]]:
    """The synonyms of each stem: stems that share an opposite."""
    against = opposites(wide=True)
    return {word: frozenset().union(*(against[other] for other in others)) for word, others in against.items()}


_TOKEN: Final = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)?")
_MOVE: Final = re.compile(
    r"\b(up|down)(?=\s(?:by\s|about\s|some\s|nearly\s|almost\s)?"
    r"(?:[$€£]\s?\d|\d[\d.,]*\s?(?:%|per\s?cent\b|(?:percentage |basis )?points\b)))",
    re.IGNORECASE,
)
_MOVES: Final = {"up": "rise", "down": "fall"}
"""Words with their meaning before an amount: "up 12 percent" is a rise, "set up" is not."""

_SWITCH: Final = re.compile(r"\b(?:switch|turn)(?:es|ed|s|ing)?(?P<what>(?:\s+[\w-]+){0,3}?)\s+(?P<way>on|off)\b", re.I)
_WAYS: Final = {"on": "activated", "off": "deactivated"}


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words as the table of opposites knows them."""
    plain = _MOVE.sub(lambda match: _MOVES[match.group().lower()], text)
    return frozenset(terms(_SWITCH.sub(lambda match: f"{match['what']} {_WAYS[match['way'].lower()]}", plain)))


@lru_cache(maxsize=8192)
def negations(text: str) -> int:
    """The number of negations in a text; "not only" and "no less than" do not count."""
    return len(NEGATION.findall(_NO_NEGATION.sub(" ", text)))


@lru_cache(maxsize=8192)
def denials(text: str) -> tuple[frozenset[str], ...]:
    """For each negation of a text the terms that it denies: the next two content words in the same clause."""
    return tuple(denied for _, _, denied in _denied(text))


@lru_cache(maxsize=8192)
def denied_stretches(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """The offsets of each plain negation with the words that it denies, and their terms.

    "Not as tall", "not all" and "not until" deny only a degree and are left out.
    """
    return tuple(stretch for stretch in _denied(text) if stretch[2] and not _DEGREE.match(text, stretch[0]))


def _denied(text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    for match in NEGATION.finditer(_NO_NEGATION.sub(lambda skipped: " " * len(skipped.group()), text)):
        clause = _CLAUSE_END.split(text[match.end() : match.end() + _SCOPE], maxsplit=1)[0]
        denied: list[str] = []
        end = match.end()
        for word in re.finditer(r"\S+", clause):
            own = [term for term in terms(word.group()) if not is_light(term)]
            if own and len(denied) < 2:
                denied, end = denied + own, match.end() + word.end()
        yield match.start(), end, frozenset(denied[:2])


def negation_differs(one: str, other: str) -> bool:
    """Whether one of two texts is negated, the other is not, and the negated words occur in the other.

    The number of negations is no sign: half of the labelled pairs that differ in it agree, because the negation belongs
    to something that the other sentence does not speak of.
    """
    first, second = denials(one), denials(other)
    if bool(first) == bool(second):
        return False
    spoken = frozenset(terms(other if first else one))
    return any(denied and denied <= spoken for denied in first or second)


def negative(text: str) -> bool:
    """Whether a text has any negation, including "without" and words such as "unknown"."""
    return bool(denials(text)) or bool(_NEGATIVE.search(text))


def possible(text: str) -> bool:
    """Whether a text states a possibility rather than a fact."""
    return bool(_POSSIBLE.search(text))


def opposite_words(claim: str, evidence: str) -> tuple[str, str] | None:
    """A word of the claim and its opposite in the same place of the evidence, which does not have the word itself.

    A denied word means its opposite: "closed" does not contradict "not open". In the same place means with the same
    words before and behind: "Ann sold it to Bob" does not contradict "Bob bought it from Ann", nor "Bob lost" "Ann
    won".
    """
    mine, theirs = (frozenset().union(*denials(text)) for text in (claim, evidence))
    pair = next(_opposed(claim, evidence, mine, theirs, opposites()), None)
    return pair and (_as_written(pair[0], claim), _as_written(pair[1], evidence))


def plain_opposites(claim: str, evidence: str) -> Iterator[tuple[str, str, str]]:
    """`opposite_words` with stems, with WordNet's opposites, and stricter.

    Left out are words with a synonym in the evidence, and "all" beside "not all".
    """
    mine, theirs = (frozenset().union(*(d for _, _, d in denied_stretches(text))) for text in (claim, evidence))
    present = stems(evidence)
    for term, other in _opposed(claim, evidence, mine, theirs, opposites(wide=True)):
        degree = is_light(term) and negations(claim) + negations(evidence)
        if not degree and not _alike().get(term, frozenset()) & present:
            yield term, _as_written(term, claim), _as_written(other, evidence)


def _opposed(
    claim: str, evidence: str, mine: frozenset[str], theirs: frozenset[str], table: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str]]:
    """Stems of the claim with opposites in the same place of the evidence, neither of them denied."""
    mentioned, present = stems(claim), stems(evidence)
    for term in sorted(mentioned - present - mine):
        for other in sorted(table.get(term, frozenset()) & present - mentioned - theirs):
            word, against = _as_written(term, claim), _as_written(other, evidence)
            if _inflects(word, term) and _inflects(against, other) and _in_place(claim, word, evidence, against):
                yield term, other
                break


def _in_place(claim: str, word: str, evidence: str, other: str) -> bool:
    """Whether the shared words stand on the same side of both words, among them the subject of the first.

    Of the training pairs with opposite words that pass, one in eighteen is supported; of the others more than a third.
    """
    before, behind = _around(claim, word)
    theirs_before, theirs_behind = _around(evidence, other)
    crossed = (before & theirs_behind - theirs_before - behind) | (behind & theirs_before - theirs_behind - before)
    return not crossed and (not before or bool(before & theirs_before))


def _around(text: str, word: str) -> tuple[frozenset[str], frozenset[str]]:
    """The content words before and behind a word of a text."""
    found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    before, behind = (text[: found.start()], text[found.end() :]) if found else (text, text)
    return topic(before), topic(behind)


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    """For each stem the inflected forms of its words in the table: "employs" is no form of "employer"."""
    listed: dict[str, set[str]] = {}
    for word in re.findall(r"[\w-]+", " ".join((*OPPOSITES, *ANTONYMS))):
        listed.setdefault(stem(word), set()).add(rf"{re.escape(word.rstrip('ey'))}{word[-1]}?")
    return {
        term: re.compile(rf"(?:{'|'.join(words)})[eyi]?(?:e?s|e?d|ing|e?r|e?st)?", re.IGNORECASE)
        for term, words in listed.items()
    }


def _inflects(word: str, term: str) -> bool:
    """Whether a word with this stem is a form of one of the table's words under that stem."""
    return word.lower() in _MOVES or " " in word or irregular(word) or bool(_forms()[term].fullmatch(word))


def _as_written(term: str, text: str) -> str:
    moved = next((m.group() for m in _MOVE.finditer(text) if stem(_MOVES[m.group().lower()]) == term), term)
    moved = next((m.group() for m in _SWITCH.finditer(text) if stem(_WAYS[m["way"].lower()]) == term), moved)
    return next((match.group() for match in _TOKEN.finditer(text) if stem(match.group()) == term), moved)
