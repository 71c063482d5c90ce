"""Reads a question that a table computes as a query: operation, column, rows, and the probability of the reading.

The words of a question are divided into those of the operation ("altogether", "how many", "dearer than"), of a column,
of values of cells, and the rest. Words that the table does not account for make a reading less probable; an unknown
name or figure rules it out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any, Final, NamedTuple, cast

import numpy as np
from typing_extensions import TypedDict, Unpack

from cragraph.documents.tables import Table
from cragraph.language.cells import UNITS as HEADING_UNITS
from cragraph.language.cells import number_of
from cragraph.language.facts import extract, value_of
from cragraph.language.questions import split_question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, stem, weight
from cragraph.tables.asked import (
    A_LIMIT,
    ALL_THERE_ARE,
    ALLOWED,
    GENERIC,
    GROWS,
    IS_YEAR,
    LIMITS,
    LISTS_PRICES,
    PRICED,
    PRICES,
    QUANTITY,
    TOP,
    TWO_FOLD,
    UNSPECIFIC,
    ParsedQuestion,
    Token,
    pole,
)
from cragraph.tables.matching import (
    NEAR,
    PERCENT,
    Chosen,
    Matching,
    NamedColumn,
    Near,
    dimensions_of,
    sorted_where,
    used_by,
    where_of,
    words_of_column,
)
from cragraph.types import Cited, Condition, Operand, Operation, Passage, Query

FEATURES: Final = (
    "bias", "unsaid", "words", "vague", "implied", "partial", "generic", "quiet", "near", "aside", "relative",
    "adjusted",
)  # fmt: skip
WEIGHTS: Final = (3.69, -7.02, -1.71, -0.51, -1.75, -1.04, -0.55, -1.27, -0.98, -0.5, -1.5, -0.37)
"""Weights of the probability, a logistic regression: fitted with `python -m lab.benchmarks.computed --fit`."""
TIED: Final = 0.5  # factor on the probability if another column or table may be meant
FLOOR: Final = 0.6
"""Least probability of a reading that is computed; below, the question is answered without computing."""
RIVAL: Final = 0.4  # a second reading with this share of the best one's odds makes it ambiguous

_ADDS: Final = re.compile(r"(?P<figure>\d+(?:\.\d+)?)\s?(?:%|per ?cent|percent)")
_MORE: Final = re.compile(
    r"\b(?:more|extra|surcharge|supplement|on top|higher|dearer|increase\w*|added|plus|additional)\b", re.I
)
_OFF: Final = re.compile(r"\b(?:less|off|discount|cheaper|reduction|lower|rebate|reduced)\b", re.I)
_CLAUSES: Final = re.compile(r";|, (?:and|but)\b|\bbut\b|\.\s")
_PLANS: Final = re.compile(r"\b(?:plan(?:s|ned)?|hop(?:e|ed|ing)|expected|forecast|target)\b", re.I)
_BETWEEN: Final = re.compile(r"\bbetween (.+?) and (.+)")
_APART: Final = re.compile(r"\b(?:of|in) (.+?) (?:and|from|to|versus|vs) (.+)")
_OFTEN: Final = re.compile(r"\b(?:most often|most times|most frequently|least often)\b")

Tokens = set[int] | frozenset[int]


@dataclass(frozen=True)
class TableReading:
    """A query that a question may mean, with its probability, 0..1; `table` is its table."""

    query: Query
    probability: float
    features: Mapping[str, float]
    table: Table = field(repr=False)
    doubts: tuple[str, ...] = ()
    """Reasons, in sentences, why its figure is not accepted: parts of the question or query that are not named."""


class Plan(NamedTuple):
    """A model's reply for a query: the reading, or that no table holds the answer (`declined`)."""

    reading: TableReading | None = None
    declined: bool = False


def read_query(
    question: str, tables: Sequence[Table], passages: Sequence[Passage] = (), near: Near | None = None
) -> list[TableReading]:
    """The readings of a question over some tables, the likeliest first; empty if the question asks for no computation.

    `passages` are searched for an addition to, or a deduction from, a figure of a table.
    """
    if len(split_question(question)) > 1 or TWO_FOLD.search(question):
        return []
    asked = ParsedQuestion(question)
    if not asked.computes and not (passages and asked.money):
        return []
    named = [table for table in tables if table.filename.casefold() in asked.files]
    if asked.files and not named:
        return []  # the question is about a file that has no table: no other one answers it
    over = [_Over(asked, table, near) for table in named or tables]
    titles = frozenset().union(*(one.about for one in over))
    for one in over:
        one.elsewhere = titles - one.about
    readings = [reading for one in over for reading in one.readings(passages) if reading]
    # "The dearest item" is looked for where a column names items, if there is such a table.
    loose = {token.stem for token in asked.tokens if token.stem in GENERIC}
    naming = [one.table for one in over if loose & one.label_words]
    readings = [reading for reading in readings if any(reading.table is table for table in naming)] or readings
    return sorted(readings, key=lambda reading: -reading.probability)


def weighed(question: str, query: Query, table: Table, near: Near | None = None) -> TableReading | None:
    """The reading of a query that a model wrote, with its probability; None if the query misses the question's
    subject."""
    return _Over(ParsedQuestion(question), table, near).weighed(query)


def probability_of(features: Mapping[str, float], weights: Sequence[float] = WEIGHTS) -> float:
    """The fitted probability that a reading with these features is what was asked."""
    total = sum(w * features[name] for w, name in zip(weights, FEATURES, strict=True))
    return (TIED if features["tied"] else 1.0) / (1 + exp(-max(-30.0, min(30.0, total))))


def odds(probability: float) -> float:
    """A probability as odds."""
    return probability / max(1e-9, 1 - probability)


class _QueryWords(TypedDict, total=False):
    """How a query was found in the words: the columns beside the chosen one, the further `words` that it accounts for;
    whether no word asks for the sum (`quiet`), a thing of any kind is counted (`generic`), a text adjusts a figure."""

    also: Sequence[Chosen]
    words: Tokens
    quiet: bool
    generic: bool
    adjusted: bool


_BY: Final = re.compile(r"\b(?:by|per|each|every) (?P<column>\w+)")
"""What a figure is wanted for each of: "by region", "per region"."""


class _Over(Matching):
    """One question over one table."""

    def readings(self, passages: Sequence[Passage]) -> Iterator[TableReading | None]:
        """The queries that the question may mean over this table."""
        asked = self.asked
        if asked.money and passages:
            yield self._adjusted(passages)
        compares = asked.difference or (asked.than and asked.yes_no and not asked.compared)
        for wanted, reads in (
            (asked.growth, self._growth),
            (asked.share, self._share),
            (compares, self._two),
            (asked.superlative, self._extreme),
            (asked.mean, lambda: self._added("mean")),
            (asked.count, self._counted),
            (asked.compared and not asked.how_much, self._list),
            (asked.how_much or asked.total, lambda: self._added("sum")),
            (asked.lists, self._list),
        ):
            if wanted:
                yield reads()
                return

    # -- one operation each ------------------------------------------------------------------------------------

    def _added(self, operation: Operation) -> TableReading | None:
        """The sum or mean of a column over the rows that are named."""
        asked, named = self.asked, self.named(self.every)
        chosen = self.column(self.every - used_by(named))
        if chosen is None or chosen.column.is_year:
            return None
        where = where_of(named, chosen)
        quiet = operation == "sum" and not asked.total
        if chosen.implied and where and len(self.rows(where)) < 2:
            return None  # nothing is added up, and no word means the column
        priced = asked.dimensions or "how much" in asked.lower
        if quiet and not (priced and where and len(self.rows(where)) > 1):
            return None
        return self._reading(operation, chosen, named, quiet=quiet)

    def _counted(self) -> TableReading | None:
        """The number of rows, or the sum of a column whose name is the counted thing."""
        asked, head, named = self.asked, self.asked.counted, self.named(self.every)
        if asked.of_us:
            return None
        used = used_by(named)
        heads = {n for n, t in self.at.items() if t in head}
        heads -= used_by([one for one in named if self.table.columns[one.condition["column"]].kind == "number"])
        often = asked.count is not None and asked.count[0] in ("how often", "how many times")
        direct = self.direct(heads) if heads and asked.compared is None else None
        if direct is not None and not often and not self._is_money(direct):
            where = where_of(named, direct)
            if len(self.rows(where)) == 1 and not asked.total:
                return None
            return self._reading("sum", direct, named, quiet=not asked.total and not where)
        if often or not head:
            return self._reading("count", None, named, generic=True) if named else None
        generic = head[0].stem in GENERIC
        subject = {n for n in heads if self.is_subject(self.at[n])}
        if not (generic or subject or heads & used):
            return None
        if any(heads & one.tokens and _counts_itself(one) for one in named):
            return None
        flagged = self.flags(self.every - used)
        conditions, periods = [*named, *flagged], self.rows_are_periods()
        allowed = ALLOWED.search(asked.lower)
        if allowed and allowed["certain"] and asked.compared is None:
            return None
        if asked.compared is None and not self.is_row_name(head):
            # "How many birds were counted in spring": rows are species, and a column says how many.
            measured = None
            if not generic or not named or periods:
                measured = self.column(self.every - used - heads - used_by(flagged), strict=True, counts=True)
            if measured is not None and not self._is_money(measured):
                # Of "tins of rice pudding" the tins are counted; the table must say what they hold.
                of = {n for n in heads if n > min(heads) + 1}
                words = heads - self._before_names(named) - of
                return self._reading("sum", measured, conditions, quiet=not asked.total, words=words)
        named_so = self.is_row_name(head)
        counts = [column for column in self.figures if "money" not in dimensions_of(column)]
        quantities = [column for column in counts if words_of_column(column) <= QUANTITY]
        if heads & used and len(quantities) == 1 and asked.compared is None and conditions:
            # "How many pumps have we", where each row of pumps says how many there are.
            chosen = Chosen(quantities[0], frozenset(), False, False, False)
            return self._reading("sum", chosen, conditions, quiet=not asked.total, words=heads)
        if periods and not named_so and (generic or subject):
            return None
        if asked.compared:
            if (compared := self.compared(self.every - used)) is None:
                return None
            conditions.append(compared)
        if any(self._names_one_row(one) for one in named):
            return None
        there_are = ALL_THERE_ARE.search(asked.lower) is not None and not periods
        of_others = named_so and not self.has_a_row_each(head)
        every = subject and not (of_others or allowed) and (asked.total or named_so or there_are)
        if not conditions and not every:
            return None
        if (
            generic
            and not named_so
            and asked.compared is None
            and len(self.rows([n.condition for n in conditions])) == 1
        ):
            return None  # the row of Oak House says how many came, and is not what was counted
        return self._reading(
            "count", None, conditions, generic=generic, words={*subject, *([min(heads)] if generic else [])}
        )

    def _is_money(self, chosen: Chosen) -> bool:
        """Whether a column has sums of money, which no question for a number of things means."""
        return "money" in dimensions_of(chosen.column) and "money" not in self.asked.dimensions

    def _names_one_row(self, named: NamedColumn) -> bool:
        """Whether a named value is the name of one row: to count such rows says nothing."""
        return named.condition["column"] in self.table.labels and len(self.rows([named.condition])) == 1

    def _before_names(self, named: Sequence[NamedColumn]) -> set[int]:
        """The words directly before a part of a name, which belong to it: "Powerboat" in "Powerboat Level 2"."""
        parts = {n for one in named if one.partial for n in one.tokens} & self.at.keys()
        return {n - 1 for n in parts if n and self.at[n - 1].text[0].isupper() == self.at[n].text[0].isupper()}

    def _extreme(self) -> TableReading | None:
        """The row, or the group, with the largest or smallest value of a column."""
        asked, match = self.asked, self.asked.superlative
        assert match is not None
        dimension, end = pole(match["word"]) or ("", 1)
        own, head = self.within(match.start(), match.end()), self.head()
        named = self.named(self.every - own)
        rest, heads = self.every - used_by(named) - own, {head} if head is not None else set[int]()
        dated = [c for c in self.table.columns.values() if c.kind == "date"]
        chosen = self.column(rest - heads, dimension=dimension, dates=dated)
        chosen = chosen or self.column(rest, dimension=dimension, dates=dated)
        group, often = self.group(head), _OFTEN.search(asked.lower)
        operation: Operation = "largest" if end > 0 else "smallest"
        thing = next((n for n, t in self.at.items() if t.start >= match.end() and not t.light), None)
        if group and not dimension and thing is not None and thing != head and self.is_subject(self.at[thing]):
            own, often = own | {thing}, often or match
        if often and group:
            own |= heads | {n for n, t in self.at.items() if t.stem in ("often", "time", "frequent")}
            return self._reading(operation, None, named, {"group": group, "of": "count"}, words=own)
        if chosen is None or (chosen.column.kind == "date" and end < 0 and dimension != "age"):
            return None
        most = 1
        if top := TOP.search(asked.lower):
            figure = top["n"] or top["m"]
            most = int(figure) if figure.isdigit() else int(value_of(figure) or 1)
            own |= {n for n in self.within(top.start(), top.end()) if self.at[n].text in (figure, "top")}
        rows = self.rows(where_of(named, chosen))
        if len(rows) < 2:
            return None
        more: dict[str, Any] = {"most": most} if most > 1 else {}
        words = own | {n for n in heads if self.accounts_head(self.at[n])}
        # "The cheapest" is one row; "the most" counts all rows of a group.
        whole = group and chosen.column.kind == "number" and (not dimension or asked.total)
        if group and whole and len(np.unique(self.table.columns[group].codes[rows])) < len(rows):
            more |= {"group": group, "of": "sum"}
        return self._reading(operation, chosen, named, more, words=words)

    def _list(self) -> TableReading | None:
        """The rows beyond a bound, or those with the values that the question names, or without them."""
        asked, named = self.asked, self.named(self.every)
        if not asked.lists:
            return None
        if asked.compared:
            compared = self.compared(self.every - used_by(named))
            return self._reading("list", None, [*named, compared]) if compared is not None else None
        head, named = self.head(), [*named, *self.sold_out()]
        if head is None or not named or not (self.is_subject(self.at[head]) or self.is_row_name([self.at[head]])):
            return None
        words = {head}
        if asked.denied:
            words |= self.within(*asked.denied.span())
            flags = {column.name for column in self.table.columns.values() if column.kind == "flag"}
            named = [one if one.condition["column"] in flags else one.negated() for one in named]
        return self._reading("list", None, named, words=words)

    def _two(self) -> TableReading | None:
        """A comparison of two rows or two columns."""
        asked = self.asked
        split = asked.lower.find(" than ") if asked.than else -1
        if split >= 0:
            left, right = (0, split), (split, len(asked.lower))
        elif apart := _BETWEEN.search(asked.lower) or _APART.search(asked.lower):
            left, right = apart.span(1), apart.span(2)
        else:
            return None
        comparative = self._comparative(split if split >= 0 else len(asked.lower))
        dimension, end = (pole(comparative[0]) or ("", 1)) if comparative else ("", 1)
        own = self.within(*comparative.span()) if comparative else set[int]()
        if (sides := self._sides(left, right, dimension, own)) is None:
            return None
        one, two, named, chosen = sides
        operation: Operation = "compare" if asked.yes_no and not asked.difference else "difference"
        more: dict[str, Any] = {"column": one["column"], "where": one["where"], "against": two}
        if operation == "compare":
            more["test"] = ">" if end > 0 else "<"
        return self._reading(operation, chosen[0], named, more, also=chosen[1:], words=own)

    def _sides(
        self, left: tuple[int, int], right: tuple[int, int], dimension: str, own: set[int]
    ) -> tuple[Operand, Operand, list[NamedColumn], list[Chosen]] | None:
        """Two operands; a condition that only one side names holds for the other side as well."""
        parts = [self.within(start, end) - own for start, end in (left, right)]
        outside = self.every - parts[0] - parts[1] - own
        found, shared = [self.named(part) for part in parts], self.named(outside)
        columns = [{one.condition["column"] for one in some} for some in found]
        if any(len(names) < len(some) for names, some in zip(columns, found, strict=True)):
            return None
        rows = [[one.condition for one in some] for some in found]
        for n in (0, 1):
            rows[n] += [c for c in rows[1 - n] if c["column"] not in columns[n]]
            known = {c["column"] for c in rows[n]}
            rows[n] += [one.condition for one in shared if one.condition["column"] not in known]
        named = [*found[0], *found[1], *shared]
        used = used_by(named)
        if any(c["column"] == d["column"] and c != d for c in rows[0] for d in rows[1]):
            pair = [self.column(self.every - used - own, dimension=dimension)] * 2
        else:
            # Two columns, such as one a year: each side is told apart by its own words, and shares the others.
            pair = [self.column_by(part - used, (parts[1 - n] | outside) - used) for n, part in enumerate(parts)]
            if pair[0] and pair[1] and pair[0].column.name == pair[1].column.name:
                return None
        chosen = [one for one in pair if one is not None and one.column.kind == "number"]
        if len(chosen) < 2 or chosen[0].column.unit != chosen[1].column.unit:
            return None
        one, two = (Operand(column=c.column.name, where=sorted_where(own)) for c, own in zip(chosen, rows, strict=True))
        taken = [len(self.rows(side["where"])) for side in (one, two)]
        # What is dearer, or heavier, is one thing; what is more may be the sum of many.
        if one == two or not all(taken) or (dimension and max(taken) > 1):
            return None
        return one, two, named, list(dict.fromkeys(chosen))

    def _comparative(self, before: int) -> "re.Match[str] | None":
        """The first word such as "dearer" or "more" before an offset."""
        words = re.finditer(r"\b\w+er\b|\bmore\b|\bless\b|\bworse\b", self.asked.lower)
        return next((m for m in words if pole(m[0]) and m.start() < before), None)

    def _share(self) -> TableReading | None:
        """The share of some rows in a column's sum, or in all rows."""
        conditions = self.named(self.every)
        if not conditions:
            return None
        chosen = self.column(self.every - used_by(conditions), strict=True)
        heads = {n for n, t in self.at.items() if self.is_subject(t)}
        if chosen is None and not heads:
            return None
        whole: Operand = {"column": chosen.column.name if chosen else "", "where": []}
        return self._reading("share", chosen, conditions, {"against": whole}, words=heads)

    def _growth(self) -> TableReading | None:
        """The growth from one period to another: two columns, or rows of two periods; without named periods from the
        first to the last."""
        asked = self.asked
        years = sorted({t.text for t in asked.years})
        grow = {n for n, t in self.at.items() if re.fullmatch(GROWS, t.text.casefold()) or t.stem in PERCENT}
        used_words = grow | {n for n, t in self.at.items() if t in asked.years}
        by_year = {y: [c for c in self.figures if y in words_of_column(c)] for y in self.column_years()}
        if len(by_year) >= 2:
            span = years if len(years) == 2 else sorted(by_year) if not years else []
            if not span or span[0] not in by_year or span[-1] not in by_year:
                return None
            named = self.named(self.every - used_words)
            rest = self.every - used_by(named) - used_words
            pair = [self.column_by(year, rest) for year in (span[0], span[-1])]
            # "Actual 2023" and "Actual 2024" are of one kind, "Budget 2024" is of another.
            kinds = [{words_of_column(c) - {year}: c for c in by_year[year]} for year in (span[0], span[-1])]
            if len(alike := kinds[0].keys() & kinds[1].keys()) == 1:
                own = alike.pop()
                tokens = frozenset(n for n in rest if self.at[n].stem in own)
                pair = [Chosen(kind[own], tokens, False, False, False) for kind in kinds]
            early, late = pair
            if early is None or late is None:
                return None
            against: Operand = {"column": early.column.name, "where": where_of(named, late)}
            return self._reading("growth", late, named, {"against": against}, also=[early], words=used_words)
        if (period := self.period()) is None:
            return None
        order = sorted({str(value) for value in period.known if value is not None})
        span = years if len(years) == 2 else order if not years else []
        named = [one for one in self.named(self.every - used_words) if one.condition["column"] != period.name]
        chosen = self.column(self.every - used_by(named) - used_words)
        if len(span) < 2 or chosen is None:
            return None
        where = where_of(named, chosen)
        first, last = (
            [*where, cast(Condition, {"column": period.name, "test": "=", "values": [v]})] for v in (span[0], span[-1])
        )
        if not len(self.rows(first)) or not len(self.rows(last)):
            return None
        more = {"where": last, "against": {"column": chosen.column.name, "where": first}}
        return self._reading("growth", chosen, named, more, words=used_words)

    def _adjusted(self, passages: Sequence[Passage]) -> TableReading | None:
        """A price of a row with an addition or deduction from a text."""
        named = self.named(self.every)
        chosen = self.column(self.every - used_by(named), dimension="money") if named else None
        if chosen is None or "money" not in dimensions_of(chosen.column):
            return None
        left = self.unaccounted(used_by(named) | chosen.tokens, chosen)
        if len(self.rows(where_of(named, chosen))) != 1 or not left:
            return None
        words = {self.at[n].stem for n in left}
        for percent, at, said in _percents(passages):
            if words <= said:
                more = {"percent": percent, "percent_at": at}
                return self._reading("adjusted", chosen, named, more, words=left, adjusted=True)
        return None

    # -- what speaks for a reading, and against it -------------------------------------------------------------

    def _reading(
        self,
        operation: Operation,
        chosen: Chosen | None,
        named: Sequence[NamedColumn],
        more: Mapping[str, Any] | None = None,
        **words: Unpack[_QueryWords],
    ) -> TableReading | None:
        """A query over the named rows, with the fields in `more`; None if it misses the subject."""
        query: dict[str, Any] = {"source": self.table.source, "table": self.table.title, "operation": operation}
        query |= {"column": chosen.column.name if chosen else "", "where": where_of(named, chosen), **(more or {})}
        if operation in ("count", "list") and query["where"] and not self.counts(query["where"]):
            return None
        return self._weighed(cast(Query, query), named, chosen, **words)

    def weighed(self, query: Query) -> TableReading | None:
        """The reading of a given query by the question's words for its columns and values."""
        operands = [query, query.get("against") or {"column": "", "where": []}]
        columns = [self.table.columns[o["column"]] for o in operands if o["column"]]
        chosen = [Chosen(column, self.score(column, self.every)[1], False, False, False) for column in columns]
        named = []
        for condition in (c for operand in operands for c in operand["where"]):
            words = {w for value in condition["values"] for w in content_words(value)}
            words |= words_of_column(self.table.columns[condition["column"]])
            own = frozenset(n for n, t in self.at.items() if t.stem in words)
            named.append(NamedColumn(condition, own, False, False))
        return self._weighed(query, named, chosen[0] if chosen else None, also=chosen[1:])

    def _weighed(
        self, query: Query, named: Sequence[NamedColumn], chosen: Chosen | None, **words: Unpack[_QueryWords]
    ) -> TableReading | None:
        """A query with its probability and doubts; None if it misses the question's subject."""
        columns = [one for one in (chosen, *words.get("also", ())) if one]
        used = used_by(named) | set(words.get("words", ())) | {n for one in columns for n in one.tokens}
        left = self.unaccounted(used, chosen)
        meant = {n for n in left if self._meant(self.at[n])}
        left -= meant
        # An unknown name or figure rules the reading out.
        for n in left:
            token = self.at[n]
            if token.text[0].isdigit() or (token.text[0].isupper() and token.start):
                return None
        heavy = [t for t in self.at.values() if not t.light and t.stem not in UNSPECIFIC]
        whole = sum(weight(t.stem) for t in heavy) or 1.0
        features = {
            "bias": 1.0,
            "unsaid": min(1.0, sum(weight(self.at[n].stem) for n in left) / whole),
            "words": float(len(left)),
            "vague": float(not self._telling(named, columns)),
            "implied": float(bool(chosen and chosen.implied)),
            "partial": float(sum(one.partial for one in named) + sum(one.several for one in named)),
            "generic": float(words.get("generic", False)),
            "quiet": float(words.get("quiet", False)),
            "near": float(len(meant) + any(one.near for one in columns)),
            "tied": float(any(one.tied for one in columns)),
            "aside": float(self._aside(query)),
            "relative": float(self.asked.relative and not self.asked.years),
            "adjusted": float(words.get("adjusted", False)),
        }
        doubts = (
            *self._doubts(left | meant, features, columns, named),
            *self._doubts_of_sum(query, columns, quiet=features["quiet"] > 0),
            *self._doubts_of_rows(used, named),
            *self._doubts_of_kind(query, columns, named),
        )
        return TableReading(query, probability_of(features), features, self.table, doubts)

    def _doubts(
        self, left: set[int], features: Mapping[str, float], columns: Sequence[Chosen], named: Sequence[NamedColumn]
    ) -> Iterator[str]:
        """Reasons not to accept a figure: words that no cell or column accounts for; a column or table not named."""
        name, dated = self.table.name, {c.name for c in self.table.columns.values() if c.kind == "date" or c.is_year}
        if left:
            said = ", ".join(f"“{self.at[n].text}”" for n in sorted(left))
            yield f"Nothing in {name} says {said}."
        if features["vague"]:
            yield f"The question does not say that it is about {name}."
        for one in columns:
            words = {self.at[n].stem for n in one.tokens if n in self.at}
            header = words_of_column(one.column)
            own = one.column.unit
            unit = {stem(name) for name, of in HEADING_UNITS.items() if own and of == own}
            unit |= {word for word in header if IS_YEAR.fullmatch(word)}
            pole_of = pole(self.asked.superlative["word"]) if self.asked.superlative else None
            measured = dimensions_of(one.column) & (self.asked.dimensions | {pole_of[0] if pole_of else ""})
            if header - unit and words and words <= unit:
                yield f"Of {one.column.name} the question names the unit or the year alone."
            elif self.asked.count and header & LIMITS and not LIMITS & {t.stem for t in self.at.values()}:
                yield f"The question does not ask for a limit such as {one.column.name}."
            elif one.implied and not measured and (len(self.figures) > 1 or features["vague"]):
                yield f"The question does not name {one.column.name}."
        if features["relative"] and not any(one.condition["column"] in dated for one in named):
            yield f"The question is about a time that no column of {name} says."
        if self.asked.rate and not self.asked.mean and not features["adjusted"]:
            yield f"The question is about a figure for {self.asked.rate[0]}."
        head = self.head()
        if features["aside"] and head is not None and not self.is_subject(self.at[head]):
            yield f"The rows of {name} are not what the question asks for."
        asked = {token.stem for token in self.at.values()}
        apart = {stem(match["column"]) for match in _BY.finditer(self.asked.lower)}
        filtered = {one.condition["column"] for one in named}
        for other in self.table.columns.values():
            named_by = apart.intersection(map(stem, re.findall(r"[^\W_]+", other.name.casefold())))
            if other.kind != "number" and other.name not in filtered and named_by:
                yield f"The question asks for a figure for each {other.name}, and this one is over all of them."
            if other.kind == "text" and words_of_column(other) & asked and all(map(number_of, other.some)):
                yield f"The question names {other.name}, whose figures are not of one unit."

    def _doubts_of_sum(self, query: Query, columns: Sequence[Chosen], *, quiet: bool) -> Iterator[str]:
        """Reasons not to accept a sum: the prices of a list are not spent together, and a plan says not what came."""
        if query["operation"] != "sum":
            return
        name = re.sub(r"[\W_]+", " ", self.table.name)
        is_list = bool(LISTS_PRICES & set(content_words(name)))
        priced = any(
            (is_list and "money" in dimensions_of(c.column)) or words_of_column(c.column) & PRICES for c in columns
        )
        if priced and not query["where"]:
            yield f"{self.table.name} lists prices, which nobody pays all together."
        if priced and quiet and len(self.rows(query["where"])) > sum(len(one["values"]) for one in query["where"]):
            yield f"{self.table.name} has several prices of it, and no word of the question adds them up."
        heads = " ".join([name, *(one.column.name for one in columns)])
        if _PLANS.search(heads) and not _PLANS.search(self.asked.text):
            yield f"{self.table.name} says what was planned."

    def _doubts_of_rows(self, used: Tokens, named: Sequence[NamedColumn]) -> Iterator[str]:
        """Reasons not to accept a figure over some named rows: a word that else says nothing may name one more, as
        "one single sub" means the row "Single member"."""
        own = {one.condition["column"]: {*one.condition["values"]} for one in named if one.condition["test"] == "="}
        for name in own.keys() & {*self.table.labels}:
            known = self._values(self.table.columns[name])
            for n in sorted(self.every - used):
                meant = [value for value, words in known.items() if self.at[n].stem in words]
                if len(meant) == 1 and meant[0] not in own[name] and not self.at[n].light:
                    yield f"“{self.at[n].text}” may mean “{meant[0]}”, which is left out."

    def _doubts_of_kind(self, query: Query, columns: Sequence[Chosen], named: Sequence[NamedColumn]) -> Iterator[str]:
        """Reasons not to accept a figure of another kind: a count of rows with a remark, the price of the longest."""
        if query["operation"] == "count":
            heads = {n for n, token in self.at.items() if token in self.asked.counted}
            if not query["where"] and self.rows_are_others({self.at[n].stem for n in heads}):
                yield f"The rows of {self.table.name} are not what is counted."
            for column in (self.table.columns[one.condition["column"]] for one in named if heads & one.tokens):
                blank = [place for place, value in enumerate(column.values) if not value]
                if 2 * np.isin(column.codes, blank).sum() > self.table.size:
                    yield f"{column.name} is a remark on some rows, and does not say what they are."
        if query["operation"] in ("largest", "smallest"):
            if A_LIMIT.search(self.asked.lower):
                yield "The question asks what is possible or allowed, which no row is."
            priced = [c.name for c in self.figures if "money" in dimensions_of(c)]
            others = [one.column.name for one in columns if one.column.name not in priced]
            if PRICED.search(self.asked.lower) and priced and others:
                yield f"The question asks for a price, and {others[0]} is none."

    def _telling(self, named: Sequence[NamedColumn], columns: Sequence[Chosen]) -> bool:
        """Whether the question has words specific to this table: a name, a heading, its title."""
        if named or any(one.tokens and not one.near for one in columns if self._exact(one)):
            return True
        known = self.about | self.of_words
        return any(not t.light and t.stem not in UNSPECIFIC and t.stem in known for t in self.at.values())

    def _exact(self, chosen: Chosen) -> bool:
        """Whether the question has the exact name of a column."""
        return any(self.at[n].stem in words_of_column(chosen.column) for n in chosen.tokens if n in self.at)

    def _aside(self, query: Mapping[str, Any]) -> bool:
        """Whether "which tool" asks for a thing that the rows or groups are not."""
        head = self.head()
        if (
            head is None
            or query.get("operation") not in ("largest", "smallest", "list")
            or self.at[head].stem in GENERIC
        ):
            return False
        named = [query["group"]] if query.get("group") else self.table.labels
        words = {w for name in named for w in words_of_column(self.table.columns[name])}
        word = self.at[head].stem
        return word not in words

    def _meant(self, token: Token) -> bool:
        """Whether a word is similar to one of the table's words by the embedding model."""
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


def _counts_itself(named: NamedColumn) -> bool:
    """Whether a named value says how many itself, as "eight hens" does."""
    values = named.condition["values"]
    return any(fact.kind == "number" for value in values if not number_of(value) for fact in extract(value))


def _percents(passages: Sequence[Passage]) -> Iterator[tuple[str, Cited, frozenset[str]]]:
    """Percentages that texts add to figures or take off: signed, with the place and the words of the clause."""
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
