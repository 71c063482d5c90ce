"""Turns of a conversation: question, follow-up, remark, greeting, a turn about the conversation, or a doubt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from cragraph.errors import InputError
from cragraph.passages import as_passages
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
    r"(?:\W+(?:there|again|all|everyone|you|cragraph))*\W*",
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
