"""Small made-up notices, minutes and lists, with questions and claims about them in other words than theirs.

A frame is one kind of fact (who looks after a thing, when a paper is due) with several ways to say it and several ways
to ask for it, which share few words. A text says facts of some frames about some things. Whoever is asked about, and
whatever is asked of them, stands in other facts of the same text: the text says who mended the tent and who looks after
the drill, and the question is who mended the drill. Of every text as much is asked that it answers as that it does not,
and as many claims hold as do not, so that neither the text, nor a way of asking, nor shared words give anything away.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lab.training.judge import rows as judge
from lab.training.judge.scenes import PLACE, person
from lab.training.judge.words import MONTHS, NUMBER_WORDS
from lab.training.reader import rows as reader


@dataclass(frozen=True)
class Frame:
    """A kind of fact about a `key` of one kind, with a `value` of another; `says` and `asks` have places for both."""

    key: str
    value: str
    says: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """A frame with what fills it."""

    frame: Frame
    key: str
    value: str

    def said(self, way: str) -> tuple[str, int]:
        """The fact in one way, and where the value stands in it."""
        before, place, after = re.split(r"(\{[bB]\})", way, maxsplit=1)
        value = self.value if place == "{b}" else _capital(self.value)
        start = _filled(before, self.key)
        return f"{start}{value}{_filled(after, self.key)}", len(start)

    def asked(self, way: str) -> str:
        """A question for the value."""
        return _filled(way, self.key)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _filled(way: str, key: str) -> str:
    bare = key.removeprefix("the ")
    return way.replace("{A}", _capital(key)).replace("{a0}", bare).replace("{a}", key)


def _sections() -> tuple[dict[str, list[str]], list[Frame]]:
    """The lists and the frames of everyday.txt."""
    text = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8")
    lists: dict[str, list[str]] = {}
    frames = []
    for head, body in re.findall(r"^\[(\w+)\](.*?)(?=^\[|\Z)", text, re.M | re.S):
        first, *lines = (line.strip() for line in body.strip().splitlines())
        if head == "frame":
            key, value = first.split()
            ways = {mark: tuple(line[2:] for line in lines if line.startswith(mark)) for mark in "=?"}
            frames.append(Frame(key, value, ways["="], ways["?"]))
        else:
            lists[head] = [item for line in (first, *lines) for item in line.split("|")]
    return lists, frames


LISTS, FRAMES = _sections()
OF_KEY: dict[str, list[Frame]] = defaultdict(list)
for _frame in FRAMES:
    OF_KEY[_frame.key].append(_frame)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _date(rng: Random) -> str:
    year = f" {rng.randint(2019, 2026)}" if rng.random() < 0.3 else ""
    return f"{rng.randint(1, 28)} {rng.choice(MONTHS)}{year}"


def _day(rng: Random) -> str:
    return rng.choice((
        _date(rng), f"{rng.choice(WEEKDAYS)}, {_date(rng)}", f"the {rng.choice(('first', 'second', 'last'))} "
        f"{rng.choice(WEEKDAYS)} in {rng.choice(MONTHS)}", f"{rng.choice(WEEKDAYS)} week",
    ))  # fmt: skip


def _clock(rng: Random) -> str:
    hour = rng.randint(6, 22)
    spoken = ("half past", "a quarter past", "a quarter to")
    return rng.choice((
        f"{hour % 12 or 12} {'pm' if hour > 11 else 'am'}", f"{hour}:{rng.choice(('00', '15', '30', '45'))}",
        f"{rng.choice(spoken)} {_number_word(rng, 12)}", f"{_number_word(rng, 12)} o'clock",
    ))  # fmt: skip


def _number_word(rng: Random, most: int) -> str:
    return rng.choice([word for word in NUMBER_WORDS[2:most] if word.isalpha()])


def _money(rng: Random) -> str:
    amount = rng.choice(
        (f"{rng.randint(2, 90)}", f"{rng.randint(1, 9)}.50", f"{rng.randint(1, 48)}0", "1,200", "2,350")
    )
    return rng.choice((f"£{amount}", f"€{amount}", f"${amount}", f"{_number_word(rng, 13)} pounds"))


def _number(rng: Random) -> str:
    return rng.choice((str(rng.randint(13, 99)), str(rng.randint(100, 400)), _number_word(rng, 20)))


def _span(rng: Random) -> str:
    unit = rng.choice(("days", "weeks", "months"))
    return rng.choice((f"{_number_word(rng, 12)} {unit}", f"{rng.randint(2, 30)} {unit}", "a fortnight", "half a year"))


def _hours(rng: Random) -> str:
    return rng.choice((
        f"{rng.randint(2, 9)} hours", f"{rng.choice((20, 25, 40, 45, 75, 90))} minutes", "an hour and a half",
        f"{_number_word(rng, 9)} hours", "half an hour",
    ))  # fmt: skip


def _someone(rng: Random) -> str:
    named = person(rng)
    formal = " " in named and rng.random() < 0.3
    return f"{rng.choice(('Mrs', 'Mr', 'Ms', 'Dr'))} {named.split()[-1]}" if formal else named


MAKERS: dict[str, Callable[[Random], str]] = {
    "person": _someone, "town": lambda r: r.choice(PLACE), "date": _date, "day": _day, "clock": _clock, "money": _money,
    "number": _number, "span": _span, "hours": _hours, "weekday": lambda r: r.choice(WEEKDAYS),
    "year": lambda r: str(r.randint(1880, 2024)),
    "weight": lambda r: f"{r.randint(4, 240)} {r.choice(('kg', 'kilos'))}",
    "temperature": lambda r: f"{r.randint(4, 24)} {r.choice(('°C', 'degrees'))}",
    "phone": lambda r: f"0{r.randint(20, 99)} {r.randint(1000, 9999)} {r.randint(100, 999)}",
}  # fmt: skip
"""What makes a key or value of a kind; the other kinds are lists."""


def made(kind: str, rng: Random, but: frozenset[str] = frozenset()) -> str:
    """A key or value of a kind, none of those that are taken."""
    while True:
        found = MAKERS[kind](rng) if kind in MAKERS else rng.choice(LISTS[kind])
        if found not in but:
            return found


@dataclass(frozen=True)
class Notice:
    """A text, and the `main` fact of it: the `way` and `sentence` that say it, and where the `value` begins.

    `other` is spoken of in the text, but the main fact is not said of it; `unsaid` is not said of the main fact's key.
    """

    text: str
    main: Fact
    way: str
    sentence: tuple[int, int]
    value: int
    facts: tuple[Fact, ...]
    other: str
    unsaid: Frame


def notice(rng: Random) -> Notice:
    """A text of three to six facts, most of which share their kind or what they are about with the main one."""
    frame = rng.choice(FRAMES)
    taken: set[str] = set()

    def new(kind: str) -> str:
        found = made(kind, rng, frozenset(taken))
        taken.add(found)
        return found

    alike = [f for f in OF_KEY[frame.key] if f is not frame]
    main = Fact(frame, new(frame.key), new(frame.value))
    other, unsaid = new(frame.key), _unsaid(frame, alike, rng)
    rest = [f for f in alike if f is not unsaid] or alike
    facts = [main, _fact(rng.choice(rest), other, new)]
    if rng.random() < 0.6:
        facts.append(Fact(frame, new(frame.key), new(frame.value)))
    if rng.random() < 0.5:
        facts.append(_fact(rng.choice(rest), main.key, new))
    if rng.random() < 0.4:
        facts.append(_fact(unsaid, new(frame.key), new))
    if rng.random() < 0.4:
        free = rng.choice(FRAMES)
        facts.append(_fact(free, new(free.key), new))
    said = [(fact, rng.choice(fact.frame.says)) for fact in facts]
    lines: list[tuple[str, int]] = [fact.said(way) for fact, way in said]
    lines += [(text, -1) for text in rng.sample(LISTS["fluff"], rng.choice((0, 0, 1, 2)))]
    order = rng.sample(range(len(lines)), len(lines))
    between, mark = ("\n", "- ") if rng.random() < 0.15 else (" ", "")
    text, start = "", 0
    for turn, number in enumerate(order):
        text += (between if turn else "") + mark
        start = len(text) if number == 0 else start
        text += lines[number][0]
    sentence = start, start + len(lines[0][0])
    return Notice(text, main, said[0][1], sentence, start + lines[0][1], tuple(facts), other, unsaid)


def _unsaid(frame: Frame, alike: list[Frame], rng: Random) -> Frame:
    """Another frame of the same kind of key, with the same kind of value where there is one and often."""
    same = [f for f in alike if f.value == frame.value]
    return rng.choice(same) if same and rng.random() < 0.6 else rng.choice(alike)


def _fact(frame: Frame, key: str, new: Callable[[str], str]) -> Fact:
    return Fact(frame, key, new(frame.value))


def questions(count: int, rng: Random) -> Iterator[reader.Example]:
    """`count` questions, every other one answered: the main fact, and what is not said of another or of the same."""
    for _ in range((count + 1) // 2):
        n = notice(rng)
        fact, frame = n.main, n.main.frame
        span = n.value, n.value + len(fact.value)
        asked = fact.asked(rng.choice(frame.asks))
        yield reader.Example(asked, n.text, True, (span,), (n.sentence,), made="everyday")
        lure = rng.choice((Fact(frame, n.other, ""), Fact(n.unsaid, fact.key, "")))
        yield reader.Example(lure.asked(rng.choice(lure.frame.asks)), n.text, False, made="everyday")


def claims(count: int, rng: Random) -> Iterator[judge.Example]:
    """`count` claims, every other one true: as sentences in another way than the text's, and as question and answer."""
    for _ in range((count + 1) // 2):
        n = notice(rng)
        fact, frame = n.main, n.main.frame
        wrong = [(Fact(frame, n.other, fact.value), judge.UNSUPPORTED)]
        if others := [f.value for f in n.facts[1:] if f.frame.value == frame.value]:
            wrong.append((Fact(frame, fact.key, rng.choice(others)), judge.NOT_SUPPORTED))
        if n.unsaid.value == frame.value:
            wrong.append((Fact(n.unsaid, fact.key, fact.value), judge.UNSUPPORTED))
        false, label = rng.choice(wrong)
        asked = rng.random() < 0.3
        for told, known in ((fact, judge.SUPPORTED), (false, label)):
            ways = [way for way in told.frame.says if known != judge.SUPPORTED or way != n.way]
            claim, _ = told.said(rng.choice(ways))
            if asked:
                claim = f"{told.asked(rng.choice(told.frame.asks))} {_capital(told.value)}."
            spans = () if known == judge.SUPPORTED else None
            yield judge.Example(claim, (n.text,), known, spans, "everyday")
