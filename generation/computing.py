"""Reads a question that a table computes as a query: operation, column, rows, and how sure it is of them.

A question is taken apart into what says the operation ("altogether", "how many", "dearer than"), what names a column,
what names values of cells, and what is left. What a table does not account for speaks against the reading: a name or a
figure that it does not hold ends it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cragraph.generation.questions import split_question
from cragraph.generation.rows import meant_by
from cragraph.text.facts.numbers import value_of
from cragraph.text.lexicon import LEXICON, words_of
from cragraph.text.sentences import sentence_spans
from cragraph.text.words import content_words, is_stopword, others, stem, weight
from cragraph.types import Cited, Condition, Operand, Operation, Passage, Query

if TYPE_CHECKING:
    from cragraph.retrieval.tables import Table
    from cragraph.retrieval.tables.table import Column

Near = Callable[[str, Sequence[str]], Sequence[float]]
"""How near a word is in meaning to each of some others, 0..1."""

FEATURES: Final = (
    "bias",
    "unsaid",
    "words",
    "implied",
    "partial",
    "generic",
    "quiet",
    "near",
    "aside",
    "relative",
    "adjusted",
)
WEIGHTS: Final = (4.0, -6.0, -1.0, -1.0, -0.7, -0.7, -0.7, -1.0, -1.5, -1.5, -0.5)
"""Of the chance, a logistic regression: fitted with `python -m benchmarks.computed --fit`."""
TIED: Final = 0.5  # factor on the chance where another column, or another table, may be meant as well
FLOOR: Final = 0.6
"""A reading that is less likely than this to be what was asked is not computed: the question goes the ordinary way."""
NEAR: Final = 0.55  # cosine from which on a word of the question means a column that it does not name
RIVAL: Final = 0.9  # share of the best reading's chance from which on another reading makes it a toss-up

DERIVED: Final = 5  # letters from which on a word that begins another is taken for what it is derived from

_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_][^\W_]*(?:['’][^\W\d_]+)?")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MONTHS: Final = {
    name: n for n, names in enumerate(LEXICON["months"].strip().splitlines(), 1) for name in names.split()
}

_MEAN: Final = re.compile(r"\b(?:average|mean|on average|typically|typical)\b")
_SHARE: Final = re.compile(
    r"\b(?:share|proportion|fraction|percentage|per ?cent|percent)\b of|\bwhat (?:%|per ?cent|percentage|share) "
    r"|\bhow (?:large|big|high) (?:is|was) the (?:share|proportion|percentage)"
)
_GROWS: Final = (
    r"(?:grow|grew|grown|growth|rise|rises|rose|risen|increas\w*|go up|goes up|went up|gone up|climb\w*|fall|falls|fell"
    r"|fallen|drop\w*|decreas\w*|declin\w*|shrink|shrank|shrunk|go down|went down|gone down|chang\w*|gain\w*)"
)
_GROWTH: Final = re.compile(
    rf"\bby (?:how much|how many|what|which)\b.*?\b{_GROWS}\b|\bgrowth\b|\b(?:percentage|per ?cent) (?:change|increase"
    rf"|decrease|growth|rise|fall|drop)|\bhow (?:much|many|far|strongly) (?:did|have|has|had) .*\b{_GROWS}\b"
    rf"|\b(?:increase|decrease|rise|drop|fall|change) (?:in|of)\b"
)
_PER_CENT: Final = re.compile(r"%|\bper ?cent(?:age)?s?\b")
_DIFFERENCE: Final = re.compile(
    r"\bdifference\b|\bhow (?:much|many) (?:more|less|fewer|further)\b|\bhow much (?:\w+er)\b"
    r"|\bby how (?:much|many) (?:\w+ )*?(?:more|less|exceed|differ|\w+er)\b"
)
_THAN: Final = re.compile(
    r"\b(?:more|less|fewer|(?!other|rather|over|under|number|after|ever|never)\w+er|worse)\b.*?\bthan\b"
)
_COMPARES: Final = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|can)\b")
_OR: Final = re.compile(r"\b(?:\w+er|more|less|fewer)\b[^?]*?\bor\b")
_SUM: Final = re.compile(
    r"\b(?:total(?:s|ed|ling)?|sum|altogether|all together|in all|in total|all told|together|combined|overall|add(?:s|ed)? up"
    r"|all year|whole year|over the year|in sum|as a whole|up to now)\b"
)
_COUNT: Final = re.compile(r"\bhow many\b|\b(?:the )?number of\b|\bhow often\b|\bcount (?:of|the)\b|\bhow many times\b")
_HOW_MUCH: Final = re.compile(
    r"\bhow much\b|\bwhat (?:do|does|did|have|has|is|are|was|were|would|will)\b|\bhow (?:long|heavy|far|high|tall|big)\b"
)
_COMPARED: Final = re.compile(
    r"\b(?P<how>more than|over|above|at least|no less than|less than|under|below|fewer than|at most|up to|no more than"
    r"|(?P<adjective>\w+er) than|exceed\w*|beyond)\s+[$€£]?\s?(?P<figure>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>[€£%]|[a-z]+)?"
)
_UPWARDS: Final = re.compile(
    r"more|over|above|at least|no less|exceed|beyond|bigger|larger|higher|longer|heavier|older|dearer"
)
_DENIES: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|without|un(?:paid|returned|approved|available|sold|settled))\b|n['’]t\b"
)
_TOP: Final = re.compile(
    r"\b(?:top (?P<n>\d+|\w+)|(?P<m>two|three|four|five|six|seven|eight|nine|ten|\d+) (?:\w+ )*?(?:most|least|\w+est))\b"
)
_SUPERLATIVE: Final = re.compile(
    r"\b(?P<word>most|least|fewest|best|worst|(?!interest|request|test|guest|west|rest|forest|chest|harvest|quest|latest\b)\w{3,}est|latest|maximum|minimum|max|min|record)\b"
)
_WHEN: Final = re.compile(r"\b(?P<how>since|after|before|until|from)\s+(?=\w)")
_RELATIVE: Final = re.compile(
    r"\b(?:last|this|next|previous|coming) (?:year|month|week|quarter|season|summer|winter|spring|autumn)\b|\btoday\b|\byesterday\b|\btomorrow\b"
)
_ADDS: Final = re.compile(r"(?P<figure>\d+(?:\.\d+)?)\s?(?:%|per ?cent|percent)")
_MORE: Final = re.compile(
    r"\b(?:more|extra|surcharge|supplement|on top|higher|dearer|increase\w*|added|plus|additional)\b", re.I
)
_OFF: Final = re.compile(r"\b(?:less|off|discount|cheaper|reduction|lower|rebate|reduced)\b", re.I)
_CLAUSES: Final = re.compile(r";|, (?:and|but)\b|\bbut\b|\.\s")

POLES: Final[Mapping[str, tuple[str, int]]] = {
    word: (kind.removesuffix("_least").removesuffix("_most").removeprefix("any"), -1 if kind.endswith("_least") else 1)
    for kind, words in LEXICON["poles"].items()
    for word in words.split()
}
"""What a comparative or superlative is said of, and which end it means; of dates an old one is the earlier."""
_DIMENSIONS: Final = {kind: frozenset(map(stem, words.split())) for kind, words in LEXICON["dimensions"].items()}
"""Words of a heading by what its column measures."""
_UNITS: Final = {kind: frozenset(words.split()) for kind, words in LEXICON["dimension_units"].items()}
_ASKS: Final = {kind: frozenset(map(stem, words.split())) for kind, words in LEXICON["asks_dimension"].items()}
"""Words of a question that mean a column of a dimension without naming it."""
_SAID: Final = frozenset(map(stem, [*words_of("said_of_anything"), *words_of("said_when_computing")]))
_GENERIC: Final = frozenset(map(stem, words_of("counted_of_anything")))
_QUANTITY: Final = frozenset(map(stem, words_of("quantity_columns")))
_PERIOD: Final = frozenset(map(stem, words_of("period_columns")))
_PLAIN: Final = frozenset(map(stem, words_of("plain_prices")))
_COMMON: Final = frozenset(map(stem, words_of("no_column_alone")))


_NO: Final = frozenset({"no", "false", "n", "nein", "✗"})


class Token(NamedTuple):
    """A word of the question: as written, its stem, where it stands."""

    text: str
    stem: str
    start: int
    light: bool


@dataclass(frozen=True)
class Reading:
    """A query that a question may mean, and the chance that it does, 0..1; `table` is what it is put to."""

    query: Query
    chance: float
    features: Mapping[str, float]
    table: "Table" = field(repr=False)


def read_query(
    question: str, tables: "Sequence[Table]", passages: Sequence[Passage] = (), near: Near | None = None
) -> list[Reading]:
    """What a question may compute over some tables, the likeliest first; empty where it asks for nothing of the kind.

    `passages` are looked through for what a text adds to a figure of a table, or takes off.
    """
    if len(split_question(question)) > 1:
        return []
    asked = _Asked(question)
    if not asked.computes and not (passages and asked.money):
        return []
    drafts = [draft for table in tables for draft in _Over(asked, table, near).drafts(passages)]
    readings = [Reading(d.query, chance_of(d.features), d.features, d.table) for d in drafts]
    readings.sort(key=lambda r: -r.chance)
    return readings


def chance_of(features: Mapping[str, float]) -> float:
    """The fitted chance that a reading with these features is what was asked."""
    total = sum(w * features[name] for w, name in zip(WEIGHTS, FEATURES, strict=True))
    return (TIED if features["tied"] else 1.0) / (1 + exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True)
class _Draft:
    query: Query
    features: Mapping[str, float]
    table: "Table"


class _Asked:
    """A question, taken apart as far as its words tell without a table."""

    def __init__(self, question: str) -> None:
        self.text = " ".join(question.split())
        self.lower = self.text.casefold().replace("’", "'")
        self.tokens = [
            Token(m[0], stem(re.sub(r"['’]s$", "", m[0])), m.start(), is_stopword(m[0]))
            for m in _TOKEN.finditer(self.text)
        ]
        self.compared = next(
            (m for m in _COMPARED.finditer(self.lower) if not _YEAR.fullmatch(m["figure"]) or m["unit"]), None
        )
        self.superlative = next((m for m in _SUPERLATIVE.finditer(self.lower) if _pole(m["word"])), None)
        self.mean = _MEAN.search(self.lower)
        self.share = _SHARE.search(self.lower)
        self.growth = _GROWTH.search(self.lower)
        self.per_cent = _PER_CENT.search(self.lower)
        self.than = _THAN.search(self.lower)
        self.difference = _DIFFERENCE.search(self.lower)
        self.total = _SUM.search(self.lower)
        self.count = _COUNT.search(self.lower)
        self.how_much = _HOW_MUCH.search(self.lower)
        self.yes_no = _COMPARES.search(self.lower)
        self.either = _OR.search(self.lower) if not self.than else None
        self.denied = _DENIES.search(self.lower)
        self.relative = _RELATIVE.search(self.lower) is not None
        self.years = [t for t in self.tokens if _YEAR.fullmatch(t.text)]
        stems = {t.stem for t in self.tokens}
        self.dimensions = {name for name, words in _ASKS.items() if words & stems}
        self.money = bool(self.how_much) and "money" in self.dimensions

    @property
    def computes(self) -> bool:
        """Whether anything in it may be an operation."""
        return any(
            (self.compared, self.superlative, self.mean, self.share, self.growth, self.difference, self.total, self.count,
             self.how_much, self.than and self.yes_no, self.either)
        )  # fmt: skip

    def between(self, start: int, end: int) -> list[Token]:
        """The words in a stretch of it."""
        return [t for t in self.tokens if start <= t.start < end]

    @cached_property
    def counted(self) -> list[Token]:
        """The words after "how many": what is counted, up to the verb."""
        if not self.count:
            return []
        after = self.count.end()
        words: list[Token] = []
        for token in self.tokens:
            if token.start < after or (not words and token.light):
                continue
            if token.light and token.text.casefold() not in ("of", "the", "our", "my", "their"):
                break
            if not token.light:
                words.append(token)
            if len(words) == 3:
                break
        return words


def _pole(word: str) -> tuple[str, int] | None:
    """What a comparative or superlative is said of, and which end it means."""
    for base in (word, re.sub(r"(?:est|er)$", "", word), re.sub(r"(?:est|er)$", "e", word), re.sub(r"i(?:est|er)$", "y", word), re.sub(r"(.)\1(?:est|er)$", r"\1", word)):  # fmt: skip
        if base in POLES:
            return POLES[base]
    return None


class _Named(NamedTuple):
    """Values of cells that some words name: the condition, the words, whether only a part of the value is said."""

    condition: Condition
    tokens: frozenset[int]
    partial: bool
    several: bool


class _Chosen(NamedTuple):
    """A column that some words mean: the words, whether it is implied alone, or by meaning, or as good as another."""

    column: "Column"
    tokens: frozenset[int]
    implied: bool
    near: bool
    tied: bool


class _Over:
    """One question put to one table."""

    def __init__(self, asked: _Asked, table: "Table", near: Near | None) -> None:
        self.asked, self.table, self.near = asked, table, near
        self.at = {n: t for n, t in enumerate(asked.tokens)}
        self.number = [c for c in table.columns.values() if c.kind == "number" and not c.is_number_of]
        self.figures = [c for c in self.number if not c.is_year]
        names = re.sub(r"[_\-./]+", " ", f"{table.filename.rpartition('.')[0]} {table.headings}")
        self.about = frozenset(content_words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", names)))
        self.of_words = {w for c in table.columns.values() if c.kind != "number" for w in _words(c)}
        self.label_words = {w for name in table.labels for w in _words(table.columns[name])}
        self.extension = frozenset(content_words(table.filename.rpartition(".")[2]))

    # -- drafts ------------------------------------------------------------------------------------------------

    def drafts(self, passages: Sequence[Passage]) -> Iterator[_Draft]:
        """The queries that the question may be, over this table."""
        asked = self.asked
        if asked.money and passages:
            yield from self._adjusted(passages)
        if asked.growth:
            yield from self._growth()
            return
        if asked.share:
            yield from self._share()
            return
        if asked.difference or (asked.than and asked.yes_no and not asked.compared):
            yield from self._two()
            return
        if asked.either:
            yield from self._either()
            return
        if asked.superlative and not (asked.count and not asked.superlative):
            yield from self._extreme()
            return
        if asked.mean:
            yield from self._over_rows("mean")
            return
        if asked.count:
            yield from self._counted()
            return
        if asked.compared and not asked.how_much:
            yield from self._list()
            return
        if asked.how_much or asked.total:
            yield from self._over_rows("sum")

    def _over_rows(self, operation: Operation) -> Iterator[_Draft]:
        """The sum or mean of a column over the rows that are named."""
        asked = self.asked
        named = self._named(range(len(asked.tokens)))
        used = _used(named)
        chosen = self._column(set(self.at) - used)
        if chosen is None:
            return
        where = self._where(named, chosen)
        quiet = operation == "sum" and not asked.total
        if quiet and not (asked.dimensions or "how much" in asked.lower):
            return
        if quiet and not where:
            return
        if quiet and len(self._rows(where)) < 2:
            return
        if chosen.column.is_year:
            return
        yield from self._draft(operation, chosen, where, named, quiet=quiet)

    def _counted(self) -> Iterator[_Draft]:
        """How many rows, or the sum of a column whose name is what is counted."""
        asked = self.asked
        head = asked.counted
        heads = {n for n, t in self.at.items() if t in head}
        often = asked.count is not None and asked.count[0] in ("how often", "how many times")
        named = self._named(range(len(asked.tokens)))
        used = _used(named)
        direct = self._direct(heads) if asked.compared is None else None
        if direct is not None and not often:
            clean = (
                [one for one in named if not one.tokens & direct.tokens]
                if any(one.tokens <= direct.tokens for one in named)
                else named
            )
            where = self._where(clean, direct)
            if len(self._rows(where)) != 1 or asked.total:
                yield from self._draft("sum", direct, where, clean, quiet=not asked.total and not where)
            return
        if often or not head:
            if named:
                yield from self._draft("count", None, self._where(named, None), named, generic=True)
            return
        generic = head[0].stem in _GENERIC
        subject = [n for n in heads if self._is_subject(self.at[n].stem)]
        values = [n for n in heads if n in used]
        if not (generic or subject or values):
            return
        flagged = self._flags(set(self.at) - used) or self._near_flag(set(self.at) - used - heads)
        # "How many birds were counted in spring": rows are species, and a column says how many.
        rest = set(self.at) - used - heads - {n for one in flagged for n in one.tokens}
        bounded = self.asked.compared is not None
        measured = self._column(rest, strict=True) if not bounded and (not generic or not named) else None
        quantity = next((c for c in self.figures if _words(c) & _QUANTITY), None)
        if measured is not None and not self._is_row_name(head):
            where = self._where([*named, *flagged], measured)
            yield from self._draft("sum", measured, where, [*named, *flagged], quiet=not asked.total, heads=heads)
            return
        if values and not subject and quantity is not None:
            chosen = _Chosen(quantity, frozenset(), True, False, False)
            if len(self._rows(self._where(named, chosen))) > 1:
                yield from self._draft("sum", chosen, self._where(named, chosen), named, quiet=True)
            return
        if subject and not generic and self._rows_are_periods() and not self._is_row_name(head):
            return
        conditions = [*named, *flagged]
        if self.asked.compared:
            compared = self._compared(set(self.at) - used)
            if compared is None:
                return
            conditions.append(compared)
        if not conditions and not subject:
            return
        if not conditions and not asked.total and not self._is_row_name(head):
            return
        yield from self._draft(
            "count",
            None,
            [c.condition for c in conditions],
            conditions,
            generic=generic,
            heads=heads if subject or generic else set(),
        )

    def _extreme(self) -> Iterator[_Draft]:
        """The row, or the group, with the most of a column or the least."""
        asked, match = self.asked, self.asked.superlative
        assert match is not None
        pole = _pole(match["word"])
        assert pole is not None
        dimension, end = pole
        own = {n for n, t in self.at.items() if match.start() <= t.start < match.end()}
        named = self._named(set(self.at) - own)
        used = _used(named) | own
        dated = [c for c in self.table.columns.values() if c.kind == "date"]
        head = self._head()
        chosen = self._column(
            set(self.at) - used - ({head} if head is not None else set()), dimension=dimension, dates=dated
        )
        if chosen is None:
            chosen = self._column(set(self.at) - used, dimension=dimension, dates=dated)
        if chosen is None and asked.count is None:
            quantity = [c for c in self.figures if _words(c) & _QUANTITY]
            if len(quantity) == 1:
                chosen = _Chosen(quantity[0], frozenset(), True, False, False)
        group = self._group(head)
        often = re.search(r"\b(?:most often|most times|most frequently|least often)\b", asked.lower)
        if often and group:
            counting = frozenset(n for n, t in self.at.items() if t.stem in ("often", "time", "frequent"))
            yield from self._draft(
                "largest" if end > 0 else "smallest",
                None,
                self._where(named, None),
                named,
                group=group,
                of="count",
                extra=own | counting | ({head} if head is not None else set()),
            )
            return
        if chosen is None:
            return
        operation: Operation = "largest" if end > 0 else "smallest"
        where = self._where(named, chosen)
        most = 1
        if top := _TOP.search(asked.lower):
            figure = top["n"] or top["m"]
            most = int(figure) if figure.isdigit() else int(value_of(figure) or 1)
            own |= {
                n
                for n, t in self.at.items()
                if top.start() <= t.start < top.end() and (t.text == figure or t.text == "top")
            }
        rows = self._rows(where)
        if len(rows) < 2:
            return
        extra = own | ({head} if head is not None and self._accounts_head(head) else set())
        if chosen.column.kind == "date" and end < 0 and dimension != "age":
            return
        if group and chosen.column.kind == "number":
            values = [self.table.rows[n].value(group) for n in rows]
            if len(set(values)) < len(values):
                yield from self._draft(operation, chosen, where, named, group=group, of="sum", most=most, extra=extra)
                return
        yield from self._draft(operation, chosen, where, named, most=most, extra=extra)

    def _list(self) -> Iterator[_Draft]:
        """The rows beyond a bound."""
        named = self._named(range(len(self.asked.tokens)))
        compared = self._compared(set(self.at) - _used(named))
        if compared is None or not self.asked.lower.startswith(
            ("which", "what", "list", "show", "who", "name", "give")
        ):
            return
        every = [*named, compared]
        yield from self._draft("list", None, [c.condition for c in every], every)

    def _two(self) -> Iterator[_Draft]:
        """Two rows, or two columns, against each other."""
        asked = self.asked
        split = asked.lower.find(" than ") if asked.than else -1
        if split >= 0:
            left, right = (0, split), (split, len(asked.lower))
        elif between := re.search(r"\bbetween (.+?) and (.+)", asked.lower):
            left, right = (between.start(1), between.end(1)), (between.start(2), between.end(2))
        elif apart := re.search(r"\b(?:of|in) (.+?) (?:and|from|to|versus|vs) (.+)", asked.lower):
            left, right = (apart.start(1), apart.end(1)), (apart.start(2), apart.end(2))
        else:
            return
        comparative = next((m for m in re.finditer(r"\b\w+er\b|\bmore\b|\bless\b|\bworse\b", asked.lower) if _pole(m[0]) and (split < 0 or m.start() < split)), None)  # fmt: skip
        dimension, end = (_pole(comparative[0]) or ("", 1)) if comparative else ("", 1)
        own = frozenset(
            n for n, t in self.at.items() if comparative and comparative.start() <= t.start < comparative.end()
        )
        sides = self._sides(left, right, dimension, own)
        if sides is None:
            return
        one, two, conditions, chosen = sides
        operation: Operation = "compare" if asked.yes_no and not asked.difference else "difference"
        yield from self._draft(
            operation, chosen[0], one["where"], conditions, against=two, also=chosen[1:], extra=own,
            test=">" if end > 0 else "<", column=one["column"],
        )  # fmt: skip

    def _sides(
        self, left: tuple[int, int], right: tuple[int, int], dimension: str, own: frozenset[int]
    ) -> tuple[Operand, Operand, list[_Named], list[_Chosen]] | None:
        """Two operands: what is said on one side alone of a column holds for the other side as well."""
        asked = self.asked
        parts = [{n for n, t in self.at.items() if start <= t.start < end} - own for start, end in (left, right)]
        outside = set(self.at) - parts[0] - parts[1] - own
        found = [self._named(part) for part in parts]
        shared = self._named(outside)
        columns = [{one.condition["column"] for one in some} for some in found]
        both = columns[0] & columns[1]
        if any(len({one.condition["column"] for one in some}) < len(some) for some in found):
            return None
        rows = [[one.condition for one in some] for some in found]
        for n in (0, 1):
            rows[n] += [c for c in rows[1 - n] if c["column"] not in columns[n]]
            rows[n] += [
                one.condition for one in shared if one.condition["column"] not in {c["column"] for c in rows[n]}
            ]
        named = [*found[0], *found[1], *shared]
        used = _used(named)
        chosen = []
        for part in parts:
            mine = self._column((part | outside) - used, dimension=dimension, implied=True)
            chosen.append(mine)
        differ = bool(both) and any(rows[0][i] != c for i, c in enumerate(rows[0]) for c in rows[1] if c["column"] == rows[0][i]["column"] and c != rows[0][i])  # fmt: skip
        if differ:
            whole = self._column(set(self.at) - used - own, dimension=dimension)
            if whole is None:
                return None
            chosen = [whole, whole]
        else:
            # Two columns, such as one a year: each side is told apart by its own words, and shares the others.
            pair = [self._column_by(part - used, (parts[1 - n] | outside) - used) for n, part in enumerate(parts)]
            if any(c is None for c in pair) or pair[0].column.name == pair[1].column.name:  # type: ignore[union-attr]
                return None
            chosen = pair
        if any(c is None or c.column.kind != "number" for c in chosen):
            return None
        if chosen[0].column.unit != chosen[1].column.unit:  # type: ignore[union-attr]
            return None
        operands: list[Operand] = [
            {"column": c.column.name, "where": _sorted(where)} for c, where in zip(chosen, rows, strict=True) if c
        ]
        if operands[0] == operands[1] or any(not self._rows(o["where"]) for o in operands):
            return None
        # Nothing is compared with all rows at once by chance: each side is a row, a group that is named, or a column.
        distinct = list(dict.fromkeys(c for c in chosen if c))
        return operands[0], operands[1], named, distinct

    def _either(self) -> Iterator[_Draft]:
        """Which of two rows has more."""
        asked = self.asked
        comparative = next(
            (m for m in re.finditer(r"\b\w+er\b|\bmore\b|\bless\b|\bworse\b", asked.lower) if _pole(m[0])), None
        )
        at = asked.lower.find(" or ")
        if comparative is None or at < comparative.start():
            return
        dimension, end = _pole(comparative[0]) or ("", 1)
        own = frozenset(n for n, t in self.at.items() if comparative.start() <= t.start < comparative.end())
        left = (asked.lower.rfind(",", 0, at) + 1 or comparative.end(), at)
        sides = self._sides(left, (at, len(asked.lower)), dimension, own)
        if sides is None or sides[0]["column"] != sides[1]["column"]:
            return
        one, two, named, chosen = sides
        mixed: list[Condition] = []
        for c in one["where"]:
            other = next((d for d in two["where"] if d["column"] == c["column"]), c)
            mixed.append({**c, "values": list(dict.fromkeys([*c["values"], *other["values"]]))})
        yield from self._draft("largest" if end > 0 else "smallest", chosen[0], mixed, named, extra=own)

    def _share(self) -> Iterator[_Draft]:
        """What part of a column, or of the rows, some rows make up."""
        named = self._named(range(len(self.asked.tokens)))
        flagged = self._flags(set(self.at) - _used(named)) if not named else []
        conditions = [*named, *flagged]
        if not conditions:
            return
        chosen = self._column(set(self.at) - _used(conditions), strict=True)
        where = self._where(conditions, chosen)
        heads = {n for n, t in self.at.items() if self._is_subject(t.stem)}
        if chosen is None and not heads:
            return
        whole: Operand = {"column": chosen.column.name if chosen else "", "where": []}
        yield from self._draft("share", chosen, where, conditions, against=whole, heads=heads)

    def _growth(self) -> Iterator[_Draft]:
        """From one period to another: two columns, or rows of two periods; from the first to the last where none is
        named."""
        asked = self.asked
        years = sorted({t.text for t in asked.years})
        timed = [n for n, t in self.at.items() if t in asked.years]
        grow = frozenset(
            n
            for n, t in self.at.items()
            if re.fullmatch(_GROWS, t.text.casefold()) or t.stem in ("percentag", "percent", "cent", "growth")
        )
        operation: Operation = "growth"
        by_year = {y: [c for c in self.figures if y in _words(c)] for y in self._column_years()}
        if len(by_year) >= 2:
            span = years if len(years) == 2 else sorted(by_year) if not years else []
            if len(span) < 2:
                return
            first, last = (span[0], span[-1])
            if first not in by_year or last not in by_year:
                return
            named = self._named(set(self.at) - set(timed) - grow)
            rest = set(self.at) - _used(named) - set(timed) - grow
            pair = [self._column_by({-1: year}, rest) for year in (first, last)]
            if any(c is None for c in pair):
                return
            early, late = pair
            assert early is not None and late is not None
            where = self._where(named, late)
            tokens = grow | set(timed)
            yield from self._draft(
                operation,
                late,
                where,
                named,
                against={"column": early.column.name, "where": where},
                also=[early],
                extra=tokens,
            )
            return
        period = self._period()
        if period is None:
            return
        order = sorted({v for v in (self._when(n, period) for n in range(len(self.table.rows))) if v})
        if years and len(years) == 2:
            first, last = years
        elif not years and len(order) > 1:
            first, last = order[0], order[-1]
        else:
            return
        named = [one for one in self._named(set(self.at) - set(timed) - grow) if one.condition["column"] != period.name]
        chosen = self._column(set(self.at) - _used(named) - set(timed) - grow)
        if chosen is None:
            return
        where = self._where(named, chosen)
        at: list[list[Condition]] = [
            [*where, {"column": period.name, "test": "=", "values": [v]}] for v in (first, last)
        ]
        if any(not self._rows(conditions) for conditions in at):
            return
        yield from self._draft(
            operation,
            chosen,
            at[1],
            named,
            against={"column": chosen.column.name, "where": at[0]},
            extra=grow | set(timed),
        )

    def _adjusted(self, passages: Sequence[Passage]) -> Iterator[_Draft]:
        """A price of a row with what a text says is added to it, or taken off."""
        named = self._named(range(len(self.asked.tokens)))
        if not named:
            return
        chosen = self._column(set(self.at) - _used(named), dimension="money")
        if chosen is None or "money" not in _dimensions(chosen.column):
            return
        where = self._where(named, chosen)
        if len(self._rows(where)) != 1:
            return
        left = self._unsaid(_used(named) | chosen.tokens, chosen)
        if not left:
            return
        words = {self.at[n].stem for n in left}
        for percent, at, said in _percents(passages):
            if words <= said:
                query = self._query("adjusted", chosen.column.name, where) | {"percent": percent, "percent_at": at}
                features = self._features(_used(named) | chosen.tokens | left, named, chosen, adjusted=True)
                if features is not None:
                    yield _Draft(query, features, self.table)  # type: ignore[arg-type]
                return

    # -- what words mean in this table -------------------------------------------------------------------------

    def _named(self, among: "Sequence[int] | set[int] | range") -> list[_Named]:
        """The values of cells that some words of the question name, the most of each column."""
        among = {n for n in among if n in self.at and (not self.at[n].light or self.at[n].text[:1].isupper())}
        compared = self.asked.compared
        if compared:
            among -= {n for n in among if compared.start("figure") <= self.at[n].start < compared.end("figure")}
        found: list[_Named] = []
        for column in self.table.columns.values():
            if column.kind == "text":
                found += self._text_values(column, among)
            elif column.kind == "date" or column.is_year:
                found += self._dates(column, among)
        # A word is one value's: the one that says most of it.
        found.sort(key=lambda one: (one.partial, -len(one.tokens), one.several))
        kept: list[_Named] = []
        for one in found:
            if not any(one.tokens & other.tokens for other in kept):
                kept.append(one)
        flags = self._flags(among - _used(kept))
        return [*kept, *flags]

    def _text_values(self, column: "Column", among: set[int]) -> list[_Named]:
        values = _values_of(self.table, column.name)
        by_stem: dict[str, set[int]] = {}
        for n in among:
            token = self.at[n]
            by_stem.setdefault(token.stem, set()).add(n)
            for other in others(token.stem):
                if " " not in other:
                    by_stem.setdefault(stem(other), set()).add(n)
        hits: list[tuple[str, frozenset[str], frozenset[int], bool]] = []
        for value, words in values.items():
            own = words & by_stem.keys()
            if not own:
                continue
            tokens = frozenset(n for w in own for n in by_stem[w])
            whole = own == words
            # A word of the headings, such as "repair", names no value that merely holds it.
            telling = {w for w in own if w not in self.about and w not in _SAID and w not in self._column_words}
            if whole or telling:
                hits.append((value, own, tokens, whole))
        if not hits:
            return []
        hits.sort(key=lambda hit: (-len(hit[1]), not hit[3]))
        groups: list[_Named] = []
        taken: set[int] = set()
        for value, own, tokens, whole in hits:
            if tokens & taken:
                continue
            same = [v for v, o, t, w in hits if t == tokens and o == own and w == whole]
            groups.append(
                _Named(
                    {"column": column.name, "test": "=", "values": same}, tokens, not whole, len(same) > 1 and not whole
                )
            )
            taken |= tokens
        if len(groups) > 1:
            # "July and August together" are both; what is denied is none of them.
            whole = [g for g in groups if not g.partial]
            groups = whole or groups
            joined = [v for g in groups for v in g.condition["values"]]
            tokens = frozenset(n for g in groups for n in g.tokens)
            condition: Condition = {"column": column.name, "test": "=", "values": joined}
            titled = all(self.at[n].stem in self.about for n in tokens)
            return [_Named(condition, tokens, any(g.partial for g in groups), titled or any(g.several for g in groups))]
        return groups

    @cached_property
    def _column_words(self) -> frozenset[str]:
        return frozenset(w for c in self.table.columns.values() for w in _words(c))

    def _dates(self, column: "Column", among: set[int]) -> list[_Named]:
        """Months and years that the question names, where the column holds them."""
        days = (
            [d for d in column.days if d]
            if column.kind == "date"
            else [str(n) for n in column.numbers if n is not None]
        )
        years = {d[:4] for d in days}
        told = {n: self.at[n].text for n in among if self.at[n].text in years}
        months = {
            n: _MONTHS[self.at[n].text.casefold()]
            for n in among
            if self.at[n].text.casefold() in _MONTHS and (self.at[n].text[0].isupper() or len(self.at[n].text) > 3)
        }
        values: list[str] = []
        if months and column.kind == "date":
            for year in sorted(told.values()) or (sorted(years) if len(years) == 1 else []):
                values += [
                    f"{year}-{month:02d}"
                    for month in months.values()
                    if any(d.startswith(f"{year}-{month:02d}") for d in days)
                ]
            if not values:
                return []
            tokens = frozenset([*told, *months])
        elif told and not months:
            values, tokens = sorted(set(told.values())), frozenset(told)
            places = sorted(told)
            if len(places) == 2:
                one, two = (self.at[n] for n in places)
                apart = self.asked.lower[one.start + len(one.text) : two.start].strip()
                ranged = apart in ("to", "-", "–", "until", "through", "till") or (
                    apart == "and" and "between" in self.asked.lower[: one.start]
                )
                values = [y for y in sorted(years) if one.text <= y <= two.text] if ranged else values
        else:
            return []
        test = "="
        first = min(self.at[n].start for n in tokens)
        if before := re.search(r"\b(since|after|before|until|from)\s+(?:the\s+)?\w*\s?$", self.asked.lower[:first]):
            test = {"since": ">=", "from": ">=", "after": ">", "before": "<", "until": "<="}[before[1]]
        if test != "=" and len(values) > 1:
            return []
        return [_Named({"column": column.name, "test": test, "values": values}, tokens, False, False)]  # type: ignore[typeddict-item]

    def _flags(self, among: set[int]) -> list[_Named]:
        """Columns of yes and no that the question names, and whether it wants the no."""
        found = []
        for column in self.table.columns.values():
            if column.kind != "flag":
                continue
            words = _words(column)
            tokens = frozenset(
                n for n in among if self.at[n].stem in words or any(stem(o) in words for o in others(self.at[n].stem))
            )
            said = {
                w for w in words if any(self.at[n].stem == w or w in map(stem, others(self.at[n].stem)) for n in tokens)
            }
            if not tokens or len(said) * 2 < len(words):
                continue
            found += self._flag(column, tokens, partial=len(said) < len(words))
        return found

    def _flag(self, column: "Column", tokens: frozenset[int], *, partial: bool) -> list[_Named]:
        """The rows that say yes to a column, or no where the question denies."""
        denied = self.asked.denied
        said = [row.value(column.name) for row in self.table.rows]
        value = next((v for v in said if (v.casefold() in _NO) == bool(denied) and v), "no" if denied else "yes")
        extra = {n for n, t in self.at.items() if denied and denied.start() <= t.start < denied.end()}
        condition: Condition = {"column": column.name, "test": "=", "values": [value]}
        return [_Named(condition, tokens | extra, partial, False)]

    def _near_flag(self, among: set[int]) -> list[_Named]:
        """The column of yes and no that a word means without naming it."""
        flags = [c for c in self.table.columns.values() if c.kind == "flag"]
        if self.near is None or not flags:
            return []
        known = self.about | self.of_words | _SAID | _GENERIC | {w for c in self.figures for w in _words(c)}
        for n in among:
            token = self.at[n]
            if token.light or token.stem in known or not token.text.islower() or self._operates(token):
                continue
            near = zip(self.near(token.text, [c.header.words for c in flags]), flags, strict=True)
            value, column = max(near, key=lambda one: one[0])
            if value >= NEAR:
                return self._flag(column, frozenset({n}), partial=True)
        return []

    def _column(
        self,
        among: set[int],
        *,
        dimension: str = "",
        dates: "Sequence[Column]" = (),
        strict: bool = False,
        implied: bool = True,
    ) -> _Chosen | None:
        """The column of figures that some words mean; the one of the dimension that is asked for; the only one."""
        pool = [*self.figures, *dates]
        if dimension == "age":
            pool += [c for c in self.number if c.is_year and c not in pool]
        if dimension:
            # "The heaviest" is of a weight; of a table without one it is nothing.
            pool = [c for c in pool if dimension in _dimensions(c)]
        scored = []
        for column in pool:
            score, tokens, missed = self._score(column, among)
            scored.append((score, -missed, column, tokens))
        wanted = {dimension} if dimension else self.asked.dimensions
        best = max(scored, key=lambda s: (s[0], s[1]), default=None)
        if best and best[0] > 0:
            rivals = [s for s in scored if s[0] >= best[0] - 1e-9 and s[2] is not best[2]]
            if rivals and wanted:
                fitting = [s for s in (best, *rivals) if wanted & _dimensions(s[2])]
                if len(fitting) == 1:
                    return _Chosen(fitting[0][2], fitting[0][3], False, False, False)
            tied = any(s[1] == best[1] for s in rivals)
            return _Chosen(best[2], best[3], False, False, tied)
        if strict:
            return None
        if wanted:
            fitting = [c for c in pool if wanted & _dimensions(c)]
            if fitting:
                tokens = frozenset(n for n in among for name in wanted if self.at[n].stem in _ASKS.get(name, ()))
                # Of several prices, the plain one: "cost", and not "replacement value".
                plain = [c for c in fitting if _words(c) & _PLAIN]
                chosen = fitting[0] if len(fitting) == 1 else plain[0] if len(plain) == 1 else None
                if chosen is not None:
                    return _Chosen(chosen, tokens, len(fitting) > 1, False, False)
                return None
        if (near := self._near_column(among)) is not None:
            return near
        if implied and len(self.figures) == 1 and not dimension:
            return _Chosen(self.figures[0], frozenset(), True, False, False)
        return None

    def _score(self, column: "Column", among: set[int]) -> tuple[float, frozenset[int], int]:
        """How much of a column's name some words say, which of them, and how many words of the name they leave out."""
        score, tokens, missed = 0.0, set[int](), 0
        groups = meant_by(column.name)
        known = {word: set(group) for word, *group in (tuple(g) for g in groups)}
        for word in _words(column):
            exact = {n for n in among if self.at[n].stem == word}
            same = {n for n in among if self._alike(self.at[n], word, known.get(word, set()))}
            if exact:
                score += weight(word)
                tokens |= exact
            elif same:
                score += 0.6 * weight(word)
                tokens |= same
            else:
                missed += 1
        return score, frozenset(tokens), missed

    def _alike(self, token: Token, word: str, meant: set[str]) -> bool:
        """Whether a word of the question means a word of a heading without being it."""
        if token.light or token.stem in _COMMON:
            return False
        if token.stem in meant or word in map(stem, others(token.stem)):
            return True
        # "Membership" is of members.
        return min(len(token.stem), len(word)) >= DERIVED and (
            token.stem.startswith(word) or word.startswith(token.stem)
        )

    def _column_by(self, own: "set[int] | dict[int, str]", shared: set[int]) -> _Chosen | None:
        """The column that some words tell apart, and others, which it shares, mean."""
        scored = []
        for column in self.figures:
            if isinstance(own, dict):
                score, tokens, missed = (
                    (2.0, frozenset[int](), 0) if set(own.values()) <= _words(column) else (0.0, frozenset(), 1)
                )
            else:
                score, tokens, missed = self._score(column, own)
            if score > 0:
                more, with_them, _ = self._score(column, shared)
                scored.append((score + more / 2, -missed, column, tokens | with_them))
        best = max(scored, key=lambda s: (s[0], s[1]), default=None)
        if best is None:
            return None
        tied = sum(s[0] >= best[0] - 1e-9 and s[1] == best[1] for s in scored) > 1
        return _Chosen(best[2], best[3], False, False, tied)

    def _direct(self, heads: set[int]) -> _Chosen | None:
        """The column of figures whose name, or unit, is what is counted."""
        scored = []
        for column in self.figures:
            score, tokens, missed = self._score(column, heads)
            exact = any(
                self.at[n].stem in _words(column) or (column.unit and self.at[n].stem == stem(column.unit))
                for n in heads
            )
            if exact or (score > 0 and not any(self.at[n].stem in _GENERIC for n in heads)):
                rest, more, left = self._score(column, set(self.at) - heads)
                scored.append((score + exact + rest / 2, -left, column, tokens | more))
        best = max(scored, key=lambda s: (s[0], s[1]), default=None)
        if best is None:
            near = self._near_column(heads)
            return near
        tied = sum(s[0] >= best[0] - 1e-9 and s[1] == best[1] for s in scored) > 1
        return _Chosen(best[2], best[3], False, False, tied)

    def _near_column(self, among: set[int]) -> _Chosen | None:
        """The column that a word means without naming it, as far as the embedding model knows."""
        if self.near is None or not self.figures:
            return None
        names = [c.header.words for c in self.figures]
        best: tuple[float, Column, int] | None = None
        second = 0.0
        for n in among:
            token = self.at[n]
            if (
                token.light
                or token.stem in _SAID
                or token.stem in _GENERIC
                or token.text[0].isdigit()
                or token.stem in _COMMON
            ):
                continue
            if token.stem in self.about or token.stem in self.of_words:
                continue
            for column, value in zip(self.figures, self.near(token.text, names), strict=True):
                if best is None or value > best[0]:
                    second = max(second, best[0] if best and best[1] is not column else second)
                    best = (value, column, n)
                elif column is not best[1]:
                    second = max(second, value)
        if best is None or best[0] < NEAR:
            return None
        return _Chosen(best[1], frozenset({best[2]}), False, True, second > 0.95 * best[0])

    def _compared(self, among: set[int]) -> _Named | None:
        """The column and bound of "more than 10 days"."""
        match = self.asked.compared
        assert match is not None
        own = {n for n, t in self.at.items() if match.start() <= t.start < match.end()}
        upwards = _UPWARDS.search(match["how"]) is not None and not match["how"].startswith("no more")
        dimension = ""
        if match["adjective"] and (pole := _pole(match["adjective"])):
            dimension, end = pole
            upwards = end > 0
        chosen = self._column(
            among - {n for n in own if self.at[n].text.replace(",", "") == match["figure"].replace(",", "")},
            dimension=dimension,
        )
        if chosen is None:
            return None
        equal = match["how"] in ("at least", "at most", "up to", "no less than", "no more than")
        test = (">" if upwards else "<") + ("=" if equal else "")
        said = frozenset(
            own
            if match["unit"] is None
            or match["unit"] in ("gbp", "eur", "euro", "euros", "pounds", "usd", "€", "£", "%", "kg", "km", "m")
            else {n for n in own if self.at[n].start < match.start("unit")}
        )
        condition: Condition = {
            "column": chosen.column.name,
            "test": test,
            "values": [match["figure"].replace(",", "")],
        }  # type: ignore[typeddict-item]
        return _Named(condition, said | chosen.tokens, chosen.implied, False)

    # -- rows and subjects -------------------------------------------------------------------------------------

    def _is_subject(self, word: str) -> bool:
        """Whether a word is what the rows of the table are."""
        if word in self.about or word in self.label_words:
            return True
        return any(stem(other) in self.about | self.label_words for other in others(word) if " " not in other)

    def _is_row_name(self, head: Sequence[Token]) -> bool:
        """Whether what is counted is what the column that names the rows is called."""
        return any(t.stem in self.label_words or any(stem(o) in self.label_words for o in others(t.stem)) for t in head)

    def _rows_are_periods(self) -> bool:
        columns = [self.table.columns[name] for name in self.table.labels]
        return any(c.kind == "date" or c.is_year or _words(c) & _PERIOD for c in columns[:1])

    def _head(self) -> int | None:
        """The word that "which" or "who" asks for."""
        for n, token in self.at.items():
            if token.text.casefold() in ("which", "what") and n + 1 in self.at and not self.at[n + 1].light:
                nxt = n + 1
                if value_of(self.at[nxt].text) or self.at[nxt].text.isdigit():
                    nxt += 1
                return nxt if nxt in self.at else None
        return None

    def _accounts_head(self, head: int) -> bool:
        return (
            self._is_subject(self.at[head].stem)
            or self.at[head].stem in self.of_words
            or self.at[head].stem in _GENERIC
        )

    def _group(self, head: int | None) -> str | None:
        """The column that "which" asks for, where rows share its values."""
        if head is None:
            return None
        word = self.at[head].stem
        for column in self.table.columns.values():
            if column.kind in ("text", "date") and (
                word in _words(column) or any(stem(o) in _words(column) for o in others(word))
            ):
                values = [row.value(column.name) for row in self.table.rows]
                if len(set(values)) < len(values):
                    return column.name
        return None

    def _column_years(self) -> list[str]:
        return sorted({w for c in self.figures for w in _words(c) if _YEAR.fullmatch(w)})

    def _period(self) -> "Column | None":
        """The column that says when."""
        dated = [c for c in self.table.columns.values() if c.kind == "date" or c.is_year]
        return dated[0] if len(dated) == 1 else None

    def _when(self, row: int, column: "Column") -> str:
        value = column.days[row] if column.kind == "date" else column.numbers[row]
        return str(value) if value is not None else ""

    def _rows(self, where: Sequence[Condition]) -> list[int]:
        """The rows that some conditions name, as far as words tell; bounds are not looked at."""
        kept = []
        for n, row in enumerate(self.table.rows):
            passes = True
            for one in where:
                column, value = self.table.columns[one["column"]], row.value(one["column"])
                if one["test"] != "=":
                    continue
                if column.kind == "date":
                    passes = any((column.days[n] or "").startswith(v) for v in one["values"])
                elif column.kind == "number":
                    passes = any(str(column.numbers[n]) == v for v in one["values"])
                else:
                    passes = " ".join(value.split()).casefold() in {
                        " ".join(v.split()).casefold() for v in one["values"]
                    }
                if not passes:
                    break
            if passes:
                kept.append(n)
        return kept

    def _counts(self, where: Sequence[Condition]) -> bool:
        """Whether there is anything to count: some rows, and not the one row that a name is of."""
        equal = [one for one in where if one["test"] == "="]
        for one in equal:
            values = [row.value(one["column"]) for row in self.table.rows]
            if self.table.columns[one["column"]].kind == "text" and len(set(values)) == len(values):
                return False
        return bool(self._rows(equal))

    def _where(self, named: Sequence[_Named], chosen: _Chosen | None) -> list[Condition]:
        return _sorted(
            [one.condition for one in named if chosen is None or one.condition["column"] != chosen.column.name]
        )

    # -- drafts and what speaks for them -----------------------------------------------------------------------

    def _query(self, operation: Operation, column: str, where: Sequence[Condition]) -> Query:
        return {"source": self.table.source, "table": self.table.title, "operation": operation, "column": column, "where": list(where)}  # fmt: skip

    def _draft(
        self, operation: Operation, chosen: _Chosen | None, where: Sequence[Condition], named: Sequence[_Named], *,
        against: Operand | None = None, also: Sequence[_Chosen] = (), group: str = "", of: str = "", most: int = 1,
        test: str = "", column: str = "", extra: "frozenset[int] | set[int]" = frozenset(), heads: "set[int] | frozenset[int]" = frozenset(),
        quiet: bool = False, generic: bool = False,
    ) -> Iterator[_Draft]:  # fmt: skip
        if operation == "count" and where and not self._counts(where):
            return
        query: Any = self._query(operation, column or (chosen.column.name if chosen else ""), where)
        if against is not None:
            query["against"] = against
        if operation == "compare":
            query["test"] = test
        if group:
            query |= {"group": group, "of": of}
        if most > 1:
            query["most"] = most
        used = _used(named) | set(extra) | set(heads)
        for one in (chosen, *also):
            used |= one.tokens if one else set()
        features = self._features(used, named, chosen, quiet=quiet, generic=generic, also=also, query=query)
        if features is not None:
            yield _Draft(query, features, self.table)

    def _features(
        self, used: "set[int] | frozenset[int]", named: Sequence[_Named], chosen: _Chosen | None, *, quiet: bool = False,
        generic: bool = False, adjusted: bool = False, also: Sequence[_Chosen] = (), query: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, float] | None:  # fmt: skip
        """What speaks for a reading and against it; None where it leaves out what the question is about."""
        left = self._unsaid(used, chosen)
        meant = {n for n in left if self._meant(self.at[n])}
        left -= meant
        # A name, a figure, or the very thing that is counted: whoever does not know it does not know the question.
        for n in left:
            token = self.at[n]
            if token.text[0].isdigit() or (token.text[0].isupper() and token.start) or n in self.subjects:
                return None
        heavy = [t for t in self.at.values() if not t.light and t.stem not in _SAID]
        whole = sum(weight(t.stem) for t in heavy) or 1.0
        return {
            "bias": 1.0,
            "unsaid": min(1.0, sum(weight(self.at[n].stem) for n in left) / whole),
            "words": float(len(left)),
            "implied": float(bool(chosen and chosen.implied)),
            "partial": float(sum(one.partial for one in named) + sum(one.several for one in named)),
            "generic": float(generic),
            "quiet": float(quiet),
            "near": float(len(meant) + any(c.near for c in (chosen, *also) if c)),
            "tied": float(any(c.tied for c in (chosen, *also) if c)),
            "aside": float(self._aside(query)),
            "relative": float(self.asked.relative and not self.asked.years),
            "adjusted": float(adjusted),
        }

    def _aside(self, query: Mapping[str, Any]) -> bool:
        """Whether "which tool" is asked of rows, or groups, that are none."""
        head = self._head()
        if (
            head is None
            or query.get("operation") not in ("largest", "smallest", "list")
            or self.at[head].stem in _GENERIC
        ):
            return False
        named = [query["group"]] if query.get("group") else self.table.labels
        words = {w for name in named for w in _words(self.table.columns[name])}
        word = self.at[head].stem
        return word not in words and not any(stem(o) in words for o in others(word))

    @cached_property
    def subjects(self) -> frozenset[int]:
        """The words that a table must know: what is counted, added up, averaged, or grows."""
        asked, found = self.asked, set[int]()
        found |= {n for n, t in self.at.items() if t in asked.counted[:1] or t in asked.counted[-1:]}
        for match in (asked.mean, asked.total, asked.share):
            after = [n for n, t in self.at.items() if match and t.start >= match.end() and not t.light]
            if after and match and not re.search(r"[,?]|\b(?:did|do|does|have|has|had|in|over|was|were|is|are)\b", asked.lower[match.end() : self.at[after[0]].start]):  # fmt: skip
                found.add(after[0])
        if asked.growth and (
            verb := re.search(rf"\b(?:did|has|have|had|do|does|will)\b(?P<what>.*?)\b{_GROWS}\b", asked.lower)
        ):
            found |= {n for n, t in self.at.items() if verb.start("what") <= t.start < verb.end("what") and not t.light}
        return frozenset(found)

    def _meant(self, token: Token) -> bool:
        """Whether the embedding model takes a word for one of those that the table is about."""
        if self.near is None or token.text[0].isdigit() or (token.text[0].isupper() and token.start):
            return False
        names = [
            c.header.words for c in self.table.columns.values() if c.kind != "number" and c.name in self.table.labels
        ]
        names += [
            word
            for word in re.split(r"[\W_]+", f"{self.table.filename.rpartition('.')[0]} {self.table.headings}")
            if len(word) > 2
        ]
        names = list(dict.fromkeys(names))
        return max(self.near(token.text, names), default=0.0) >= NEAR

    def _unsaid(self, used: "set[int] | frozenset[int]", chosen: _Chosen | None) -> set[int]:
        """The words with a meaning that neither operation, column, rows nor the table itself account for."""
        known = self.about | self.of_words | self.extension
        if chosen is not None:
            known = known | _words(chosen.column) | {stem(unit) for unit in (chosen.column.unit,) if unit}
            for name in _dimensions(chosen.column):
                known = known | _ASKS.get(name, frozenset())
        left = set()
        for n, token in self.at.items():
            if n in used or token.light or token.stem in _SAID or token.stem in known:
                continue
            if token.stem in _GENERIC:
                continue
            if any(stem(o) in known for o in others(token.stem) if " " not in o):
                continue
            if self._operates(token):
                continue
            left.add(n)
        return left

    def _operates(self, token: Token) -> bool:
        """Whether a word is part of what says the operation."""
        asked = self.asked
        for match in (asked.mean, asked.share, asked.difference, asked.total, asked.count, asked.superlative):
            if match and match.start() <= token.start < match.end():
                return True
        if asked.than and asked.than.start() <= token.start < asked.than.end() and _pole(token.text.casefold()):
            return True
        return bool(asked.growth and re.fullmatch(_GROWS, token.text.casefold()))


def _used(named: Sequence[_Named]) -> set[int]:
    return {n for one in named for n in one.tokens}


def _sorted(where: Sequence[Condition]) -> list[Condition]:
    return sorted(where, key=lambda c: (c["column"], c["test"], c["values"]))


def _words(column: "Column") -> frozenset[str]:
    """The words of a column's name, its unit aside."""
    return frozenset(content_words(column.header.words.replace("_", " ")))


def _dimensions(column: "Column") -> set[str]:
    """What a column measures, by its unit and its name."""
    words = _words(column)
    by_name = {name for name, said in _DIMENSIONS.items() if words & said}
    if column.kind == "date":
        return {"age"}
    if column.is_year:
        return {"age"}
    by_unit = {name for name, units in _UNITS.items() if column.unit in units}
    return by_unit | (by_name & {"income"}) if by_unit else by_name - {"age"}


def _values_of(table: "Table", name: str) -> dict[str, frozenset[str]]:
    """The distinct values of a column with the words that tell them apart."""
    kept = table.__dict__.setdefault("_values", {})
    if name not in kept:
        values = list(dict.fromkeys(row.value(name) for row in table.rows if row.value(name)))
        words = {value: frozenset(content_words(value)) for value in values}
        common = frozenset.intersection(*words.values()) if len(words) > 1 else frozenset[str]()
        kept[name] = {value: own - common for value, own in words.items() if own - common}
    found: dict[str, frozenset[str]] = kept[name]
    return found


def _percents(passages: Sequence[Passage]) -> Iterator[tuple[str, Cited, frozenset[str]]]:
    """What texts say is added to figures, or taken off: the signed percentage, where, and the words of its clause."""
    for passage in passages:
        text = passage["text"]
        for start, end in sentence_spans(text):
            at = start
            cuts = [*(m for m in _CLAUSES.finditer(text, start, end)), None]
            for cut in cuts:
                last = cut.start() if cut else end
                clause = text[at:last]
                found = list(_ADDS.finditer(clause))
                more, off = _MORE.search(clause), _OFF.search(clause)
                if len(found) == 1 and bool(more) != bool(off):
                    cited: Cited = {
                        "chunk_id": passage["chunk_id"],
                        "start": start,
                        "end": end,
                        "quote": text[start:end],
                    }
                    yield f"{'-' if off else ''}{found[0]['figure']}", cited, frozenset(content_words(clause))
                at = cut.end() if cut else end
