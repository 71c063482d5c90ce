"""What is read of the held passages, with the text around them, and where in it the evidence lies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cragraph.graph.state import State
from cragraph.retrieval.search.neighbours import all_read, locate, read_wide
from cragraph.types import Passage
from cragraph.verification.result import Verification


def reading(state: State) -> list[Passage]:
    """The held passages as a generator or a judge reads them, in the order that their numbers count."""
    return read_wide(state.held)


def located(found: Verification, held: Sequence[Passage]) -> Verification:
    """A verification of what was read, its evidence and answers pointing into the chunks which hold them.

    `passage` counts the passages of `all_read`. What runs over several chunks is cut to the one that holds most of it,
    and left out where that holds only the blanks between them.
    """
    wide, chunks = read_wide(held), all_read(held)
    if len(chunks) == len(held):
        return found
    positions = {chunk["chunk_id"]: position for position, chunk in reversed(list(enumerate(chunks)))}

    def exact(at: Any, words: str) -> Any:
        passage = at["passage"]
        place = locate(wide[passage], at["start"], at["end"])
        if place.chunk_id != chunks[passage]["chunk_id"]:
            passage = positions[place.chunk_id]
        said = chunks[passage]["text"][place.start : place.end]
        start = place.start + len(said) - len(said.lstrip())
        said = said.strip()
        new = {words: said, "passage": passage, "chunk_id": place.chunk_id, "start": start, "end": start + len(said)}
        return at | new if said else None

    claims: list[Any] = [v | {"evidence": v["evidence"] and exact(v["evidence"], "quote")} for v in found.claims]
    spans = [exact(span, "text") for span in found.answer_spans]
    return replace(found, claims=tuple(claims), answer_spans=tuple(filter(None, spans)))
