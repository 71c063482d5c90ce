"""What can be measured of a claim and the window it most likely rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from cragraph.text.facts import Comparison, Fact, compare, extract
from cragraph.text.facts.polarity import denials, negation_differs, negative, opposite_words, possible
from cragraph.text.words import is_light, terms, weight
from cragraph.types import Passage
from cragraph.verification.windows import Space, Window, is_table_row

FEATURES = (
    "coverage", "phrases", "whole", "figures_missing", "figures_nowhere", "names_missing", "negation", "opposite",
    "unsure", "new_words", "new_weight", "length", "cosine",
)  # fmt: skip
"""Names of the numbers of `Reading.values`, in order."""


@dataclass(frozen=True)
class Reading:
    """A claim against one window: the measured values (see `FEATURES`) and what they rest on.

    `facts` compares figures and names with the window, `elsewhere` the figures with all passages. `negation` says
    that one of the two sides is negated; `opposite` holds a word of the claim and its opposite in the window. `matter`
    is the coverage with that word counted as covered: "sales fell" and "sales rose" speak of the same matter.
    `misplaced` are words of the claim that the window, a row of a table, lacks and another row has.
    """

    window: Window
    sentence: Window
    values: tuple[float, ...]
    facts: Comparison
    elsewhere: Comparison
    negation: bool
    opposite: tuple[str, str] | None
    coverage: float
    matter: float
    strangers: tuple[Fact, ...] = ()
    undenied: bool = False
    misplaced: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> float:
        """One measured value by its name."""
        return self.values[FEATURES.index(name)]


@dataclass(frozen=True)
class Held:
    """All passages of a call as one body of facts."""

    facts: Sequence[Fact]
    text: str

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> "Held":
        """The facts of some passages."""
        return cls(
            [fact for passage in passages for fact in extract(passage["text"])],
            "\n".join(passage["text"] for passage in passages),
        )


def read(
    claim: str, column: int, place: int, found: Space, held: Held, passages: Sequence[Passage], cosine: float = 0.0
) -> Reading:
    """Measure a claim (the space's `column`) against the space's window number `place`."""
    window = found.windows[place]
    sentence = _sentence(column, window, found)
    claimed = extract(claim)
    figures = [fact for fact in claimed if fact.kind != "name"]
    names = [fact for fact in claimed if fact.kind == "name"]
    own = passages[window.passage]["text"]
    near = compare(figures, extract(window.text), own)
    named = compare(names, extract(own), own)
    lacking = [*near.missing, *(fact for fact, _ in near.conflicting)]
    elsewhere = compare(lacking, held.facts, held.text)
    negated = negation_differs(claim, sentence.text)
    opposite = opposite_words(claim, sentence.text)
    heavy = {term for term in terms(claim) if not is_light(term)}
    new = heavy - set(terms(window.text))
    total = sum(map(weight, heavy)) or 1.0
    values = (
        float(found.coverage[place, column]),
        float(found.phrases[place, column]),
        float(found.whole[column]),
        len(lacking) / max(1, len(figures)),
        (len(elsewhere.missing) + len(elsewhere.conflicting)) / max(1, len(figures)),
        1 - named.share,
        float(negated),
        float(opposite is not None),
        float(possible(sentence.text) and not possible(claim)),
        log1p(len(new)),
        max(map(weight, new), default=0.0) / total,
        log1p(len(heavy)),
        cosine,
    )
    facts = Comparison(near.matched + named.matched, near.missing + named.missing, near.conflicting)
    strangers = compare(named.missing, held.facts, held.text).missing
    undenied = bool(denials(claim)) and not negative(window.text) and opposite_words(claim, window.text) is None
    apart = new - set(terms(opposite[0])) if opposite else new
    matter = max(values[0], 1 - sum(map(weight, apart)) / total)
    misplaced = _misplaced(new, window, found)
    return Reading(
        window, sentence, values, facts, elsewhere, negated, opposite, values[0], matter, strangers, undenied, misplaced
    )


def _misplaced(new: set[str], window: Window, found: Space) -> frozenset[str]:
    """Of the claim's words that a table's row lacks, those in another row without a figure of the claim."""
    if not new or not is_table_row(window.text):
        return frozenset()
    rows = (s for s in found.sentences if s.passage == window.passage and is_table_row(s.text))
    shared = (new.intersection(terms(row.text)) for row in rows)
    return frozenset(term for own in shared if not any(t[0].isdigit() for t in own) for term in own)


def _sentence(column: int, window: Window, found: Space) -> Window:
    """The sentence of a window that covers most of the claim."""
    inside = range(window.first, window.last + 1)
    return found.sentences[max(inside, key=lambda number: found.coverage[found.singles[number], column])]
