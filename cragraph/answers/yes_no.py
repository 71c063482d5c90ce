"""A definite Yes or No before a quotation, where question and sentence are the same but for what says so.

Chosen on half of BoolQ's development questions: up to `FURTHER` words of meaning beyond the question's, no lead was
wrong; from the next on some were. Whatever bounds, conditions or doubts what the sentence says gets no lead.
"""

import re
from typing import Final, Literal

from cragraph.answers.questions import Kind, read_question
from cragraph.language.facts.fact import names
from cragraph.language.facts.polarity import negations, opposite_words
from cragraph.language.lexicon import pattern
from cragraph.language.markers import without_markers
from cragraph.language.sentences import sentences
from cragraph.language.words import asked_words, content_words, stem, terms

Lead = Literal["Yes", "No"]

FURTHER: Final = 4  # words of meaning that a sentence may have beyond those of the question
_BOUNDS: Final = pattern("bounds")
_WHOLE: Final = frozenset({"all", "every", "each", "always"})
_SAID: Final = re.compile(r"\W*(?:yes|no)\b", re.I)
_FORBIDS: Final = re.compile(r"\b(?:forbidden|prohibited|banned)\b", re.I)
_ALLOWS: Final = re.compile(r"\b(?:allowed|permitted)\b", re.I)


def lead(question: str, answer: str) -> Lead | None:
    """Yes or No, where one sentence of a quoted answer says so and no other says otherwise; None where that is unsure.

    `answer` may have markers. A question that asks for more than yes or no has no lead.
    """
    asked = read_question(question)
    if asked.kind is not Kind.YES_NO or negations(question) or re.search(r"\bor\b", question):
        return None
    if _SAID.match(answer):
        return None
    leads = {_of_sentence(asked.text, without_markers(sentence)) for sentence in sentences(answer)} - {None}
    return leads.pop() if len(leads) == 1 else None


def _of_sentence(question: str, sentence: str) -> Lead | None:
    plain = question.partition(" ")[2]  # its auxiliary is said in another place, or not at all
    denied = negations(sentence) % 2 == 1
    bounds, asked_for = _bounds(sentence), _bounds(question[:1].lower() + question[1:])
    # What all do, each does; what not all do, some may.
    if bounds - asked_for - (frozenset() if denied else _WHOLE) or asked_for - bounds:
        return None
    swapped: set[str] = set()
    if opposed := opposite_words(question, sentence):
        swapped = {stem(word.casefold()) for word in opposed}
    elif (one := _ALLOWS.search(question)) and (other := _FORBIDS.search(sentence)):
        swapped = {stem(found[0].casefold()) for found in (one, other)}
    wanted, own = set(asked_words(plain)), set(content_words(sentence))
    if not wanted or wanted - own - swapped or len(own - wanted - swapped) > FURTHER:
        return None
    # "Is A dearer than B" is not answered by "B is dearer than A".
    told = len(list(names(plain))) > 1 or re.search(r"\bthan\b|\bas\b", plain)
    if told and _order(plain, wanted) != _order(sentence, wanted):
        return None
    return "No" if denied != bool(swapped) else "Yes"


def _bounds(text: str) -> frozenset[str]:
    """The words of a text that bound what it says, without the month of May."""
    return frozenset(word.casefold() for word in _BOUNDS.findall(text) if word != "May")


def _order(text: str, wanted: set[str]) -> list[str]:
    return list(dict.fromkeys(term for term in terms(text) if term in wanted))
