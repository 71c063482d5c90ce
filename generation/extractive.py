"""The embedded generator: quotes the sentences that answer the question, or says that none does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from langchain_core.embeddings import Embeddings

from cragraph.generation.candidates import Candidate, candidates
from cragraph.generation.expected import Question, read_question
from cragraph.generation.focus import focus_of
from cragraph.generation.phrases import meaning_words
from cragraph.generation.revision import Kept, failed_texts, is_failed, kept_sentences
from cragraph.generation.scoring import (
    Features,
    Weights,
    coverage,
    found_words,
    kind_of,
    news,
    own_words,
    question_weights,
    rarity,
    similarities,
)
from cragraph.generation.words import content_words
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK

THRESHOLD: Final = 0.46
MARGIN: Final = 0.85
SHORTLIST: Final = 12


@dataclass(frozen=True)
class Ranked:
    """A candidate with what is known of it and its score, 0..1."""

    candidate: Candidate
    features: Features
    score: float
    fit: float = 1.0


@dataclass(frozen=True)
class ExtractiveGenerator:
    """Answers with up to `max_sentences` sentences of the passages, word for word, each with its marker.

    A best candidate below `threshold` (0..1) is no answer: the generator returns `IDK`. Further sentences must score
    at least `margin` times the best. At most `shortlist` candidates, chosen by words alone, are embedded.
    """

    embeddings: Embeddings
    max_sentences: int = 3
    threshold: float = THRESHOLD
    margin: float = MARGIN
    shortlist: int = SHORTLIST
    weights: Weights = field(default_factory=Weights)
    name: str = "extractive"

    def __call__(self, brief: Brief, notes: Notes) -> str:
        """The answer with ``[n]`` markers that count the brief's passages from 1, or `IDK`."""
        kept = kept_sentences(brief)
        ranked = self.rank(brief)
        answers = ranked and ranked[0].score >= self.threshold
        chosen = self._choose(read_question(brief.question), ranked, kept) if answers else []
        if not chosen and not kept:
            return IDK
        return _written(kept, chosen)

    def rank(self, brief: Brief) -> list[Ranked]:
        """Candidates of the brief's passages, best first, without those that failed before."""
        question = read_question(brief.question)
        failed = failed_texts(brief)
        found = [c for c in candidates(brief.passages) if not is_failed(c.text, failed)]
        if not found:
            return []
        asked = meaning_words(question.text)
        words = [own_words(candidate) for candidate in found]
        rare = rarity(words)
        weights, focus = question_weights(question, rare), focus_of(question, rare)
        known = _documents(brief)
        standing = [_standing(brief, candidate) for candidate in found]
        first = [
            Features(coverage(weights, found_words(c)), 0.0, kind_of(question, c), news(asked, own), stands)
            for c, own, stands in zip(found, words, standing, strict=True)
        ]
        fits = [focus.fit(c, f.kind, known[c.passage]) for c, f in zip(found, first, strict=True)]
        order = sorted(range(len(found)), key=lambda i: -self.weights.score(first[i]) * fits[i])[: self.shortlist]
        cosines = similarities(self.embeddings, question.text, [found[i].read for i in order])
        ranked = []
        for i, cosine in zip(order, cosines, strict=True):
            f = first[i]
            features = Features(f.coverage, float(cosine), f.kind, f.news, f.standing)
            fit = focus.fit(found[i], f.kind, known[found[i].passage], float(cosine))
            ranked.append(Ranked(found[i], features, self.weights.score(features) * fit, fit))
        return sorted(ranked, key=lambda r: -r.score)

    def _choose(self, question: Question, ranked: Sequence[Ranked], kept: Sequence[Kept]) -> list[Candidate]:
        # One name or figure is answered by one sentence; more would only dilute it.
        room = min(question.sentences, self.max_sentences - len(kept))
        chosen: list[Candidate] = []
        said = [set(content_words(sentence.text)) for sentence in kept]
        for item in ranked:
            if len(chosen) >= room or item.score < max(self.threshold, self.margin * ranked[0].score):
                break
            own = set(content_words(item.candidate.text))
            if not any(_overlap(own, other) > 0.7 for other in said):
                chosen.append(item.candidate)
                said.append(own)
        return chosen


def _standing(brief: Brief, candidate: Candidate) -> float:
    passage = brief.passages[candidate.passage]
    for score in (passage["rerank_score"], passage["retrieval_score"]):
        if score is not None:
            return min(1.0, max(0.0, score))
    return 1 - candidate.passage / len(brief.passages)


def _documents(brief: Brief) -> list[str]:
    """What is known of each passage's document: its file, title, heading and the passages of it at hand."""
    texts: dict[str, str] = {}
    for passage in brief.passages:
        about = passage["metadata"]
        fixed = f"{passage['filename']} {about.get('title') or ''} {about.get('heading') or ''} {passage['text']}"
        texts[passage["doc_id"]] = f"{texts.get(passage['doc_id'], '')} {fixed}"
    return [texts[passage["doc_id"]] for passage in brief.passages]


def _overlap(a: set[str], b: set[str]) -> float:
    return len(a & b) / max(1, min(len(a), len(b)))


def _written(kept: Sequence[Kept], chosen: Sequence[Candidate]) -> str:
    """Kept sentences first, then quotations: passage by passage in the order of their best, each in text order."""
    lines: list[tuple[str, bool]] = [(f"{sentence.text} [{sentence.passage + 1}]", False) for sentence in kept]
    rank = {number: place for place, number in reversed(list(enumerate(c.passage for c in chosen)))}
    said: set[str] = set()
    for candidate in sorted(chosen, key=lambda c: (rank[c.passage], c.start)):
        marker = f"[{candidate.passage + 1}]"
        for part in (candidate.header, candidate.opener, candidate.text):
            # Line breaks of a page's layout are no part of what is said.
            quote = " ".join(part.split())
            if quote and quote not in said:
                said.add(quote)
                lines.append((f"{quote} {marker}", candidate.is_row))
    text = ""
    for line, is_row in lines:
        text += ("\n" if is_row and text else " " if text else "") + line
    return text
