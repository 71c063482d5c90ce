"""Holding a model's verdict to the passages: its quote must exist, and its figures must be in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from cragraph.text.facts import Kind, compare, extract
from cragraph.text.words import is_light, terms
from cragraph.types import Evidence, Label, Passage
from cragraph.verification.align import best_sentence, quoted
from cragraph.verification.judges.llm_rows import LOWERED

FIGURES: frozenset[Kind] = frozenset(("number", "percent", "points", "money", "measure", "date", "quarter", "time"))


@dataclass(frozen=True)
class Held:
    """What is left of a verdict: its label, its evidence, and why it was lowered, where it was."""

    label: Label
    evidence: Evidence | None
    why: str = ""


def held(claim: str, label: Label, quote: str, likely: int, passages: Sequence[Passage]) -> Held:
    """The verdict as far as the passages bear it out; each fault lowers it by one step, once.

    A quote counts when a passage holds it and it shares a word with the claim; without any quote, the sentence that
    says the same counts. A supported claim must not give a figure that no passage has while one has another.
    """
    if label not in LOWERED:
        return Held(label, None)
    found = quoted(quote, passages, likely) if quote else None
    if found is not None and not _shared(claim, found["quote"]):
        return Held(LOWERED[label], None, "The quoted evidence is about something else.")
    if found is None and quote:
        return Held(LOWERED[label], None, "The quoted evidence is not in the passages.")
    if found is None and label != "contradicted":
        # No quote is not yet an invented one: the sentence may be there although the model did not copy it.
        found = best_sentence(claim, passages, likely)
    if found is None:
        return Held(LOWERED[label], None, "No evidence was quoted.")
    if label == "supported" and (fault := _wrong_figure(claim, passages)):
        return Held("partially_supported", found, fault)
    return Held(label, found)


def _shared(claim: str, quote: str) -> bool:
    """Whether claim and quote have a word in common; in another script or language they need not."""
    wanted, said = ({term for term in terms(text) if not is_light(term)} for text in (claim, quote))
    return not wanted or not said or not wanted.isdisjoint(said) or not (claim.isascii() and quote.isascii())


def _wrong_figure(claim: str, passages: Sequence[Passage]) -> str:
    figures = [fact for fact in extract(claim) if fact.kind in FIGURES]
    if not figures:
        return ""
    text = "\n".join(passage["text"] for passage in passages)
    conflicts = compare(figures, extract(text), text).conflicting
    if not conflicts:
        return ""
    return f"No passage says “{conflicts[0][0].said}”."
