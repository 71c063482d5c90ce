"""Sentences of real passages said from the other side, and what is wrong with them there.

*Smith founded the paper* becomes *The paper was founded by Smith* and stays true; with the two swapped it does not. A
deed in a passage is turned into a plan, an attempt or a refusal, so that the claim of the deed no longer holds; *some*
becomes *all*, *may* becomes *does*; one clause gets the reason of another.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from cragraph.models.grounding import sentences
from lab.training.judge.rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, Example
from lab.training.judge.verbs import base_of, participle

_NAME = r"(?:[Tt]he )?(?:[A-Z][\w’'&.-]*\w)(?: (?:of |the |and |de )?[A-Z][\w’'&-]*\w){0,4}"
_REST = r"(?P<rest>(?= (?:in|on|at|by|after|before|during|with|for|from|as|to|and|because)\b|[,;.]).*)$"
_ACTIVE = re.compile(
    rf"^(?P<a>{_NAME}) (?P<verb>[a-z]{{4,}}|won|led|met|saw|made|sold) (?P<b>{_NAME}|(?:the|a|an|his|her|its) "
    rf"(?:[a-z][\w-]+ ){{0,2}}[a-z][\w-]+){_REST}"
)
_PASSIVE = re.compile(
    rf"^(?P<b>{_NAME}|The (?:[a-z][\w-]+ ){{0,2}}[a-z][\w-]+) (?P<be>was|were) "
    rf"(?P<verb>[a-z]{{4,}}|won|led|made|sold) by (?P<a>{_NAME}){_REST}"
)
_PRONOUN = re.compile(
    r"(?:He|She|It|They|We|You|I|There|This|That|These|Those|Here|Then|What|One|Her|His|Their|Its|My)\b"
)
_PRONOUN_AFTER = r"\bby (?:him|her|it|them|us|me)\b|\b(?:himself|herself|itself|themselves)\b"
_NOT_VERB = frozenset(
    [
        "which",
        "with",
        "were",
        "when",
        "while",
        "from",
        "that",
        "also",
        "said",
        "stated",
        "added",
        "noted",
        "united",
        "based",
    ]
)
_PLURAL = re.compile(r"\band\b|(?<![us’'])s$")


def _low(text: str) -> str:
    return re.sub(r"^(The|A|An|His|Her|Its)\b", lambda m: m.group().lower(), text)


def _up(text: str) -> str:
    return text[:1].upper() + text[1:]


def _passive(a: str, verb: str, b: str, rest: str) -> str:
    base = base_of(verb)
    be = "were" if _PLURAL.search(b) else "was"
    return f"{_up(b)} {be} {participle(base or verb)} by {_low(a)}{rest}"


def parts(sentence: str) -> tuple[str, str, str, str] | None:
    """Doer, past verb, what it was done to and the rest of the sentence; None where it has another shape."""
    if _PRONOUN.match(sentence) or re.search(_PRONOUN_AFTER, sentence[:90]):
        return None
    match = _ACTIVE.match(sentence)
    if match and match["verb"] not in _NOT_VERB and base_of(match["verb"]):
        return match["a"], match["verb"], match["b"], match["rest"]
    match = _PASSIVE.match(sentence)
    if match and base_of(match["verb"]):
        return match["a"], match["verb"], match["b"], match["rest"]
    return None


_INSTEAD = (
    "planned to {}", "intended to {}", "hoped to {}", "was expected to {}", "promised to {}", "refused to {}",
    "tried to {}", "failed to {}", "proposed to {}", "considered whether to {}", "was asked to {}", "declined to {}",
)  # fmt: skip
_STRONGER = (
    (r"\b(?:some|many|several|most|a few)(?: of)?(?= [a-z])", "all"),
    (r"\b(?:may|might|could)(?= (?!not)[a-z])", "will"),
    (r"\busually\b|\boften\b|\bsometimes\b", "always"),
    (r"\bup to(?= \d)", "at least"),
    (r"\bat least(?= [\da-z])", "at most"),
    (r"\bmore than(?= \d)", "less than"),
    (r"\bfewer than(?= \d)", "more than"),
    (r"\bone of the\b", "the only one of the"),
    (r"\bplans? to\b|\bplanned to\b", "has begun to"),
    (r"\bsuggests?\b", "proves"),
    (r"\bnearly(?= (?:all|half|\d))", "more than"),
)
_BECAUSE = re.compile(
    r"^(?P<e>[^,;]{15,90}?),? (?P<j>because|due to|as a result of|thanks to|in order to) (?P<c>[^,;.]{8,120})"
)


def turned_examples(documents: Sequence[tuple[str, ...]], count: int, rng: Random) -> list[Example]:
    """`count` claims out of passages: said from the other side, swapped, undone, made stronger, for another reason."""
    made: list[Example] = []
    order = list(documents)
    rng.shuffle(order)
    for passages in order:
        if len(made) >= count:
            break
        made.extend(_of_document(passages, rng))
    return made[:count]


def _of_document(passages: tuple[str, ...], rng: Random) -> Iterator[Example]:
    number = rng.randrange(len(passages))
    text = passages[number]
    cuts = [(a, b) for a, b in sentences(text) if 4 <= len(text[a:b].split()) <= 40]
    rng.shuffle(cuts)
    reasons = [m for a, b in cuts for m in [_BECAUSE.match(text[a:b])] if m]
    for start, end in cuts:
        sentence = text[start:end]

        def changed(new: str, start: int = start, end: int = end) -> tuple[str, ...]:
            return (*passages[:number], text[:start] + new + text[end:], *passages[number + 1 :])

        found = parts(sentence)
        if found:
            yield from _roles(found, sentence, passages, changed(""), rng)
            a, verb, b, rest = found
            base = base_of(verb) or verb
            if rng.random() < 0.7:
                form = rng.choice(_INSTEAD)
                plan = f"{_up(a)} {form.format(base)} {_low(b)}{rest}"
                claim = rng.choice([_short(f"{_up(a)} {verb} {_low(b)}", rest, rng), _passive(a, verb, b, ".")])
                label = CONTRADICTED if form.split()[0] in ("refused", "failed", "declined") else NOT_SUPPORTED
                yield Example(claim, changed(plan), label, None, "made/turned/plan")
                yield Example(_short(plan, "", rng), changed(plan), SUPPORTED, (), "made/turned/plan")
        elif rng.random() < 0.12:
            yield from _stronger(sentence, passages, rng)
        if len(reasons) > 1 and (match := _BECAUSE.match(sentence)):
            other = rng.choice([r for r in reasons if r["c"] != match["c"]] or [match])
            if other is not match and other["j"] == match["j"]:
                claim = f"{match['e']} {match['j']} {other['c']}."
                at = claim.index(other["c"])
                yield Example(claim, passages, NOT_SUPPORTED, ((at, len(claim) - 1),), "made/turned/reason")
                yield Example(f"{match['e']} {match['j']} {match['c']}.", passages, SUPPORTED, (), "made/turned/reason")


def _short(head: str, rest: str, rng: Random) -> str:
    text = (head + rest).strip()
    return text if text.endswith(".") else text + "."


def _roles(
    found: tuple[str, str, str, str], sentence: str, passages: tuple[str, ...], without: tuple[str, ...], rng: Random
) -> Iterator[Example]:
    a, verb, b, rest = found
    tail = rest if rng.random() < 0.5 else "."
    active, passive = _short(f"{_up(a)} {verb} {_low(b)}", tail, rng), _short(_passive(a, verb, b, ""), tail, rng)
    was_passive = " by " in sentence[: len(a) + len(b) + len(verb) + 12]
    yield Example(active if was_passive else passive, passages, SUPPORTED, (), "made/turned/side")
    if rng.random() < 0.4:
        yield Example(passive if was_passive else active, passages, SUPPORTED, (), "made/turned/side")
    swapped = [_short(f"{_up(b)} {verb} {_low(a)}", tail, rng), _short(_passive(b, verb, a, ""), tail, rng)]
    for claim in rng.sample(swapped, 2 if rng.random() < 0.4 else 1):
        spans = sorted((m.start(), m.end()) for part in (a, b) for m in [re.search(re.escape(part), claim, re.I)] if m)
        yield Example(claim, passages, NOT_SUPPORTED, tuple(spans) or None, "made/turned/swapped")


def _stronger(sentence: str, passages: tuple[str, ...], rng: Random) -> Iterator[Example]:
    rules = [(m, new) for pattern, new in _STRONGER for m in [re.search(pattern, sentence)] if m]
    if not rules:
        return
    match, new = rng.choice(rules)
    claim = _up(sentence[: match.start()] + new + sentence[match.end() :])
    shift = (match.start(), match.start() + len(new))
    yield Example(claim, passages, NOT_SUPPORTED, (shift,), "made/turned/stronger")
    yield Example(sentence, passages, SUPPORTED, (), "made/turned/plain")
