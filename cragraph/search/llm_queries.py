"""Queries by a chat model: rephrased questions, queries for missing parts, follow-ups that stand alone."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from cragraph.errors import DeadlineError, ModelError
from cragraph.language.markers import without_markers
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Lines, Text
from cragraph.passages import as_message
from cragraph.prompts.load import Prompt, marker_for, neutral
from cragraph.protocols import Notes, QueryWriter
from cragraph.turns import KINDS, Kind, Turn, by_rules, last_answer, opens_with_greeting, small_talk
from cragraph.types import Passage, Verdict, told

MOST_QUERIES, LAST_MESSAGES, MESSAGE_CHARS = 5, 10, 800
QUERY_CHARS: Final = 500  # a longer "query" is an answer or a lecture
REPLY_CHARS: Final = 2_000  # characters of a reply about the conversation itself
QUERY_TOKENS: Final = 256  # tokens that queries may have together
_NOTHING: Final = re.compile(r"\S*(?:https?://|www\.)\S+|[\W\d_]{1,3}")  # an address, or a marker such as [1]


class Queries(BaseModel):
    """Search queries."""

    queries: Lines


def _read_kind(value: Any) -> str:
    word = str(value if value is not None else "").strip().lower().replace("_", "-")
    return word if word in KINDS else "follow-up"


class ReadTurn(BaseModel):
    """The kind of a turn, and its question in a form that needs no conversation."""

    question: Annotated[Text, Field(max_length=QUERY_CHARS)]
    kind: Annotated[Kind, BeforeValidator(_read_kind), WithJsonSchema({"type": "string", "enum": [*KINDS]})] = (
        "follow-up"
    )
    reply: Annotated[Text, Field(max_length=REPLY_CHARS)] = ""


@dataclass(frozen=True)
class MultiQuery(ChatPart):
    """Rephrases a question in `count` ways; one call."""

    count: int = 3

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The rephrased queries, without the question itself; if the model fails none, with a note."""
        try:
            reply = self.ask(Queries, "multi_query", notes, question=question, count=self.count)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"The question was searched as it stands, because it could not be rewritten: {error}")
            return []
        queries = _usable(reply.queries, self.count, self.prompts["multi_query"], question)
        notes.ran("queries", " | ".join(queries))
        return queries


@dataclass(frozen=True)
class ChatQueries(ChatPart):
    """Turns failed claims and unanswered parts into targeted queries; one call, else the `fallback` writer.

    `excerpts` cuts the passages to what the answering call was sent, so that a server has read them already.
    """

    fallback: QueryWriter | None = None
    count: int = MOST_QUERIES
    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def __call__(
        self,
        question: str,
        failed: Sequence[Verdict],
        unanswered: Sequence[str],
        notes: Notes,
        passages: Sequence[Passage] = (),
    ) -> list[str]:
        """At most `count` queries; raises `ModelError` only when there is no fallback."""
        faults = [f"- {one['text']}" + (f" ({reason})" if (reason := told(one)) else "") for one in failed]
        quoted = {"failed": faults[: 2 * self.count], "unanswered": [f"- {part}" for part in unanswered]}
        lists = {name: "\n".join(lines) or "(none)" for name, lines in quoted.items()}
        values = {"question": question or "(not known)", "count": self.count, "most": QUERY_TOKENS, "title": "query"}
        shown = passages if self.excerpts is None else self.excerpts(question, passages)
        try:
            reply = self.ask(Queries, "requery", notes, shown, lists, **values)
            queries = _usable(reply.queries, self.count, self.prompts["requery"])
            if not queries:
                raise ModelError(f"{self.name} wrote no query.")
        except (ModelError, DeadlineError) as error:
            if self.fallback is None:
                raise
            notes.degraded(f"The targeted queries were written by {self.fallback.name}, because of this: {error}")
            return self.fallback(question, failed, unanswered, notes)
        return queries


@dataclass(frozen=True)
class Contextualizer(ChatPart):
    """Reads a turn: its kind, and a follow-up such as "and in 2022?" as a question that stands alone; one call.

    For a model that is not capable the `rules` go first: if they find a reference, their result is more often what
    people write.
    """

    rules: Callable[[str, Sequence[Any], Notes], Turn] | None = None

    def __call__(self, question: str, messages: Sequence[Any], notes: Notes) -> Turn:
        """The turn; if the model fails the unchanged question, with a note.

        `messages` are the conversation before the question, in any form of `as_message`. Only the last ten count.
        """
        if found := by_rules(question, bool(last_answer(messages))):
            return found
        if self.rules is not None and not self.caller.worth.capable:
            alone = self.rules(question, messages, Notes())
            if alone.question != question:
                return alone
        lines = []
        for speaker, text in map(as_message, messages[-LAST_MESSAGES:]):
            if speaker and (line := " ".join(text.split())):
                lines.append(f"{speaker.title()}: {neutral(line, marker_for(line))[:MESSAGE_CHARS]}")
        if not lines and not (self.caller.worth.capable and opens_with_greeting(question)):
            return Turn("question", question)
        try:
            conversation = "\n".join(lines) or "(nothing)"
            read = self.ask(ReadTurn, "contextualize", notes, messages=conversation, question=question)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"The question was not read in the light of the conversation: {error}")
            return Turn("question", question)
        if read.kind == "greeting":
            return Turn("greeting", question, small_talk(read.reply))
        if read.kind == "talk" and read.reply:
            if unsaid := figures_in(read.reply) - figures_in(f"{conversation} {question}"):
                figure = min(unsaid)
                notes.degraded(f"The model's reply about the conversation was left out: nobody had said {figure}.")
                return Turn("follow-up", question)
            return Turn("talk", question, read.reply)
        if not read.question:
            notes.degraded("The question was not read in the light of the conversation: the model wrote none.")
        kind = "follow-up" if read.kind == "talk" else read.kind
        return Turn(kind if read.question else "question", read.question or question)


def figures_in(text: str) -> set[str]:
    """The runs of digits in a text, without citation markers and the numbers of a list."""
    return {*re.findall(r"\d+", re.sub(r"(?m)^\s*\d+[.)]\s", "", without_markers(text)))}


def _usable(queries: Sequence[str], count: int, prompt: Prompt, besides: str = "") -> list[str]:
    """The usable queries: distinct, short, without addresses and without words of the prompt."""
    seen, kept, ours = {besides.strip().lower()}, [], " ".join(prompt.user.lower().split())
    for text in (" ".join(query.split()) for query in queries):
        known = text.lower() in seen or (text.lower() in ours and text.count(" ") > 1)
        words = re.search(r"[^\W\d_]{2}", text)  # a number of a passage is no query
        if words and not known and len(text) <= QUERY_CHARS and not _NOTHING.fullmatch(text):
            seen.add(text.lower())
            kept.append(text)
    return kept[:count]
