"""What a claim puts together otherwise than the passages do, all of its words being there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from cragraph.text.clauses import BASES, Clause, Terms, clauses
from cragraph.text.facts import Fact, compare, extract
from cragraph.text.facts.polarity import denied_stretches, negative, opposites
from cragraph.text.lexicon import LEXICON, meanings, pattern, words_of
from cragraph.text.sentences import sentences as sentences_of
from cragraph.text.words import share, stem, terms, topic
from cragraph.verification.windows import is_table_row

SAME_MATTER: Final = 0.5  # share of words, weighed, that two parts must have in common to speak of the same thing
ALL: Final = 0.75  # share of a claim's clause that one of a passage must have to say the same
TERSE: Final = 6  # words of a sentence such as "No oil, no glue.", which forbids what it names
FEW: Final = 0.2  # the share below which they speak of different things


@dataclass(frozen=True)
class Mismatch:
    """Words of a passage, and how the claim puts them together otherwise."""

    stated: str
    said: str

    @property
    def reason(self) -> str:
        """Both in a sentence."""
        return f"{self.said}: the passage says “{self.stated}”"


def mismatch(claim: str, texts: Sequence[str]) -> Mismatch | None:
    """What a claim puts together otherwise than the passages, None where nothing can be shown.

    Reads roles, plans, causes, *only*, *all*, *except*, *without* and comparisons. Favours precision: a part of the
    claim that stands in no passage may be other words for what they say, and shows nothing.
    """
    sentences = [sentence for text in texts for sentence in sentences_of(text)]
    known = _known(tuple(texts))
    for check in (_comparison if _THAN.search(claim) else _deed, _cause, _only, _all, _multiple, _lacking, _excepted):
        if shown := check(claim, sentences, known):
            return shown
    return None


@lru_cache(maxsize=64)
def _known(texts: tuple[str, ...]) -> Terms:
    return frozenset().union(*map(_stems, texts))


@lru_cache(maxsize=8192)
def _heavy(text: str) -> Terms:
    return frozenset(map(alike, topic(text)))


@cache
def _same() -> dict[str, str]:
    """A stem, with a particle where it has one, to the stem that stands for it."""

    def key(words: str) -> str:
        first, *particles = words.split()
        return " ".join([stem(first), *particles])

    table = {key(form): key(base) for form, base in (BASES | meanings(LEXICON["same_deed"])).items()}
    return {word: table.get(base, base) for word, base in table.items()}


@lru_cache(maxsize=65536)
def alike(term: str) -> str:
    """One term for all that mean the same."""
    return _same().get(term, term)


_WEAK, _SAYING, _MUTUAL, _GENERIC = (
    frozenset(map(stem, words_of(name))) for name in ("weak_verbs", "saying_verbs", "mutual_verbs", "generic_nouns")
)


def same_deed(own: Clause, clause: Clause) -> bool:
    """Whether two clauses have one verb, and one that does not say the same with both sides exchanged."""
    return alike(clause.verb) == alike(own.verb) and own.verb not in _MUTUAL


def _deed(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    for own in clauses(claim):
        first, agreed = None, False
        verb, own_terms = alike(own.verb), _like(own.terms)
        # Only what shares a word besides the verb can speak of the same deed.
        near = [sentence for sentence in sentences if own_terms & _stems(sentence)]
        if any(is_table_row(sentence) and share(own_terms, _stems(sentence)) >= ALL for sentence in near):
            continue
        names = own.names.union(*(clause.names for sentence in near for clause in clauses(sentence)[:1]))
        for sentence in near:
            for clause in clauses(sentence):
                if alike(clause.verb) != verb:
                    continue
                others = [c for c in clauses(sentence) if c is not clause]
                beside = frozenset().union(*(c.subject for c in others if not c.resolved))
                things = [_like(c.patient) for c in others]
                scene = Scene(known, names, beside, _stems(sentence[: clause.start]), things)
                if why := _against(own, clause, scene) or _elsewhere(own, claim, clause, sentence):
                    first = first or Mismatch(sentence, why)
                else:
                    agreed = agreed or share(own_terms & known, _like(clause.terms)) >= ALL
        if first and not agreed:
            return first
    return None


@dataclass(frozen=True)
class Scene:
    """What stands around a clause of a passage."""

    known: Terms  # all terms of the passages
    names: Terms  # those written with a capital
    beside: Terms  # the subjects of its sentence's other clauses
    before: Terms  # the terms before it ("Dawn: a poem of the sea is a film")
    things: Sequence[Terms]  # the patients of its sentence's other clauses


@lru_cache(maxsize=4096)
def _stems(sentence: str) -> Terms:
    return frozenset(map(alike, terms(sentence)))


@lru_cache(maxsize=16384)
def _like(terms: Terms) -> Terms:
    return frozenset(map(alike, terms))


def _against(own: Clause, clause: Clause, scene: Scene) -> str:
    """How the claim's clause differs from a passage's; empty where it does not, or nothing can be said."""
    a, x = _like(own.agent), _like(clause.agent)
    b, y = _like(own.patient), _like(clause.patient)
    behind, whole = _like(own.patient | own.rest), _like(clause.terms)
    plain, weak = not own.resolved and not clause.resolved, own.verb in _WEAK
    # "Lasky followed her": a pronoun may stand for the agent that the claim names.
    turned = plain and a <= scene.known and (b & y or (x & b and not y))
    elsewhere = a & (whole - x) or (a and turned)
    if elsewhere and not own.resolved and own.verb not in _MUTUAL and not a & x and x & behind:
        return "who does it and to whom is exchanged"
    if plain and own.verb not in _SAYING:
        mine, theirs = (b, y) if own.passive and clause.passive and not (a and x) else (a, x)
        others = _like(own.terms) - mine
        alike_else = share(others, whole - theirs) >= (0.6 if weak else SAME_MATTER) if others else bool(mine & theirs)
        if alike_else and _differs(mine, theirs, whole, scene):
            return "it is said of another"
        if not weak and share(a, x) >= SAME_MATTER:
            of_other = b - y and y - b and any(b <= thing for thing in scene.things)
            if of_other if b & y else _differs(b, y, whole, scene):
                return "it is said of something else"
    own_told = own.past and not (own.planned or own.possible or own.negated)
    if (
        (clause.planned or clause.possible)
        and own_told
        and share(_like(own.terms), whole) >= (ALL if weak else SAME_MATTER)
    ):
        return "a plan is told as a fact" if clause.planned else "what may be is told as a fact"
    return ""


def _differs(mine: Terms, theirs: Terms, whole: Terms, scene: Scene) -> bool:
    """Whether two nouns name different things; a name and a common noun may mean the same one."""
    own, other = mine - theirs, theirs - mine
    if not own or not other or not own <= scene.known or own & (whole | scene.before):
        return False
    if own & _like(scene.beside):
        return True
    return not (own | other) & _GENERIC and bool(own & _like(scene.names)) == bool(other & _like(scene.names))


def _elsewhere(own: Clause, claim: str, clause: Clause, sentence: str) -> str:
    """A date that the sentence has in another clause, where this one has a date too."""
    mine = _dates(claim, own)
    if not mine or own.resolved or share(_like(own.terms), _like(clause.terms)) < SAME_MATTER:
        return ""
    near = _dates(sentence, clause)
    if near and not compare(mine, near).matched and compare(mine, extract(sentence)).share == 1:
        return f"{mine[0].text.strip()} stands there for something else"
    return ""


def _dates(text: str, clause: Clause) -> list[Fact]:
    return [f for f in extract(text) if f.kind in ("date", "quarter") and clause.start <= f.start < clause.end]


_BECAUSE: Final = pattern("because")
_SO: Final = pattern("hence")


@lru_cache(maxsize=4096)
def _causes(sentence: str) -> tuple[tuple[Terms, Terms], ...]:
    if ";" in sentence:
        return tuple(pair for part in sentence.split(";") for pair in _causes(part.strip()))
    pairs = []
    for match in _BECAUSE.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if not before.strip(" ,"):
            after, _, before = after.partition(",")
        pairs.append((_heavy(after), _heavy(before)))
    for match in _SO.finditer(sentence):
        if not re.match(r"\s+by\b", sentence[match.end() :]):
            pairs.append((_heavy(sentence[: match.start()]), _heavy(sentence[match.end() :])))
    return tuple((cause, effect) for cause, effect in pairs if cause and effect)


def _cause(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    for cause, effect in _causes(claim):
        stated = [(s, c, e) for s in sentences for c, e in _causes(s)]
        if any(share(cause, c) >= SAME_MATTER and share(effect, e) >= SAME_MATTER for _, c, e in stated):
            continue
        # What happened first is no cause, but what came after it is none either.
        later = [(s, s.partition(" after ")) for s in sentences if " after " in s]
        for sentence, other, result in [*stated, *((s, _heavy(first), _heavy(then)) for s, (then, _, first) in later)]:
            crossed = min(share(cause, result), share(effect, other))
            causes, effects = share(cause, other), share(effect, result)
            if crossed >= SAME_MATTER and crossed > max(causes, effects):
                return Mismatch(sentence, "cause and effect are exchanged")
            is_cause = (sentence, other, result) in stated and effects >= 0.6
            if is_cause and causes < FEW and share(cause, known) >= 0.8:
                return Mismatch(sentence, "another cause is given")
            if " so that " in claim and " so that " in sentence and causes >= 0.6 and effects < FEW:
                return Mismatch(sentence, "another purpose is given")
    return None


_WHOLE: Final = pattern("whole")
_EXCEPT: Final = re.compile(r"\b(?:except|excepting|excluding|apart from|other than|save for|but not)\b", re.I)
_WITHOUT: Final = re.compile(r"\bwithout (?:(?:any|the|a|an|prior|written) )*(?P<what>[^\W\d_]{3,})", re.I)
_NEEDED: Final = re.compile(r"\b(?:only|unless|must|require[sd]?|needs?|needed|with)\b", re.I)
_NONE_OF: Final = re.compile(r"\b(?:no|never|not)(?: any| the)? (?P<what>[^\W\d_]{3,})", re.I)


def _lacking(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    """An exception that the claim leaves out, a condition that it does without, or what a passage forbids."""
    heavy = _heavy(claim)
    if _WHOLE.search(claim) and not _EXCEPT.search(claim):
        rest = heavy - _heavy(" ".join(_WHOLE.findall(claim)))
        for sentence in sentences:
            match = _EXCEPT.search(sentence)
            if match and share(rest, _heavy(sentence[: match.start()])) >= 0.6:
                return Mismatch(sentence, "the passage makes an exception")
    spared = _WITHOUT.search(claim)
    if spared and not denied_stretches(claim):
        what = _heavy(spared["what"])
        for sentence in sentences:
            present, plain = _heavy(sentence), not denied_stretches(sentence) and not _WITHOUT.search(sentence)
            if plain and what <= present and _NEEDED.search(sentence) and share(heavy - what, present) >= 0.6:
                return Mismatch(sentence, f"the passage does not say “{spared[0]}”")
    if negative(claim):
        return None
    for sentence in sentences:
        for match in _NONE_OF.finditer(sentence):
            what = _heavy(match["what"])
            stated = _heavy(" ".join(_NONE_OF.sub(" ", other) for other in sentences))
            if len(sentence.split()) <= TERSE and what and what <= heavy - stated:
                return Mismatch(sentence, f"the passage says “{match[0]}”")
    return None


_ELLIPTIC: Final = re.compile(
    r"(?P<who>[^\W\d_]{3,}) (?:is|are|was|were|do|does|did|has|have|had|can|may|will|must) not(?=\s*[.,;!]|\s*$)", re.I
)


def _excepted(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    """Whom a sentence such as "Cats are allowed, dogs are not." takes out, where the claim takes out another."""
    if (mine := _ELLIPTIC.search(claim)) is None:
        return None
    for sentence, theirs in ((s, match) for s in sentences if (match := _ELLIPTIC.search(s))):
        both = _like(frozenset(map(stem, (mine["who"], theirs["who"]))))
        if stem(mine["who"]) != stem(theirs["who"]) and both <= _heavy(sentence) & _heavy(claim):
            return Mismatch(sentence, f"it is not the {mine['who'].lower()} that are taken out")
    return None


_ONLY: Final = pattern("only")
_FOCUS: Final = re.compile(r"\b(?:only|solely|exclusively)\b(?P<behind>(?:\s+[\w'’-]+){1,4})", re.IGNORECASE)
_NOT_ONLY: Final = pattern("not_only")


def _only(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    match = _FOCUS.search(claim)
    if match is None or _NOT_ONLY.search(claim):
        return None
    focus = _heavy(match["behind"])
    rest = _heavy(claim) - focus
    for sentence in filter(_ONLY.search, sentences):
        if share(rest, _heavy(sentence)) >= 0.8 and not focus & _heavy(sentence):
            return Mismatch(sentence, "“only” is said of something else")
        if focus & _heavy(sentence):
            if not rest or share(rest, _heavy(sentence)) >= FEW:
                return None
            if rest <= known:
                return Mismatch(sentence, "“only” is said of something else")
    close = max(sentences, key=lambda s: share(rest | focus, _heavy(s)), default="")
    if focus and focus <= known and share(rest | focus, _heavy(close)) >= SAME_MATTER:
        return Mismatch(close, "nothing says “only” of that")
    return None


_EVERY: Final = pattern("every")
_SOME: Final = pattern("part_of")


def _all(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    if (match := _EVERY.search(claim)) is None:
        return None
    noun = alike(stem(match["noun"]))
    rest = _heavy(claim) - {noun}
    for sentence in sentences:
        part = next((f for f in _SOME.finditer(sentence) if alike(stem(f["noun"])) == noun), None)
        if part and not _EVERY.search(sentence) and share(rest, _heavy(sentence)) >= SAME_MATTER:
            return Mismatch(sentence, f"“{match.group()}” goes beyond “{part.group()}”")
    return None


_THAN: Final = re.compile(
    r"^(?P<one>.*?)\b(?P<how>(?:more|less|fewer)\b(?:\s+[\w’'-]+){0,6}?|(?!other\b|rather\b|whether\b|either\b)[\w-]+er\b"
    r"(?:\s+[\w-]+){0,3}?|better|worse)\s+than\s+(?P<other>[^,;.]+)",
    re.IGNORECASE,
)
_SCALES: Final = {kind: line.split(" / ") for kind, line in LEXICON["comparatives"].items()}
"""What is measured, with the words for more of it and for less."""


def _comparison(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    if (own := _THAN.search(claim)) is None:
        return None
    how = own["how"].lower().split()
    subject = next((_like(c.subject) for c in clauses(claim) if c.subject), frozenset())
    one, other = subject or _heavy(" ".join(how[1:])), _heavy(own["other"])
    first, second = one - other, other - one
    if not first or not second:
        return None
    for sentence in sentences:
        if (theirs := _THAN.search(sentence)) is None:
            continue
        contrary = _degree(theirs["how"]) in opposites(wide=True).get(_degree(own["how"]), ())
        if contrary or _heavy(own["how"]) & _heavy(theirs["how"]):
            a, b = _heavy(theirs["one"]), _heavy(theirs["other"])
            turned = second & a and first & b and not first & a and not second & b
            straight = first & a and second & b and not second & a and not first & b
            if straight if contrary else turned:
                return Mismatch(sentence, "the comparison is turned round")
    for sentence in sentences:
        pair = _measured(sentence, first, second, how)
        if pair is not None and pair[0].value != pair[1].value:
            if (pair[0].value > pair[1].value) != pair[2]:
                return Mismatch(sentence, "its figures compare the other way")
            return None
    return None


def _degree(how: str) -> str:
    """The stem of what a comparison compares: that of *quiet* for "quieter"."""
    word = how.lower().split()[0]
    return stem(re.sub(r"(?:(?<=i)er|er)$", "", word).removesuffix("i") if word.endswith("er") else word)


def _measured(sentence: str, first: Terms, second: Terms, how: Sequence[str]) -> tuple[Fact, Fact, bool] | None:
    """The figures of two things that a word compares, and whether the first should be the greater one."""
    owners: dict[int, list[Fact]] = {0: [], 1: []}
    owner = None
    facts = {fact.start: fact for fact in (*extract(sentence), *_single(sentence))}
    for match in re.finditer(r"[\w$€£]+", sentence):
        own = _heavy(match.group())
        owner = 0 if own & first else 1 if own & second else owner
        if owner is not None and match.start() in facts:
            owners[owner].append(facts[match.start()])
    for kind, (more, less) in _SCALES.items():
        if how[0] not in more.split() and how[0] not in less.split():
            continue
        left, right = ([f for f in figures if kind in (f.kind, f.unit)] for figures in owners.values())
        if len(how) > 1 and min(len(left), len(right)) > 1:
            continue
        if len(left) == len(right) == 1:
            return left[0], right[0], how[0] in more.split()
    return None


def _single(sentence: str) -> Iterator[Fact]:
    """One unit, as in "a week"."""
    for match in re.finditer(r"\b(?:a|an|one)(?=\s+(?:second|minute|hour|day|week|month|year)\b)", sentence, re.I):
        written = extract("1" + sentence[match.end() : match.end() + 12])
        if written:
            yield replace(written[0], start=match.start())


_TIMES: Final = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0, "halv": 0.5}
_MULTIPLE: Final = re.compile(r"\b(?P<how>doubl|tripl|quadrupl|halv)(?:ed|es|e|ing)\b", re.IGNORECASE)


def _multiple(claim: str, sentences: Sequence[str], known: Terms) -> Mismatch | None:
    if (match := _MULTIPLE.search(claim)) is None:
        return None
    rest = _heavy(claim[: match.start()] + claim[match.end() :])
    for sentence in sentences:
        figures = [f for f in extract(sentence) if f.kind in ("number", "money", "measure", "percent") and f.value > 0]
        if len(figures) == 2 and len({(f.kind, f.unit) for f in figures}) == 1 and not _MULTIPLE.search(sentence):
            first, last = figures
            ratio = last.value / first.value
            if share(rest, _heavy(sentence)) >= SAME_MATTER and not 0.9 < ratio / _TIMES[match["how"].lower()] < 1.1:
                return Mismatch(sentence, f"“{match.group()}” is not {ratio:.2g} times")
    return None
