"""Follow-ups turned into questions that stand alone, by rules for pronouns and gaps."""

import re
from collections.abc import Sequence
from typing import Any, Final

from cragraph.language.facts import Fact, extract
from cragraph.language.markers import without_markers
from cragraph.language.questions import ASKING, AUXILIARY, GAP, PERSON, THING, points_back
from cragraph.language.words import content_words
from cragraph.passages import as_message
from cragraph.protocols import Notes
from cragraph.turns import NEEDS_MODEL, Turn, about_the_talk, by_rules, last_answer

_OWNING: Final = frozenset(("his", "her", "its", "their", "hers", "theirs"))
_OPENS: Final = re.compile(r"^(?:and|but|so|ok(?:ay)?|then|also)\b[, ]*", re.I)
_VERB: Final = re.compile(rf"\b(?:{AUXILIARY}|{ASKING}|tell|give|list|name|[a-z]{{3,}}ed)\b", re.I)
_PREPOSITION: Final = re.compile(
    r"\b(?:for|in|on|at|of|by|with|from|to|during|after|before|under|between|since)\b", re.I
)
_NOUNS: Final = re.compile(
    r"\b(?:the|a|an|our|your|my|this|these|those)\s+((?:[\w’'-]+\s+){0,3}?[\w’'-]+)"
    rf"(?=\s+(?:in|on|at|of|by|with|from|to|for|{AUXILIARY}|get|take|cost|begin|start|end|weigh|last|work)\b|\s*[?,.]|\s*$)",
    re.I,
)
_ASKS: Final = re.compile(rf"\?\s*$|^\W*(?:{ASKING}|{AUXILIARY}|tell|give|list)\b", re.I)
TITLE: Final = 4  # words at most of a turn that only names a subject


class FollowUps:
    """Reads a turn without a chat model; notes it if the conversation could not be used."""

    def __call__(self, question: str, messages: Sequence[Any], notes: Notes) -> Turn:
        """The turn with a question that stands alone, unchanged if it already does. Messages come oldest first."""
        if found := by_rules(question, bool(last_answer(messages))):
            return found
        if messages and about_the_talk(question):
            return Turn("talk", question, NEEDS_MODEL)
        turns = [text for speaker, text in map(as_message, messages) if speaker and text]
        alone = stand_alone(question, [without_markers(text) for text in turns])
        if alone == question and points_back(question):
            notes.degraded(
                "The conversation so far was not used: it does not say what the question points back to. Name it, or "
                "set a chat model."
            )
        return Turn("question" if alone == question else "follow-up", alone)


def stand_alone(question: str, conversation: Sequence[str]) -> str:
    """The question with its references filled in; unchanged if it has none, or nothing is found.

    `conversation` holds the turns before it; the last but one is the person's last question.
    """
    if not conversation:
        return question
    asking = [n for n, text in enumerate(conversation) if _ASKS.search(text)]
    place = asking[-1] if asking else len(conversation) - 1
    asked = conversation[place]
    rest = GAP.sub("", question).strip()
    if GAP.match(question) and rest and not _VERB.search(rest):
        return _filled(asked, rest.rstrip("?. "))
    question = _OPENS.sub("", question)
    question = question[:1].upper() + question[1:]
    person = PERSON.search(question) is not None
    pronoun = PERSON if person else THING
    if pronoun.search(question) is None:
        return question
    # First the answer to the last question, then its subject, then the subject of the first turn.
    answered, before = conversation[place + 1 :][::-1], conversation[:place]
    sought = person and re.match(r"\W*who(?:se|m)?\b", asked, re.I) is not None
    turns = [*(answered if sought else []), asked, *before, *answered]
    meaning = next((name for text in turns if (name := _meant(text, person, question))), "")
    return pronoun.sub(lambda match: _put(match.group(), meaning), question) if meaning else question


def _filled(asked: str, rest: str) -> str:
    """The previous question with another object: "for a city bike" replaces "for a cargo bike"."""
    plain = asked.rstrip("?. ")
    if opening := _PREPOSITION.match(rest):
        same = list(re.finditer(rf"\b{opening.group()}\b", plain, re.I))
        return f"{plain[: same[-1].start()] if same else plain + ' '}{rest}?"
    for kind in (r"\b(?:1[0-9]|20)\d\d\b", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"):
        places = [m.span() for m in re.finditer(kind, plain)]
        if places and re.match(kind, rest):
            return f"{plain[: places[-1][0]]}{rest}{plain[places[-1][1] :]}?"
    places = [(name.start, name.end) for name in _names(plain)] if rest[:1].isupper() else []
    places = places or [match.span() for match in _NOUNS.finditer(plain)]
    if places:
        return f"{plain[: places[-1][0]]}{rest}{plain[places[-1][1] :]}?"
    return f"{plain}, {rest}?"


def _meant(text: str, person: bool, question: str) -> str:
    """The words of a turn that a pronoun of the question may stand for: a name, else a noun with its article."""
    known = set(content_words(question))
    named = [fact.text for fact in _names(text) if not set(content_words(fact.text)) <= known]
    if person:
        full = [n for n in named if len(n.split()) > 1 and not re.search(r"\d", n)]
        return (full or named or [""])[-1]
    nouns = [m.group() for m in _NOUNS.finditer(text) if not set(content_words(m.group(1))) <= known]
    if not named and not nouns and len(text.split()) <= TITLE and not _ASKS.search(text):
        return text.strip(" .")
    return (named or nouns or [""])[0]


def _names(text: str) -> list[Fact]:
    return [fact for fact in extract(text) if fact.kind == "name"]


def _put(pronoun: str, name: str) -> str:
    if pronoun.casefold() in _OWNING:
        return f"{name}'" if name.endswith("s") else f"{name}'s"
    return name
