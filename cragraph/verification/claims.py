"""Claims: the pieces of an answer that can be checked on their own, with exact offsets."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from typing import Final

from cragraph.language.lexicon import LEXICON, pattern
from cragraph.language.markers import CITATION, without_markers
from cragraph.language.sentences import pieces, sentence_spans
from cragraph.language.words import content_words, is_light, terms, topic
from cragraph.protocols import Notes
from cragraph.types import IDK, Claim, ClaimType, Uncovered

SPLIT_FROM: Final = 100
"""Least characters of a sentence that is split into its statements; parts of shorter ones lose too much context."""
_SIDE: Final = 30
LONGEST: Final = 2_000  # characters of a sentence that is read for statements, marks and conditions

_LEADING: Final = re.compile(
    r"\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•‣◦▪●○■–—·]\s+|\(?(?:\d{1,3}|[A-Za-z])[.)]\s+|\[[ xX]\]\s+)?(?:>\s*)*"
)
_TRAILING: Final = re.compile(rf"(?:\s*{CITATION})+\s*[.,;:]?\s*$")
_FENCES: Final = ("```", "~~~")
_WORD: Final = re.compile(r"[^\W_]")

_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|__[^_]+__:?\s*$)")
_RULE_ROW: Final = re.compile(r"\s*\|?\s*:?-{2,}")
_ANSWERING: Final = frozenset(content_words(LEXICON["answering"]["of"]))
_SAID_OF_IT: Final = _ANSWERING.union(content_words(LEXICON["answering"]["more"]))
_GREETING: Final = pattern("greeting")
_LEAD_IN: Final = pattern("lead_in")
_OWN: Final = pattern("opinion")
_EVALUATION: Final = pattern("evaluation")
_ON_SOURCES: Final = pattern("on_sources")
_CONDITION: Final = pattern("condition")
_JOINT: Final = pattern("joint")
_ENCLOSED: Final = re.compile(r"\([^()]*\)|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`")


def split_claims(answer: str) -> list[Claim]:
    """The claims of an answer, in order; ``answer[start:end] == text`` for each.

    Questions, greetings, lead-ins ("Here is what I found:"), sentences that speak of the answer alone, headings, fenced
    code and the answer "I don't know" are no claims. List marks before a claim and citation markers after it stay
    outside its offsets. A sentence of more than 900 characters is cut into several.
    """
    spans = sentence_spans(answer)
    headers = {span for span, after in pairwise(spans) if _RULE_ROW.match(answer[slice(*after)])}
    claims = []
    for span in spans:
        if span in headers or answer[slice(*span)].lstrip().startswith(_FENCES):
            continue
        for piece in pieces(answer, *span):
            start, end = _core(answer, *piece)
            if not _is_claim(answer[slice(*piece)], answer[start:end]):
                continue
            for left, right in _statements(answer, start, end):
                text = answer[left:right]
                claims.append(Claim(text=text, start=left, end=right, type=claim_type(text)))
    return claims


def claim_type(text: str) -> ClaimType:
    """Whether a claim states a fact, an opinion (recognised narrowly: it is not counted) or a condition."""
    bare = without_markers(text[:LONGEST]).strip(" *_>\"'“”")
    if _OWN.search(bare) or _EVALUATION.search(bare) or _ON_SOURCES.match(bare):
        return "opinion"
    return "conditional" if _CONDITION.search(bare) else "factual"


@dataclass(frozen=True)
class SentenceExtractor:
    """Finds claims by splitting the answer into sentences; needs no model and cannot fail."""

    name: str = "sentences"

    def __call__(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims of the answer, in order."""
        notes.ran("claims", self.name)
        return split_claims(answer)


def without_lead(text: str) -> str:
    """A text without a list mark or a heading's mark before it."""
    lead = _LEADING.match(text)
    return text[lead.end() :] if lead else text


def _core(answer: str, start: int, end: int) -> tuple[int, int]:
    """The offsets without list marks before and citation markers behind."""
    lead = _LEADING.match(answer, start, end)
    left = lead.end() if lead else start
    return _stripped(answer, left, _without_trail(answer, left, end))


def _without_trail(answer: str, start: int, end: int) -> int:
    """Where a sentence ends without the citation markers behind it."""
    # Searched for near the end alone: markers in a row have as many beginnings as they have members.
    trail = _TRAILING.search(answer, max(start, end - LONGEST), end)
    return trail.start() if trail else end


def _stripped(answer: str, start: int, end: int, marks: str | None = None) -> tuple[int, int]:
    """The offsets without blanks, or without `marks`, at both ends."""
    text = answer[start:end]
    return end - len(text.lstrip(marks)), start + len(text.rstrip(marks))


def _is_claim(sentence: str, text: str) -> bool:
    bare = without_markers(text).strip(" \t\n*_>\"'“”")
    if not _WORD.search(bare) or bare.endswith(("?", "？", "؟")):
        return False
    says_nothing = _HEADING.match(sentence) or _LEAD_IN.match(bare) or _GREETING.match(bare) or _speaks_of_answer(bare)
    return not says_nothing and bare.rstrip(".") != IDK.rstrip(".")


def _speaks_of_answer(text: str) -> bool:
    """Whether a sentence speaks of the answer alone, such as "The answer is in passage 2."."""
    about = topic(text)
    return not about.isdisjoint(_ANSWERING) and about <= _SAID_OF_IT


def _statements(answer: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The statements of a long sentence that can be judged alone: the cut is before a subject that is not a pronoun."""
    if SPLIT_FROM <= end - start <= LONGEST and not _CONDITION.search(answer[start:end]):
        enclosed = [match.span() for match in _ENCLOSED.finditer(answer, start, end)]
        for joint in _JOINT.finditer(answer, start, end):
            if joint.start() - start < _SIDE or end - joint.end() < _SIDE:
                continue
            if any(left < joint.start() < right for left, right in enclosed):
                continue
            yield start, _without_trail(answer, start, joint.start())
            start = joint.end("cut")
    yield start, end


FEW: Final = 2  # A stretch beside a claim with so few content words is a turn of phrase that the claim left out
_EDGE: Final = " \t\r\n.,;:!?-–—*_#>|`\"'“”‘’()"


def uncovered_parts(answer: str, claims: Sequence[Claim]) -> list[Uncovered]:
    """The stretches of the answer's statements outside every claim, in order; stretches that state nothing are left
    out."""
    parts, spans, first = [], sorted((claim["start"], claim["end"]) for claim in claims), 0
    ends = [*accumulate((end for _, end in spans), max)]
    for statement in split_claims(answer):
        while first < len(spans) and ends[first] <= statement["start"]:  # nothing up to here reaches so far
            first += 1
        gaps = _gaps(statement["start"], statement["end"], spans, first)
        whole = gaps == [(statement["start"], statement["end"])]
        for start, end in gaps:
            content = {term for term in terms(without_markers(answer[start:end])) if not is_light(term)}
            if content and (whole or len(content) > FEW):
                left, right = _stripped(answer, start, end, _EDGE)
                parts.append(Uncovered(text=answer[left:right], start=left, end=right))
    return parts


def _gaps(start: int, end: int, spans: Sequence[tuple[int, int]], first: int) -> list[tuple[int, int]]:
    gaps, reached = [], start
    for left, right in islice(spans, first, None):
        if left >= end:
            break
        if left > reached:
            gaps.append((reached, left))
        reached = max(reached, right)
    return [*gaps, (reached, end)] if reached < end else gaps
