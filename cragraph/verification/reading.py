"""A claim measured against the windows of the passages, one to three adjacent sentences, that it likely rests on."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import exp, log1p
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph.language.facts import Comparison, Fact, compare, extract
from cragraph.language.facts.compare import matches, reckoned
from cragraph.language.facts.fact import Kind
from cragraph.language.facts.polarity import denied_stretches, negation_differs, negative, opposite_words
from cragraph.language.markers import without_markers
from cragraph.language.sentences import LONGEST, pieces, sentence_spans
from cragraph.language.words import is_light, pairs, share, terms, weight
from cragraph.types import Claim, Evidence, Passage

SPAN: Final = 3
WIDER: Final = 0.03  # least coverage that each further sentence of a window must add
PAIRS: Final = 0.35  # weight of pairs of neighbouring words in the coverage; single words have the rest

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Window:
    """A stretch of a passage: ``passages[passage]["text"][start:end] == text``; sentences `first` to `last`."""

    passage: int
    start: int
    end: int
    text: str
    first: int
    last: int

    def overlaps(self, other: "Window") -> bool:
        """Whether the two share characters."""
        return self.passage == other.passage and self.start < other.end and other.start < self.end


def evidence_at(number: int, start: int, end: int, passages: Sequence[Passage]) -> Evidence:
    """A place in a passage as evidence, with its exact quote."""
    passage = passages[number]
    quote = passage["text"][start:end]
    return Evidence(quote=quote, passage=number, chunk_id=passage["chunk_id"], start=start, end=end)


def evidence_of(window: Window, passages: Sequence[Passage]) -> Evidence:
    """A window as evidence."""
    return evidence_at(window.passage, window.start, window.end, passages)


@dataclass(frozen=True)
class Space:
    """Every window of some passages, and how much of each claim it covers, 0..1."""

    sentences: Sequence[Window]
    windows: Sequence[Window]
    coverage: Floats  # [window, claim], by single words
    phrases: Floats  # [window, claim], by neighbouring pairs of words
    whole: Floats  # each claim's coverage by all passages together

    @cached_property
    def likely(self) -> Floats:
        """Score of each window for each claim, [window, claim]: its coverage less `WIDER` per further sentence."""
        extra = np.array([[window.last - window.first] for window in self.windows], dtype=np.float32)
        return np.asarray((1 - PAIRS) * self.coverage + PAIRS * self.phrases - WIDER * extra.reshape(-1, 1))

    @cached_property
    def singles(self) -> Sequence[int]:
        """The window that consists of one sentence, for each sentence."""
        return [place for place, window in enumerate(self.windows) if window.first == window.last]

    def best(self, claim: int, count: int = 1) -> list[int]:
        """The likeliest windows of a claim, best first; of overlapping windows only the best."""
        chosen: list[int] = []
        for index in np.argsort(-self.likely[:, claim], kind="stable")[: count * 8].tolist():
            if not any(self.windows[index].overlaps(self.windows[other]) for other in chosen):
                chosen.append(index)
            if len(chosen) == count:
                break
        return chosen


def space(claims: Sequence[str], passages: Sequence[Passage]) -> Space:
    """The windows of the passages with their coverage of the claims; judge and signals share the last few."""
    return _space(tuple(claims), tuple(passage["text"] for passage in passages))


@lru_cache(maxsize=4)
def _space(claims: tuple[str, ...], texts: tuple[str, ...]) -> Space:
    sentences: list[Window] = []
    windows: list[Window] = []
    for number, text in enumerate(texts):
        own = sentence_windows(number, text)
        windows += _widened(text, own, len(sentences))
        sentences += own
    vocabulary: dict[object, int] = {}
    for claim in claims:
        for item in (*terms(claim), *pairs(claim)):
            vocabulary.setdefault(item, len(vocabulary))
    holds = np.zeros((len(sentences), len(vocabulary)), dtype=bool)
    for row, sentence in enumerate(sentences):
        columns = [vocabulary[item] for item in (*terms(sentence.text), *pairs(sentence.text)) if item in vocabulary]
        holds[row, columns] = True
    in_window = _joined(holds, windows)
    single, double = _weights(claims, vocabulary, whole=False), _weights(claims, vocabulary, whole=True)
    anywhere = holds.any(axis=0, keepdims=True).astype(np.float32)
    return Space(sentences, windows, in_window @ single, in_window @ double, (anywhere @ single)[0])


def _joined(holds: NDArray[np.bool_], windows: Sequence[Window]) -> Floats:
    """The terms of each window: those of all its sentences."""
    first, last = (np.array([getattr(w, end) for w in windows], dtype=np.intp) for end in ("first", "last"))
    joined = holds[first]
    for step in range(1, SPAN):
        joined = joined | holds[np.minimum(first + step, last)]
    return np.asarray(joined, dtype=np.float32)


def _weights(claims: Sequence[str], vocabulary: dict[object, int], *, whole: bool) -> Floats:
    """Weights of the vocabulary for each claim, which add up to 1: of pairs if `whole`, else of single terms."""
    table = np.zeros((len(vocabulary), len(claims)), dtype=np.float32)
    for column, claim in enumerate(claims):
        for pair in pairs(claim) if whole else ():
            table[vocabulary[pair], column] = weight(pair[0]) + weight(pair[1])
        for term in terms(claim) if not whole or not pairs(claim) else ():
            table[vocabulary[term], column] = weight(term)
    total = table.sum(axis=0, keepdims=True)
    return np.asarray(table / np.where(total > 0, total, 1), dtype=np.float32)


_CELL_END: Final = re.compile(r"\s\|\s|;\s")


@lru_cache(maxsize=2048)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(piece for span in sentence_spans(text) for piece in pieces(text, *span))


def sentence_windows(number: int, text: str) -> list[Window]:
    """The sentences of passage number `number` as windows."""
    return [Window(number, start, end, text[start:end], i, i) for i, (start, end) in enumerate(_spans(text))]


def _widened(text: str, sentences: Sequence[Window], offset: int = 0) -> list[Window]:
    """Windows of up to `SPAN` adjacent sentences, never two rows of a table; `offset` is the first sentence's
    number."""
    windows: list[Window] = []
    for sentence in sentences:
        rows = 0
        for last in sentences[sentence.first : sentence.first + SPAN]:
            rows += is_table_row(last.text)
            if rows > 1:
                break
            if last is sentence or last.end - sentence.start <= LONGEST:
                ends = offset + sentence.first, offset + last.first
                windows.append(
                    Window(sentence.passage, sentence.start, last.end, text[sentence.start : last.end], *ends)
                )
    return windows


@lru_cache(maxsize=4096)
def is_table_row(text: str) -> bool:
    """Whether a text is a row whose cells carry the headings of their columns: ``Revenue | 2023: 394 | 2022: 383``."""
    first, *others = _CELL_END.split(text)
    return bool(others) and all(": " in cell for cell in others) and "\n" not in first


WINDOWS: Final = 3  # likeliest windows of a claim that are measured
ON_TOPIC = 0.5
"""Least coverage of a window that is on the claim's matter: another figure or an opposite word in it contradicts.

Of the training claims that are half covered by a window with a word's opposite, one in seven is supported."""
SOME = 0.3  # least coverage of a window that may support a part of the claim
FORMS: Final[frozenset[Kind]] = frozenset(["measure", "money", "percent", "points", "time"])
"""Kinds of facts that may be written in several ways."""
_WEIGHED: Final = re.compile(r"\b(?:weigh\w*|heav\w+|load\w*|lift\w*)\b", re.IGNORECASE)
"""Words beside which pounds are no money."""
CLOSER = 0.15  # a window with other facts must cover this much more of the claim to be the window that it is judged by
NEGATED = 0.75
"""Least coverage at which a claim with a negation that its window lacks is not supported: of such training claims one
in seven is supported, of those with half to three quarters of their words covered three in five."""
CLOSE = 0.65
"""Least coverage at which a negation contradicts: of such training claims one in five is supported."""


@dataclass(frozen=True)
class ClaimReading:
    """A claim measured against one window."""

    window: Window
    values: Mapping[str, float]  # values by their names in the weights
    facts: Comparison  # of figures and names with the window
    elsewhere: Comparison  # of the figures with all sentences on the matter
    negation: bool  # one of the two sides is negated
    opposite: tuple[str, str] | None  # a word of the claim and its opposite in the window
    coverage: float
    # Coverage if the opposite word counts as covered: "sales fell" and "sales rose" are on the same matter.
    matter: float
    unknown_names: tuple[Fact, ...] = ()  # names that no passage has
    in_words: tuple[Fact, ...] = ()  # figures of `elsewhere` whose text stands in a passage for something else
    denial_unmatched: bool = False  # the claim has a negation that the window lacks
    misplaced: frozenset[str] = frozenset()  # words that the window (a row of a table) lacks and another row has
    reckoned: tuple[str, ...] = ()  # how the claim's figures follow from those of the window
    written: str = ""  # the claim with its figures as the passages write them

    @property
    def lacking(self) -> list[Fact]:
        """The claim's figures and dates that no passage has."""
        return self.elsewhere.lacking

    def against(self, *, by_words: bool = True) -> float:
        """How strongly facts and (`by_words`) negation and opposite words contradict the claim, 0..1."""
        opposite, negation = by_words and self.opposite is not None, by_words and self.negation
        otherwise = any(fact in self.lacking for fact, _ in self.facts.conflicting)
        # "did not fall" and "rose" agree: a negation and an opposite word cancel each other.
        differs = (
            (self.coverage >= ON_TOPIC and otherwise)
            or (self.matter >= ON_TOPIC and opposite and not negation)
            or (self.coverage >= CLOSE and negation and not opposite)
        )
        return 0.5 + 0.5 * min(1.0, max(self.coverage, ON_TOPIC)) if differs else 0.0

    def objects(self, *, by_words: bool = True) -> bool:
        """Whether facts, and (`by_words`) names, negation or opposite words keep the claim from being supported."""
        unmatched = by_words and bool(self.unknown_names or self.denial_unmatched or self.misplaced)
        return bool(self.lacking) or self.against(by_words=by_words) > 0.0 or unmatched


class Readings:
    """The claims of one call against the windows of its passages; the facts of each are read once."""

    def __init__(self, claims: Sequence[Claim], passages: Sequence[Passage]) -> None:
        self.texts = [without_markers(claim["text"]) for claim in claims]
        self.passages = passages
        self._own = [extract(passage["text"]) for passage in passages]
        self._facts = [fact for own in self._own for fact in own]
        self._text = "\n".join(passage["text"] for passage in passages)
        self.written = [self._as_passages_write(text) for text in self.texts]
        self.space: Space = space(self.written, passages)

    def read(self, number: int, place: int, cosine: float = 0.0) -> ClaimReading:
        """Measure the claim with this number against the window with this number."""
        claim, space = self.texts[number], self.space
        window = space.windows[place]
        sentence = self._sentence(number, window)
        claimed = extract(claim)
        figures = [fact for fact in claimed if fact.kind != "name" and not _counts_known(fact, claim)]
        own, facts = self.passages[window.passage]["text"], self._own[window.passage]
        within = [fact for fact in facts if window.start <= fact.start and fact.end <= window.end]
        near = compare(figures, within, own)
        named = compare([fact for fact in claimed if fact.kind == "name"], facts, own)
        formulas = {
            fact: reckoned(fact, claim, within, own) or reckoned(fact, claim, facts, own) for fact in near.lacking
        }
        lacking = [fact for fact, formula in formulas.items() if not formula]
        coverage = float(space.coverage[place, number])
        elsewhere = compare(lacking, self._facts, self._text)
        nowhere = elsewhere.lacking
        negated = negation_differs(claim, sentence.text)
        opposite = opposite_words(claim, sentence.text)
        heavy = {term for term in terms(self.written[number]) if not is_light(term)}
        new = heavy - set(terms(window.text))
        total = sum(map(weight, heavy)) or 1.0
        apart = new - set(terms(opposite[0])) if opposite else new
        return ClaimReading(
            window,
            {
                "coverage": coverage,
                "phrases": float(space.phrases[place, number]),
                "whole": float(space.whole[number]),
                "figures_missing": len(lacking) / max(1, len(figures)),
                "figures_nowhere": len(nowhere) / max(1, len(figures)),
                "names_missing": 1 - named.share,
                "negation": float(negated),
                "opposite": float(opposite is not None),
                "new_words": log1p(len(new)),
                "new_weight": max(map(weight, new), default=0.0) / total,
                "length": log1p(len(heavy)),
                "cosine": cosine,
            },
            facts=Comparison(near.matched + named.matched, near.missing + named.missing, near.conflicting),
            elsewhere=elsewhere,
            negation=negated,
            opposite=opposite,
            coverage=coverage,
            matter=max(coverage, 1 - share(heavy, apart)),
            unknown_names=compare(named.missing, self._facts, self._text).missing,
            in_words=tuple(fact for fact in nowhere if self._stands(fact.text)),
            denial_unmatched=coverage >= NEGATED
            and bool(denied_stretches(claim))
            and not negative(window.text)
            and opposite_words(claim, window.text) is None,
            misplaced=self._misplaced(new, window),
            reckoned=tuple(formula for formula in formulas.values() if formula),
            written=self.written[number],
        )

    def _as_passages_write(self, text: str) -> str:
        """A claim with its figures in the form that the passages have them in: "24 months" for "two years"."""
        for fact in sorted(extract(text), key=lambda fact: -fact.start):
            if fact.kind in FORMS and not fact.written and not self._stands(fact.text):
                sterling = fact.kind in ("measure", "money") and not _WEIGHED.search(text)
                kinds = {"measure", "money"} if sterling else {fact.kind}
                alike = (f for f in self._facts if f.kind in kinds and f.bound == fact.bound)
                if other := next((f for f in alike if matches(fact, [f]) and matches(f, [fact])), None):
                    text = f"{text[: fact.start]}{other.text.strip()}{text[fact.end :]}"
        return text

    def _stands(self, words: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(words.strip())}(?!\w)", self._text, re.IGNORECASE) is not None

    def _misplaced(self, new: set[str], window: Window) -> frozenset[str]:
        """The claim's words that its table row lacks and another row has, if that row has no figure of the claim."""
        if not new or not is_table_row(window.text):
            return frozenset()
        rows = (s for s in self.space.sentences if s.passage == window.passage and is_table_row(s.text))
        shared = (new.intersection(terms(row.text)) for row in rows)
        return frozenset(term for own in shared if not any(t[0].isdigit() for t in own) for term in own)

    def _sentence(self, claim: int, window: Window) -> Window:
        space = self.space
        inside = range(window.first, window.last + 1)
        return space.sentences[max(inside, key=lambda number: space.coverage[space.singles[number], claim])]


def _counts_known(fact: Fact, claim: str) -> bool:
    """Whether a number word only counts known things: "the two plants"."""
    few = fact.bare and fact.text.isalpha() and fact.value <= 4
    return few and claim[: fact.start].lower().endswith(("the ", "these "))


def clearest(readings: Sequence[ClaimReading], judge: str) -> ClaimReading | None:
    """The window to judge by: the best supporting one or, if that is off the matter, a window with other facts."""
    best = max(readings, key=lambda reading: support_of(reading, judge), default=None)
    if best is None:
        return None
    least = best.coverage + CLOSER if best.coverage >= SOME else 0.0
    opposing = [reading for reading in readings if reading.against() > 0.0 and reading.matter >= least]
    return max(opposing, key=lambda reading: reading.coverage, default=best)


def best_by_words(measures: Readings, number: int) -> ClaimReading | None:
    """The window that words choose for the claim with this number; None if there is no text."""
    return clearest([measures.read(number, place) for place in measures.space.best(number, WINDOWS)], "lexical")


@cache
def fitted() -> dict[str, Any]:
    """The weights and thresholds of the judges that weigh measured values."""
    return dict(json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8")))


def support_of(reading: ClaimReading | None, judge: str) -> float:
    """The support, 0..1: the logistic function of the values, weighted as fitted for this judge."""
    if reading is None:
        return 0.0
    weights = fitted()[judge]
    total = weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * value for name, value in reading.values.items())
    return 1.0 / (1.0 + exp(-max(-60.0, min(60.0, total))))
