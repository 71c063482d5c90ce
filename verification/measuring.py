"""Signals measured one by one, so that one that fails costs none of the others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from langchain_core.embeddings import Embeddings

from cragraph.protocols import Notes
from cragraph.types import Passage, Verdict
from cragraph.verification.signals import BY_SIMILARITY, SIGNALS, Material, NotMeasured
from cragraph.verification.similarity import Closeness, measure_closeness


@dataclass(frozen=True)
class Measured:
    """Signals by name, each 0..1, and for each that could not be measured the reason."""

    signals: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)


def closeness_for(
    wanted: Collection[str],
    embeddings: Embeddings | None,
    question: str,
    answer: str,
    verdicts: Sequence[Verdict],
    passages: Sequence[Passage],
    notes: Notes,
) -> Closeness:
    """The similarities that the wanted signals need; nothing is embedded when none needs any."""
    if not BY_SIMILARITY & set(wanted):
        return Closeness()
    # Without relevance among the wanted signals, question and answer need not be embedded.
    asked = question if "relevance" in wanted else ""
    texts = [verdict["text"] for verdict in verdicts]
    whole = "source_agreement" in wanted
    return measure_closeness(embeddings, asked, answer, texts, passages, notes, whole=whole)


def measure(
    wanted: Collection[str],
    material: Material,
    notes: Notes,
    table: Mapping[str, Callable[[Material], float]] = SIGNALS,
) -> Measured:
    """Measure the wanted signals; one that has nothing to be measured on is left out, one that breaks is noted too."""
    signals: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name in wanted:
        try:
            value = float(table[name](material))
            if not isfinite(value):
                raise ValueError(f"it came out as {value}")
        except NotMeasured as reason:
            missing[name] = str(reason)
        # One broken signal must not take the others with it.
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
            notes.degraded(f"The signal {name!r} could not be measured ({missing[name]}).")
        else:
            signals[name] = round(min(max(value, 0.0), 1.0), 6)
    return Measured(signals, missing)
