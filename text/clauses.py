"""Clauses of English sentences, read without a grammar: who does what to whom, as a plan or as a fact."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from cragraph.text.lexicon import LEXICON, listed, meanings, words_of
from cragraph.text.words import stem, topic

Terms = frozenset[str]

_BE: Final = listed("am is are was were be been being 's 're isn't aren't wasn't weren't")
_HAVE: Final = listed("has have had having hasn't haven't hadn't")
_DO: Final = listed("do does did don't doesn't didn't")
_MODAL: Final = listed("will would shall should may might could won't wouldn't shouldn't couldn't 'll")
"""Auxiliaries of what is not, or not yet, a fact."""
_MAY: Final = listed("may might could")
_CAN: Final = listed("can must cannot can't mustn't")
_AUXILIARY: Final = _BE | _HAVE | _DO | _MODAL | _CAN | {"get", "gets", "got"}
_PLANNING: Final = re.compile(
    r"(?:plan|intend|intention|hop(?:e|es|ed|ing)$|want|wish|aim|expect|propos|consider|promis|try|tries|trying|tried|"
    r"attempt|fail|refus|due$|set$|schedul|going$|likely$|discuss|suggest|threaten|seek|sought|need|decid|agree|"
    r"prepar|allow|abl[e]$|unable|ask|urg|want)"
)
"""Words before an infinitive after which it may not have happened."""
_ADVERB: Final = re.compile(
    r"(?:not|n't|never|also|only|just|still|already|now|later|soon|again|first|then|once|\w+ly)$"
)
_DETERMINER: Final = listed(
    "a an the this that these those its his her their our my your each every no some any both all"
)
_PREPOSITION: Final = words_of("prepositions")
_BREAK: Final = listed(
    "and or but while whereas because since as so although though when after before until if unless which who whom "
    'whose that where than therefore ; : . ! ? ( ) — – " “ ”'
)
_FREE: Final = _DETERMINER | _PREPOSITION | _BREAK | {","}  # what follows a verb, and no noun
_STRONG: Final = listed("but while whereas because since although though when if unless ; : . ! ? ( ) — –")
_RELATIVE: Final = listed("which who that")
_PRONOUN: Final = listed("he she it they him them this these those who which that we you i one")
_PAST: Final = words_of("irregular_past")  # forms of irregular verbs, as participles too
_PARTICIPLES: Final = words_of("irregular_participles")  # irregular participles that are no past tense
BASES: Final = meanings(LEXICON["verb_forms"])
_PRESENT: Final = words_of("present_verbs")
"""Verbs that are known in the present tense; all others are verbs as *-ed* or after an auxiliary only."""
_PLURAL: Final = listed("people staff children men women police who we you they i most some many several few")
_TOKEN: Final = re.compile(r"\w+(?:[’'.&/-]\w+)*%?|[^\w\s]")
_ASIDE: Final = re.compile(r"\([^()]*\)|-LRB-.*?-RRB-")
_NO_VERBS: Final = listed("need feed seed weed deed shed sled breed speed greed hundred indeed")
_COUNTS: Final = listed("two three four five six seven eight nine ten twelve first second third last next")
_PARTICLE: Final = listed("up over off out down back away")


class Clause(NamedTuple):
    """Who (`agent`) does what (`verb`) to whom (`patient`), with what else is said (`rest`), as stems.

    The passive is turned round. `planned` says that it is not told as a fact, `possible` that it may be one, `resolved`
    that a pronoun or nothing stands for the subject, which is then that of the clause before. `names` are the
    sentence's terms that are written with a capital. ``text[start:end]`` is about its words.
    """

    verb: str
    agent: Terms = frozenset()
    patient: Terms = frozenset()
    rest: Terms = frozenset()
    names: Terms = frozenset()
    passive: bool = False
    planned: bool = False
    past: bool = False
    negated: bool = False
    possible: bool = False
    resolved: bool = False
    start: int = 0
    end: int = 0

    @property
    def subject(self) -> Terms:
        """What stands before the verb."""
        return self.patient if self.passive else self.agent

    @property
    def others(self) -> Terms:
        """All terms but the verb and what stands before it."""
        return self.rest | (self.agent if self.passive else self.patient)

    @property
    def terms(self) -> Terms:
        """All its terms but the verb."""
        return self.agent | self.patient | self.rest


class _Token(NamedTuple):
    text: str
    low: str
    start: int
    end: int
    is_word: bool
    content: Terms


@lru_cache(maxsize=16384)
def _read(text: str) -> tuple[str, bool, Terms]:
    """A token in lower case, whether it is a word, and its terms that say something."""
    low = text.lower().replace("’", "'")
    empty = not low[0].isalnum() or low in _AUXILIARY or low in _PRONOUN
    return low, low[0].isalnum(), frozenset() if empty else topic(text)


def _content(tokens: Iterable[_Token]) -> Terms:
    return frozenset(term for token in tokens for term in token.content)


def _tokens(sentence: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        low, is_word, content = _read(text)
        tokens.append(_Token(text, low, *match.span(), is_word, content))
    return tokens


class _Group(NamedTuple):
    """A verb group: the tokens from `first` to `main`, and its clause without any noun."""

    first: int
    main: int
    clause: Clause
    loose: bool
    """An infinitive or gerund, which takes the subject before it."""
    reduced: bool
    """A participle behind a noun: "the film directed by Ann Lee"."""


@lru_cache(maxsize=4096)
def clauses(sentence: str) -> tuple[Clause, ...]:
    """The clauses of a sentence in order; those of "the chair, Ann Lee," too, as one with the verb *be*."""
    tokens = _tokens(_ASIDE.sub(lambda aside: " " * len(aside.group()), sentence))
    groups = list(_groups(tokens))
    names = _names(tokens, alone=bool(groups) and groups[0].first == 1)
    read: list[Clause] = list(_named(tokens, names))
    subject: Terms = frozenset()
    for number, group in enumerate(groups):
        after = groups[number - 1].main + 1 if number else 0
        own, beside, begun, relative = _subject(tokens, after, group, number > 0)
        if own:
            subject = own
        until = _until(tokens, group, groups[number + 1] if number + 1 < len(groups) else None)
        passive = group.clause.passive
        objects, by, rest = _objects(tokens[group.main + 1 : until], passive=passive)
        read.append(
            group.clause._replace(
                agent=by if passive else subject,
                patient=subject if passive else objects,
                rest=beside | rest | (objects if passive else by),
                names=names,
                resolved=group.reduced or relative or not own,
                start=tokens[begun].start,
                end=tokens[max(group.main, until - 1)].end,
            )
        )
    return tuple(read)


def _groups(tokens: Sequence[_Token]) -> Iterator[_Group]:
    position = 0
    while position < len(tokens):
        group = _group(tokens, position) if _may_begin(tokens[position].low) else None
        if group is None:
            position += 1
        else:
            yield group
            position = group.main + 1


@lru_cache(maxsize=16384)
def _may_begin(word: str) -> bool:
    """Whether a verb group may begin with a word."""
    return (
        word in _AUXILIARY
        or word == "to"
        or word in _PAST
        or word.endswith(("ed", "ing"))
        or bool(_bases(word) & _PRESENT)
    )


def _group(tokens: Sequence[_Token], first: int) -> _Group | None:
    """The verb group that begins here."""
    low = tokens[first].low
    before = tokens[first - 1].low if first else ""
    helpers: list[str] = []
    place, negated, infinitive = first, False, False
    if low == "to" and _is_infinitive(tokens, first + 1):
        infinitive, place = True, first + 1
    while place < len(tokens) and (tokens[place].low in _AUXILIARY or (helpers and _ADVERB.match(tokens[place].low))):
        helper = tokens[place].low
        negated = negated or helper.endswith("n't") or helper in ("not", "never", "cannot")
        helpers.append(helper)
        place += 1
    main = place
    if helpers and not (main < len(tokens) and _is_main(tokens, main, helpers, infinitive)):
        main = max(p for p in range(first, place) if tokens[p].low in _AUXILIARY)
        helpers = helpers[: main - first]
    elif not (helpers or infinitive or _is_finite(tokens, first) or _is_gerund(low, before)):
        return None
    word = tokens[main].low
    passive = bool(_BE & set(helpers) or {"get", "gets", "got"} & set(helpers)) and _is_participle(word)
    possible = bool(_MAY & set(helpers))
    planned = bool((_MODAL - _MAY - {"couldn't"}) & set(helpers)) or (infinitive and before in _BE)
    gerund = not helpers and word.endswith("ing")
    if infinitive or gerund:
        planned = planned or any(_PLANNING.match(t.low) for t in tokens[max(0, first - 8) : first])
    verb = "be" if word in _BE else stem(BASES.get(word, word))
    if main + 1 < len(tokens) and tokens[main + 1].low in _PARTICLE:
        verb = f"{verb} {tokens[main + 1].low}"
    finite = _is_participle(word) and not helpers
    past = finite or bool({"was", "were", "did", "has", "have", "had"} & {*helpers, word})
    behind = [token.low for token in tokens[main + 1 : main + 3]]
    by = len(behind) == 2 and behind[0] == "by" and not behind[1][0].isdigit()
    reduced = finite and (by or (word in _PARTICIPLES)) and before not in _PRONOUN
    clause = Clause(verb, passive=passive or reduced, planned=planned, past=past, negated=negated, possible=possible)
    return _Group(first, main, clause, infinitive or gerund, reduced)


def _is_main(tokens: Sequence[_Token], place: int, helpers: Sequence[str], infinitive: bool) -> bool:
    """Whether the word behind auxiliaries is their verb, and no complement of *be* or object of *have*."""
    word = tokens[place].low
    if infinitive and not helpers:
        return True
    last = next(helper for helper in reversed(helpers) if helper in _AUXILIARY)
    if last in _BE or last in ("got", "get", "gets"):
        return _is_participle(word) or (word.endswith("ing") and len(word) > 5)
    if last in _HAVE:
        return _is_participle(word)
    return _may_be_base(word)


def _is_infinitive(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a verb stands behind *to*, and not a noun."""
    word = tokens[place].low if place < len(tokens) else ""
    behind = tokens[place + 1].low if place + 1 < len(tokens) else "."
    if word in _PRESENT or word in _BE | _HAVE | _DO:
        return True
    return _may_be_base(word) and not word.endswith("s") and behind in _DETERMINER


def _may_be_base(word: str) -> bool:
    return word.isalpha() and word not in _DETERMINER | _PREPOSITION | _PRONOUN | _BREAK and not word.endswith("ing")


def _is_participle(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and len(word) > 3 and word not in _NO_VERBS)


def _is_finite(tokens: Sequence[_Token], place: int) -> bool:
    word, before = tokens[place].low, tokens[place - 1] if place else None
    behind = tokens[place + 1].low if place + 1 < len(tokens) else "."
    determined = before is not None and before.low in _DETERMINER and not (place > 1 and before.text[0].isupper())
    if not word.isalpha() or determined:
        return False
    if _is_participle(word):
        # "the closed shop", "a large rebuilt mill": before a noun it is an adjective.
        return not (before and before.low in _PREPOSITION)
    if before is None or not before.is_word or tokens[place].text[0].isupper():
        return False
    if before.low in _PREPOSITION | _AUXILIARY | _COUNTS or before.low == "of" or before.low[0].isdigit():
        return False
    if not _bases(word) & _PRESENT:
        return False
    free = behind in _FREE or behind[0].isdigit() or _ADVERB.match(behind)
    if word.endswith("s") and not word.endswith("ss"):
        return not before.low.endswith("s") or bool(free and before.text[0].isupper())
    plural = before.low in _PLURAL or (before.low.endswith("s") and not before.low.endswith("ss"))
    return plural or bool(before.low.isalpha() and free and behind not in ("of", "."))


def _is_gerund(word: str, before: str) -> bool:
    return word.endswith("ing") and len(word) > 5 and _PLANNING.match(before) is not None


def _bases(word: str) -> set[str]:
    """What a verb in the present tense may be a form of."""
    forms = {word}
    if word.endswith("s"):
        forms |= {word[:-1], word[:-2], word[:-3] + "y"} if word.endswith("ies") else {word[:-1], word[:-2]}
    return forms


def _subject(tokens: Sequence[_Token], after: int, group: _Group, follows: bool) -> tuple[Terms, Terms, int, bool]:
    """The terms of the noun before a verb group, those of an adverbial, where they begin, whether *who* joins them."""
    if group.loose:
        return frozenset(), frozenset(), group.first, False
    places = range(after, group.first)
    breaks = [place for place in places if tokens[place].low in _BREAK]
    if breaks and tokens[breaks[-1]].low in _RELATIVE and breaks[-1] == group.first - 1:
        return _last_noun(tokens[: breaks[-1]]), frozenset(), breaks[-1], True
    # "Growth and use of blogs": what joins two nouns breaks nothing, where no verb stands before it.
    if not follows:
        breaks = [place for place in breaks if tokens[place].low not in ("and", "or")]
    first = breaks[-1] + 1 if breaks else after
    commas = [place for place in range(first, group.first) if tokens[place].low == ","]
    pieces = [tokens[left + 1 : right] for left, right in pairwise([first - 1, *commas, group.first])]
    if follows and not breaks and len(pieces) > 1:
        pieces = pieces[1:]
    # "At the end of the year, the company": what a comma parts from the subject is no part of it.
    apart = [piece for piece in pieces[:-1] if not piece or piece[0].low not in _PREPOSITION]
    kept = [*apart, _trimmed(pieces[-1])]
    nouns = _content([token for piece in kept for token in piece])
    whole = _content([token for piece in pieces for token in piece])
    return nouns, whole - nouns, min(first, group.first), False


def _trimmed(piece: Sequence[_Token]) -> Sequence[_Token]:
    """A stretch before a verb without the adverbial that it may open with: "In winter the ferry"."""
    if not piece or piece[0].low not in _PREPOSITION:
        return piece
    starts = [place for place, token in enumerate(piece) if token.low in _DETERMINER and place > 1]
    if len(piece) > 2 and piece[1].low[0].isdigit():
        return piece[2:]
    return piece[starts[-1] :] if starts else []


def _last_noun(tokens: Sequence[_Token]) -> Terms:
    """The noun that a relative clause speaks of."""
    noun: list[_Token] = []
    for token in reversed(tokens):
        if token.low == "," and not noun:
            continue
        if not token.is_word or token.low in _BREAK | _PREPOSITION | _AUXILIARY:
            break
        noun.append(token)
        if token.low in _DETERMINER:
            break
    return _content(noun)


def _names(tokens: Sequence[_Token], *, alone: bool) -> Terms:
    """The terms that are written with a capital; of the first word only where the next one is, too, or where it stands
    `alone` before the verb and is no plural: "Maisie noticed"."""
    capital = [token.text[0].isupper() for token in tokens]
    first = len(tokens) > 1 and (capital[1] or (alone and not tokens[0].low.endswith("s")))
    return _content(
        token
        for place, token in enumerate(tokens)
        if capital[place] and (place > 0 or first) and token.low not in _DETERMINER
    )


def _until(tokens: Sequence[_Token], group: _Group, following: _Group | None) -> int:
    """Where the words end that belong to a verb."""
    last = following.first if following else len(tokens)
    strong = next((p for p in range(group.main + 1, last) if tokens[p].low in _STRONG), last)
    if following is None or strong < last:
        return strong
    breaks = [p for p in range(group.main + 1, last) if tokens[p].low in _BREAK or tokens[p].low == ","]
    return breaks[-1] if breaks and not following.loose else last


def _objects(tokens: Sequence[_Token], *, passive: bool) -> tuple[Terms, Terms, Terms]:
    """Object, agent behind *by*, and the rest."""
    objects, by, rest = set[str](), set[str](), set[str]()
    into = objects
    for place, token in enumerate(tokens):
        if place == 0 and token.low in _PARTICLE:
            continue
        if token.low in _PREPOSITION:
            behind = tokens[place + 1] if place + 1 < len(tokens) else None
            agent = token.low == "by" and passive and behind is not None and not behind.low[0].isdigit()
            into = by if agent else rest
        else:
            into |= token.content
    return frozenset(objects), frozenset(by), frozenset(rest)


def _named(tokens: Sequence[_Token], names: Terms) -> Iterator[Clause]:
    """What an apposition says: "its first director, Owen Price," and "her colleague Samuel Idowu"."""
    for place, token in enumerate(tokens):
        if token.low not in _DETERMINER:
            continue
        role: list[_Token] = []
        after = place + 1
        while after < len(tokens) and tokens[after].text.islower() and tokens[after].low.isalpha():
            if tokens[after].low in _PREPOSITION | _BREAK or len(role) == 4:
                break
            role.append(tokens[after])
            after += 1
        name: list[_Token] = []
        comma = after < len(tokens) and tokens[after].low == ","
        after += comma
        while after < len(tokens) and tokens[after].text[0].isupper():
            name.append(tokens[after])
            after += 1
        closed = after < len(tokens) and tokens[after].low in ",.;)"
        if role and name and (closed if comma else len(name) > 1):
            agent, patient = _content(name), _content(role)
            yield Clause("be", agent, patient, frozenset(), names, start=token.start, end=tokens[after - 1].end)
