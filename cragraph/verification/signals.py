"""Signals: numbers in 0..1 measured on an answer, one formula each, in one table. High is good unless it says not."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import isfinite
from pathlib import PurePath
from typing import Any, Final

from cragraph.language.facts.fact import dates
from cragraph.language.lexicon import listed, words_of
from cragraph.language.markers import without_markers
from cragraph.language.questions import declines
from cragraph.language.words import asked_words, content_words, overlap, terms, words
from cragraph.protocols import Notes
from cragraph.types import Passage, Verdict
from cragraph.verification.claims import LONGEST
from cragraph.verification.conflicts import contradict
from cragraph.verification.reading import is_table_row
from cragraph.verification.result import counted, is_counted, mean_support
from cragraph.verification.sources import Closeness

ALIGNED: Final = 5  # passages that keyword overlap reads
KEY_CLAIMS: Final = 5
VERIFYING: Final = 10  # passages that verify a key claim
UNKNOWN: Final = 0.5  # the fact score when its judge failed, and the relevance of a passage that nobody scored
COMPARED: Final = 40
"""Claims that are compared pairwise; later ones are left out so that time does not grow without bound."""
QUOTES_CONTRADICT: Final = "The answer quotes what contradicts itself, which the confidence does not count"
UNCERTAINTY_PHRASES: Final = (
    "might", "possibly", "perhaps", "unclear", "may", "could", "probably", "likely", "i think", "i believe",
    "not sure", "don't know", "cannot determine",
)  # fmt: skip
"""Phrases of uncertainty (answer-validation formula); three of them make an answer wholly uncertain."""
IDENTIFIER_FIELDS: Final = ("ticker", "year", "filing_type")
"""Metadata fields whose values cite their passage if they stand in an answer; without any, source and file name."""


class NotMeasured(Exception):
    """A signal has nothing to be measured on; its text says what is missing."""


@dataclass(frozen=True)
class SignalOptions:
    """Settings of the signals; thresholds are similarities in 0..1."""

    uncertainty_phrases: Sequence[str] = UNCERTAINTY_PHRASES
    identifier_fields: Sequence[str] = IDENTIFIER_FIELDS
    attribution_threshold: float = 0.7
    agreement_threshold: float = 0.5


@dataclass(frozen=True)
class Material:
    """One answer with all that a signal may look at."""

    answer: str
    passages: Sequence[Passage]
    verdicts: Sequence[Verdict]
    closeness: Closeness = field(default_factory=Closeness)
    question: str = ""
    alignment: float | None = None  # the score of an injected scorer; None without one, or if it failed
    consistency: float | None = None  # the same
    clashes: Collection[tuple[str, str]] = ()  # pairs of claims that contradict each other by the network
    knowledge: Sequence[Verdict] = ()  # verdicts on the claims against the known facts
    weights: Sequence[float] = ()  # weights of the passages' sources; empty if every source is fully relied on
    options: SignalOptions = field(default_factory=SignalOptions)


# -- of the verdicts -----------------------------------------------------------------------------------------------


def hallucination(material: Material) -> float:
    """1 - mean support of the claims, 0.0 without claims; one invention among many claims barely shows."""
    claims = counted(material.verdicts)
    return 1.0 - mean_support(claims) if claims else 0.0


def fact_score(material: Material) -> float:
    """Verified ÷ key claims (weighted verification formula); 0.5 when no judge could run, 0.0 without claims.

    Verified means wholly supported, by one of the top ten passages. It favours answers with few, plain claims.
    """
    claims = key_claims(material.verdicts)
    if judge_failed(claims):
        return UNKNOWN
    evidence = [claim["evidence"] for claim in claims if claim["verdict"] == "supported"]
    return sum(one is None or one["passage"] < VERIFYING for one in evidence) / len(claims) if claims else 0.0


_NAME: Final = re.compile(r"(?<=[\w,] )[A-Z][\w-]+")


def key_claims(verdicts: Sequence[Verdict], most: int = KEY_CLAIMS) -> list[Verdict]:
    """The claims most worth checking, at most five, in the answer's order: figures first, then names, then length."""
    claims = counted(verdicts)

    def weight(place: int) -> float:
        text = claims[place]["text"]
        words = min(len(set(content_words(text))), 12) / 4
        return 10 * bool(re.search(r"\d", text)) + 5 * bool(_NAME.search(text)) + words

    return [claims[place] for place in sorted(sorted(range(len(claims)), key=weight, reverse=True)[:most])]


def judge_failed(claims: Sequence[Verdict]) -> bool:
    """Whether there were claims and no judge could judge any of them."""
    return bool(claims) and all(claim["verdict"] == "unjudged" for claim in claims)


def knowledge_consistency(material: Material) -> float:
    """1 - the share of the claims that known facts contradict; 1.0 without known facts (consistency check)."""
    labels = [verdict["verdict"] for verdict in counted(material.knowledge)]
    if "unjudged" in labels:
        raise NotMeasured("no judge could compare every claim with the known facts")
    return 1.0 - labels.count("contradicted") / len(labels) if labels else 1.0


def internal_consistency(material: Material) -> float:
    """1 - the share of the claims that contradict another claim of the answer (consistency check).

    A contradiction is the same statement with another figure, another date, an opposite word or a negation, or with
    other words in one place that the network reads as a contradiction; contradictions that take reasoning are not
    found. Two quotations are not compared: they are rows of one table, or the passages disagree, which is an issue of
    its own. The score of an injected scorer replaces the formula.
    """
    if material.consistency is not None:
        return material.consistency
    claims = _compared(material.verdicts)
    pairs = compared_claims(material.verdicts)
    involved = {text for pair in pairs if pair in material.clashes or contradict(*pair) for text in pair}
    return 1.0 - sum(claim["text"] in involved for claim in claims) / len(claims) if claims else 1.0


def compared_claims(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """The pairs of an answer's claims that may contradict each other, as texts: not two quotations."""
    claims = [(v["text"], _quotes(v)) for v in _compared(verdicts)]
    return [(one, other) for (one, quoted), (other, copied) in combinations(claims, 2) if not (quoted and copied)]


def _compared(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The claims that are compared: claims longer than a judge reads are left out."""
    return [verdict for verdict in counted(verdicts) if len(verdict["text"]) <= LONGEST][:COMPARED]


def _quotes(verdict: Verdict) -> bool:
    """Whether a claim stands in its evidence word for word."""
    evidence = verdict["evidence"]
    return evidence is not None and " ".join(verdict["text"].split()) in " ".join(evidence["quote"].split())


_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+\S")


def quoted_contradictions(verdicts: Sequence[Verdict]) -> list[str]:
    """An issue for each two quotations of the answer that contradict each other.

    Rows of a table, and items of a list, are not compared: "switch it off" and "switch it on again" are two steps.
    """
    quotes = [(v["text"], v["evidence"]["quote"]) for v in _compared(verdicts) if v["evidence"] and _quotes(v)]
    claims = [(text, _ITEM.match(quote) is not None) for text, quote in quotes if not is_table_row(quote)]
    return [
        f"{QUOTES_CONTRADICT}: “{one}” — “{other}”"
        for (one, listed), (other, also) in combinations(claims, 2)
        if not (listed and also) and contradict(one, other)
    ]


# -- of similarities and scores of passages ------------------------------------------------------------------------


def relevance(material: Material) -> float:
    """Similarity of question and answer (answer-validation formula); an evasive answer on the subject scores well."""
    if not material.question.strip():
        raise NotMeasured("relevance needs a question")
    return material.closeness.question_to_answer


def faithfulness(material: Material) -> float:
    """Mean over the claims of the similarity to the closest passage (answer-validation formula); blind to negation."""
    best = material.closeness.best
    return sum(best) / len(best) if best else 0.0


def attribution_coverage(material: Material) -> float:
    """Share of the claims more than 0.7 similar to some passage; 0.0 without claims (source attribution)."""
    pairs = zip(material.closeness.best, material.verdicts, strict=True)
    near = [score > material.options.attribution_threshold for score, verdict in pairs if is_counted(verdict)]
    return sum(near) / len(near) if near else 0.0


def retrieval_quality(material: Material) -> float:
    """Mean relevance of the passages; 0.5 for a passage that nobody scored, 0.0 without passages (reliability)."""
    scores = [_relevance_of(passage) for passage in material.passages]
    return sum(scores) / len(scores) if scores else 0.0


def _relevance_of(passage: Passage) -> float:
    """The rerank score of a passage, else its retrieval score, else `relevance_score` in its metadata, else 0.5."""
    for score in (passage["rerank_score"], passage["retrieval_score"], passage["metadata"].get("relevance_score")):
        if isinstance(score, int | float) and not isinstance(score, bool) and score == score:
            return min(max(float(score), 0.0), 1.0)
    return UNKNOWN


def source_agreement(material: Material) -> float:
    """Share of the passages that agree with the answer; 0.0 without passages (reliability formula).

    A passage agrees when it is at least 0.5 similar to one of the answer's claims and is not the evidence against one.
    It favours answers that several sources share; one good source among five gives 0.2. Where sources have weights,
    each counts by its weight, so that drafts cannot outvote a report.
    """
    against = {v["evidence"]["passage"] for v in material.verdicts if v["verdict"] == "contradicted" and v["evidence"]}
    pairs = zip(material.closeness.by_passage, material.verdicts, strict=True)
    rows = [row for row, verdict in pairs if is_counted(verdict)]
    near = [max(column) >= material.options.agreement_threshold for column in zip(*rows, strict=True)]
    weights = material.weights or [1.0] * len(material.passages)
    agreeing = sum(weights[place] for place, agrees in enumerate(near) if agrees and place not in against)
    return agreeing / sum(weights) if sum(weights) else 0.0


# -- of the wording ------------------------------------------------------------------------------------------------

SUBSTANTIAL: Final = 8  # words of a substantial answer
_END: Final = re.compile(r"""[.!?…。！？:;|)\]}"'”’»`*]\s*(?:\[[\d,\s–-]+\]\s*)*$|\d\s*$""")
_LIST_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)
_CLOSE: Final = 200  # characters at the end of an answer that show how it ends


def alignment(material: Material) -> float:
    """The injected scorer's score over the top five passages, else keyword overlap (weighted verification formula)."""
    if material.alignment is not None:
        return material.alignment
    return keyword_overlap(material.answer, [passage["text"] for passage in material.passages])


def keyword_overlap(answer: str, texts: Sequence[str]) -> float:
    """Share of the answer's content words in a passage, averaged over the top five passages, 0..1.

    It favours answers that all the top passages repeat, and is low for a right answer that one passage holds.
    """
    top, bare = texts[:ALIGNED], without_markers(answer)
    return sum(overlap(bare, text) for text in top) / len(top) if top and content_words(bare) else 0.0


def completeness(material: Material) -> float:
    """0.4 substance + 0.2 finish + 0.4 coverage of the question's words; without a question 0.7 and 0.3.

    Substance is the number of words up to eight, finish whether the text ends like a sentence or a list, coverage the
    share of the question's content words in the answer. It favours full sentences that take up the question; a right
    answer of one word scores low. An empty answer, or one that only says that it does not know, is 0.0.
    """
    text, wanted = material.answer.strip(), asked_words(material.question)
    if not text or declines(text):
        return 0.0
    substance = min(len(words(without_markers(text))) / SUBSTANTIAL, 1.0)
    finish = 1.0 if _END.search(text[-_CLOSE:]) or _LIST_ITEM.search(text) else 0.0
    if not wanted:
        return 0.7 * substance + 0.3 * finish
    present = set(terms(text))
    return 0.4 * substance + 0.2 * finish + 0.4 * sum(term in present for term in wanted) / len(wanted)


def uncertainty(material: Material) -> float:
    """Distinct uncertainty phrases, three of them making 1.0; each costs the similarity policy 0.1."""
    return min(len(uncertainty_indicators(material.answer, material.options.uncertainty_phrases)) / 3, 1.0)


def uncertainty_indicators(answer: str, phrases: Sequence[str] = UNCERTAINTY_PHRASES) -> list[str]:
    """The phrases that occur as whole words, in the order of the list, whatever their case; the month May is none."""
    text = answer.replace("’", "'")
    for date in dates(text):
        text = text[: date.start] + " " * len(date.text) + text[date.start + len(date.text) :]
    return [phrase for phrase in dict.fromkeys(phrases) if phrase.strip() and _phrase(phrase).search(text)]


@lru_cache(maxsize=256)
def _phrase(phrase: str) -> re.Pattern[str]:
    pieces = (re.escape(piece) for piece in phrase.replace("’", "'").split())
    return re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)", re.IGNORECASE)


CITING: Final = (
    r"\[source:?\s[^\]]+\]",
    r"\(source:?\s[^)]+\)",
    r"\baccording to\b",
    r"\bper the (?:[\w-]+ ){0,3}(?:filing|report|document|source)s?\b",
    r"\bin the (?:[\w-]+ ){0,4}filings?\b",
)
"""Patterns of citing in words; each occurrence adds a bonus of 0.1, up to 0.3 (weighted verification formula)."""
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
    bonus = min(0.1 * sum(len(re.findall(way, answer, re.IGNORECASE)) for way in CITING), 0.3)
    return min(cited / len(passages) + bonus, 1.0)


def identifiers(passage: Passage, fields: Sequence[str] = IDENTIFIER_FIELDS) -> list[str]:
    """The distinct values of a passage's identifier fields, in order; without any, its source and file name."""
    own: Mapping[str, Any] = passage["metadata"] | {name: v for name, v in passage.items() if name != "metadata"}
    values = [value for name in fields if own.get(name) is not None and (value := str(own[name]).strip())]
    for name in (passage["source"], passage["filename"]) if not values else ():
        if name.strip():
            path = PurePath(name.strip())
            values += [str(path), path.name, *([path.stem] if len(path.stem) >= _WHOLE_NAME_FROM else ())]
    return list(dict.fromkeys(values))


def names(answer: str, identifier: str) -> bool:
    """Whether the identifier stands in the answer as a whole word; a ticker in capitals must stand in capitals."""
    flags = 0 if identifier.isupper() and identifier.isalpha() else re.IGNORECASE
    return re.search(rf"(?<!\w){re.escape(identifier)}(?!\w)", answer, flags) is not None


_BEGINS: Final = re.compile(r"^[\s\"'“‘«(\[*_>#–—•-]*[A-Z0-9$€£]")
_TWICE: Final = re.compile(r"\b(?!had\b|that\b)([^\W\d_]+)\s+\1\b", re.IGNORECASE)
_VERBS: Final = listed(
    "am is are was were be been being 's 're has have had do does did will would shall should may might could can must "
    "cannot 'll get gets got"
).union(*map(words_of, ("irregular_past", "irregular_participles", "present_verbs")))
_NO_VERBS: Final = listed("need feed seed weed deed shed sled breed speed greed hundred indeed")


def grammar(sentences: Sequence[str]) -> float:
    """Share of the English sentences that begin and end like one, have a verb, repeat no word and close what they open.

    0.0 without any sentence.
    """
    return sum(map(_well_formed, sentences)) / len(sentences) if sentences else 0.0


def _well_formed(sentence: str) -> bool:
    text = sentence.strip()
    found = re.findall(r"[^\W\d_]+|'(?:s|re|ll)\b", text.lower().replace("’", "'"))
    regular = any(word.endswith("ed") and len(word) > 3 and word not in _NO_VERBS for word in found)
    verb = regular or not _VERBS.isdisjoint(found) or "n't" in text.replace("’", "'")
    closed = all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "“”"))
    return verb and closed and bool(_BEGINS.match(text) and _END.search(text)) and not _TWICE.search(text)


# -- the table -----------------------------------------------------------------------------------------------------

SIGNALS: Final[Mapping[str, Callable[[Material], float]]] = {
    **{formula.__name__: formula for formula in (
        relevance, faithfulness, completeness, uncertainty, alignment, fact_score, hallucination, attribution_coverage,
        retrieval_quality, source_agreement, internal_consistency, knowledge_consistency,
    )},
    "citation_coverage": lambda m: coverage(m.answer, m.passages, m.options.identifier_fields),
}  # fmt: skip
"""Every signal by its name. High is good but for `uncertainty` and `hallucination`."""

ISSUES: Final[Mapping[str, tuple[float, str]]] = {
    "alignment": (0.5, "Answer may not be well-supported by retrieved sources"),
    "citation_coverage": (0.5, "Many sources are not cited in the answer"),
    "fact_score": (0.7, "Some claims in the answer could not be verified"),
    "internal_consistency": (1.0, "The answer contradicts itself"),
    "knowledge_consistency": (1.0, "The answer contradicts known facts"),
}
"""Below which value a signal is an issue, and how it is worded (the first three: weighted verification formula)."""


def issues_of(signals: Mapping[str, float], verdicts: Sequence[Verdict] = ()) -> list[str]:
    """The issues of the signals that were measured, in the table's order; none of facts where all claims hold.

    The fact score looks for evidence in the first passages only; a claim that another passage supports is no issue.
    Unjudged claims are an issue of their own.
    """
    labels = {verdict["verdict"] for verdict in counted(verdicts)} - {"unjudged"}
    low = [name for name, (bound, _) in ISSUES.items() if name in signals and signals[name] < bound]
    return [ISSUES[name][1] for name in low if name != "fact_score" or labels != {"supported"}]


def measure(wanted: Collection[str], material: Material, notes: Notes) -> tuple[dict[str, float], dict[str, str]]:
    """The wanted signals, each 0..1, and the reason for each that could not be measured; a broken signal is noted."""
    signals: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name in wanted:
        try:
            value = float(SIGNALS[name](material))
            if not isfinite(value):
                raise ValueError(f"it came out as {value}")
        except NotMeasured as reason:
            missing[name] = str(reason)
        # One broken signal must not take the others with it.
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
            notes.degraded(f"The signal {name!r} could not be measured ({missing[name]}).")
        else:
            signals[name] = round(min(max(value, 0.0), 1.0), 6)
    if "fact_score" in signals and judge_failed(key_claims(material.verdicts)):
        notes.degraded("No judge could verify the facts: the fact score of 0.5 only says that nobody knows.")
    return signals, missing
