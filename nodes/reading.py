"""What is read of the held passages, with the text around them, and where in it the evidence lies."""

from collections.abc import Sequence
from typing import cast

from cragraph.graph.state import State
from cragraph.retrieval.search.neighbours import all_read, locate, read_wide
from cragraph.types import AnswerSpan, Evidence, Passage, Verdict


def reading(state: State) -> list[Passage]:
    """The held passages as a generator or a judge reads them, in the order that their numbers count."""
    return read_wide(state.held)


def located(verdicts: Sequence[Verdict], held: Sequence[Passage]) -> list[Verdict]:
    """Verdicts on what was read, with evidence that points into the chunk which holds it.

    `evidence["passage"]` counts the passages of `all_read`. Evidence that runs over several chunks is cut to the one
    that holds most of it.
    """
    wide, chunks = read_wide(held), all_read(held)
    if len(chunks) == len(held):
        return list(verdicts)
    positions = {chunk["chunk_id"]: position for position, chunk in reversed(list(enumerate(chunks)))}
    return [_pointing(verdict, wide, chunks, positions) for verdict in verdicts]


def located_spans(spans: Sequence[AnswerSpan], held: Sequence[Passage]) -> list[AnswerSpan]:
    """Spans of what was read, each pointing into the chunk which holds it."""
    wide, chunks = read_wide(held), all_read(held)
    if len(chunks) == len(held):
        return list(spans)
    positions = {chunk["chunk_id"]: position for position, chunk in reversed(list(enumerate(chunks)))}
    found = []
    for span in spans:
        whole = Evidence(
            quote=span["text"], passage=span["passage"], chunk_id=span["chunk_id"], start=span["start"], end=span["end"]
        )
        if exact := _exact(whole, wide, chunks, positions):
            text, rest = exact["quote"], {key: exact[key] for key in ("passage", "chunk_id", "start", "end")}
            found.append(cast(AnswerSpan, {**rest, "text": text}))
    return found


def _pointing(
    verdict: Verdict, wide: Sequence[Passage], chunks: Sequence[Passage], positions: dict[str, int]
) -> Verdict:
    exact = verdict.copy()
    if verdict["evidence"]:
        exact["evidence"] = _exact(verdict["evidence"], wide, chunks, positions)
    return exact


def _exact(
    evidence: Evidence, wide: Sequence[Passage], chunks: Sequence[Passage], positions: dict[str, int]
) -> Evidence | None:
    """The evidence in its chunk; None where nothing of it but the blanks between chunks is left."""
    passage = evidence["passage"]
    place = locate(wide[passage], evidence["start"], evidence["end"])
    if place.chunk_id != chunks[passage]["chunk_id"]:
        passage = positions[place.chunk_id]
    quote = chunks[passage]["text"][place.start : place.end]
    start = place.start + len(quote) - len(quote.lstrip())
    quote = quote.strip()
    if not quote:
        return None
    return Evidence(quote=quote, passage=passage, chunk_id=place.chunk_id, start=start, end=start + len(quote))
