"""Evidence in proportion: everything that is known of an answer, joined into the probability that the answer is right.

No part has a veto. Each piece of evidence is a likelihood ratio, and odds are multiplied: the reading of the embedded
networks, how often the model is right that wrote the answer, what a model judged of it, figures and names that no
passage has, the answer of a model to the same question. Evidence that says nothing has a ratio of one.

For an answer in a model's own words the reading of the networks is a probability fitted on answers of real models to
real questions. Its features: the reader's probability that the passages answer at all, and its probability for the
sentence nearest to the answer; whether the answer has the words that the reader chose; the judge's support; and the
log-probability of the model's tokens, if the server tells it. `python -m lab.benchmarks.written` fits the weights.
Probabilities enter as logits: the reader gives .03 to a true sentence that answers something else, and .2 to the right
answer in other words.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import permutations
from math import log
from pathlib import Path
from typing import Any, Final

from cragraph.language.facts import Fact, extract
from cragraph.language.markers import without_markers
from cragraph.language.words import content_words
from cragraph.models.examined import NEUTRAL, Worth
from cragraph.protocols import Answered
from cragraph.types import IDK, Evidence, Label, Passage, Verdict
from cragraph.verification.policies import logistic, logit, shipped
from cragraph.verification.result import ADDRESSED, word_for_word

CARD: Final = Path(__file__).with_name("evidence.json")
ASSUMED_LOGPROB: Final = -0.15
"""The mean log-probability per token that is assumed if the server does not tell it."""
FIGURE_UNSTATED: Final = 1 / 30
"""Likelihood ratio of a figure or date that no passage has in any form and that follows from none by arithmetic."""
NAME_UNSTATED: Final = 1 / 12
"""The same for a name, which may be written in many ways: it outweighs a judge's verdict, but not judge and writer."""
ANSWERS_ELSE: Final = 1 / 12
"""Likelihood ratio of an answer that `answers_else` and that no chat model wrote or judged.

Of people's own answers to questions of `qa/dev` (fairytaleqa_val, squad1_train_misc) that the passages answer, 6 of 110
look like that, and 71 of 109 answers to another question on the same passages."""
FOUND: Final = 0.7  # probability from which the passages are taken to answer the question
SAME: Final = 0.5
"""Share of the words that a model's answer adds to the question which a quotation must have to say the same."""
MOST: Final = 0.99  # probabilities are clamped to this and 1 less this before odds are multiplied


@dataclass(frozen=True)
class Written:
    """An answer that a chat model wrote: the mean log-probability of its tokens, the model's worth
    and name."""

    logprob: float | None = None
    worth: Worth = NEUTRAL
    model: str = ""


@dataclass(frozen=True)
class Judged:
    """A chat model's judgement of a whole answer, with the worth of the model's verdicts.

    `answers` is whether the claims answer the question (all, part, no; empty: unknown), `open` the part that they leave
    open, `search` words to search for it, `unstated` the figures and names of the claims that no passage has."""

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
        """The judgement that `to_dict` wrote."""
        return cls(**{**data, "worth": Worth(**data["worth"])})

    def ratio(self, verdicts: Sequence[Verdict]) -> float:
        """The likelihood ratio of these verdicts: above 1 the answer is more likely right than before the model judged
        it.

        The worst verdict counts: an answer is as good as the claim that fails.
        """
        labels = {verdict.get("said", verdict["verdict"]) for verdict in verdicts if "embedded" in verdict}
        return ratio_of(labels, self.worth) * self._of_answering() * self.ratio_of_unstated

    def _of_answering(self) -> float:
        powers = {"no": -2.0, "part": -0.75}
        return float(self.worth.rejects ** powers.get(self.answers, 0.0))


def ratio_of(labels: Iterable[Label], worth: Worth) -> float:
    """The likelihood ratio of a model's labels: of "all supported", or of the worst label if some claim is not."""
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
    """The likelihood ratio of a quotation, given a model's answer to the same question.

    `judged` is the probability, 0..1, that the model's answer is right, if it was judged; otherwise the model's worth
    counts. A quotation that says the same as a refuted answer becomes less likely. A model that is wrong is assumed to
    say the same wrong thing as the quotation in one case of two.
    """
    if answer == IDK:
        return worth.declines
    right = min(MOST, max(1 - MOST, worth.probability if judged is None else judged))
    wrong = (1 - right) / 2
    said = set(content_words(without_markers(answer)))
    added = said - set(content_words(question)) - {"yes", "no"}
    if not added and said & {"yes", "no"}:
        added = said - {"yes", "no"}  # A plain yes adds no word to the question. Then all its words count.
    held = added & set(content_words(without_markers(quotation)))
    same = bool(added) and len(held) / len(added) >= SAME
    return right / wrong if same else (1 - right) / (1 - wrong)


def answers_else(answered: Answered) -> bool:
    """Whether an answer that quotes nothing seems to answer another question.

    The passages answer this question, the answer has none of the answering words, and its probability to answer is low.
    """
    if answered.quoted or answered.probability is None or not (seen := answered.seen):
        return False
    return bool(seen["found"] >= FOUND and not seen["span"] and answered.probability < ADDRESSED)


def updated(probability: float, *ratios: float) -> float:
    """The probability after evidence with these likelihood ratios: each multiplies the odds."""
    if all(ratio == 1.0 for ratio in ratios):
        return probability
    total = logit(probability, 1 - MOST) + sum(map(log, ratios))
    return logistic(total)


def merged(embedded: Verdict, said: Verdict, worth: Worth) -> Verdict:
    """A model's verdict on a claim joined with that of the embedded judge: the model's label, and a support from both.

    `embedded` keeps the embedded judge's name and support, `said` the model's label. A claim that stands word for word
    in a passage stays supported unless the model finds a passage that says otherwise.
    """
    if said["verdict"] == "unjudged":
        return embedded
    support = round(updated(embedded["support"], ratio_of([said["verdict"]], worth)), 6)
    both: Verdict = {**said, "support": support, "embedded": (embedded["judge"], embedded["support"])}
    if said["verdict"] in ("partially_supported", "unsupported") and word_for_word(embedded):
        return {**both, "verdict": "supported", "evidence": embedded["evidence"], "said": said["verdict"]}
    return both


def without_figure(verdict: Verdict, lacking: Sequence[Fact]) -> Verdict:
    """A model's verdict on a claim with facts that no passage has: a claim with such a figure is not supported.

    `said` keeps the model's label. A missing name only lowers the confidence, because it may be written in many ways.
    """
    if all(fact.kind == "name" for fact in lacking):
        return verdict
    figures = ", ".join(dict.fromkeys(fact.text.strip() for fact in lacking if fact.kind != "name"))
    reason = f"{figures}: in no passage, and no result of one or two steps from the quoted figures."
    return {**verdict, "verdict": "unsupported", "said": verdict.get("said", verdict["verdict"]), "reasoning": reason}


@dataclass(frozen=True)
class Card:
    """The fitted weights, by feature, for an answer in a model's own words; `bias` is one of them."""

    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, 0..1, that an answer with these features is right."""
        total = sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return logistic(total)


def features(seen: Mapping[str, float], supported: float, logprob: float | None) -> dict[str, float]:
    """The features of that probability: the reader's `seen` (`found`, `probability`, `span`: 0..1 each; empty if it
    could not read), the judge's support, 0..1, and the mean log-probability of the model's tokens."""
    return {
        "bias": 1.0,
        "found": logit(seen["found"], 0.01) / 2 if seen else 0.0,
        "probability": logit(seen["probability"], 0.01) / 2 if seen else 0.0,
        "span": seen.get("span", 0.0),
        "support": logit(supported, 0.02) / 4,
        "logprob": ASSUMED_LOGPROB if logprob is None else max(-1.0, logprob),
    }


def written_probability(seen: Mapping[str, float], supported: float, written: Written) -> float:
    """The probability, 0..1, that a model's answer is right, before another model judged it."""
    fitted = card().probability(features(seen, supported, written.logprob))
    return updated(fitted, written.worth.writes / NEUTRAL.writes)


@cache
def card(path: Path = CARD) -> Card:
    """The weights that ship; raises WeightsError where they cannot be read."""
    return shipped(path, lambda file: Card(file["weights"]))


# -- figures, dates and names that no passage has -------------------------------------------------------------------

MOST_FIGURES: Final = 8  # quoted figures that are combined at most: from more figures, any result follows
_DIGITS: Final = re.compile(r"\d+(?:[.,:\u00a0\u202f’']\d+)*")
_ONE_IN: Final = re.compile(r"\b(?:one|1) (?:in|of|out of) (?:every )?(\w+)\b", re.I)
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?:[.:](\d\d))?\s*([ap])\.?m\b", re.I)


def unstated(claim: str, passages: Sequence[Passage], question: str, evidence: Sequence[Evidence]) -> list[Fact]:
    """The figures, dates and names of a claim that neither a passage nor the question has in any form.

    A figure is compared as a number, whatever its unit, currency or way of writing; a name by its letters, without
    accents and case. File names and column names count as text of the passages. A figure that follows from the figures
    of quotes and question by one or two steps of arithmetic counts as stated.
    """
    rates = list(_rates(claim))
    lacking = [fact for fact in extract(claim) if fact.kind not in ("ordinal", "quarter")]
    if not lacking:
        return []
    about = [passage["filename"] or "" for passage in passages]
    said = "\n".join([question, *about, *(_whole(passage) for passage in passages)])
    values, letters = set(_values(said)), _letters(said)
    given = _figures([*(one["quote"] for one in evidence), question])
    for start, end, share in rates:
        if share in values:
            lacking = [fact for fact in lacking if not start <= fact.start < end]
    return [fact for fact in lacking if not _stated(fact, values, letters) and not working(fact, given)]


Figure = tuple[float, str, bool]
"""A number, how it is shown, and whether it is a percentage."""


def _figures(texts: Sequence[str]) -> list[Figure]:
    """The figures of some texts that can be calculated with, `MOST_FIGURES` at most."""
    found: dict[tuple[float, bool], Figure] = {}
    for fact in (fact for text in texts for fact in extract(text)):
        if fact.kind in ("number", "percent", "points", "money", "measure") and fact.figure:
            share = fact.kind == "percent"
            found.setdefault((fact.figure, share), (fact.figure, fact.text.strip(), share))
        elif fact.kind == "date" and fact.date[0] and not any(fact.date[1:]):
            found.setdefault((float(fact.date[0]), False), (float(fact.date[0]), fact.text.strip(), False))
    return list(found.values())[:MOST_FIGURES]


def working(fact: Fact, given: Sequence[Figure]) -> str:
    """The formula by which a figure follows from given figures, such as ``612 - 548``, in one or two steps; else
    empty."""
    if fact.kind not in ("number", "percent", "points", "money", "measure"):
        return ""
    wanted, step = fact.figure or fact.value, fact.step
    near = max(0.5 * step if step < 1 or fact.kind == "percent" else 0.0, 1e-6 * abs(wanted), 1e-9)
    near = max(near, 0.05 * abs(wanted)) if fact.bound == "~" else near
    share = fact.kind == "percent"
    once = list(_combined(permutations(given, 2), share))
    twice = ((one, other) for one in once for other in given)
    for value, how, _ in (*once, *_combined((((v, f"({h})", p), o) for (v, h, p), o in twice), share)):
        if abs(value - wanted) <= near:
            return how
    whole = [figure for figure in given if not figure[2]]
    added = len(whole) > 2 and abs(sum(value for value, _, _ in whole) - wanted) <= near
    return " + ".join(how for _, how, _ in whole) if added else ""


def _combined(pairs: Iterable[tuple[Figure, Figure]], share: bool) -> Iterator[Figure]:
    """The sum, differences, product and quotients of each pair; a percentage of, added to and taken from the other
    figure.

    With `share` also each figure as a percentage of the other, and the change in percent between them.
    """
    for (a, one, first), (b, other, second) in pairs:
        if second and not first:
            yield a * b / 100, f"{other} of {one}", False
            yield a * (1 + b / 100), f"{one} plus {other}", False
            yield a * (1 - b / 100), f"{one} less {other}", False
        if first == second:
            yield a + b, f"{one} + {other}", first
            yield abs(a - b), f"{one} - {other}" if a >= b else f"{other} - {one}", first
        if not (first or second):
            yield a * b, f"{one} × {other}", False
            if b:
                yield a / b, f"{one} / {other}", False
        if b and share:
            yield 100 * a / b, f"{one} as a percentage of {other}", True
            yield 100 * abs(a - b) / b, f"the change from {other} to {one}", True


def _rates(text: str) -> Iterator[tuple[int, int, float]]:
    """Each "one in five" of a text, with its percentage."""
    for match in _ONE_IN.finditer(text):
        yield from ((*match.span(), 100 / fact.figure) for fact in extract(match[1]) if fact.figure)


def _stated(fact: Fact, values: set[float], letters: str) -> bool:
    if fact.kind == "name":
        return all(_letters(word) in letters for word in fact.words if len(word) > 1)
    if fact.kind == "date":
        return all(part is None or float(part) in values for part in (fact.date[0], fact.date[2]))
    numbers = {fact.value, fact.figure, *_values(fact.text)}
    return not numbers or not values.isdisjoint(numbers)


def _values(text: str) -> Iterator[float]:
    """Every number of a text, in each way in which its digits can be read, and numbers in words."""
    for match in _DIGITS.finditer(text):
        digits = match[0]
        plain = re.sub(r"[^\d]", "", digits)
        yield float(plain)
        whole, _, last = digits.rpartition(digits[-3]) if len(digits) > 3 and not digits[-3].isdigit() else ("", "", "")
        for form in (re.sub(r"[^\d.]", "", digits), re.sub(r"[^\d,]", "", digits).replace(",", ".")):
            if form.count(".") == 1 and not form.endswith("."):
                yield float(form)
        if whole:
            yield float(f"{re.sub('[^0-9]', '', whole)}.{last}")
        yield from (float(part) for part in re.findall(r"\d+", digits))
    for match in _CLOCK.finditer(text):
        yield float(int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0))
    for fact in extract(text):
        if fact.kind == "name":
            continue
        yield from (fact.value, fact.figure)
        if fact.kind == "time":
            yield fact.value / 60
    yield from (share for _, _, share in _rates(text))


def _letters(text: str) -> str:
    """The letters and digits of a text, without accents, case and spaces."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _whole(passage: Passage) -> str:
    """The text of a passage with the headings above it and the date of its document."""
    about = passage["metadata"]
    inside = [str(entry[-1]) for entry in about.get("headings") or () if isinstance(entry, list | tuple) and entry]
    return "\n".join([*(str(about.get(name) or "") for name in ("heading", "dated")), *inside, passage["text"]])
