"""Ranks candidates by how well they answer, with the probability that the best one answers.

The reader reads the question with each part of the passages, and then judges question and answer as one claim at the
likeliest places. Two small heads, logistic regressions fitted by `training.reader.fit`, join its values with features
of the words. Their weights are in the network's card.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log
from typing import Final

from cragraph.answers.candidates import (
    MOST_WINDOWS,
    Candidate,
    Features,
    Part,
    by_words,
    candidates,
    claim_of,
    coverage,
    heading_of,
    lead_of,
    named,
    own_words,
    parts_of,
    rarity,
    read_words,
    shares_of,
    similarities,
    surroundings,
)
from cragraph.answers.clauses import clause_named
from cragraph.answers.rows import Lookup, answer_below, lookup
from cragraph.language.languages import seems_english
from cragraph.language.questions import Kind, Question, corrected, read_question
from cragraph.language.sentences import stretch_spans
from cragraph.language.words import content_words, normalised
from cragraph.models.cache import LRU
from cragraph.models.encoder import is_known_word
from cragraph.models.reader import Key, Reader, ReadText
from cragraph.protocols import Embeddings, reason_of
from cragraph.types import Passage

_ASKS_OF_MAIL: Final = re.compile(
    r"\b(?:e-?mails?|mails?|message|letter|sen[dt]|wr[io]te|written|repl(?:y|ied))\b", re.I
)

LIKELIEST: Final = 12
"""Parts that are read if all can be compared with the question in meaning: they hold the answer nearly as often as all
parts, for a quarter less to read (`lab.benchmarks.nearest`)."""
# Weight of the share of the question's words in a part; the cosine of its nearest stretch has the rest.
WORDS_SAY: Final = 0.3
INSIDE: Final = 0.4  # least share of a stretch inside a part for the part to take its similarity
BY_WORDS: Final = 3  # best candidates by words that are compared in meaning
BY_READER: Final = 3  # best candidates by the reader that are compared in meaning
REREAD: Final = 2  # likeliest candidates that are read again, with what stands around them; more changed nothing
REREADING: Final = 0.5
"""Weight of the log odds of that reading beside those of a candidate's score: of 794 answerable questions over folders
written to mislead 475 get the right sentence first, 446 without it."""
JUDGED: Final = 2  # likeliest candidates that are judged as a claim with the question; more changed nothing
MOST_ROWS: Final = 12  # rows at most in the answer to a question for all of them
TOLD: Final = 0.7  # least probability of a looked-up cell that is stated alone, whatever the reader chose in its row
REMEMBERED: Final = 32  # rankings in the cache, for the verifier and the next pass
CHOICE: Final = ("bias", "span", "evidence", "told", "words", "cosine", "place", "short", "row")
"""Features of the head that orders candidates: the reader's values for the answer, its sentence, and question and
answer as a claim (0 if not judged); words; the cosine to the question; the rank of the passage; the form."""
CERTAINTY: Final = ("bias", "answer", "evidence", "span", "told", "cosine", "margin", "alone")
"""Features of the head for the probability that the best candidate answers. More gained nothing on held-out sources."""
LOOKED: Final = ("bias", "words", "answer")
"""Features of the head for looked-up rows: what the words of question and table say, and whether the reader finds that
the row answers. What it says of question and cell as a claim, and whether several rows fit, got no weight."""
REWORDED: Final = ("bias", "probability", "shared", "span", "both")
"""Features of the head for the probability that an answer in other words answers."""


@dataclass(frozen=True)
class Scored:
    """A candidate with its features, its score among all candidates, and the answer inside it."""

    candidate: Candidate
    features: dict[str, float]
    score: float
    answer_start: int
    answer_end: int
    """Character range of the answer in the passage's text."""

    @cached_property
    def answer(self) -> str:
        """The words that answer."""
        start = self.candidate.start
        return self.candidate.text[self.answer_start - start : self.answer_end - start]


@dataclass(frozen=True)
class Ranking:
    """Candidates, best first, and the calibrated probability (0..1) that the best one answers the question.

    `answered` is None if the text is in a language that the reader does not know.
    """

    scored: tuple[Scored, ...]
    answered: float | None
    features: dict[str, float]
    rows: tuple[Candidate, ...] = ()
    """Every row with the value asked for, if the question asks for rows."""
    degraded: str = ""  # the failure of a part, in a sentence


@dataclass(frozen=True)
class AnswerRanker:
    """Ranks the candidates of passages, with the reader if it knows the language, else by words alone.

    `judged` is the number of likeliest candidates that are judged as a claim with the question, `read` the number of
    parts that are read at most: `LIKELIEST` with cheap embeddings such as the embedded encoder's.
    """

    reader: Reader
    embeddings: Embeddings
    judged: int = JUDGED
    read: int = MOST_WINDOWS
    rereads: Callable[[Sequence[Key]], Sequence[float]] | None = None
    """Reads candidates with what stands around them: the log odds that each answers."""
    known: LRU[tuple[Hashable, ...], Ranking] = field(default_factory=lambda: LRU(REMEMBERED), repr=False)

    @property
    def name(self) -> str:
        """The network's name."""
        return self.reader.name

    def __call__(
        self, text: str, passages: Sequence[Passage], among: Sequence[Candidate] | None = None, *, whole: bool = False
    ) -> Ranking:
        """Rank the candidates of the passages, or those in `among`; with `whole` read every part that holds a
        candidate."""
        pool = tuple(candidates(passages) if among is None else among)
        # The verifier asks again for the generator's ranking.
        key = (text, pool, whole, *((p["text"], p["filename"], heading_of(p), _score_of(p)) for p in passages))
        known = self.known.get(key)
        if known is None:
            known = self._ranked(text, passages, pool, whole=whole)
            if not known.degraded:
                self.known.put(key, known)
        return known

    def _ranked(self, text: str, passages: Sequence[Passage], pool: Sequence[Candidate], *, whole: bool) -> Ranking:
        if reads(text, passages):
            text = corrected(text, " ".join(p["text"] for p in passages), is_known_word)
        question = read_question(text)
        if reads(question.text, passages):
            known = [seems_english(p["text"]) for p in passages]
            pool = [c for c in pool if known[c.passage]]
        if not _ASKS_OF_MAIL.search(question.text):
            pool = [c for c in pool if not c.is_sending_date]  # it dates the mail, and not what the mail tells
        if not pool or not content_words(question.text):
            return Ranking((), 0.0 if reads(question.text, passages) else None, {})
        words = _Words(question, passages, pool)
        if not reads(question.text, passages):
            chosen = words.best(BY_WORDS)
            failed = words.compare(chosen, self.embeddings)
            scored = [Scored(pool[i], {}, words.score(i), pool[i].start, pool[i].end) for i in chosen]
            return Ranking(tuple(sorted(scored, key=_order)), None, {}, degraded=failed)
        parts = parts_of(question, passages, pool)
        if len(parts) > self.read and not whole:
            parts = self.likeliest(question, passages, parts)
        read: dict[int, _Read] = {}
        readings = self.reader.read(question.text, [(part.heading, part.text) for part in parts])
        for part, reading in zip(parts, readings, strict=True):
            for i in part.holds:
                here = _Read.of(pool[i], part, reading)
                if i not in read or here.likes > read[i].likes:
                    read[i] = here
        liked = sorted(read, key=lambda i: -read[i].likes)[:BY_READER]
        chosen = sorted({*(i for i in words.best(BY_WORDS) if i in read), *liked})
        failed = words.compare(chosen, self.embeddings)
        head = self.reader.heads["choice"]
        ranked = {i: words.scored(i, read[i], 0.0, head) for i in chosen}
        likeliest = sorted(ranked, key=lambda i: _order(ranked[i]))[: self.judged]
        claims = [(f"{question.text} {read[i].answer}.", read[i].part.heading, read[i].part.text) for i in likeliest]
        judged = zip(likeliest, self.reader.supports(claims), strict=True)
        ranked |= {i: words.scored(i, read[i], support, head) for i, support in judged}
        ordered = sorted(ranked.values(), key=_order)
        if self.rereads is not None:
            ordered, failed = self._reread(question, passages, ordered, failed)
        ranking = Ranking(tuple(ordered), None, {}, degraded=failed)
        features = certainty(ranking, ranking.scored[0])
        answered = self.sure(features)
        row = self.looked_up(question, pool, passages)
        lookups = (
            replace(row[0], probability=self.sure_of_row(row[1])) if row else None,
            answer_below(question, passages),
            clause_named(question, passages),
        )
        looked = max((one for one in lookups if one), key=lambda one: one.probability, default=None)
        if looked and (looked.probability > answered or _same_place(looked, ranking.scored[0])):
            ranking = replace(ranking, scored=_looked_up(looked, ranking.scored), rows=looked.rows)
            answered = max(answered, looked.probability)
        return replace(ranking, answered=answered, features=features)

    def read_again(self, question: str, passages: Sequence[Passage], among: Sequence[Candidate]) -> Sequence[float]:
        """The log odds that each candidate answers, read with what stands around it; none without a second reading."""
        if self.rereads is None:
            return []
        texts = [(c, passages[c.passage]) for c in among]
        return self.rereads(
            [(claim_of(question, c.text), named(p), surroundings(p["text"], c.start, c.end)) for c, p in texts]
        )

    def _reread(
        self, question: Question, passages: Sequence[Passage], ordered: list[Scored], failed: str
    ) -> tuple[list[Scored], str]:
        """The candidates in the order that a second reading of the first ones gives, and what failed."""
        first = ordered[:REREAD]
        try:
            read = self.read_again(question.text, passages, [s.candidate for s in first])
        except Exception as error:  # its weights are a file of their own
            return ordered, failed or f"The second reading failed ({reason_of(error)}); the first one counts alone."
        # The new order takes over the scores: the second reading tells which is first, and not by how much.
        raised = [(_raised(s.score, value), s) for s, value in zip(first, read, strict=True)]
        again = [s for _, s in sorted(raised, key=lambda pair: -pair[0])]
        return [*(replace(s, score=o.score) for s, o in zip(again, first, strict=True)), *ordered[REREAD:]], failed

    def looked_up(
        self, question: Question, pool: Sequence[Candidate], passages: Sequence[Passage]
    ) -> tuple[Lookup, dict[str, float]] | None:
        """The rows that the words of a question look up, with the features of `LOOKED`: the reader reads the first."""
        looked = lookup(question, pool, passages)
        if looked is None:
            return None
        row = looked.rows[0]
        heading = lead_of(heading_of(passages[row.passage]), row)
        [reading] = self.reader.read(question.text, [(heading, row.text)])
        return looked, {"bias": 1.0, "words": looked.probability, "answer": _squash(reading.answer)}

    def likeliest(self, question: Question, passages: Sequence[Passage], parts: "list[Part]") -> "list[Part]":
        """The parts nearest to the question in meaning and words, in order; all parts if the model fails."""
        texts = {part.passage: passages[part.passage]["text"] for part in parts}
        spans = {number: stretch_spans(text) for number, text in texts.items()}
        inside = [[texts[p.passage][a:b] for a, b in spans[p.passage] if _lies_in(a, b, p)] for p in parts]
        every = list(dict.fromkeys(text for own in inside for text in own))
        try:
            near = dict(zip(every, similarities(self.embeddings, question.text, every), strict=True))
        except Exception:  # `compare` asks the same model next, and notes that it failed
            return parts
        shared = zip(inside, shares_of(question, parts), strict=True)
        worth = [max((float(near[text]) for text in own), default=0.0) + WORDS_SAY * share for own, share in shared]
        kept = sorted(range(len(parts)), key=lambda i: -worth[i])[: self.read]
        return [parts[i] for i in sorted(kept)]

    def sure(self, features: Mapping[str, float]) -> float:
        """The calibrated probability, 0..1, that a candidate with these features (of `certainty`) answers."""
        return _logistic(self.reader.heads["sure"], features)

    def sure_of_row(self, features: Mapping[str, float]) -> float:
        """The calibrated probability, 0..1, that looked-up rows with these features (of `LOOKED`) answer."""
        return _logistic(self.reader.heads["row"], features)

    def sure_of_words(self, features: Mapping[str, float]) -> float:
        """The calibrated probability, 0..1, that an answer in other words with these features answers."""
        return _logistic(self.reader.heads["reworded"], features)


def reads(question: str, passages: Sequence[Passage]) -> bool:
    """Whether the reader knows the language of question and passages."""
    return seems_english(question) and any(seems_english(p["text"]) for p in passages)


def certainty(ranking: Ranking, chosen: Scored) -> dict[str, float]:
    """The features for the probability of a candidate: its own, and the distance to the next different answer."""
    own = normalised(chosen.answer)
    others = ((s, normalised(s.answer)) for s in ranking.scored if s is not chosen)
    # A candidate without an answer of its own is no part of another's.
    rival = next((s for s, other in others if other not in own and (not own or own not in other)), None)
    margin = _logit(chosen.score) - _logit(rival.score) if rival else 0.0
    features = {**chosen.features, "margin": _squash(margin), "alone": 0.0 if rival else 1.0}
    return {name: features[name] for name in CERTAINTY}


class _Words:
    """The word features of each candidate: coverage, and similarity if it was compared."""

    def __init__(self, question: Question, passages: Sequence[Passage], pool: Sequence[Candidate]) -> None:
        self.question, self.pool = question, pool
        own = [own_words(c) for c in pool]
        rare = rarity(own)
        wanted = {word: rare[word] for word in content_words(question.text)}
        self.seen = [Features(coverage(wanted, read_words(c)), 0.0, _passage_score(passages, c)) for c in pool]

    def score(self, i: int) -> float:
        """The score of a candidate by words, 0..1."""
        return by_words(self.seen[i])

    def best(self, most: int) -> list[int]:
        """The candidates with the highest scores."""
        return sorted(range(len(self.pool)), key=lambda i: -self.score(i))[:most]

    def compare(self, chosen: Sequence[int], embeddings: Embeddings) -> str:
        """Compare some candidates with the question in meaning, in one batch. Returns the failure of the model, else
        empty."""
        try:
            cosines = similarities(embeddings, self.question.text, [self.pool[i].read for i in chosen])
        except Exception as error:  # it may be the caller's own
            return f"The embedding model failed ({reason_of(error)}); sentences were compared without it."
        for i, cosine in zip(chosen, cosines, strict=True):
            self.seen[i] = replace(self.seen[i], similarity=float(cosine))
        return ""

    def scored(self, i: int, read: "_Read", support: float, head: Sequence[float]) -> Scored:
        """A candidate with its features: of the reader, of its words, and of the forms of question and sentence."""
        c, seen = self.pool[i], self.seen[i]
        features = {
            "bias": 1.0,
            "answer": _squash(read.reading.answer),
            "evidence": _squash(read.evidence),
            "span": _squash(read.span / 2),
            "told": _squash(support),
            "words": self.score(i),
            "cosine": seen.similarity,
            "place": seen.passage_score,
            "short": 1.0 if len(c.text.split()) < 5 and not c.is_row else 0.0,
            "row": 1.0 if c.is_row else 0.0,
        }
        score = _logistic(head, {name: features[name] for name in CHOICE})
        if self.question.kind is Kind.YES_NO:
            # A yes-or-no question is answered by the sentence with most of its words.
            score *= 0.5 + 0.5 * seen.coverage
        return Scored(c, features, score, read.start, read.end)


def _passage_score(passages: Sequence[Passage], candidate: Candidate) -> float:
    """The rank of the candidate's passage as a score, 0..1."""
    score = _score_of(passages[candidate.passage])
    return 1 - candidate.passage / len(passages) if score is None else min(1.0, max(0.0, score))


def _score_of(passage: Passage) -> float | None:
    return passage["rerank_score"] if passage["rerank_score"] is not None else passage["retrieval_score"]


def _order(scored: Scored) -> tuple[float, int, int]:
    return -scored.score, scored.candidate.passage, scored.candidate.start


@dataclass(frozen=True)
class _Read:
    """The reader's values for a candidate in a part: for its sentence, and for the best answer inside it.

    `start` and `end` are the answer's character range in the passage's text.
    """

    part: Part
    reading: ReadText
    evidence: float
    span: float
    start: int
    end: int

    @classmethod
    def of(cls, c: Candidate, part: Part, reading: ReadText) -> "_Read":
        """Read a candidate."""
        start, end = c.start - part.start, c.end - part.start
        span, left, right = reading.span(start, end)
        return cls(part, reading, reading.evidence(start, end), span, part.start + left, part.start + right)

    @property
    def likes(self) -> float:
        """The reader's score of the candidate: evidence, span, and whether the text answers at all."""
        return self.reading.answer / 2 + self.evidence + self.span / 2

    @property
    def answer(self) -> str:
        """The words that answer."""
        return self.part.text[self.start - self.part.start : self.end - self.part.start]


def _lies_in(start: int, end: int, part: Part) -> bool:
    """Whether enough of a stretch lies in the part for the part to take its similarity."""
    return min(end, part.start + len(part.text)) - max(start, part.start) > INSIDE * (end - start)


def _looked_up(looked: Lookup, others: Sequence[Scored]) -> tuple[Scored, ...]:
    """The looked-up rows with their answering cells, before all other candidates."""
    known = {s.candidate: s.features for s in others}
    unread = dict.fromkeys((*CHOICE, "answer", "evidence"), 0.0)
    rows = [
        Scored(row, known.get(row, unread), looked.probability, row.start + start, row.start + end)
        for row, (start, end) in zip(looked.rows, looked.cells, strict=True)
    ]
    return (*rows, *(s for s in others if s.candidate not in looked.rows))


def _same_place(looked: Lookup, best: Scored) -> bool:
    """Whether the reader chose the same place: a sentence of the answer below a listed question, which is then given
    whole; or the looked-up row, if the cell is certain enough or within the reader's answer."""
    own = (best.candidate.passage, best.candidate.start)
    if any((row.passage, row.start) == own and not row.is_row for row in looked.rows):
        return True
    if len(looked.rows) != 1 or not looked.rows[0].sentence or best.candidate != looked.rows[0]:
        return False
    start, end = (best.candidate.start + place for place in looked.cells[0])
    return looked.probability >= TOLD or (best.answer_start < end and start < best.answer_end)


def _squash(value: float) -> float:
    """A logit squashed to -1..1, so that extreme values count little more than high ones."""
    return 2 / (1 + exp(-max(-30.0, min(30.0, value / 2.5)))) - 1


def _logit(p: float) -> float:
    p = min(1 - 1e-6, max(1e-6, p))
    return log(p / (1 - p))


def _raised(score: float, read: float) -> float:
    """A score with the log odds of a second reading."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, _logit(score) + REREADING * read))))


def _logistic(head: Sequence[float], features: Mapping[str, float]) -> float:
    total = sum(w * f for w, f in zip(head, features.values(), strict=True))
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))
