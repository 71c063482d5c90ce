"""Turns of a conversation: question, follow-up, remark, greeting, a turn about the conversation, or a doubt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from cragraph.errors import InputError
from cragraph.language.facts import Fact, extract
from cragraph.language.lexicon import YEAR
from cragraph.language.markers import without_markers
from cragraph.language.questions import ASKING, AUXILIARY, GAP, PERSON, THING, points_back
from cragraph.language.words import content_words
from cragraph.passages import as_message, as_passages
from cragraph.protocols import Notes
from cragraph.types import Passage

Kind = Literal["question", "follow-up", "remark", "greeting", "talk", "doubt"]
KINDS: Final[tuple[Kind, ...]] = ("question", "follow-up", "remark", "greeting", "talk", "doubt")

POINTING: Final[frozenset[Kind]] = frozenset({"follow-up", "remark", "doubt"})
"""Kinds of turns that begin with the passages cited by the last answer."""
CARRIED: Final = 4  # such passages at most
LONGEST_GREETING: Final = 6  # words
NEEDS_MODEL: Final = (
    "This is about our conversation and not about the documents: it needs a chat model (--model ollama:NAME). "
    "Ask me something about your documents."
)
_BEFORE: Final = (
    r"(?:(?:ok(?:ay)?|great|perfect|super|lovely|brilliant|excellent|wonderful|good|got it|i see|ah|oh|many|very|no)"
    r"\W+)*"
)
_THANKS: Final = re.compile(
    rf"\W*{_BEFORE}(?:thanks?(?: you| a lot| so much| very much)*|thank you(?: very much| so much)?|thx|cheers|ta"
    r"|danke(?: schön)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|grazie|obrigad[oa]"
    r"|that(?:['’]s| is) (?:all|great|perfect|helpful)|that helps(?: a lot)?|ok(?:ay)?|great|perfect|got it)"
    r"(?:\W+(?:all|for (?:that|your help|the help)|everyone|that(?:['’]s| is) (?:all|it)(?: for now)?))?\W*",
    re.I,
)
_GREETING: Final = re.compile(
    r"\W*(?:hello|hi|hey|hiya|howdy|(?:good )?(?:morning|afternoon|evening)|good day|hallo"
    r"|guten (?:tag|morgen|abend)|moin|servus|bonjour|bonsoir|salut|hola|buenos días|buenas tardes|ciao|buongiorno|olá)"
    r"(?:\W+(?:there|again|all|everyone|you|cragraph"
    r"|is (?:any|some)(?:body|one) (?:t?here|home)|i(?:[’']| a)m new))*\W*",
    re.I,
)
_OPENS: Final = re.compile(
    r"\W*(?:hello|hi|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|hallo|bonjour|hola)\b", re.I
)
SMALL_TALK: Final = "I am here for your documents: ask me anything about them."
"""The reply to a turn that only a model recognises as small talk; its own words could state what no document says."""
_GOODBYE: Final = re.compile(
    r"\W*(?:(?:good)?bye(?: bye)?|see you(?: later)?|tschüss|auf wiedersehen|au revoir|adiós)\W*", re.I
)
_DOUBT: Final = re.compile(
    r"\W*(?:(?:but|and|hm+|oh|ok(?:ay)?|wait|no)\W+)*"
    r"(?:(?:are|r) (?:you|u) (?:really |quite |absolutely )?(?:sure|certain)(?: (?:about|of) (?:that|this|it))?"
    r"|(?:is|was) (?:that|this|it) (?:really |actually )?(?:right|correct|true|so)|really|sure|certain"
    r"|can (?:i|we) (?:rely|count) on (?:that|this|it)|i (?:doubt|don['’]t (?:believe|think)) (?:that|it|so)"
    r"|(?:bist du|sind sie)(?: dir| sich)? sicher|stimmt das|wirklich"
    r"|(?:tu es|vous êtes) sûre?|vraiment|(?:estás|está) segur[oa])\W*",
    re.I,
)
_TALK: Final = re.compile(
    r"\W*(?:(?:please|can you|could you|now|ok(?:ay)?|and)\W+)*"
    r"(?:summari[sz]e|sum up|recap|shorten|rephrase|reword|translate|repeat (?:that|it|your|the last)"
    r"|say (?:that|it) (?:again|shorter|in|more)|(?:make|put) (?:that|it) (?:short|simpl|in)"
    r"|(?:shorter|simpler|in short|in one sentence|in german|in french|in spanish|auf deutsch|en français|en español)\b"
    r"|what (?:did|have) (?:i|we) (?:ask|talk|discuss)|what was my (?:first|last|previous) question)",
    re.I,
)
"""Openings of a turn about the conversation itself; with a chat model the meaning decides."""


@dataclass(frozen=True)
class Turn:
    """The kind of a turn, its question in a form that stands alone, and its reply if no search is needed."""

    kind: Kind
    question: str
    reply: str = ""


def by_rules(text: str, answered: bool) -> Turn | None:
    """The kind of a turn if its form tells it: a greeting, thanks, or a doubt of the previous answer.

    `answered` says whether there is a previous answer. None if only the meaning tells the kind.
    """
    short = len(text.split()) <= LONGEST_GREETING
    for pattern, reply in (
        (_GREETING, "Hello. Ask me something about your documents."),
        (_GOODBYE, "Goodbye."),
        (_THANKS, "You're welcome."),
    ):
        if short and pattern.fullmatch(text):
            return Turn("greeting", text, reply)
    if answered and _DOUBT.fullmatch(text):
        return Turn("doubt", text)
    return None


def after_greetings(conversation: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """The conversation, as pairs of speaker and text, without the greetings at its beginning and their replies."""
    left = conversation
    while left and left[0][0] == "person" and by_rules(left[0][1], answered=False):
        left = left[2:] if left[1:] and left[1][0] == "assistant" else left[1:]
    return left


def opens_with_greeting(text: str) -> bool:
    """Whether a turn begins with a greeting, and may be nothing else."""
    return _OPENS.match(text) is not None


def about_the_talk(text: str) -> bool:
    """Whether a turn is about the conversation itself, by its opening."""
    return _TALK.match(text) is not None


def last_answer(messages: Sequence[Any]) -> Mapping[str, Any]:
    """The response behind the last answer of a conversation (`answer`, `citations`, `asked`); empty without one.

    It is in the `additional_kwargs` of our message, or beside the content in a mapping.
    """
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") in ("assistant", "ai"):
            found = {"answer": message.get("content", ""), "citations": _checked(message.get("citations") or [])}
            return found | {"asked": message.get("asked", "")}
        kept = getattr(message, "additional_kwargs", None)
        if getattr(message, "type", "") == "ai":
            own = kept if isinstance(kept, Mapping) else {}
            return {"answer": getattr(message, "content", ""), "citations": [], "asked": ""} | dict(own)
    return {}


def _checked(citations: Any) -> Any:
    """The citations that came with a message; InputError where they are no citations."""
    for one in citations if isinstance(citations, list | tuple) else [citations]:
        known = isinstance(one, Mapping) and isinstance(one.get("metadata") or {}, Mapping)
        if not known or not isinstance(one.get("number") or 0, int):
            raise InputError(
                f"The citations of a message came with {one!r:.80}; wanted objects with `number` and `text`, as a "
                "response has them: give those, or none."
            )
    return citations


def cited_passages(citations: Sequence[Mapping[str, Any]]) -> list[Passage]:
    """The passages that the citations of an answer point to, in the order of their numbers."""
    ordered = sorted(citations, key=lambda one: one.get("number") or 0)
    rows = [
        {
            "text": one.get("text", ""),
            "metadata": dict(one.get("metadata") or {}),
            **{name: one[name] for name in ("chunk_id", "doc_id", "start_index") if one.get(name) is not None},
        }
        for one in ordered
        if str(one.get("text", "")).strip()
    ]
    return as_passages(rows)[:CARRIED]


# -- follow-ups by rules ---------------------------------------------------------------------------------------------

_OWNING: Final = frozenset(("his", "her", "its", "their", "hers", "theirs"))
_CONNECTIVE: Final = re.compile(r"^(?:and|but|so|ok(?:ay)?|then|also)\b[, ]*", re.I)
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
    question = _CONNECTIVE.sub("", question)
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
    for kind in (rf"\b{YEAR}\b", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"):
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
