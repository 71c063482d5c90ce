"""The likelihood ratio of a quotation: signs, in question, quotation and passages, of what its reader does not see.

The reader says how likely a sentence answers, and is too sure of it. A second reading, of question and quotation with
what stands around the quotation, counts beside it. Neither sees that a newer paper changed the figure, that the other
Martin is meant, or that the question asks for a sum. Each sign is a named test; the weights, in log odds, are fitted
with each folder left out of its own fit (`python -m lab.benchmarks.quoted fit`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, log
from typing import Final

from cragraph.answers.candidates import LONGEST, claim_of, named, surroundings
from cragraph.answers.differing import dates_of
from cragraph.language.cells import SEPARATOR
from cragraph.language.facts import Fact, extract
from cragraph.language.lexicon import pattern
from cragraph.language.markers import find_markers, without_markers
from cragraph.language.questions import FIGURES, Kind, read_question, split_question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import asked_words, terms, topic
from cragraph.models.reader import Key
from cragraph.protocols import AnswerScorer, Notes, stand_in
from cragraph.types import Passage

_ASKS_ARITHMETIC: Final = pattern("asks_arithmetic")
_PLANS: Final = pattern("plans")
_SINCE: Final = pattern("holds_since")
_CHANGES: Final = pattern("changes")
_COUNTED: Final = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT})
_NO_FIGURE: Final = re.compile(
    r"\b(?:free|none?|nothing|not|never|half|twice|once|double|quarter|third|every|each|all|any|always|daily|weekly|"
    r"monthly|yearly|unlimited)\b",
    re.I,
)
"""Words that answer a question for a figure without one."""
_EACH: Final = re.compile(r"\b(?:each|per|every|apiece|an? (?:head|mile|person|piece|night|bag|box|class))\b", re.I)
MOST_THINGS: Final = 1_000  # a larger number in a question is a year or a sum, and no number of things
_REPORTED: Final = re.compile(
    r"\b(?:(?-i:[A-Z]\w+|I)|he|she|they|we) (?:(?:have|had|has|am|are|were) )?(?:wrote|writ(?:es|ten)|says?|said|told|"
    r"claim(?:s|ed)?|thinks?|thought|reckon(?:s|ed)?|believe[sd]?|mention(?:s|ed)?|hear|heard)(?: it said)?"
    r"(?: \w+){0,3} that\b",
    re.I,
)
_REPORTING: Final = re.compile(r"\b(?:wr[io]te|sa(?:y|id|ys)|claim|think|thought|according|told|report)\w*", re.I)
_PROPOSED: Final = re.compile(
    r"\b(?:(?-i:[A-Z]\w+|I)|he|she|they|we) (?:(?:has|had|have) )?(?:mov(?:es|ed) that|propos(?:es|ed)|suggest(?:s|ed)|"
    r"(?:ask|wonder)(?:s|ed) (?:if|whether)|wanted|would (?:like|have))\b",
    re.I,
)
_AGREED: Final = re.compile(r"\b(?:agreed|carried|passed|approved|adopted|granted|accepted|decided)\b", re.I)
_PROPOSING: Final = re.compile(r"\b(?:mov(?:e|ed|es)|propos|suggest|ask|want|wonder|wish|idea)", re.I)
_ASKS_TRUTH: Final = re.compile(r"\b(?:really|in fact|actually|in truth|in the end)\b", re.I)
_SAID: Final = re.compile(r"\b(?:said|says|claim(?:s|ed)|according to|reckon(?:s|ed)|thought)\b", re.I)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_NAME: Final = re.compile(r"\b[A-ZÄÖÜ][^\W\d_]+")
_SUBJECT: Final = re.compile(
    r"\b(?i:do|does|did|will|would|can|could|must|should|may|has|have|had|is|was)\s+"
    r"(?:(?i:the|mr|mrs|ms|miss|dr)\b\.?\s+|[A-Z]\.\s*)*([^\W\d_]+(?:[’'-][^\W\d_]+)*)"
)
"""The name of whoever a question is about."""
SHORTEST_NAME: Final = 3  # letters
SHORTEST_STATEMENT: Final = 3  # words; what has no more only labels, or decides, what stands beside it
_RATE: Final = re.compile(r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve) \w+[^.;]{0,40}? at [£$€]\d")
"""A number of things and the price of one: "six hours a week at £12"."""
_WHICH: Final = re.compile(r"\b[Ww]hich (?:of (?:the|our) (?:two|three) )?([A-ZÄÖÜ][^\W\d_]+)")
_ASKS_WHAT_WAS: Final = re.compile(r"\b(?:did|was|were|been|had|really|actually|in the end)\b", re.I)
_TO_COME: Final = re.compile(r"\b(?:will|shall|so far|(?:is|are) to)\b", re.I)
_ASKS_NOW: Final = re.compile(
    r"\b(?:now|current(?:ly)?|these days|nowadays|today|at present|at the moment|any ?more|any longer)\b", re.I
)
YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
"""A year in a text."""
_TELEPHONE: Final = re.compile(
    r"\bnumber\b.*\b(?:ring|call|phone|dial|text)\b|\b(?:phone|telephone|mobile) number\b", re.I
)
_ATTRIBUTE: Final = re.compile(r"\b(?:what|which) (make|brand|model|colou?r|type|size|name|kind)\b", re.I)
_ASKS_WHOM: Final = re.compile(r"\b(?:what|which) (?:firm|company|supplier|shop|maker|seller|dealer|person)\b", re.I)
_CELL_OF_FIGURE: Final = re.compile(r"^[^|\n]+: [£$€]?\d[\d.,]*(?: \w+)?$")
COMMON: Final = 3  # passages of a run with a word that still says what a sentence is about
ALIKE: Final = 5.0  # largest ratio of two figures on the same thing


@dataclass(frozen=True)
class Quotation:
    """A quotation, the question that it was chosen for, and the passages that were read."""

    question: str
    answer: str
    passages: Sequence[Passage]

    @cached_property
    def plain(self) -> str:
        """The quotation without its markers."""
        return without_markers(self.answer)

    @cached_property
    def kind(self) -> Kind:
        """The kind of answer that the question asks for."""
        return read_question(self.question).kind

    @cached_property
    def quoted(self) -> list[Passage]:
        """The passages that are quoted, in their order."""
        cited = {number - 1 for marker in find_markers(self.answer) for number in marker.numbers}
        return [passage for number, passage in enumerate(self.passages) if number in cited]

    @cached_property
    def figures(self) -> list[Fact]:
        """The figures and dates of the quotation."""
        return [fact for fact in extract(self.plain) if fact.kind != "name"]


def without_figure(q: Quotation) -> bool:
    """A figure is asked for, and the quotation has none; or a telephone number."""
    if _TELEPHONE.search(q.question):
        return not re.search(r"\d(?:[ -]?\d){4}", q.plain)
    return q.kind in _COUNTED and not q.figures and not _NO_FIGURE.search(q.plain)


def of_another(q: Quotation) -> bool:
    """The quotation names somebody of a similar name in place of the person that the question names ("Jessie" for
    "Jess", "Pat Ollerton" for "Pat Quigley"), or is of a document without the name of whoever the question is about."""
    return _names_another(q) or _elsewhere(q)


def without_name(q: Quotation) -> bool:
    """The question is which Helen, and the quotation has no other name beside hers."""
    match = _WHICH.search(q.question)
    if match is None or match[1] not in q.plain:
        return False
    return not re.search(rf"\b{match[1]} (?:[A-Z]\. )?[A-Z]", q.plain)


def reported(q: Quotation) -> bool:
    """The quotation only reports what somebody said, or proposed; where one sentence is to answer what really was,
    "said" is enough."""
    stated = [line for line in _lines(q.plain) if len(line.split()) > SHORTEST_STATEMENT]
    proposed = stated and all(map(_PROPOSED.search, stated)) and not _AGREED.search(q.plain)
    if proposed and not _PROPOSING.search(q.question):
        return True
    if _ASKS_TRUTH.search(q.question) and _SAID.search(q.plain) and len(_lines(q.plain)) == 1:
        return True
    return bool(_REPORTED.search(q.plain)) and not _REPORTING.search(q.question)


def asks_more(q: Quotation) -> bool:
    """A sum, difference or remainder is asked for, or the price of several, and the quotation states none."""
    return bool(_ASKS_ARITHMETIC.search(q.question) and not _ASKS_ARITHMETIC.search(q.answer)) or _prices_one(q)


def elsewhere(q: Quotation) -> bool:
    """Three rare words of the question stand in other passages, and not where the quotation stands."""
    spread = Counter(word for passage in q.passages for word in set(terms(passage["text"])))
    rare = {word for word in asked_words(q.question) if 0 < spread[word] <= COMMON and not word[0].isdigit()}
    return len(rare - set(terms(" ".join(_around(q))))) > 2


def planned(q: Quotation) -> bool:
    """The quotation speaks of a plan; the question does not, or asks what was done."""
    asks_done = _ASKS_WHAT_WAS.search(q.question)
    if asks_done and _TO_COME.search(q.plain) and not _TO_COME.search(q.question):
        return True
    return bool(_PLANS.search(q.answer) and (asks_done or not _PLANS.search(q.question)))


def of_older(q: Quotation) -> bool:
    """The question asks how it is now, and a passage of a later document was found."""
    return bool(_ASKS_NOW.search(q.question)) and not _SINCE.search(q.plain) and any(_later(q))


def changed(q: Quotation) -> bool:
    """A document that is no older changes, or gives anew, a figure of the same kind on the same thing."""
    known = {figure.figure for figure in q.figures}
    shown = q.plain.casefold()
    spread = Counter(word for passage in q.passages for word in topic(passage["text"]))
    about = {word for word in topic(q.question) | topic(q.plain) if spread[word] <= COMMON}
    for passage in _no_older(q):
        spans = sentence_spans(passage["text"])
        for number, (start, end) in enumerate(spans):
            text = passage["text"][start:end]
            if " ".join(text.split()).casefold() in shown or not (_CHANGES.search(text) or _SINCE.search(text)):
                continue
            near = passage["text"][spans[max(0, number - 1)][0] : end]
            if about & topic(near) and any(_instead(new, q.figures, known) for new in extract(text)):
                return True
    return False


def below_another(q: Quotation) -> bool:
    """The search ranks a passage before the quoted one."""
    return bool(q.quoted) and q.passages[0] not in q.quoted


def of_another_year(q: Quotation) -> bool:
    """The question names a year that neither the quotation nor its document's head has."""
    years = set(YEAR.findall(q.question))
    if not years or not q.quoted:
        return False
    about = " ".join(f"{p['filename']} {p['metadata']} {p['text']}" for p in q.quoted)
    return not years & set(YEAR.findall(about))


def without_year(q: Quotation) -> bool:
    """The question names a year that the quoted document has, and the quotation does not."""
    years = set(YEAR.findall(q.question)) - set(YEAR.findall(q.plain))
    return bool(years and q.quoted) and not of_another_year(q)


def without_attribute(q: Quotation) -> bool:
    """The question asks for the make or the colour of a thing, and the quoted row has no such column; or for a person
    or firm, and the quoted cell has a figure."""
    asks_whom = q.kind is Kind.PERSON or _ASKS_WHOM.search(q.question)
    if asks_whom and _CELL_OF_FIGURE.match(q.plain.strip()):
        return True
    match = _ATTRIBUTE.search(q.question)
    return bool(match and ": " in q.plain and " | " in q.plain and match[1].lower() not in q.plain.lower())


UNDECIDED: Final = 0.25
"""The likelihood ratio of an accepted answer that quotes several documents, and does not say which of them holds: of
ten such, eight had something outdated or on another thing beside what answers."""
BEGINNING: Final = 4  # words of a quotation of several sentences by which its place is found
MOST: Final = 0.99  # the reader's probability is clamped to this and 1 less this
UNREAD: Final = -0.7
"""The weight of a quotation as such, where only its signs are known."""
ALONE: Final = -0.8
"""The same beside the second reading: 1.45 less than what is fitted, because fewer are right over folders on which
nothing was fitted."""
TOO_SURE: Final = -0.53
"""What is added to the log odds of the reader's probability for each of them."""
READ: Final = 0.45
"""The weight of the log odds of the second reading."""
SIGNS: Final[Mapping[Callable[[Quotation], bool], float]] = {
    without_figure: -1.29, of_another: -0.62, without_name: -1.05, elsewhere: -0.55, reported: -1.22,
    asks_more: -2.39, planned: -0.31, of_older: -0.08, changed: -0.04, below_another: -0.71, of_another_year: -1.69,
    without_attribute: -1.58, without_year: -0.42,
}  # fmt: skip
"""The weight of each sign, in log odds."""


def signs(question: str, answer: str, passages: Sequence[Passage]) -> list[Callable[[Quotation], bool]]:
    """The signs that a quotation shows; its markers count the passages from 1."""
    quotation = Quotation(question, answer, passages)
    return [sign for sign in SIGNS if sign(quotation)]


def ratio_of_quotation(
    question: str, answer: str, passages: Sequence[Passage], said: float | None = None, read: float | None = None
) -> float:
    """The likelihood ratio of a quotation that the embedded answerer chose, from all its signs.

    `said` is the reader's probability that it answers, and `read` the log odds of the second reading: the ratio takes
    back what the reader is too sure of. Without them (another language, no weights) the signs count alone.
    """
    shown = sum(SIGNS[sign] for sign in signs(question, answer, passages))
    if said is None or read is None:
        return exp(UNREAD + shown)
    said = min(MOST, max(1 - MOST, said))
    return exp(ALONE + TOO_SURE * log(said / (1 - said)) + READ * read + shown)


def undecided(question: str, answer: str, passages: Sequence[Passage]) -> bool:
    """Whether an answer to a question of one part quotes several documents and does not say which of them holds: they
    share no figure, or none is asked for."""
    quotation = Quotation(question, answer, passages)
    several = len({*map(document_of, quotation.quoted)}) > 1
    if not several or read_question(question).wants_all or len(split_question(question)) > 1:
        return False
    stated = [
        {fact.figure for line in _lines(quotation.plain) if _states(one, line) for fact in extract(line) if fact.figure}
        for one in quotation.quoted
    ]
    return quotation.kind not in FIGURES or not set.intersection(*stated)


def readings(question: str, answer: str, passages: Sequence[Passage]) -> list[Key]:
    """What the second reading reads of a quotation: for each quoted passage the claim, the document, and what stands
    around the quotation. It never learned from a cell that is told as a sentence, nor from a text of no document, and
    reads neither."""
    quotation = Quotation(question, answer, passages)
    quote, claim, found = quotation.plain.strip(), claim_of(question, quotation.plain), []
    for passage in filter(named, quotation.quoted):
        text = passage["text"]
        start = text.find(quote)
        if start < 0 and SEPARATOR in text and SEPARATOR not in quote and ": " in quote and "\n" not in quote:
            continue
        if start < 0:  # of several sentences, the first
            start = text.find(" ".join(quote.split()[:BEGINNING]))
        around = text[:LONGEST] if start < 0 else surroundings(text, start, start + len(quote))
        found.append((claim, named(passage), around))
    return found


@dataclass(frozen=True)
class SecondReading:
    """The reader's probability that a quotation answers, and the log odds of the second reading."""

    scorer: Callable[[], AnswerScorer]
    reads: Callable[[Sequence[Key]], Sequence[float]]

    def __call__(
        self, question: str, answer: str, passages: Sequence[Passage], notes: Notes
    ) -> tuple[float, float] | None:
        """Both; None for a cell told as a sentence or a text of no document, in a language that the reader does not
        know, or after a failure."""

        def read() -> tuple[float, float] | None:
            keys = readings(question, answer, passages)
            said = self.scorer()(question, answer, passages, Notes()).probability if keys else None
            return None if said is None else (said, max(self.reads(keys)))

        return stand_in("The second reading of the quotation", read, "its signs count alone", notes)


def _around(q: Quotation) -> Iterator[str]:
    """The quotation, the paragraphs that it stands in, and the titles and headings above them."""
    yield q.plain
    for passage in q.quoted:
        about = passage["metadata"]
        yield " ".join(str(about.get(name) or "") for name in ("title", "heading", "table_header"))
        yield re.sub(r"[\W_]+", " ", passage["filename"])
        paragraphs = [one for one in re.split(r"\n\s*\n|\n(?=[-*•#\d])", passage["text"]) if one.strip()]
        for place, paragraph in enumerate(paragraphs):
            if any(" ".join(line.split()) in " ".join(paragraph.split()) for line in _lines(q.plain)):
                yield " ".join(paragraphs[max(0, place - 1) : place + 1])


def _states(passage: Passage, line: str) -> bool:
    return " ".join(line.split()) in " ".join(passage["text"].split())


def _lines(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def _prices_one(q: Quotation) -> bool:
    """Whether a quotation has the price of one thing, and the question asks what several cost."""
    asks = q.kind is Kind.MONEY or (q.kind is Kind.NUMBER and any(figure.kind == "money" for figure in q.figures))
    if asks and _RATE.search(q.plain):
        return True
    if not asks or not _EACH.search(q.plain):
        return False
    asked = (fact for fact in extract(q.question) if fact.kind in ("number", "measure"))
    count = {fact.figure for fact in asked if 2 <= fact.figure < MOST_THINGS}
    return bool(count) and count.isdisjoint(figure.figure for figure in q.figures)


def _names_another(q: Quotation) -> bool:
    text = "\n".join(passage["text"] for passage in q.passages)
    said = _NAME.findall(q.plain)
    asked = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(q.question)]
    known = [_named(word, text) for word in asked]
    for place, name in enumerate(known):
        if not name or name in said:
            continue
        others = [other for other in said if other not in known and other.removesuffix("s") != name.removesuffix("s")]
        if any(other.startswith(name) or name.startswith(other) for other in others):
            return True
        first = known[place - 1] if place else ""
        if first and any(one == first and other != name for one, other in pairwise(said)):
            return True
    return False


def _elsewhere(q: Quotation) -> bool:
    """Whether a quotation is of a document without the name of whoever the question is about ("What does Thackray ask
    for the cello?"), and another document has it."""
    texts: dict[str, str] = {}
    for passage in q.passages:
        here = f"{passage['filename']} {passage['metadata']} {passage['text']}\n"
        texts[document_of(passage)] = texts.get(document_of(passage), "") + here
    names = [match[1].removesuffix("'s").removesuffix("’s") for match in _SUBJECT.finditer(q.question)]
    known = [name.casefold() for name in names if _named(name, "".join(texts.values()))]
    return any(name not in texts[document_of(one)].casefold() for one in q.quoted for name in known)


def _named(word: str, text: str) -> str:
    """A word of a question as a text writes it, if it is a name there: never in small letters; else empty."""
    name = word[:1].upper() + word[1:]
    if len(word) < SHORTEST_NAME or re.search(rf"(?<![\w.@/-]){re.escape(word.lower())}(?![\w@])", text):
        return ""
    return name if re.search(rf"(?:(?<=[\w,] )|(?<=\b[A-Z]\. )){re.escape(name)}\b", text) else ""


def document_of(passage: Passage) -> str:
    """What a passage's document is known by."""
    return passage["source"] or passage["doc_id"]


def dated(passage: Passage) -> tuple[int, ...]:
    """The first date of a passage's document; empty without one."""
    return next((tuple(part or 0 for part in fact.date) for fact in dates_of(passage)), ())


def _others(q: Quotation) -> list[Passage]:
    """The passages of other documents than the quoted ones."""
    own = {document_of(passage) for passage in q.quoted}
    return [passage for passage in q.passages if document_of(passage) not in own]


def _later(q: Quotation) -> Iterator[Passage]:
    """The passages of documents that are dated later than every quoted one."""
    last = max(map(dated, q.quoted), default=())
    yield from (passage for passage in _others(q) if last and dated(passage) > last)


def _no_older(q: Quotation) -> list[Passage]:
    """The passages of other documents that are not dated before the quoted ones."""
    last = max(map(dated, q.quoted), default=())
    return [passage for passage in _others(q) if not dated(passage) or dated(passage) >= last]


def _instead(new: Fact, figures: Sequence[Fact], known: set[float]) -> bool:
    """Whether a figure is another one than those of a quotation, of the same kind and of like size."""
    if new.kind == "name" or new.figure in known:
        return False
    return any(
        (new.kind, new.unit) == (old.kind, old.unit)
        and (new.kind in ("date", "time") or 1 / ALIKE <= new.figure / (old.figure or 1e-9) <= ALIKE)
        for old in figures
    )
