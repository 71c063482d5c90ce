"""Small made-up documents whose claims differ in who did what to whom, why, whether it happened, and to which of them.

A fact joins two things and can be said in several ways that share few words (*A sold the mill to B*, *B bought the
mill from A*). A document says each of its facts in one way; a claim says one in another way and holds, or has the two
swapped, one of them from another fact, a plan for a deed, another cause, a comparison turned round, all for some, the
opposite, or a figure of another fact. Every way of saying stands in true and false claims equally often.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lab.training.judge.rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example
from lab.training.judge.verbs import gerund, participle, past, third
from lab.training.judge.words import MONTHS, NUMBER_WORDS


def _sections() -> dict[str, list[str]]:
    """What scenes.txt lists under each heading, a line an item."""
    text = Path(__file__).with_name("scenes.txt").read_text(encoding="utf-8")
    parts = re.split(r"^\[(.+)\]\n", text, flags=re.M)[1:]
    return {name: body.strip().splitlines() for name, body in zip(parts[::2], parts[1::2], strict=True)}


LISTS = _sections()
NAMES = {name: " ".join(LISTS[name]).split() for name in LISTS if name.endswith(("names", "heads", "tails", "places"))}
FIRST, PLACE = NAMES["first names"], NAMES["places"]
QUANTITIES = ("all", "none", "some", "most")


def _table(name: str) -> list[list[str]]:
    return [line.split("|") for line in LISTS[name]]


def person(rng: Random) -> str:
    """A name, with or without a family name."""
    return rng.choice(FIRST) if rng.random() < 0.35 else f"{rng.choice(FIRST)} {rng.choice(NAMES['last names'])}"


def company(rng: Random) -> str:
    """The name of a company."""
    return f"{rng.choice(NAMES['company heads'])} {rng.choice(NAMES['company tails'])}"


def place(rng: Random) -> str:
    """A town."""
    return rng.choice(PLACE)


def _a_thing(rng: Random) -> str:
    owner = rng.random()
    return f"{rng.choice(PLACE)} {rng.choice(LISTS['things'])}" if owner < 0.5 else rng.choice(LISTS["things"])


Maker = Callable[[Random], str]
WORLDS: list[tuple[list[list[str]], Maker, Maker, bool, float]] = [
    (_table("people"), person, person, True, 3.0),
    (_table("companies"), company, company, True, 2.0),
    (_table("work"), person, _a_thing, False, 2.5),
    (_table("whereabouts"), _a_thing, place, False, 0.6),
    (_table("goods"), lambda r: r.choice(LISTS["products"]), lambda r: r.choice(LISTS["products"]), True, 1.0),
]
"""Ways to say a fact, what fills its two places, whether the two could be swapped, and how often it is drawn."""

_WHEN = ["in {y}", "in {m} {y}", "last {d}", "on {n} {m} {y}", "on {n} {m}", "", "", ""]


@dataclass(frozen=True)
class Fact:
    """A way of saying (all of them), what fills it, and when it was."""

    ways: Sequence[str]
    a: str
    b: str
    when: str = ""

    def said(self, way: str, *, swap: bool = False, when: bool = True) -> str:
        """The fact in one way as a sentence."""
        a, b = (self.b, self.a) if swap else (self.a, self.b)
        return finish(way.format(a=a, b=b) + (f" {self.when}" if when and self.when else ""))


def finish(text: str) -> str:
    """A capital at the start, a full stop at the end."""
    text = re.sub(r"\s+", " ", text).strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _when(rng: Random) -> str:
    return rng.choice(_WHEN).format(
        y=rng.randint(1890, 2026),
        m=rng.choice(MONTHS),
        d=rng.choice(["Monday", "Tuesday", "week", "year", "spring", "Friday", "month"]),
        n=rng.randint(1, 28),
    )


def _fact(rng: Random, cast: Sequence[str] = ()) -> tuple[Fact, bool]:
    ways, first, second, alike, _ = rng.choices(WORLDS, [w[-1] for w in WORLDS])[0]
    a, b = first(rng), second(rng)
    if cast and first is person:
        a = rng.choice(cast)
    while b == a:
        b = second(rng)
    way = rng.choice(ways)
    dated = not re.search(
        r"\b(?:is|are|must|only|works|reports|owns|supplies|earns|owes|costs|weighs|runs|keep)\b", way[0]
    )
    return Fact(way, a, b, _when(rng) if dated else ""), alike


def _filler(rng: Random) -> str:
    return finish(
        rng.choice(LISTS["surroundings"]).format(
            n=rng.randint(2, 28), m=rng.choice(MONTHS), p=person(rng), q=person(rng), l=rng.choice(PLACE)
        )
    )


def _document(sentences: Sequence[str], rng: Random) -> tuple[str, ...]:
    """One to three passages of the sentences and some others, in any order."""
    every = [*sentences, *(_filler(rng) for _ in range(rng.randint(0, 3)))]
    rng.shuffle(every)
    count = rng.choice([1, 1, 1, 2, 3])
    if count == 1 or len(every) < 4:
        return (" ".join(every),)
    size = -(-len(every) // count)
    return tuple(" ".join(every[i : i + size]) for i in range(0, len(every), size))


def _marked(claim: str, *parts: str) -> tuple[tuple[int, int], ...] | None:
    spans = [(m.start(), m.end()) for p in parts if p for m in [re.search(re.escape(p), claim, re.I)] if m]
    return tuple(sorted(spans)) or None


def roles(rng: Random) -> Iterator[Example]:
    """Who did what to whom, in other words; swapped; and with somebody of another fact."""
    cast = [person(rng) for _ in range(3)] if rng.random() < 0.5 else []
    facts: list[tuple[Fact, bool]] = []
    while len(facts) < rng.randint(2, 4):
        made = _fact(rng, cast)
        if all({made[0].a, made[0].b} != {f.a, f.b} for f, _ in facts):
            facts.append(made)
    used = [rng.choice(f.ways) for f, _ in facts]
    passages = _document([f.said(w) for (f, _), w in zip(facts, used, strict=True)], rng)
    for (fact, alike), way in zip(facts[:2], used, strict=False):
        other = [w for w in fact.ways if w != way] if rng.random() < 0.85 else [way]
        when = bool(fact.when) and rng.random() < 0.5
        yield Example(fact.said(rng.choice(other), when=when), passages, SUPPORTED, (), "made/scene/true")
        text = rng.choice([w for w in fact.ways if w != way] if rng.random() < 0.5 else [way])
        if alike and rng.random() < 0.6:
            claim = fact.said(text, swap=True, when=when)
            yield Example(claim, passages, NOT_SUPPORTED, _marked(claim, fact.a, fact.b), "made/scene/swapped")
            continue
        strangers = [f for f, _ in facts if f is not fact]
        far = rng.choice(strangers)
        kind = [far.a, far.b, fact.a, fact.b]
        first = bool(re.fullmatch(r"\w+(?: \w+)?", far.a)) and far.a not in (fact.a, fact.b)
        if first and (far.a.split()[0] in FIRST) == (fact.a.split()[0] in FIRST) and far.ways != fact.ways:
            claim = Fact(fact.ways, far.a, fact.b, fact.when).said(text, when=when)
            yield Example(claim, passages, NOT_SUPPORTED, _marked(claim, far.a), "made/scene/merged")
        elif fact.when and far.when and far.when != fact.when:
            claim = Fact(fact.ways, fact.a, fact.b, far.when).said(text)
            yield Example(claim, passages, NOT_SUPPORTED, _marked(claim, far.when), "made/scene/when")
        elif alike:
            claim = fact.said(text, swap=True, when=when)
            yield Example(claim, passages, NOT_SUPPORTED, _marked(claim, *kind[2:]), "made/scene/swapped")


def _deed(form: str, deed: str) -> str:
    verb, _, rest = deed.partition(" ")
    shown = form.format(v=verb, past=past(verb), part=participle(verb), third=third(verb), ing=gerund(verb))
    return f"{shown} {rest}"


def plans(rng: Random) -> Iterator[Example]:
    """A plan is not a deed, a refusal neither; a plan in other words is a plan."""
    groups = [LISTS["not yet"], LISTS["done"], LISTS["never"]]
    who = company(rng) if rng.random() < 0.6 else person(rng)
    deed, other = rng.sample(LISTS["deeds"], 2)
    group = rng.choice(groups)
    forms = rng.sample(group, 2)
    stranger = company(rng)
    told = [
        finish(f"{who} {_deed(forms[0], deed)}"),
        finish(f"{stranger} {_deed(rng.choice(rng.choice(groups)), other)}"),
    ]
    if rng.random() < 0.6:
        told.append(_fact(rng)[0].said("{a} met {b}"))
    passages = _document(told, rng)
    yield Example(finish(f"{who} {_deed(forms[1], deed)}"), passages, SUPPORTED, (), "made/scene/plan")
    wrong = rng.choice([g for g in groups if g is not group])
    label = NOT_SUPPORTED if group is LISTS["not yet"] else CONTRADICTED
    form = rng.choice(wrong)
    claim = finish(f"{who} {_deed(form, deed)}")
    yield Example(claim, passages, label, ((len(who) + 1, len(claim) - 1),), "made/scene/misplan")
    if rng.random() < 0.4:
        claim = finish(f"{who} {_deed(forms[1], other)}")
        yield Example(claim, passages, NOT_SUPPORTED, ((len(who) + 1, len(claim) - 1),), "made/scene/merged")


def causes(rng: Random) -> Iterator[Example]:
    """Effect and cause, turned round, and with the cause of something else."""
    events = rng.sample(LISTS["events"], 4)
    way, other, third_way = rng.sample(LISTS["causes"], 3)
    passages = _document(
        [finish(way.format(e=events[0], c=events[1])), finish(third_way.format(e=events[2], c=events[3]))], rng
    )
    yield Example(finish(other.format(e=events[0], c=events[1])), passages, SUPPORTED, (), "made/scene/cause")
    if rng.random() < 0.3:
        yield Example(finish(rng.choice(events)), passages, SUPPORTED, (), "made/scene/cause")
    form = rng.choice(LISTS["causes"])
    if rng.random() < 0.5:
        effect, cause = events[1], events[0]
    else:
        effect, cause = (events[0], events[3]) if rng.random() < 0.5 else (events[0], events[2])
    claim = finish(form.format(e=effect, c=cause))
    yield Example(claim, passages, NOT_SUPPORTED, _marked(claim, cause), "made/scene/miscause")


def quantities(rng: Random) -> Iterator[Example]:
    """All, most, some and none; only one of two."""
    if rng.random() < 0.4:
        yield from _only(rng)
        return
    group, state = rng.choice(LISTS["groups"]), rng.choice(LISTS["states"])
    word = rng.choice(QUANTITIES)
    first = rng.choice(LISTS[word])
    more = f"{rng.choice([g for g in LISTS['groups'] if g != group])}"
    passages = _document(
        [
            finish(first.format(g=group, s=state)),
            finish(rng.choice(LISTS["all"]).format(g=more, s=rng.choice(LISTS["states"]))),
        ],
        rng,
    )
    again = rng.choice([w for w in LISTS[word] if w != first])
    yield Example(finish(again.format(g=group, s=state)), passages, SUPPORTED, (), "made/scene/quantity")
    wrong = rng.choice(
        {"all": ["none"], "none": ["some", "all", "most"], "some": ["all", "none"], "most": ["all", "none"]}[word]
    )
    claim = finish(rng.choice(LISTS[wrong]).format(g=group, s=state))
    yield Example(claim, passages, CONTRADICTED, None, "made/scene/misquantity")


def _only(rng: Random) -> Iterator[Example]:
    who, other, third_one = rng.sample(LISTS["who"], 3)
    right, second = rng.sample(LISTS["rights"], 2)
    first = rng.choice([f"Only {who} {right}", f"Nobody but {who} {right}".replace("Nobody but", "No one except")])
    passages = _document([finish(first), finish(f"{other} {second}"), finish(f"{third_one} {second} too")], rng)
    told = rng.choice([f"{who} {right}", f"{who} are the only ones who {right}", f"It is {who} alone who {right}"])
    yield Example(finish(told), passages, SUPPORTED, (), "made/scene/only")
    if rng.random() < 0.5:
        claim = finish(rng.choice([f"{other} {right}", f"Only {other} {right}", f"Both {who} and {other} {right}"]))
        yield Example(claim, passages, CONTRADICTED, _marked(claim, other), "made/scene/misonly")
    else:
        claim = finish(f"Only {other} {second}")
        yield Example(claim, passages, CONTRADICTED, _marked(claim, "only"), "made/scene/misonly")


def opposites(rng: Random) -> Iterator[Example]:
    """States and their opposites, each in several wordings."""
    sides = [side.split("|") for side in rng.choice(LISTS["opposites"]).split("#")]
    if rng.random() < 0.5:
        sides.reverse()
    fill = {
        "t": rng.choice(
            ["museum", "pool", "library", "workshop", "gallery", "garden", "clinic", "shop", "training", "tour"]
        ),
        "d": rng.choice(["Sunday", "Monday", "Tuesday", "Friday", "Saturday"]),
        "m": rng.choice(MONTHS),
    }
    first = rng.choice(sides[0])
    told = [finish(first.format(**fill)), _fact(rng)[0].said("{a} met {b}")]
    passages = _document(told, rng)
    again = rng.choice([w for w in sides[0] if w != first] or sides[0])
    yield Example(finish(again.format(**fill)), passages, SUPPORTED, (), "made/scene/same")
    claim = finish(rng.choice(sides[1]).format(**fill))
    yield Example(claim, passages, CONTRADICTED, None, "made/scene/opposite")
    if "{d}" in first:
        day = rng.choice([d for d in ("Sunday", "Monday", "Wednesday", "Thursday") if d != fill["d"]])
        claim = finish(again.format(**{**fill, "d": day}))
        yield Example(claim, passages, UNSUPPORTED, _marked(claim, day), "made/scene/other day")


def _figure(value: int, rng: Random, *, written: bool) -> str:
    """A number as it may be written: with or without commas, in words, in thousands or millions."""
    if 2 <= value <= 12 and written:
        return NUMBER_WORDS[value - 2]
    if value >= 100_000 and value % 100_000 == 0 and written:
        return f"{value / 1e6:g} million"
    if value >= 1000 and value % 1000 == 0 and written and rng.random() < 0.4:
        return f"{value // 1000} thousand"
    return f"{value:,}" if rng.random() < 0.6 else str(value)


def figures(rng: Random) -> Iterator[Example]:
    """Figures of several things, written in several ways; the figure of another thing, and another figure."""
    pattern, limits = rng.choice(LISTS["measures"]).split("#")
    ways = pattern.split("|")
    low, high = map(int, limits.split("-"))

    def draw() -> int:
        value = int(low * (high / low) ** rng.random())
        if value >= 100_000 and rng.random() < 0.7:
            return max(100_000, round(value, -5))
        return round(value, -3) if value >= 5000 and rng.random() < 0.5 else value

    makers: list[Maker] = [
        company,
        lambda r: f"the {r.choice(PLACE)} {r.choice(LISTS['things'])}",
        lambda r: r.choice(LISTS["products"]),
    ]
    make = rng.choice(makers)
    things = list(dict.fromkeys(make(rng) for _ in range(3)))
    values = list(dict.fromkeys(draw() for _ in range(6)))
    if len(things) < 2 or len(values) < 3:
        return
    told = [
        finish(rng.choice(ways).format(t=t, n=_figure(v, rng, written=rng.random() < 0.3)))
        for t, v in zip(things, values, strict=False)
    ]
    passages = _document(told, rng)

    def claim_of(value: int) -> str:
        return finish(rng.choice(ways).format(t=things[0], n=_figure(value, rng, written=rng.random() < 0.6)))

    yield Example(claim_of(values[0]), passages, SUPPORTED, (), "made/scene/figure")
    wrong = values[1] if rng.random() < 0.6 else values[-1]
    if wrong != values[0]:
        claim = claim_of(wrong)
        spans = [(m.start(), m.end()) for m in re.finditer(r"\d[\d,.]*(?: (?:million|thousand))?", claim)]
        yield Example(claim, passages, CONTRADICTED, tuple(spans[-1:]) or None, "made/scene/misfigure")


MAKERS: tuple[tuple[Callable[[Random], Iterator[Example]], float], ...] = (
    (roles, 4.0), (plans, 1.5), (causes, 1.5), (quantities, 1.2), (opposites, 1.2), (figures, 1.5),
)  # fmt: skip


def scene_examples(count: int, rng: Random) -> list[Example]:
    """`count` claims before made-up documents."""
    made: list[Example] = []
    while len(made) < count:
        maker = rng.choices([m for m, _ in MAKERS], [w for _, w in MAKERS])[0]
        made.extend(maker(rng))
    return made[:count]
