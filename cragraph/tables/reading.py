"""Reads a question that a table computes as a query: operation, column, rows, and how sure it is of them.

A question is taken apart into what says the operation ("altogether", "how many", "dearer than"), what names a column,
what names values of cells, and what is left. What a table does not account for speaks against the reading: a name or a
figure that it does not hold ends it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from cragraph.answers.questions import split_question
from cragraph.language.facts.numbers import value_of
from cragraph.language.headers import UNITS as HEADING_UNITS
from cragraph.language.sentences import sentence_spans
from cragraph.language.tables import Table
from cragraph.language.words import content_words, stem, weight
from cragraph.tables.asked import (
    ALL_THERE_ARE,
    GENERIC,
    GROWS,
    QUANTITY,
    SAID,
    TOP,
    TWO_FOLD,
    YEAR,
    Asked,
    Token,
    pole,
    same_words,
)
from cragraph.tables.matching import (
    NEAR,
    Chosen,
    Matching,
    Named,
    Near,
    dimensions_of,
    sorted_where,
    used_by,
    words_of_column,
)
from cragraph.types import Cited, Condition, Operand, Operation, Passage, Query

FEATURES: Final = (
    "bias",
    "unsaid",
    "words",
    "vague",
    "implied",
    "partial",
    "generic",
    "quiet",
    "near",
    "aside",
    "relative",
    "adjusted",
)
WEIGHTS: Final = (3.69, -7.02, -1.71, -0.51, -1.75, -1.04, -0.55, -1.27, -0.98, -0.5, -1.5, -0.37)
"""Of the chance, a logistic regression: fitted with `python -m lab.benchmarks.computed --fit`."""
TIED: Final = 0.5  # factor on the chance where another column, or another table, may be meant as well
FLOOR: Final = 0.6
"""A reading that is less likely than this to be what was asked is not computed: the question goes the ordinary way."""
RIVAL: Final = 0.4  # share of the odds of the best reading from which on another makes it a toss-up

_ADDS: Final = re.compile(r"(?P<figure>\d+(?:\.\d+)?)\s?(?:%|per ?cent|percent)")
_MORE: Final = re.compile(
    r"\b(?:more|extra|surcharge|supplement|on top|higher|dearer|increase\w*|added|plus|additional)\b", re.I
)
_OFF: Final = re.compile(r"\b(?:less|off|discount|cheaper|reduction|lower|rebate|reduced)\b", re.I)
_CLAUSES: Final = re.compile(r";|, (?:and|but)\b|\bbut\b|\.\s")


@dataclass(frozen=True)
class Reading:
    """A query that a question may mean, and the chance that it does, 0..1; `table` is what it is put to."""

    query: Query
    chance: float
    features: Mapping[str, float]
    table: "Table" = field(repr=False)
    doubts: tuple[str, ...] = ()
    """Why its figure is not accepted as the answer, in sentences: what of the question or the query is not named."""


class Plan(NamedTuple):
    """What came of asking for a query: the reading, or that no table holds what is asked (`declined`)."""

    reading: Reading | None = None
    declined: bool = False


def read_query(
    question: str, tables: "Sequence[Table]", passages: Sequence[Passage] = (), near: Near | None = None
) -> list[Reading]:
    """What a question may compute over some tables, the likeliest first; empty where it asks for nothing of the kind.

    `passages` are looked through for what a text adds to a figure of a table, or takes off.
    """
    if len(split_question(question)) > 1 or TWO_FOLD.search(question):
        return []
    asked = Asked(question)
    if not asked.computes and not (passages and asked.money):
        return []
    named = [table for table in tables if table.filename.casefold() in asked.files]
    over = [_Over(asked, table, near) for table in named or tables]
    titles = frozenset().union(*(one.about for one in over))
    for one in over:
        one.elsewhere = titles - one.about
    drafts = [draft for one in over for draft in one.drafts(passages)]
    # "The dearest item" is looked for where a column names items, if there is such a table.
    loose = {token.stem for token in asked.tokens if token.stem in GENERIC}
    naming = [one.table for one in over if loose & one.label_words]
    drafts = [draft for draft in drafts if any(draft.table is table for table in naming)] or drafts
    readings = [Reading(d.query, chance_of(d.features), d.features, d.table, d.doubts) for d in drafts]
    readings.sort(key=lambda r: -r.chance)
    return readings


def weighed(question: str, query: Query, table: "Table", near: Near | None = None) -> Reading | None:
    """How likely a query that somebody else wrote is what a question asks; None where it leaves out what that is."""
    return _Over(Asked(question), table, near).weighed(query)


def chance_of(features: Mapping[str, float], weights: Sequence[float] = WEIGHTS) -> float:
    """The fitted chance that a reading with these features is what was asked."""
    total = sum(w * features[name] for w, name in zip(weights, FEATURES, strict=True))
    return (TIED if features["tied"] else 1.0) / (1 + exp(-max(-30.0, min(30.0, total))))


def odds(chance: float) -> float:
    """A chance as odds."""
    return chance / max(1e-9, 1 - chance)


@dataclass(frozen=True)
class _Draft:
    query: Query
    features: Mapping[str, float]
    table: "Table"
    doubts: tuple[str, ...]


class _Over(Matching):
    """One question put to one table."""

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
        used = used_by(named)
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
        used = used_by(named)
        heads -= {
            n for one in named if self.table.columns[one.condition["column"]].kind == "number" for n in one.tokens
        }
        direct = self._direct(heads) if heads and asked.compared is None else None
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
        generic = head[0].stem in GENERIC
        subject = [n for n in heads if self._is_subject(self.at[n])]
        values = [n for n in heads if n in used]
        if not (generic or subject or values):
            return
        flagged = self._flags(set(self.at) - used) or self._near_flag(set(self.at) - used - heads)
        # "How many birds were counted in spring": rows are species, and a column says how many.
        rest = set(self.at) - used - heads - {n for one in flagged for n in one.tokens}
        bounded = self.asked.compared is not None
        measured = self._column(rest, strict=True) if not bounded and (not generic or not named) else None
        quantity = next((c for c in self.figures if words_of_column(c) & QUANTITY), None)
        if measured is not None and not self._is_row_name(head):
            where = self._where([*named, *flagged], measured)
            yield from self._draft("sum", measured, where, [*named, *flagged], quiet=not asked.total, heads=heads)
            return
        if values and not subject and quantity is not None:
            chosen = Chosen(quantity, frozenset(), True, False, False)
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
        whole = asked.total or (ALL_THERE_ARE.search(asked.lower) and not self._rows_are_periods())
        if not conditions and not whole and not self._is_row_name(head):
            return
        yield from self._draft(
            "count",
            None,
            [c.condition for c in conditions],
            conditions,
            generic=generic,
            heads={*subject, *([min(heads)] if generic else [])},
        )

    def _extreme(self) -> Iterator[_Draft]:
        """The row, or the group, with the most of a column or the least."""
        asked, match = self.asked, self.asked.superlative
        assert match is not None
        dimension, end = pole(match["word"]) or ("", 1)
        own = {n for n, t in self.at.items() if match.start() <= t.start < match.end()}
        named = self._named(set(self.at) - own)
        used = used_by(named) | own
        dated = [c for c in self.table.columns.values() if c.kind == "date"]
        head = self._head()
        chosen = self._column(
            set(self.at) - used - ({head} if head is not None else set()), dimension=dimension, dates=dated
        )
        if chosen is None:
            chosen = self._column(set(self.at) - used, dimension=dimension, dates=dated)
        if chosen is None and asked.count is None and not dimension:
            quantity = [c for c in self.figures if words_of_column(c) & QUANTITY]
            if len(quantity) == 1:
                chosen = Chosen(quantity[0], frozenset(), True, False, False)
        group = self._group(head)
        often = re.search(r"\b(?:most often|most times|most frequently|least often)\b", asked.lower)
        thing = next((n for n, t in self.at.items() if t.start >= match.end() and not t.light), None)
        if group and not dimension and thing not in (None, head) and self._is_subject(self.at[thing]):
            own, often = own | {thing}, often or match
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
        if top := TOP.search(asked.lower):
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
        # The cheapest is one of them; the one with the most is so with all of its rows.
        if group and chosen.column.kind == "number" and (not dimension or asked.total):
            values = [self.table.rows[n].value(group) for n in rows]
            if len(set(values)) < len(values):
                yield from self._draft(operation, chosen, where, named, group=group, of="sum", most=most, extra=extra)
                return
        yield from self._draft(operation, chosen, where, named, most=most, extra=extra)

    def _list(self) -> Iterator[_Draft]:
        """The rows beyond a bound."""
        named = self._named(range(len(self.asked.tokens)))
        compared = self._compared(set(self.at) - used_by(named))
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
        comparative = self._comparative(split if split >= 0 else len(asked.lower))
        dimension, end = (pole(comparative[0]) or ("", 1)) if comparative else ("", 1)
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
    ) -> tuple[Operand, Operand, list[Named], list[Chosen]] | None:
        """Two operands: what is said on one side alone of a column holds for the other side as well."""
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
        used = used_by(named)
        chosen = []
        for part in parts:
            mine = self._column((part | outside) - used, dimension=dimension, implied=True)
            chosen.append(mine)
        differ = bool(both) and any(c["column"] == d["column"] and c != d for c in rows[0] for d in rows[1])
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
            {"column": c.column.name, "where": sorted_where(where)} for c, where in zip(chosen, rows, strict=True) if c
        ]
        if operands[0] == operands[1] or any(not self._rows(o["where"]) for o in operands):
            return None
        # What is dearer, or heavier, is one thing; what is more may be the sum of many.
        if dimension and any(len(self._rows(o["where"])) > 1 for o in operands):
            return None
        # Nothing is compared with all rows at once by chance: each side is a row, a group that is named, or a column.
        distinct = list(dict.fromkeys(c for c in chosen if c))
        return operands[0], operands[1], named, distinct

    def _comparative(self, before: int) -> "re.Match[str] | None":
        """The first word such as "dearer" or "more" that stands before a place."""
        words = re.finditer(r"\b\w+er\b|\bmore\b|\bless\b|\bworse\b", self.asked.lower)
        return next((m for m in words if pole(m[0]) and m.start() < before), None)

    def _either(self) -> Iterator[_Draft]:
        """Which of two rows has more."""
        asked = self.asked
        comparative = self._comparative(len(asked.lower))
        at = asked.lower.find(" or ")
        if comparative is None or at < comparative.start():
            return
        dimension, end = pole(comparative[0]) or ("", 1)
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
        flagged = self._flags(set(self.at) - used_by(named)) if not named else []
        conditions = [*named, *flagged]
        if not conditions:
            return
        chosen = self._column(set(self.at) - used_by(conditions), strict=True)
        where = self._where(conditions, chosen)
        heads = {n for n, t in self.at.items() if self._is_subject(t)}
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
            if re.fullmatch(GROWS, t.text.casefold()) or t.stem in ("percentag", "percent", "cent", "growth")
        )
        operation: Operation = "growth"
        by_year = {y: [c for c in self.figures if y in words_of_column(c)] for y in self._column_years()}
        if len(by_year) >= 2:
            span = years if len(years) == 2 else sorted(by_year) if not years else []
            if len(span) < 2:
                return
            first, last = (span[0], span[-1])
            if first not in by_year or last not in by_year:
                return
            named = self._named(set(self.at) - set(timed) - grow)
            rest = set(self.at) - used_by(named) - set(timed) - grow
            pair = [self._column_by({-1: year}, rest) for year in (first, last)]
            # "Actual 2023" and "Actual 2024" are of one kind, "Budget 2024" is of another.
            kinds = [{words_of_column(c) - {year}: c for c in by_year[year]} for year in (first, last)]
            if len(alike := kinds[0].keys() & kinds[1].keys()) == 1:
                own = alike.pop()
                tokens = frozenset(n for n in rest if self.at[n].stem in own)
                pair = [Chosen(kind[own], tokens, False, False, False) for kind in kinds]
            if any(c is None for c in pair):
                return
            early, late = pair
            assert early is not None
            assert late is not None
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
        chosen = self._column(set(self.at) - used_by(named) - set(timed) - grow)
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
        chosen = self._column(set(self.at) - used_by(named), dimension="money")
        if chosen is None or "money" not in dimensions_of(chosen.column):
            return
        where = self._where(named, chosen)
        if len(self._rows(where)) != 1:
            return
        left = self._unsaid(used_by(named) | chosen.tokens, chosen)
        if not left:
            return
        words = {self.at[n].stem for n in left}
        for percent, at, said in _percents(passages):
            if words <= said:
                query = self._query("adjusted", chosen.column.name, where)
                query |= {"percent": percent, "percent_at": at}
                made = self._features(used_by(named) | chosen.tokens | left, named, chosen, adjusted=True)
                if made is not None:
                    yield _Draft(query, made[0], self.table, made[1])
                return

    # -- drafts and what speaks for them -----------------------------------------------------------------------

    def _query(self, operation: Operation, column: str, where: Sequence[Condition]) -> Query:
        place = {"source": self.table.source, "table": self.table.title}
        return cast(Query, {**place, "operation": operation, "column": column, "where": list(where)})

    def _draft(
        self, operation: Operation, chosen: Chosen | None, where: Sequence[Condition], named: Sequence[Named], *,
        against: Operand | None = None, also: Sequence[Chosen] = (), group: str = "", of: str = "", most: int = 1,
        test: str = "", column: str = "", extra: "frozenset[int] | set[int]" = frozenset(),
        heads: "set[int] | frozenset[int]" = frozenset(),
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
        used = used_by(named) | set(extra) | set(heads)
        for one in (chosen, *also):
            used |= one.tokens if one else set()
        made = self._features(used, named, chosen, quiet=quiet, generic=generic, also=also, query=query)
        if made is not None:
            yield _Draft(query, made[0], self.table, made[1])

    def _features(
        self, used: "set[int] | frozenset[int]", named: Sequence[Named], chosen: Chosen | None, *, quiet: bool = False,
        generic: bool = False, adjusted: bool = False, also: Sequence[Chosen] = (),
        query: Mapping[str, Any] = MappingProxyType({}),
    ) -> tuple[dict[str, float], tuple[str, ...]] | None:  # fmt: skip
        """What speaks for a reading and against it, and its doubts; None where it leaves out what is asked about."""
        left = self._unsaid(used, chosen)
        meant = {n for n in left if self._meant(self.at[n])}
        left -= meant
        # A name, a figure, or the very thing that is counted: whoever does not know it does not know the question.
        for n in left:
            token = self.at[n]
            if token.text[0].isdigit() or (token.text[0].isupper() and token.start) or n in self.subjects:
                return None
        heavy = [t for t in self.at.values() if not t.light and t.stem not in SAID]
        whole = sum(weight(t.stem) for t in heavy) or 1.0
        features = {
            "bias": 1.0,
            "unsaid": min(1.0, sum(weight(self.at[n].stem) for n in left) / whole),
            "words": float(len(left)),
            "vague": float(not self._telling(named, chosen, also)),
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
        return features, tuple(self._doubts(left | meant, features, [c for c in (chosen, *also) if c], named))

    def _doubts(
        self, left: set[int], features: Mapping[str, float], columns: Sequence[Chosen], named: Sequence[Named]
    ) -> Iterator[str]:
        """Why a figure is not accepted: words that no cell or column accounts for; a column or table not named."""
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
            unit |= {word for word in header if YEAR.fullmatch(word)}
            pole_of = pole(self.asked.superlative["word"]) if self.asked.superlative else None
            measured = dimensions_of(one.column) & (self.asked.dimensions | {pole_of[0] if pole_of else ""})
            if header - unit and words and words <= unit:
                yield f"Of {one.column.name} the question names the unit or the year alone."
            elif one.implied and not measured and (len(self.figures) > 1 or features["vague"]):
                yield f"The question does not name {one.column.name}."
        if features["relative"] and not any(one.condition["column"] in dated for one in named):
            yield f"The question is about a time that no column of {name} says."
        if self.asked.rate and not self.asked.mean and not features["adjusted"]:
            yield f"The question is about a figure for {self.asked.rate[0]}."
        if features["aside"]:
            yield f"The rows of {name} are not what the question asks for."

    def weighed(self, query: Query) -> Reading | None:
        """What the words of the question say for a query, by the columns and values that it names."""
        operands = [query, query.get("against") or {"column": "", "where": []}]
        columns = [self.table.columns[o["column"]] for o in operands if o["column"]]
        chosen = [Chosen(column, self._score(column, set(self.at))[1], False, False, False) for column in columns]
        named = []
        for condition in (c for operand in operands for c in operand["where"]):
            words = {w for value in condition["values"] for w in content_words(value)}
            words |= words_of_column(self.table.columns[condition["column"]])
            own = frozenset(n for n, t in self.at.items() if t.stem in words or set(map(stem, same_words(t))) & words)
            named.append(Named(condition, own, False, False))
        used = used_by(named) | {n for one in chosen for n in one.tokens}
        made = self._features(used, named, chosen[0] if chosen else None, also=chosen[1:], query=query)
        return None if made is None else Reading(query, chance_of(made[0]), made[0], self.table, made[1])

    def _telling(self, named: Sequence[Named], chosen: Chosen | None, also: Sequence[Chosen]) -> bool:
        """Whether anything in the question is said of this table and not of any: a name, a heading, its title."""
        if named or any(one.tokens and not one.near for one in (chosen, *also) if one and self._exact(one)):
            return True
        known = self.about | self.of_words
        return any(not t.light and t.stem not in SAID and t.stem in known for t in self.at.values())

    def _exact(self, chosen: Chosen) -> bool:
        """Whether a column was named as it is written."""
        return any(self.at[n].stem in words_of_column(chosen.column) for n in chosen.tokens if n in self.at)

    def _aside(self, query: Mapping[str, Any]) -> bool:
        """Whether "which tool" is asked of rows, or groups, that are none."""
        head = self._head()
        if (
            head is None
            or query.get("operation") not in ("largest", "smallest", "list")
            or self.at[head].stem in GENERIC
        ):
            return False
        named = [query["group"]] if query.get("group") else self.table.labels
        words = {w for name in named for w in words_of_column(self.table.columns[name])}
        word = self.at[head].stem
        return word not in words and not any(stem(o) in words for o in same_words(self.at[head]))

    @cached_property
    def subjects(self) -> frozenset[int]:
        """The words that a table must know: what is counted, added up, averaged, or grows."""
        asked, found = self.asked, set[int]()
        found |= {n for n, t in self.at.items() if t in asked.counted[:1]}
        for match in (asked.mean, asked.total, asked.share):
            after = [n for n, t in self.at.items() if match and t.start >= match.end() and not t.light]
            # "The total weight" is of a weight; in "altogether, in May" nothing follows.
            between = asked.lower[match.end() : self.at[after[0]].start] if match and after else "?"
            if not re.search(r"[,?]|\b(?:did|do|does|have|has|had|in|over|was|were|is|are)\b", between):
                found.add(after[0])
        if asked.growth and (
            verb := re.search(rf"\b(?:did|has|have|had|do|does|will)\b(?P<what>.*?)\b{GROWS}\b", asked.lower)
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
