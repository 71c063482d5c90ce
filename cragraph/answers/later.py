"""What a later document says against a quotation: the quotation itself is searched for.

"Dogs may now eat until midnight" is not near the question for the labrador's supper, and is near the sentence that it
replaces. With the weights of 256,600 rows, of 332 right quotations from sixteen folders that were written to mislead 12
had such a sentence, of 220 wrong ones 26; with those that ship, 3 of 105 right accepted ones and no wrong one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from cragraph.answers.quotations import YEAR, Quotation, dated, document_of
from cragraph.language.sentences import sentence_spans
from cragraph.protocols import Embeddings, Notes, Retriever, stand_in
from cragraph.types import Passage

FOUND: Final = 30  # passages that the search finds
NEAREST: Final = 12  # sentences that are read
NEAR: Final = 0.45  # least cosine of a sentence to the quotation
AGAINST: Final = 0.45
"""Least probability, the mean of both directions, that a sentence and the quotation contradict each other."""
SHORTEST: Final = 12  # characters of a sentence
LONGEST: Final = 400
WEIGHT: Final = -1.04
"""The weight of such a sentence in log odds, fitted with the signs of `cragraph.answers.quotations`."""
SAYS: Final = "A later document may say otherwise: “{quote}” ({filename})."


class Otherwise(NamedTuple):
    """A sentence of a later document that contradicts a quotation."""

    quote: str
    filename: str

    @property
    def issue(self) -> str:
        """What is said of it in the response."""
        return SAYS.format(quote=self.quote, filename=self.filename)


@dataclass(frozen=True)
class LaterSearch:
    """Looks for a sentence of a later document that contradicts a quotation.

    A question that names a year asks about that year, whatever came later.
    """

    retriever: Retriever
    embeddings: Callable[[], Embeddings]
    contradicts: Callable[[Sequence[tuple[str, str]]], Sequence[float]]
    """For each pair, the probability, 0..1, that the first text contradicts the second."""

    def __call__(
        self, question: str, answer: str, passages: Sequence[Passage], notes: Notes, where: Mapping[str, Any] | None
    ) -> Otherwise | None:
        """The sentence; None if there is none, or if the quoted document has no date."""
        quotation = Quotation(question, answer, passages)
        last = max(map(dated, quotation.quoted), default=())
        if not last or YEAR.search(question):
            return None
        return stand_in(
            "The search for a later document",
            lambda: self._against(quotation, last, where),
            "it is not known whether one says otherwise",
            notes,
        )

    def _against(
        self, quotation: Quotation, last: tuple[int, ...], where: Mapping[str, Any] | None
    ) -> Otherwise | None:
        [(start, end), *_] = sentence_spans(quotation.plain)
        quote = " ".join(quotation.plain[start:end].split())
        own = {document_of(passage) for passage in quotation.quoted}
        later = [
            passage
            for passage in self.retriever([quote], FOUND, Notes(), where=where)
            if document_of(passage) not in own and dated(passage) > last
        ]
        said = {text: passage["filename"] for passage in reversed(later) for text in _sentences(passage["text"])}
        for text in [text for text in said if text in " ".join(quotation.plain.split())]:
            del said[text]
        if not said:
            return None
        texts = [*said]
        rows = np.array(self.embeddings().embed_documents([quote, *texts]))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        cosines = rows[1:] @ rows[0]
        near = [texts[i] for i in np.argsort(-cosines)[:NEAREST] if cosines[i] >= NEAR]
        read = self.contradicts([pair for text in near for pair in ((quote, text), (text, quote))]) if near else []
        both = [(there + back) / 2 for there, back in zip(read[::2], read[1::2], strict=True)]
        best = max(range(len(near)), key=lambda i: both[i], default=None)
        return None if best is None or both[best] < AGAINST else Otherwise(near[best], said[near[best]])


def _sentences(text: str) -> list[str]:
    """The sentences of a text on one line each; rows are left out: they are of other things."""
    lines = (" ".join(text[start:end].split()) for start, end in sentence_spans(text))
    return [line for line in lines if SHORTEST <= len(line) <= LONGEST and " | " not in line]
