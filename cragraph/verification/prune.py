"""Prune: an answer reduced to its supported sentences, and still readable."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Final

from cragraph.language.lexicon import pattern
from cragraph.language.sentences import sentence_spans
from cragraph.protocols import Notes
from cragraph.types import Verdict
from cragraph.verification.policies import POLICIES, Weights
from cragraph.verification.result import UNCHECKED, UNJUDGED, Verification, is_counted
from cragraph.verification.signals import ISSUES, Material, issues_of, measure
from cragraph.verification.verifier import FIT_UNKNOWN, joined

_LISTED: Final = re.compile(r"^[ \t>]*(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^(?P<indent>[ \t]*)(?P<number>\d{1,3})(?=[.)][ \t])", re.MULTILINE)
_LEFTOVER: Final = re.compile(r"^[\s>]*(?:[-*+•]|\(?\d{1,3}[.)])?[\s*_~]*(?:\[[\d,\s–-]+\]\s*)*[\s*_~]*$")
_HEADING: Final = re.compile(r"^[ \t]*(?P<level>#{1,6})[ \t]|^[ \t]*(?:\*\*|__)[^*_\n]+(?:\*\*|__):?[ \t]*$")
_CONNECTIVE: Final = pattern("connective")

BY_VERDICT: Final = ("fact_score", "hallucination", "internal_consistency")


@dataclass(frozen=True)
class _Sentence:
    start: int
    end: int
    text: str
    kept: bool
    judged: bool

    @property
    def level(self) -> int:
        """Rank of a heading, 1 the highest, bold lines 7; 0 for any other line."""
        match = _HEADING.match(self.text) if not self.judged else None
        return (len(match.group("level")) if match.group("level") else 7) if match else 0

    @property
    def leads_in(self) -> bool:
        """Whether the sentence announces what follows."""
        return self.text.rstrip(" *_").endswith(":")


def pruned(answer: str, whole: Verification, weights: Mapping[str, Weights]) -> tuple[str, Verification]:
    """The pruned answer and its verification: the same policy on signals measured again.

    The decision is made again, with the reader's values for the whole answer: the pruned answer is accepted at the
    threshold, and shown as doubtful below it.
    """
    text, kept = prune(answer, whole.claims)
    material = Material(answer=text, passages=(), verdicts=kept)
    again, _ = measure([name for name in BY_VERDICT if name in whole.signals], material, Notes())
    signals = {**whole.signals, **again}
    policy = POLICIES[whole.policy]
    supported = round(policy.discounted(kept, signals, weights.get(policy.name)), 6)
    confidence, supported, cut = joined(supported, kept, whole.read)
    about_removed = {text for _, text in ISSUES.values()}
    others = [i for i in whole.issues if i not in about_removed and not i.startswith(UNCHECKED) and UNJUDGED not in i]
    return text, whole.changed(
        on_low_confidence="flag",
        confidence=confidence,
        claims=tuple(kept),
        signals=signals,
        issues=(*([FIT_UNKNOWN] if cut and FIT_UNKNOWN not in others else []), *issues_of(signals, kept), *others),
        policy_scores={policy.name: supported},
        uncovered=(),
        supported=supported,
    )


def prune(answer: str, verdicts: Sequence[Verdict]) -> tuple[str, list[Verdict]]:
    """Only the supported sentences of an answer, and their verdicts with offsets into the new text.

    A sentence is kept if it makes a counted claim and every such claim in it is supported. Headings, lead-ins and table
    heads are kept if a sentence under them is kept. Emptied list items go, numbered lists are renumbered, and a
    connective whose first part is gone is cut. Returns ``("", [])`` if no sentence is supported.
    """
    sentences = _structured(answer, [_read(answer, start, end, verdicts) for start, end in sentence_spans(answer)])
    if not any(s.kept and s.judged for s in sentences):
        return "", []
    pieces = list(answer)
    _cut_sentences(answer, pieces, sentences)
    _cut_empty_lines(answer, pieces)
    _mend_openings(answer, pieces, sentences)
    _renumber(answer, pieces)
    _tidy(pieces)
    text = "".join(pieces)
    at = [0, *accumulate(len(piece) for piece in pieces)]
    kept = [(s.start, s.end) for s in sentences if s.kept]
    return text, [
        _moved(v, answer, text, at)
        for v in verdicts
        if v["verdict"] == "supported" and is_counted(v) and any(s < v["end"] and v["start"] < e for s, e in kept)
    ]


def _read(answer: str, start: int, end: int, verdicts: Sequence[Verdict]) -> _Sentence:
    claims = [v for v in verdicts if v["start"] < end and start < v["end"] and is_counted(v)]
    kept = bool(claims) and all(v["verdict"] == "supported" for v in claims)
    return _Sentence(start, end, answer[start:end], kept, bool(claims))


def _structured(answer: str, sentences: list[_Sentence]) -> list[_Sentence]:
    """The sentences; headings, lead-ins and table heads are kept if a sentence under them is kept."""
    return [
        sentence
        if sentence.judged
        else replace(sentence, kept=any(s.kept and s.judged for s in _under(answer, sentence, sentences[index + 1 :])))
        for index, sentence in enumerate(sentences)
    ]


def _under(answer: str, sentence: _Sentence, after: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences under a heading, behind a lead-in or below a table's head; none for any other sentence."""
    if level := sentence.level:
        return list(takewhile(lambda other: not other.level or other.level > level, after))
    if sentence.leads_in:
        return _announced(answer, after)
    if sentence.text.lstrip().startswith("|"):
        return [other for other in after if other.text.lstrip().startswith("|")]
    return []


def _announced(answer: str, after: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences that a lead-in announces: the list items that follow, else the next sentence."""
    items = takewhile(lambda other: _LISTED.match(answer, answer.rfind("\n", 0, other.start) + 1), after)
    return list(items) or list(after[:1])


def _opening(answer: str, sentence: _Sentence) -> int:
    mark = _LISTED.match(answer, sentence.start)
    return mark.end() if mark else sentence.start


def _cut_sentences(answer: str, pieces: list[str], sentences: Sequence[_Sentence]) -> None:
    for sentence in sentences:
        if not sentence.kept:
            end = len(answer) - len(answer[sentence.end :].lstrip(" \t"))
            # The mark stays for the item's other sentences; without any, its line goes as an empty line.
            opening = _opening(answer, sentence)
            pieces[opening:end] = [""] * len(pieces[opening:end])


def _cut_empty_lines(answer: str, pieces: list[str]) -> None:
    start = 0
    for line in answer.splitlines(keepends=True):
        end = start + len(line)
        left = "".join(pieces[start:end])
        if line.strip() and left != line and _LEFTOVER.match(left):
            pieces[start:end] = [""] * (end - start)
        start = end


def _mend_openings(answer: str, pieces: list[str], sentences: Sequence[_Sentence]) -> None:
    for index, sentence in enumerate(sentences):
        if not (sentence.kept and sentence.judged):
            continue
        opening = _opening(answer, sentence)
        if index and not sentences[index - 1].kept and (match := _CONNECTIVE.match(answer, opening)):
            pieces[match.start() : match.end()] = [""] * (match.end() - match.start())
            pieces[match.end()] = pieces[match.end()].upper()
        announced = _announced(answer, sentences[index + 1 :])
        if sentence.leads_in and not any(other.kept for other in announced):
            colon = answer.rfind(":", sentence.start, sentence.end)
            pieces[colon] = "."


def _renumber(answer: str, pieces: list[str]) -> None:
    """Renumber the items of each ordered list that has lost items, from its first number."""
    following: dict[str, int] = {}
    previous_end = 0
    for match in _NUMBERED.finditer(answer):
        indent, number = match.group("indent"), int(match.group("number"))
        between = answer[previous_end : match.start()]
        if indent not in following or re.search(r"\n[ \t]*\n(?![ \t]*\d)[^\n]*\S[^\n]*\n", between):
            following[indent] = number
        previous_end = match.end()
        start, end = match.span("number")
        if not pieces[start]:
            continue
        pieces[start:end] = [str(following[indent]), *[""] * (end - start - 1)]
        following[indent] += 1


def _tidy(pieces: list[str]) -> None:
    """Take away blanks at the ends of lines and of the text, and more than one empty line in a row."""
    line_end, newlines = True, 2
    for position in range(len(pieces) - 1, -1, -1):
        if line_end and pieces[position] in (" ", "\t"):
            pieces[position] = ""
        elif pieces[position] == "\n":
            line_end = True
            newlines += 1
            if newlines > 2:
                pieces[position] = ""
        elif pieces[position]:
            line_end, newlines = False, 0
    for position, piece in enumerate(pieces):
        if piece.strip():
            break
        pieces[position] = ""


def _moved(verdict: Verdict, answer: str, text: str, at: Sequence[int]) -> Verdict:
    start, end = (at[min(max(place, 0), len(answer))] for place in (verdict["start"], verdict["end"]))
    same = verdict["text"] == answer[verdict["start"] : verdict["end"]]
    return {**verdict, "start": start, "end": end, "text": text[start:end] if same else verdict["text"]}
