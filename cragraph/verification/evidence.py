"""Evidence in proportion: what each thing that is known of an answer is worth, joined into one probability.

No part has a veto. Each piece of evidence is a likelihood ratio, and odds are multiplied: the reading of the embedded
networks, how often the model is right that wrote the answer, what a model judged of it, figures and names that no
passage has, what a model answered that was asked the same. A part that says nothing has a ratio of one.

What the networks read of an answer in a model's own words is itself a probability, fitted on answers of real models to
real questions: how likely the passages are to answer at all, and the sentence of them that is nearest to the answer;
whether the answer has the words that the reader chose; what the judge makes of the claims; and how sure the model was
of its words where its server says so. `python -m lab.benchmarks.written` fits the weights. Probabilities count as their
logits: to a true sentence that answers something else the reader gives .03, and to the right one in other words .2.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import exp, log
from pathlib import Path
from typing import Any, Final

from cragraph.errors import WeightsError
from cragraph.language.facts import Fact
from cragraph.language.markers import without_markers
from cragraph.language.words import content_words
from cragraph.models.worth import NEUTRAL, Worth
from cragraph.types import IDK, Label, Verdict
from cragraph.verification.result import word_for_word

CARD: Final = Path(__file__).with_name("evidence.json")
SURENESS: Final = -0.15
"""The mean log-probability of a token that is taken where the server does not tell it."""
FIGURE_UNSTATED: Final = 1 / 30
"""The ratio of a figure or date that no passage has in any form and that follows from none by arithmetic."""
NAME_UNSTATED: Final = 1 / 8
"""The same of a name, which may be written in many ways: it outweighs the word of a judge, not that of a writer too."""
ARITHMETIC: Final = 0.15
"""The ratio of a quotation as the answer to a question that asks for a sum, a difference or a remainder: of the answers
to such questions in `lab.benchmarks.traps` 2 of 13 were right, of all others 74 of 113."""
SAME: Final = 0.5  # share of the words that a model's answer adds which a quotation must have to say the same
MOST: Final = 0.99  # a probability is kept between this and one less it before odds are multiplied


_ARITHMETIC: Final = re.compile(
    r"\b(?:in all|altogether|together|in total|total|how (?:much|many) (?:more|fewer|less|dearer|cheaper|longer|older)"
    r"|by how much|difference|left over|left for|remains?|remaining|on average)\b",
    re.I,
)


def asks_arithmetic(question: str) -> bool:
    """Whether a question asks for a figure that is likely to follow from several others (English)."""
    return _ARITHMETIC.search(question) is not None


@dataclass(frozen=True)
class Written:
    """What is known of an answer that a chat model wrote: the mean log-probability of its tokens, the worth and
    the name of the model."""

    sureness: float | None = None
    worth: Worth = NEUTRAL
    model: str = ""


@dataclass(frozen=True)
class Judged:
    """What a chat model judged of a whole answer, and what its words are worth.

    `answers` is whether the claims answer the question (all, part, no; empty: not said), `open` what they leave open,
    `search` words to search for it, `unstated` the figures and names of the claims that no passage has.
    """

    worth: Worth
    answers: str = ""
    open: str = ""
    search: Sequence[str] = ()
    unstated: Sequence[str] = ()
    ratio_of_unstated: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self) | {"search": [*self.search], "unstated": [*self.unstated]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Judged":
        """What `to_dict` wrote down."""
        return cls(**{**data, "worth": Worth(**data["worth"])})

    def ratio(self, verdicts: Sequence[Verdict]) -> float:
        """How much likelier an answer with these verdicts is right than before the model judged it.

        The worst verdict counts: an answer is as good as the claim that fails.
        """
        labels = {verdict.get("said", verdict["verdict"]) for verdict in verdicts if "embedded" in verdict}
        return ratio_of(labels, self.worth) * self._of_answering() * self.ratio_of_unstated

    def _of_answering(self) -> float:
        powers = {"no": -2.0, "part": -0.75}
        return float(self.worth.rejects ** powers.get(self.answers, 0.0))


def ratio_of(labels: Iterable[Label], worth: Worth) -> float:
    """The likelihood ratio of the worst of some labels of a model: that all it judged is supported, or that some is
    not."""
    found = set(labels)
    if "contradicted" in found:
        return float(worth.rejects**-1.5)
    if "unsupported" in found:
        return 1 / worth.rejects
    if "partially_supported" in found:
        return float(worth.rejects**-0.5)
    return worth.supports if "supported" in found else 1.0


def ratio_of_facts(facts: Sequence[Fact]) -> float:
    """The likelihood ratio of figures and names that no passage has; the rarest of them counts."""
    ratios = (NAME_UNSTATED if fact.kind == "name" else FIGURE_UNSTATED for fact in facts)
    return min(ratios, default=1.0)


def ratio_of_answer(question: str, quotation: str, answer: str, worth: Worth, judged: float | None = None) -> float:
    """How much likelier a quotation is right, as a model answered this to the same question.

    `judged` is how likely that answer is right, 0..1, where it was judged; else what the model's answers are worth
    counts. To say the same as an answer that a judge refuted speaks against a quotation. A model that is wrong says the
    same wrong thing as the quotation in one case of two.
    """
    if answer == IDK:
        return worth.declines
    right = min(MOST, max(1 - MOST, worth.probability if judged is None else judged))
    wrong = (1 - right) / 2
    said = set(content_words(without_markers(answer)))
    added = said - set(content_words(question)) - {"yes", "no"}
    if not added and said & {"yes", "no"}:
        added = said - {"yes", "no"}  # a plain yes adds no word to the question: then all its words count
    held = added & set(content_words(without_markers(quotation)))
    same = bool(added) and len(held) / len(added) >= SAME
    return right / wrong if same else (1 - right) / (1 - wrong)


def updated(probability: float, *ratios: float) -> float:
    """A probability after evidence with these likelihood ratios: the odds are multiplied by each."""
    if all(ratio == 1.0 for ratio in ratios):
        return probability
    total = logit(probability, 1 - MOST) + sum(map(log, ratios))
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def merged(own: Verdict, said: Verdict, worth: Worth) -> Verdict:
    """The verdict of a model on a claim beside that of the embedded judge: the model's, its support joined of both.

    What the embedded judge said stays as `embedded`: its name, and the support that it gave. A claim that stands word
    for word in a passage stays supported where the model finds no passage that says otherwise; what it said is `said`.
    """
    if said["verdict"] == "unjudged":
        return own
    support = round(updated(own["support"], ratio_of([said["verdict"]], worth)), 6)
    both: Verdict = {**said, "support": support, "embedded": (own["judge"], own["support"])}
    if said["verdict"] in ("partially_supported", "unsupported") and word_for_word(own):
        return {**both, "verdict": "supported", "evidence": own["evidence"], "said": said["verdict"]}
    return both


def without_figure(verdict: Verdict, lacking: Sequence[Fact]) -> Verdict:
    """The verdict of a model on a claim that lacks these facts: a figure that no passage has is not supported.

    What the model said counts as `said`. A name may be written in many ways: it lowers the confidence alone.
    """
    if all(fact.kind == "name" for fact in lacking):
        return verdict
    return {**verdict, "verdict": "unsupported", "said": verdict.get("said", verdict["verdict"])}


@dataclass(frozen=True)
class Card:
    """The fitted weights of what the networks read of an answer in other words, by feature, `bias` among them."""

    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0..1, that an answer with these features is right."""
        total = sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def features(seen: Mapping[str, float], supported: float, sureness: float | None) -> dict[str, float]:
    """What that probability is made of: what the reader has `seen` (`found`, `chance`, `span`: 0..1 each; nothing where
    it could not read), the judge's support, 0..1, and the model's sureness."""
    return {
        "bias": 1.0,
        "found": logit(seen["found"], 0.01) / 2 if seen else 0.0,
        "chance": logit(seen["chance"], 0.01) / 2 if seen else 0.0,
        "span": seen.get("span", 0.0),
        "support": logit(supported, 0.02) / 4,
        "sureness": SURENESS if sureness is None else max(-1.0, sureness),
    }


def written_probability(seen: Mapping[str, float], supported: float, written: Written) -> float:
    """The probability, 0..1, that an answer is right which a model wrote, before another model judged it."""
    fitted = card().probability(features(seen, supported, written.sureness))
    return updated(fitted, written.worth.writes / NEUTRAL.writes)


def logit(probability: float, least: float) -> float:
    """The logit of a probability that is kept between `least` and one less it."""
    kept = min(1 - least, max(least, probability))
    return log(kept / (1 - kept))


@cache
def card(path: Path = CARD) -> Card:
    """The weights that ship; raises WeightsError where they cannot be read."""
    try:
        return Card(json.loads(path.read_text(encoding="utf-8"))["weights"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(
            f"{path.name} cannot be read ({type(error).__name__}: {error}); it ships with the package: reinstall "
            "cragraph (pip install --force-reinstall cragraph)."
        ) from error
