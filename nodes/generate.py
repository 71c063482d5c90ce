"""Generate: write the answer from numbered passages, or correct the previous one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cragraph.errors import DeadlineError, ModelUnavailableError, SettingsError
from cragraph.graph.context import Context
from cragraph.graph.routing import best, failed_claims
from cragraph.graph.state import State
from cragraph.nodes.compute import Compute
from cragraph.nodes.retrieve import merge
from cragraph.passages import as_evidence
from cragraph.protocols import Brief, Generator, Notes, deadline, remaining
from cragraph.types import IDK

WARMTH = 0.4  # added to the temperature for each further candidate of a best-of-N pass
QUOTING_S = 1.0  # seconds of the deadline reserved for a quotation if the model does not answer in time


@dataclass(frozen=True)
class Generate:
    """Write one draft, or `best_of` drafts at rising temperatures; a given answer is the first draft."""

    generator: Generator
    compute: Compute | None = None
    """Computes answers over tables; without a result the generator writes."""
    first: Callable[[State, Context, Notes], str] | None = None
    """Finds an answer that is accepted without asking the generator; empty if there is none."""
    quoting: Generator | None = None
    """Quotes the passages if the server of the generator's model fails before anything is written."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the drafts; on later passes they are written from the best attempt and its failed claims."""
        if state.drafts and not state.attempts:
            return {}
        if context.best_of > 1 and not getattr(self.generator, "varies", True):
            raise SettingsError(
                f"best_of came as {context.best_of}, but the generator {self.generator.name!r} writes the same answer "
                "each time; wanted a chat model: set `model`, or leave best_of at 1."
            )
        if self.compute is not None and not state.attempts and (computed := self.compute(state, context, notes)):
            held = merge(state.held, self.compute.passages(computed))
            return {"drafts": [computed["answer"]], "computed": computed, "held": held}
        tries = self.first is not None and not state.attempts and context.best_of == 1
        if tries and self.first is not None and (said := self.first(state, context, notes)):
            return {"drafts": [said], "written": {}, "computed": None, "search": []}
        notes.ran("generator", self.generator.name)
        # Words are streamed only after judging; with verification off, all at once.
        quiet = bool(context.verify)
        read = as_evidence(state.held, notes.degraded)
        brief = Brief(question=state.asked or state.question, passages=read, quiet=quiet)
        if state.attempts:
            attempt = best(state.attempts)
            brief = replace(brief, previous=attempt["answer"], failed=failed_claims(attempt))
        drafts = [self._written(replace(brief, temperature=WARMTH * n), notes) for n in range(context.best_of)]
        written = {"written": dict(notes.written), "search": [*notes.search]}
        return {"drafts": list(dict.fromkeys(drafts)), "computed": None, **written}

    def _written(self, brief: Brief, notes: Notes) -> str:
        if self.quoting is None or brief.previous:
            return self.generator(brief, notes)
        left = remaining()
        try:
            with deadline(None if left is None else left - min(QUOTING_S, left / 2)):
                return self.generator(brief, notes)
        except (ModelUnavailableError, DeadlineError) as error:
            if (said := self.quoting(brief, Notes())) == IDK:
                raise
            reason = str(error)
            notes.degraded(f"{reason[:1].upper()}{reason[1:]} The passages are quoted instead.")
            notes.ran("generator", self.quoting.name)
            return said
