"""What a later document says against a quotation: a network reads both, and tells whether the answer is another now.

"Dogs may now eat until midnight" is not near the question for the labrador's supper, and is near the sentence that it
replaces: the quotation itself is searched for. "Two visits are enough; after that one joins" contradicts nothing, and
replaces a rule: a network that learned from such pairs (`cragraph.models.reader.QuotationReader`) reads each sentence
of the later documents below question and quotation.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Final, NamedTuple

import numpy as np

from cragraph.answers.candidates import claim_of
from cragraph.answers.quotations import MOST, YEAR, Quotation, dated, document_of
from cragraph.language.facts.fact import dates
from cragraph.language.sentences import STAMP, sentence_spans
from cragraph.language.words import content_words
from cragraph.models.reader import Key
from cragraph.protocols import Embeddings, Notes, Retriever, stand_in
from cragraph.types import Passage

FOUND: Final = 30  # passages that each search finds
NEAREST: Final = 36
"""Stretches that are read: of 42 that change an answer, and that the network knows to, the 12 nearest to question and
quotation together have 33, the 36 nearest to either have 41."""
NEAR: Final = 250  # characters of a paragraph up to the sentence that are read with it
LABEL: Final = 30  # characters of a first sentence that only says what a paragraph is about
ALIKE: Final = 1.0  # log odds within which the first of two stretches is told
LONGEST: Final = 500  # characters of a stretch
LIKELIEST: Final = 8
"""Stretches that are read once more, below the quotation without its question: of 437 quotations over forty folders
that no network learned from, 218 have the lowest mean odds, and .96 of these are right; by the first reading .93."""
SLOPE: Final = 0.75  # of the log odds that nothing changed, for each of the network's that it did
START: Final = -0.6
"""Those log odds where the network's are even. Fitted they are 0.7; below it a larger share of what is accepted is
right: .96 of 175 of the 437, .89 of 302 as fitted."""
KNOWN: Final = 1.0
"""The log odds of a quotation that the search gives back: its prior counts the changed ones, which are told apart now.
"""
CORRECTS: Final = 4.0  # log odds that are added for "460 and not 640", where the quotation has 640
OF_OTHER_YEAR: Final = -2.0  # the same for what is not of a year that the question names
TOLD: Final = 0.0  # log odds from which a sentence is told
SAYS: Final = "A {later} document may say otherwise: “{quote}” ({filename})."
UNSURE: Final = "Whether a {later} document changes this is not sure; the likeliest place is “{quote}” ({filename})."

_ENDED: Final = re.compile(r"[.!?:;][\"'”’)*_]*$")
_BULLET: Final = re.compile(r"(?:[-*•–]|\d+[.)]?) +\S")
_NOT: Final = re.compile(
    r"(?:\b(?:and|but|is|was|were|are)|[,;:–-]) not (?P<a>(?:\S+ ?){1,5})"
    r"|\bnot (?P<b>(?:(?:at|on|from|the) )*[£$€]?\d\S*)|\b(?:instead of|rather than) (?P<c>(?:\S+ ?){1,5})",
    re.I,
)


class Otherwise(NamedTuple):
    """A sentence of a later document that may change what a quotation answers, and the log odds that it does.

    `later` is "dated" where the quoted document has no date."""

    quote: str
    filename: str
    odds: float
    later: str = "later"

    def issues(self, *, accepted: bool) -> tuple[str, ...]:
        """What is said of it in the response; `accepted`: the quotation is accepted all the same."""
        if accepted and self.odds < TOLD:
            return ()
        says = SAYS if self.odds >= TOLD else UNSURE
        return (says.format(later=self.later, quote=self.quote, filename=self.filename),)


def ratio_of_later(otherwise: Otherwise, chance: float) -> float:
    """The likelihood ratio of a quotation with this chance to be right, whose answer a later document may change.

    It is right if it answered, and nothing changed: the two chances are multiplied.
    """
    chance = min(MOST, max(1 - MOST, chance))
    answered = chance / (1 - chance) * exp(KNOWN)
    nothing = 1 / (1 + exp(SLOPE * otherwise.odds - START))
    right = answered / (1 + answered) * nothing
    return right / (1 - right) / (chance / (1 - chance))


@dataclass(frozen=True)
class LaterSearch:
    """Looks for the sentence of a later document that most likely changes what a quotation answers.

    A question that names a year asks about that year: what is not of it counts for less. A quoted document without a
    date is taken for older than any with one: rules are seldom dated, and what changes them is.
    """

    retriever: Retriever
    embeddings: Callable[[], Embeddings]
    supersedes: Callable[[Sequence[Key]], Sequence[float]]
    """For each question with its quotation, heading, and later text: the log odds that the text changes the answer."""

    def __call__(
        self, question: str, answer: str, passages: Sequence[Passage], notes: Notes, where: Mapping[str, Any] | None
    ) -> Otherwise | None:
        """The sentence; None if there is none."""
        quotation = Quotation(question, answer, passages)
        last = max(map(dated, quotation.quoted), default=())
        return stand_in(
            "The search for a later document",
            lambda: self._otherwise(quotation, last, where),
            "it is not known whether one says otherwise",
            notes,
        )

    def _otherwise(
        self, quotation: Quotation, last: tuple[int, ...], where: Mapping[str, Any] | None
    ) -> Otherwise | None:
        quote, claim = " ".join(quotation.plain.split()), claim_of(quotation.question, quotation.plain)
        read = self._nearest((quotation.question, quote), [*self._later(quotation, quote, last, where)])
        if not read:
            return None
        years = YEAR.findall(quotation.question)
        odds = self._odds(claim, quote, read)
        for place, (passage, _, sentence) in enumerate(read):
            odds[place] += CORRECTS * corrects(sentence, quotation)
            odds[place] += OF_OTHER_YEAR * (not _of_years(passage, years))
        most, passage = max(odds), read[int(np.argmax(odds))][0]
        # What follows the sentence in its paragraph is read with it, and says the same.
        sentence = next(s for (p, _, s), one in zip(read, odds, strict=True) if p is passage and one >= most - ALIKE)
        return Otherwise(sentence, passage["filename"], float(most), "later" if last else "dated")

    def _odds(self, claim: str, quote: str, read: Sequence[tuple[Passage, str, str]]) -> list[float]:
        """For each stretch the log odds that it changes the answer; of the likeliest ones the mean of two readings."""
        odds = [*self.supersedes([(claim, heading_of(passage), whole) for passage, whole, _ in read])]
        likeliest = sorted(range(len(read)), key=lambda place: -odds[place])[:LIKELIEST]
        again = self.supersedes([(quote, heading_of(read[place][0]), read[place][1]) for place in likeliest])
        for place, one in zip(likeliest, again, strict=True):
            odds[place] = (odds[place] + one) / 2
        return odds

    def _later(
        self, quotation: Quotation, quote: str, last: tuple[int, ...], where: Mapping[str, Any] | None
    ) -> Iterator[tuple[Passage, str, str]]:
        """The stretches of later documents that searches for quotation and question find, once each."""
        own = {document_of(passage) for passage in quotation.quoted}
        known = set()
        for query in (quote, quotation.question):
            for passage in self.retriever([query], FOUND, Notes(), where=where):
                if document_of(passage) in own:
                    continue
                written = dated(passage)
                for whole, sentence in stretches(passage["text"]):
                    is_later = (sent(whole) or written) > last
                    if is_later and whole not in known and sentence not in quote:
                        known.add(whole)
                        yield passage, whole, sentence

    def _nearest(
        self, texts: Sequence[str], every: Sequence[tuple[Passage, str, str]]
    ) -> Sequence[tuple[Passage, str, str]]:
        """The stretches nearest to any of some texts, in their order."""
        if len(every) <= NEAREST:
            return every
        rows = np.array(self.embeddings().embed_documents([*texts, *(whole for _, whole, _ in every)]))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        near = (rows[len(texts) :] @ rows[: len(texts)].T).max(axis=1)
        return [every[place] for place in sorted(np.argsort(-near)[:NEAREST])]


def stretches(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence of a text with what it needs to be understood, and by itself.

    A sentence is read from the beginning of its paragraph or item, where that is near; else with the sentence before
    it, and with the word that the paragraph begins with ("Availability. The captains begged for earlier word. Tuesday
    8 pm instead of the day after."). A row of a table is a stretch of its own.
    """
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        if " | " in paragraph:
            yield from zip(lines, lines, strict=True)
            continue
        for item in _items(lines):
            sentences = [item[start:end].strip() for start, end in sentence_spans(item)]
            for place, sentence in enumerate(sentences):
                before = sentences[:place]
                whole = " ".join([*before, sentence])
                if len(whole) > NEAR:
                    label = [one for one in before[:-1][:1] if len(one) <= LABEL]
                    whole = " ".join([*label, *before[-1:], sentence])
                yield (whole if len(whole) <= LONGEST else sentence), sentence


def _items(lines: Sequence[str]) -> list[str]:
    """The items of a paragraph's lines: minutes in note form have one on each line, prose goes on."""
    items: list[str] = []
    for line in lines:
        if items and not _ENDED.search(items[-1]) and not (_BULLET.match(line) or STAMP.match(line)):
            items[-1] += f" {line}"
        else:
            items.append(line)
    return [" ".join(item.split()) for item in items]


def sent(text: str) -> tuple[int, ...]:
    """The date of a message of a chat, or of a line of a log; empty for any other text."""
    match = STAMP.match(text)
    found = next(dates(match[0]), None) if match else None
    return tuple(part or 0 for part in found.date) if found and found.date[0] else ()


def corrects(sentence: str, quotation: Quotation) -> bool:
    """Whether a sentence says "and not" what the quotation says, and its question does not."""
    own = {*content_words(quotation.plain)} - {*content_words(quotation.question)}
    return any(own & {*content_words(match[match.lastgroup or 0])} for match in _NOT.finditer(sentence))


def heading_of(passage: Passage) -> str:
    """The title of a passage's document and the headings above it."""
    title, heading = (str(passage["metadata"].get(name) or "") for name in ("title", "heading"))
    return heading if heading.startswith(title) else f"{title} > {heading}" if heading else title


def _of_years(passage: Passage, years: Sequence[str]) -> bool:
    """Whether a passage is of one of the years that a question names, if it names any."""
    about = f"{dated(passage)[:1]} {passage['filename']} {heading_of(passage)} {passage['text']}"
    return not years or any(year in about for year in years)
