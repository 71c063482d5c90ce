"""Retrieve: passages for the question, and on later passes for the targeted queries."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cragraph.errors import InputError, StoreMissingError, encodable
from cragraph.graph.context import Context
from cragraph.graph.routing import best
from cragraph.graph.state import EPHEMERAL, State
from cragraph.language.markers import find_markers
from cragraph.language.questions import points_back
from cragraph.passages import as_message, as_passages, as_question
from cragraph.protocols import Notes, Retriever
from cragraph.turns import CARRIED, POINTING, Turn, cited_passages, last_answer
from cragraph.types import Passage

LONGEST_QUERY = 1_000  # characters of an answer used as the query if there is no question
Contextualize = Callable[[str, Sequence[Any], Notes], Turn]


@dataclass(frozen=True)
class Retrieve:
    """Fetches passages and merges them with the held ones; on the first pass, begins the run.

    `sources` are the names of all searchable sources, for a run that is limited to some of them.
    """

    retriever: Retriever | None = None
    available: Callable[[], int] | None = None
    contextualize: Contextualize | None = None
    candidates: int = 30
    sources: Callable[[], Sequence[str]] | None = None

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the held passages and the number of new ones."""
        if state.queries:
            return self._more(state, state.queries, context, notes)
        return self._begin(state, context, notes)

    def _begin(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        _checked_memory(context)
        left_over = bool(state.messages) and state.question == state.put
        question, conversation = asked_in("" if left_over else state.question, state.messages or [])
        question = _checked_question(question, state.answer)
        conversation = conversation or earlier(question, state)
        turn, halted = Turn("question", question), ""
        # A single question with passages is asked of these passages as it stands.
        given = state.answer is not None or (state.passages is not None and not conversation)
        if question and self.contextualize and not given:
            turn = self.contextualize(question, conversation, notes)
        elif conversation and question and not self.contextualize:
            notes.degraded("The conversation so far was not used: understanding a follow-up needs a chat model.")
        before = last_answer(conversation)
        # "Are you sure?" puts the answer before to the proof; a doubt that says more is a question of its own.
        doubted = str(before.get("answer", "")) if turn.kind == "doubt" and turn.question == question else ""
        standalone = (str(before.get("asked") or "") or _last_question(conversation)) if doubted else turn.question
        if turn.reply:
            return self._replied(question, turn, before if turn.kind == "talk" else {})
        carried = self._carried(turn, before, state)
        if state.passages is not None:
            passages = [p for p in as_passages(state.passages) if p["text"].strip()]
            available, searched = len(passages), []
        else:
            # An answer without a question is verified against passages on its own words.
            searched = [standalone or (state.answer or "").strip()[:LONGEST_QUERY]]
            try:
                passages, available = self._found(searched, context, notes)
                passages = merge(carried, passages)
            except StoreMissingError as error:
                # In a conversation there are at least the passages of the previous answer.
                passages, available, halted = carried, len(carried), "" if carried else str(error)
        fresh = State(
            question=question,
            started=time.time(),
            put=question,
            asked=standalone,
            held=passages,
            available=available,
            seen=[p["chunk_id"] for p in passages],
            searched=searched,
            drafts=[encodable(state.answer)] if state.answer is not None else [doubted] if doubted else [],
            halted=halted,
            carried=[passage["chunk_id"] for passage in carried],
            doubted=doubted,
        )
        return _begun(fresh)

    def _replied(self, question: str, turn: Turn, before: Mapping[str, Any]) -> dict[str, Any]:
        """The beginning of a run whose reply is known: a greeting, or a turn about the conversation itself."""
        known = {int(c["number"]): c for c in before.get("citations") or [] if c.get("number") is not None}
        reply = turn.reply
        for marker in reversed(find_markers(reply)):
            if not set(marker.numbers) <= known.keys():
                reply = reply[: marker.start].rstrip() + reply[marker.end :]
        cited = [known[n] for n in dict.fromkeys(n for m in find_markers(reply) for n in m.numbers)]
        return _begun(
            State(question=question, started=time.time(), put=question, asked=question, said=reply, cited=cited)
        )

    def _carried(self, turn: Turn, before: Mapping[str, Any], state: State) -> list[Passage]:
        """The passages that the last answer cited, if a turn points back to it."""
        if turn.kind not in POINTING:
            return []
        if cited := before.get("citations"):
            return cited_passages(cited)
        if not state.attempts:
            return []
        attempt = best(state.attempts)
        proven = {v["evidence"]["chunk_id"] for v in attempt.get("verdicts", []) if v["evidence"]}
        return [p for p in attempt.get("context", []) if p["chunk_id"] in proven][:CARRIED]

    def _found(self, queries: Sequence[str], context: Context, notes: Notes) -> tuple[list[Passage], int]:
        """The passages for the queries, and the number of searchable passages."""
        if self.retriever is None:
            raise StoreMissingError(
                "There is nothing to search: no passages came with the question and the graph has no store. "
                "Give `passages`, or create the graph with a store."
            )
        where = filter_of(context, self.sources)
        passages = self.retriever(queries, self.candidates, notes, where=where)
        notes.ran("retriever", self.retriever.name)
        # A filter leaves fewer passages than the store holds.
        return passages, len(passages) if where or self.available is None else self.available()

    def _more(self, state: State, queries: Sequence[str], context: Context, notes: Notes) -> dict[str, Any]:
        passages: list[Passage] = []
        before = {query for attempt in state.attempts for query in attempt.get("queries", [])}
        wanted = [query for query in queries if query not in before]  # the search finds nothing more
        if self.retriever is not None and wanted:
            passages = self.retriever(wanted, self.candidates, notes, where=filter_of(context, self.sources))
        held = merge(state.held, passages)
        new = [p["chunk_id"] for p in held if p["chunk_id"] not in state.seen]
        return {"held": held, "seen": state.seen + new, "searched": list(queries), "found": len(new)}


def _begun(fresh: State) -> dict[str, Any]:
    """The fields of a fresh state: a run on an old thread inherits none."""
    return {name: value for name, value in vars(fresh).items() if name not in EPHEMERAL}


def _last_question(conversation: Sequence[Any]) -> str:
    """The person's last question in a conversation."""
    said = (text for speaker, text in map(as_message, reversed(conversation)) if speaker == "person")
    return next(said, "")


def filter_of(context: Context, sources: Callable[[], Sequence[str]] | None) -> Mapping[str, Any] | None:
    """The run's filter, limited to its sources; `sources` gives the names of all."""
    if context.sources is None:
        return context.where
    if sources is None:
        raise InputError("`sources` came for a retriever of your own: filter it by `where`, or give a store.")
    every = sources()
    chosen = [name for name in every if any(lies_in(name, wanted) for wanted in context.sources)]
    if not chosen:
        raise InputError(
            f"Nothing of {', '.join(context.sources)} is in the store: `cragraph ingest` it first; `cragraph docs` "
            "lists what is there."
        )
    if len(chosen) == len(every):
        return context.where
    only = {"source": {"$in": chosen}}
    return {"$and": [context.where, only]} if context.where else only


def asked_in(question: Any, messages: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The question and the conversation before it: the last message may be the question itself."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InputError(
            f"messages came as a {type(messages).__name__}; wanted a list, such as "
            '[{"role": "user", "content": "What changed?"}].'
        )
    before = list(messages)
    speaker, last = as_message(before[-1]) if before else ("", "")
    if speaker == "person" and last and (not question or question == last):
        return last, before[:-1]
    return question, before


def earlier(question: str, state: State) -> list[tuple[str, str]]:
    """The last question and answer on a thread, if the question points back to them."""
    if not state.attempts or not points_back(question):
        return []
    return [("user", state.asked or state.question), ("assistant", best(state.attempts)["answer"])]


def lies_in(source: str, wanted: str) -> bool:
    """Whether a source has the wanted path, ends in it, or lies in that folder."""
    path, end = str(Path(wanted).absolute()), wanted.strip(os.sep)
    return source in (wanted, path) or source.startswith(path + os.sep) or source.endswith(os.sep + end)


def merge(known: Sequence[Passage], new: Sequence[Passage]) -> list[Passage]:
    """The held passages, followed by the new ones (by `chunk_id` and by text)."""
    ids, texts = {p["chunk_id"] for p in known}, {p["text"].strip() for p in known}
    merged = list(known)
    for passage in new:
        text = passage["text"].strip()
        if text and passage["chunk_id"] not in ids and text not in texts:
            ids.add(passage["chunk_id"])
            texts.add(text)
            merged.append(passage)
    return merged


def _checked_question(question: Any, answer: Any) -> str:
    if not isinstance(question, str) or (not question.strip() and answer is None):
        raise InputError(
            f"The question came as {question!r}; wanted a sentence, such as 'What changed in 2023?': ask one."
        )
    if answer is not None and not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: give a string or leave it out.")
    return as_question(question)


def _checked_memory(context: Context) -> None:
    """Refuse a run that would wait for a person without a checkpointer."""
    if not context.asks:
        return
    from langgraph.runtime import get_runtime

    here = get_runtime(Context).execution_info
    if here is None or here.thread_id is None:
        raise InputError(
            "on_low_confidence came as ask for a graph without a checkpointer, where a run cannot wait: compile it "
            "with one (compile(checkpointer=InMemorySaver())) and give a thread_id."
        )
