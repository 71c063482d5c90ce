"""Examples made from those that people marked: near misses that do not answer, and their answering twins.

Whatever is changed is changed in the question, in the text, or in both. Changed in one of them, the text does not
answer any more; changed in both, it does. So neither the question nor the text alone gives anything away, and nor does
the mere presence of an odd word.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from random import Random

from cragraph.language.sentences import sentence_spans
from lab.training.judge.compress import retell
from lab.training.judge.edits import other_number
from lab.training.judge.lexicon import OPPOSITE
from lab.training.judge.words import MONTHS, OPPOSITES
from lab.training.reader.rows import Example, window

_NAME = re.compile(r"\b[A-Z][\w’'-]*[a-z]\w*(?:\s(?:of\s|the\s|de\s)?[A-Z][\w’'-]*\w)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")
_WORD = re.compile(r"\b[a-z]{4,}\b")


def _words(text: str) -> list[str]:
    return text.split()


_ASKING = frozenset(
    _words("""
    what which when where who whom whose how many much does did was were have that this with from they their
    there about into than then been being would could should according name type kind
    """)
)
_STOP = frozenset(
    _words("""
    the a an of to in on at by for is are was were did do does be been has have had it its and or with as that
    this from what which who whom when where how why
    """)
)
_NOT_NAMES = frozenset(
    {
        "What",
        "Which",
        "When",
        "Where",
        "Who",
        "Whom",
        "Whose",
        "How",
        "Why",
        "In",
        "On",
        "At",
        "The",
        "A",
        "An",
        "Is",
        "Are",
        "Was",
        "Were",
        "Did",
        "Does",
        "Do",
        "For",
        "To",
        "From",
        "By",
        *MONTHS,
    }
)


@dataclass(frozen=True)
class Stock:
    """What changes draw from: names by their number of words, and related words."""

    names: Mapping[int, Sequence[str]]
    near: Mapping[str, Sequence[str]]


def stock_of(examples: Sequence[Example], near: Mapping[str, Sequence[str]]) -> Stock:
    """The names that stand in the questions."""
    names: dict[int, dict[str, None]] = defaultdict(dict)
    for example in examples:
        for name in _names(example.question):
            names[name.count(" ")][name] = None
    return Stock({size: list(found) for size, found in names.items()}, near)


def _names(question: str) -> list[str]:
    found = []
    for match in _NAME.finditer(question):
        words = match.group().split()
        while words and words[0] in _NOT_NAMES:
            words = words[1:]
        if words:
            found.append(re.sub(r"['’]s?$", "", " ".join(words)))
    return found


def _swap(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


def changed(example: Example, rng: Random, stock: Stock) -> Example | None:
    """One word of the question put for another: in the question, in the text, or in both."""
    if not example.spans and example.evidence is None:
        return None
    options: list[tuple[str, str, bool]] = []
    for name in _names(example.question):
        others = stock.names.get(name.count(" "), ())
        inside = [n for n in _names(example.text) if n.count(" ") == name.count(" ") and n not in example.question]
        pool = inside if inside and rng.random() < 0.6 else others
        if pool:
            options += [(name, rng.choice(list(pool)), name in example.text)] * 3
    for match in _NUMBER.finditer(example.question):
        options += [(match.group(), other_number(match.group(), rng), match.group() in example.text)] * 3
    for match in _WORD.finditer(example.question):
        word = match.group()
        against = [*OPPOSITES.get(word, ()), *OPPOSITE.get(word, ())]
        there = re.search(rf"\b{word}\b", example.text) is not None
        if against:
            options += [(word, rng.choice(against), there)] * 5
        if word in stock.near and word not in _ASKING and there:
            options.append((word, rng.choice(list(stock.near[word])), there))
    options = [o for o in options if o[0] != o[1]]
    if not options:
        return None
    old, new, there = rng.choice(options)
    way = rng.choice(("question", "question", "text", "both", "both")) if there else "question"
    if any(re.search(rf"(?<!\w){re.escape(old)}(?!\w)", example.text[a:b]) for a, b in example.spans):
        way = "question"
    if way == "question":
        return replace(
            example,
            question=_swap(example.question, old, new),
            answerable=False,
            spans=(),
            evidence=(),
            made="changed question",
        )
    text, spans, evidence = _edited(example, old, new)
    heading = _swap(example.heading, old, new)
    if text == example.text:
        return None
    if way == "text":
        return replace(
            example, text=text, heading=heading, answerable=False, spans=(), evidence=(), made="changed text"
        )
    return replace(
        example,
        question=_swap(example.question, old, new),
        text=text,
        heading=heading,
        spans=spans,
        evidence=evidence,
        made="changed both",
    )


def _edited(
    example: Example, old: str, new: str
) -> tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...] | None]:
    """The text with every `old` put for `new`, and the ranges moved along."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    places = [m.start() for m in pattern.finditer(example.text)]
    step = len(new) - len(old)

    def moved(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        return tuple((a + step * sum(p < a for p in places), b + step * sum(p < b for p in places)) for a, b in ranges)

    evidence = None if example.evidence is None else moved(example.evidence)
    return pattern.sub(lambda _: new, example.text), moved(example.spans), evidence


def negated(example: Example, rng: Random) -> Example | None:
    """The question asks for what is not: *Who did not come*, for *Who did come*."""
    match = re.search(r"\b(is|are|was|were|did|does|do|has|have|can|could|will|would)\b(?! not|n't)", example.question)
    if match is None or not example.evidence or re.search(r"\b(?:not|never|no)\b", example.question):
        return None
    end = match.end()
    return replace(
        example,
        question=f"{example.question[:end]} not{example.question[end:]}",
        answerable=False,
        spans=(),
        evidence=(),
        made="negated",
    )


def without_answer(example: Example, rng: Random) -> Example | None:
    """The same text without the sentences that answer."""
    if not example.evidence:
        return None
    kept = [(s, e) for s, e in sentence_spans(example.text) if not any(s < b and a < e for a, b in example.evidence)]
    answer = example.text[example.spans[0][0] : example.spans[0][1]] if example.spans else ""
    text = " ".join(example.text[s:e] for s, e in kept)
    if len(text) < 40 or (answer and answer.casefold() in text.casefold()):
        return None
    return replace(example, text=text, answerable=False, spans=(), evidence=(), made="answer taken out")


def fragment(example: Example, rng: Random) -> Example:
    """A heading, a title or a list of the question's words: it repeats the question and says nothing."""
    words = [w for w in re.findall(r"[\w’'-]+", example.question) if w.casefold() not in _STOP]
    rng.shuffle(words) if rng.random() < 0.3 else None
    names = _names(example.text)
    head = " ".join(words[: rng.randint(2, 7)])
    head = head.title() if rng.random() < 0.6 else head
    if names and rng.random() < 0.4:
        head += rng.choice((" ; ", " - ", ": ", ", ")) + rng.choice(names)
    head += rng.choice(("", "", ".", ":", "?", f" {rng.randint(1, 90)}"))
    if rng.random() < 0.3:
        head = example.question
    others = [
        (s, e)
        for s, e in sentence_spans(example.text)
        if not any(s < b and a < e for a, b in example.evidence or ((0, len(example.text)),))
    ]
    tail = example.text[others[0][0] : others[0][1]] if others and rng.random() < 0.5 else ""
    return Example(example.question, f"{head}\n{tail}".strip(), False, (), (), example.heading, "fragment")


def headed(example: Example, rng: Random) -> Example:
    """An answering text with such a heading before it, so that a heading alone decides nothing."""
    head = fragment(replace(example, evidence=None), rng).text.split("\n")[0]
    shift = len(head) + 1
    moved = lambda ranges: tuple((a + shift, b + shift) for a, b in ranges)  # noqa: E731
    evidence = None if example.evidence is None else moved(example.evidence)
    return replace(
        example, text=f"{head}\n{example.text}", spans=moved(example.spans), evidence=evidence, made="headed"
    )


class Others:
    """Passages by their words, to find those that speak of what a question asks and lack its answer."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.places: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for word in set(_tokens(text)):
                self.places[word].append(number)

    def near(self, example: Example, rng: Random, among: int = 4) -> Example | None:
        """The example on one of the most alike passages without its answer."""
        scores: dict[int, float] = defaultdict(float)
        for word in set(_tokens(example.question)):
            places = self.places.get(word, ())
            if 0 < len(places) < 2000:
                for place in places:
                    scores[place] += log(len(self.texts) / len(places))
        answer = example.text[example.spans[0][0] : example.spans[0][1]].casefold() if example.spans else ""
        own = example.text[:80]
        found = []
        for place in sorted(scores, key=lambda p: -scores[p])[: 3 * among]:
            text = self.texts[place]
            if own in text or (answer and answer in text.casefold()):
                continue
            found.append(text)
        if not answer or not found:
            return None
        whole = Example(example.question, rng.choice(found[:among]), False, made="other passage")
        return window(whole, None, rng)


def _tokens(text: str) -> list[str]:
    return [w for w in re.findall(r"[^\W_]{3,}", text.casefold()) if w not in _STOP]


_LEADS = (
    "Tell me {}",
    "I want to know {}",
    "Can you tell me {}",
    "Please say {}",
    "do you know {}",
    "Find out {}",
    "I need to know: {}",
    "quick question, {}",
)


def typed(question: str, rng: Random) -> str:
    """The question as people type it: most as they are, some in lower case, as keywords, with slips, as a request."""
    draw = rng.random()
    if draw < 0.66:
        return question
    if draw < 0.76:
        return question.casefold().rstrip("? ")
    if draw < 0.83:
        words = [w for w in re.findall(r"[\w’'$%.,-]+", question) if w.casefold() not in _STOP]
        words = [w for w in words if w.casefold() not in ("whose", "many", "much")] or words
        return " ".join(words).rstrip("?.") if len(words) > 1 else question
    if draw < 0.91:
        return slipped(question, rng)
    if draw < 0.95:
        return rng.choice(_LEADS).format(question[:1].lower() + question[1:])
    return retell(question, rng)


def slipped(text: str, rng: Random) -> str:
    """One or two typing errors in words of five letters or more."""
    for _ in range(rng.choice((1, 1, 2))):
        words = list(re.finditer(r"[A-Za-z]{5,}", text))
        if not words:
            return text
        match = rng.choice(words)
        word, at = match.group(), rng.randrange(1, len(match.group()) - 1)
        kind = rng.random()
        if kind < 0.35:
            new = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        elif kind < 0.65:
            new = word[:at] + word[at + 1 :]
        elif kind < 0.85:
            new = word[:at] + word[at] + word[at:]
        else:
            new = word[:at] + rng.choice("aeiorstln") + word[at + 1 :]
        text = text[: match.start()] + new + text[match.end() :]
    return text
