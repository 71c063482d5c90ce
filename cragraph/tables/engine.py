"""Runs a query over the rows of a table, exactly, and puts the result into a sentence.

Figures are decimals and are added without rounding; only a quotient (a mean, a share, a growth) is rounded, and marked
so.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
from math import floor
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, NamedTuple

import numpy as np

from cragraph.documents.tables import Column, Table, label_of_sum
from cragraph.errors import InputError
from cragraph.language.cells import day_of, number_of, read_header
from cragraph.language.lexicon import LEXICON
from cragraph.types import Computed, Condition, Operand, Query

Rows = np.ndarray[Any, np.dtype[np.int64]]
CITED: Final = 12  # cited rows of a figure at most
LISTED: Final = 50_000  # rows that a list labels at most, and of which doubts are looked up
GROUPS: Final = 10_000  # groups that are ranked at most
NAMED: Final = 12  # rows or groups in a list or a ranking at most
PARTIAL: Final = 0.5  # probability at most of a figure over a part of a file's rows: shown, and never accepted
_EXACT: Final = Context(prec=200)
_TESTS: Final = {"=": eq, "!=": ne, ">": gt, ">=": ge, "<": lt, "<=": le}
_BEYOND: Final = {"!=": "other than", ">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}
_SIGNS: Final = {"GBP": "£", "EUR": "€", "USD": "$"}
_NUMBERS: Final = LEXICON["to_nineteen"].split()
_UNITS: Final = {"min": "minutes", "h": "hours"}


class _Total(NamedTuple):
    """The sum of an operand (or the number of rows), the rows with a figure, and the number without."""

    value: Decimal
    rows: Rows
    missing: int


def compute(query: Query, table: Table, probability: float = 1.0) -> Computed:
    """The result of a query. Raises InputError if the query does not fit the table, or has no result."""
    with localcontext(_EXACT):
        return _Engine(query, table).run(probability)


def rows_with(where: Sequence[Condition], table: Table) -> Rows:
    """The rows of a table that pass all conditions. Raises InputError for a condition that does not fit the table."""
    query: Any = {"operation": "count", "column": "", "where": where}
    return _Engine(query, table).rows(where)


class _Engine:
    def __init__(self, query: Query, table: Table) -> None:
        self.query, self.table = query, table
        self.own: Operand = {"column": query["column"], "where": query["where"]}
        operands = [self.own, *([query["against"]] if "against" in query else [])]
        named = [o["column"] for o in operands] + [c["column"] for o in operands for c in o["where"]]
        for name in (*named, query.get("group", "")):
            if name and name not in table.columns:
                raise InputError(f"there is no column {name!r} in {table.name}; it has {', '.join(table.columns)}.")

    # -- rows and sums -----------------------------------------------------------------------------------------

    def rows(self, where: Sequence[Condition]) -> Rows:
        """The rows that pass all conditions."""
        passing = np.ones(self.table.size, dtype=bool)
        for one in where:
            column = self.table.columns[one["column"]]
            passing &= np.array(self._passes(one, column), dtype=bool)[column.codes]
        return np.flatnonzero(passing)

    def _passes(self, one: Condition, column: Column) -> list[bool]:
        """For each distinct value of a column whether it passes a condition; an unreadable value does not."""
        compare = _TESTS.get(one["test"])
        if compare is None or not one["values"] or (one["test"] not in ("=", "!=") and len(one["values"]) > 1):
            raise InputError(f"a condition came as {dict(one)!r}; wanted a test of {', '.join(_TESTS)}.")
        given, known = [self._operand(column, value, one["test"]) for value in one["values"]], column.known
        if column.kind == "date":
            # A month means all its days; "after" it means after the last of them.
            length = min(map(len, given))
            given, known = [value[:length] for value in given], [day and day[:length] for day in known]
        if one["test"] == "=":
            among = {*given} - {None}
            return [value in among for value in known]
        every = [[value is not None and compare(value, operand) for value in known] for operand in given]
        return [all(of) for of in zip(*every, strict=True)]

    def _operand(self, column: Column, value: str, test: str) -> Any:
        if column.kind == "number":
            if (read := number_of(value)) is None:
                raise InputError(f"{column.name} holds figures and was compared with {value!r}; wanted a figure.")
            return read.value
        if column.kind == "date":
            if (day := value if value.isdigit() and len(value) == 4 else day_of(value)) is None:
                raise InputError(f"{column.name} holds dates and was compared with {value!r}; wanted a date.")
            return day
        if test not in ("=", "!="):
            raise InputError(f"{column.name} holds words and was compared by {test}; wanted figures or dates.")
        return column.read(value)

    def figures(self, name: str) -> Column:
        """The column of this name. Raises InputError if its values are no figures of one unit."""
        if self.table.columns[name].kind != "number":
            raise InputError(
                f"{name} of {self.table.name} does not hold figures of one unit; wanted a column that does."
            )
        return self.table.columns[name]

    def with_value(self, rows: Rows, column: Column) -> Rows:
        """The rows with a readable value in a column. Raises InputError if there are none."""
        known = np.array([value is not None for value in column.known], dtype=bool)
        found: Rows = rows[known[column.codes[rows]]]
        if not len(found):
            raise InputError(f"no row of {self.table.name} has a figure in {column.name}.")
        return found

    def total(self, operand: Operand) -> _Total:
        """The sum of an operand, or the number of its rows."""
        rows = self.rows(operand["where"])
        if not operand["column"]:
            return _Total(Decimal(len(rows)), rows, 0)
        column = self.figures(operand["column"])
        known = self.with_value(rows, column)
        return _Total(_sum(column, known), known, len(rows) - len(known))

    # -- operations --------------------------------------------------------------------------------------------

    def run(self, probability: float) -> Computed:
        """Compute the figure and its sentence."""
        operation = self.query["operation"]
        if self.query.get("group"):
            return self._grouped(probability)
        if operation in ("largest", "smallest"):
            return self._extreme(probability)
        if operation in ("list", "count"):
            return self._listed(probability, named=operation == "list")
        if operation in ("sum", "mean"):
            return self._added(probability, mean=operation == "mean")
        if operation == "adjusted":
            return self._adjusted(probability)
        if "against" not in self.query:
            raise InputError(
                f"a query came with the operation {operation!r} and nothing to compare with; wanted `against`."
            )
        return self._two(self.query["against"], probability)

    def _added(self, probability: float, *, mean: bool) -> Computed:
        total, column = self.total(self.own), self.table.columns[self.own["column"]]
        rows = self._rows_in_words(len(total.rows), self.own["where"])
        more = f"; {_count(total.missing)} more without a figure" if total.missing else ""
        words = column.header.words
        subject = f"The {words} of {rows} {'are' if _is_plural(words) else 'is'}"
        if mean:
            exact = Fraction(total.value) / len(total.rows)
            value = rounded(exact)
            text = f"{subject} {shown(value, column)} on average{_about(exact, value)}{more}"
            return self._made(text, value, column.unit, total, probability, rounded=exact != Fraction(value))
        text = f"{subject} {shown(total.value, column)} in all{more}"
        if words in ("cost", "costs", "price"):
            costs = "costs" if len(total.rows) == 1 else "cost"
            text = f"{rows[:1].upper()}{rows[1:]} {costs} {shown(total.value, column)} in all{more}"
        made = self._made(text, total.value, column.unit, total, probability)
        sums = [(row[column.name], label_of_sum(row)) for row in self.table.totals if column.name in row]
        stated = {figure: name for figure, name in sums if name}
        whole = {figure for figure, name in stated.items() if not re.match("sub|.*(?:average|mean)", name, re.I)}
        known = {t.value for figure in whole or stated if (t := number_of(figure))}
        if known and not self.own["where"] and total.value not in known:
            stated_as = " or ".join(sorted(whole or stated))
            made["doubts"] = [*made.get("doubts", []), f"The table itself states a total of {stated_as}."]
        return made

    def _extreme(self, probability: float) -> Computed:
        column, most = self.table.columns[self.own["column"]], self.query.get("most", 1)
        if column.kind not in ("number", "date"):
            raise InputError(f"{column.name} of {self.table.name} holds words; wanted figures or dates.")
        every = self.rows(self.own["where"])
        found, known = self.with_value(every, column), column.known
        largest = self.query["operation"] == "largest"
        order = sorted(np.unique(column.codes[found]).tolist(), key=lambda code: known[code], reverse=largest)
        best = list[int]()
        for code in order:
            best += found[column.codes[found] == code].tolist()
            if len(best) >= most:
                break
        labels = [self.table.label(n) for n in best[:LISTED]]
        ends = ("latest", "earliest") if column.kind == "date" or column.is_year else ("largest", "smallest")
        what = f"{ends[0] if largest else ends[1]} {column.header.words}"
        over = self._rows_in_words(len(found), self.own["where"])
        if most > 1:
            rows = "; ".join(f"{self.table.label(n)}, {self._cell(n, column)}" for n in best[:NAMED])
            text = f"The {_count(most)} {what} of {over}: {rows}"
        else:
            have = "has" if len(best) == 1 else "have"
            text = f"{' and '.join(labels[:NAMED])} {have} the {what} of {over}: {self._cell(best[0], column)}"
        value = column.value(best[0]) if column.kind == "date" else known[order[0]]
        total = _Total(Decimal(), np.array(best), len(every) - len(found))
        return self._made(text, value, column.unit, total, probability, labels=labels, rows=len(found))

    def _listed(self, probability: float, *, named: bool) -> Computed:
        """The rows that pass the conditions, named or counted."""
        rows, where = self.rows(self.own["where"]), self.own["where"]
        if named and not len(rows):
            raise InputError(f"no row of {self.table.name} passes the conditions.")
        tested = dict.fromkeys(self.table.columns[c["column"]] for c in where)
        labels = [self.table.label(n) for n in rows[:LISTED]] if named else []

        def shown_row(n: int) -> str:
            cells = [self._cell(n, column) for column in tested if column.kind in ("number", "date")]
            return f"{self.table.label(n)}{f' ({chr(44).join(cells)})' if cells else ''}"

        have = "has" if len(rows) == 1 else "have"
        each = " and ".join(map(self._having, where))
        whole = self._rows_in_words(self.table.size, ())
        text = f"{_count(len(rows)).capitalize()} of {whole} {have} {each}"
        if not where:
            text = f"There {'is' if len(rows) == 1 else 'are'} {whole.removeprefix('the ')}"
        if named:
            more = f"; and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
            text += f": {'; '.join(map(shown_row, rows[:NAMED]))}{more}"
        total = _Total(Decimal(len(rows)), rows, 0)
        return self._made(text, total.value, "", total, probability, labels=labels)

    def _grouped(self, probability: float) -> Computed:
        query, column = self.query, self.table.columns.get(self.own["column"])
        key, of = self.table.columns[query["group"]], query.get("of", "sum")
        taken = self.with_value(self.rows(self.own["where"]), key)
        if column and of != "count":
            taken = self.with_value(taken, self.figures(column.name))
        codes = key.codes[taken]
        groups = [taken[codes == code] for code in np.unique(codes)]
        if len(groups) > GROUPS:
            raise InputError(f"{key.name} of {self.table.name} has {len(groups):,} different values; too many to rank.")

        def value(rows: Rows) -> Fraction:
            total = Fraction(_sum(column, rows) if column and of != "count" else len(rows))
            return total / len(rows) if of == "mean" else total

        smallest = query["operation"] == "smallest"
        valued = sorted(((value(rows), rows) for rows in groups), key=lambda one: one[0] * (1 if smallest else -1))
        most = query.get("most", 1) if query["operation"] in ("largest", "smallest") else len(valued)
        best = [one for one in valued if one[0] == valued[0][0]] if most == 1 else valued[:most]
        names, own = [key.value(rows[0]) for _, rows in best], column if of != "count" else None
        over = self._rows_in_words(len(taken), self.own["where"])
        first = rounded(best[0][0])
        what = f"{'average' if of == 'mean' else 'total'} {column.header.words}" if column and own else "number"
        if query["operation"] in ("largest", "smallest") and most == 1:
            end = {"largest": ("largest", "most"), "smallest": ("smallest", "fewest")}[query["operation"]]
            what = f"{end[0]} {what}" if own else end[1]
            have = "has" if len(names) == 1 else "have"
            text = f"{' and '.join(names[:NAMED])} {have} the {what} of {over}: {shown(first, own)}"
        else:
            figured = [f"{name}, {shown(rounded(value), own)}" for name, (value, _) in zip(names, best, strict=True)]
            more = f"; and {len(figured) - NAMED} more" if len(figured) > NAMED else ""
            text = f"The {what} of {over} by {key.header.words}: {'; '.join(figured[:NAMED])}{more}"
        inexact = any(value != Fraction(rounded(value)) for value, _ in best)
        total = _Total(first, np.concatenate([rows for _, rows in best]), 0)
        unit = own.unit if own else ""
        return self._made(text, first, unit, total, probability, labels=names, rows=len(taken), rounded=inexact)

    def _two(self, other: Operand, probability: float) -> Computed:
        own, operation = self.own, self.query["operation"]
        one, two = self.total(own), self.total(other)
        if not len(one.rows) or not len(two.rows):
            raise InputError(f"no row of {self.table.name} passes the conditions of one side.")
        columns = [self.table.columns.get(o["column"]) for o in (own, other)]
        if len({column.unit if column else "" for column in columns}) > 1:
            raise InputError(f"{own['column']} and {other['column']} of {self.table.name} have different units.")
        column = columns[0]
        either = np.array([*dict.fromkeys([*one.rows.tolist(), *two.rows.tolist()])])
        both = _Total(one.value, either, one.missing + two.missing)
        first, second = (
            f"{self._of(a, b)} {shown(t.value, column)}" for a, b, t in ((own, other, one), (other, own, two))
        )
        place = f" ({self._shared(own, other)} in {self.table.name})"
        gap = abs(one.value - two.value)
        unit = column.unit if column else ""
        if operation == "compare":
            yes = one.value > two.value if self.query.get("test", ">") == ">" else one.value < two.value
            apart = "both are the same" if not gap else f"difference {shown(gap, column)}"
            text = f"{'Yes' if yes else 'No'}: {first}, {second}; {apart}{place}"
            return self._made(text, "yes" if yes else "no", "", both, probability)
        if operation == "difference":
            return self._made(
                f"{first}, {second}; difference {shown(gap, column)}{place}", gap, unit, both, probability
            )
        if not two.value:
            raise InputError("the whole of a share, or the first figure of a growth, is 0: there is no percentage.")
        if operation == "share":
            exact = Fraction(one.value) / Fraction(two.value) * 100
            value = rounded(exact)
            rows = self._rows_in_words(len(one.rows), own["where"])
            what = f"{column.header.title} of {rows}" if column else f"{rows[:1].upper()}{rows[1:]}"
            text = f"{what}: {shown(value)} %, {shown(one.value, column)} of {shown(two.value, column)}"
            whole = _Total(one.value, one.rows, one.missing)
            return self._made(
                text + _about(exact, value), value, "%", whole, probability, rows=len(two.rows), rounded=exact != value
            )
        if operation != "growth":
            raise InputError(f"there is no operation {operation!r}.")
        if two.value < 0:
            raise InputError("the first figure of a growth is below 0: there is no percentage.")
        gained = one.value - two.value
        exact = Fraction(gained) / Fraction(two.value) * 100
        percent = rounded(exact)
        text = f"From {second} to {first}: {signed(gained, column)}, which is {signed(percent)} %"
        return self._made(
            f"{text}{_about(exact, percent)}{place}", percent, "%", both, probability, rounded=exact != percent
        )

    def _adjusted(self, probability: float) -> Computed:
        total, percent = self.total(self.own), number_of(self.query.get("percent", ""))
        at = self.query.get("percent_at")
        if percent is None or at is None or len(total.rows) != 1:
            raise InputError("an adjusted figure needs a single row, and a percentage that a text states.")
        column = self.table.columns[self.own["column"]]
        exact = Fraction(total.value) * (100 + Fraction(percent.value)) / 100
        value = rounded(exact)
        sign = "more" if percent.value > 0 else "less"
        base = f"{self.table.label(total.rows[0])}, {column.header.words} {shown(total.value, column)}"
        text = f"{base}, {shown(abs(percent.value))} % {sign}: {shown(value, column)}{_about(exact, value)}"
        made = self._made(text, value, column.unit, total, probability, rounded=exact != Fraction(value))
        return {**made, "cited": [*made["cited"], at]}

    # -- words -------------------------------------------------------------------------------------------------

    def _made(
        self, text: str, value: Decimal | str, unit: str, total: _Total, probability: float,
        *, labels: Sequence[str] = (), rows: int | None = None, rounded: bool = False,
    ) -> Computed:  # fmt: skip
        """The record of a computed figure, with the doubts about the reading of its rows."""
        cited = [self.table.cite(int(n)) for n in total.rows[:CITED]]
        taken = len(total.rows) if rows is None else rows
        made = Computed(
            query=self.query, answer=text, value=value if isinstance(value, str) else plain(value), unit=unit,
            labels=list(labels), rows=taken, missing=total.missing, rounded=rounded, cited=cited,
            probability=probability,
        )  # fmt: skip
        doubts = [*self.table.doubts(map(int, total.rows[:LISTED]), not self.own["where"])]
        if left_out := self.table.left_out:
            made["answer"] += f" ({left_out})"
            made["probability"] = min(probability, PARTIAL)
            doubts.append(f"Of {self.table.filename} {left_out}: the figure leaves the rest out.")
        if doubts:
            made["doubts"] = list(dict.fromkeys(doubts))
        return made

    def _rows_in_words(self, count: int, where: Sequence[Condition]) -> str:
        """A number of rows with their conditions, in words: ``the six incidents with place Yard``."""
        what = self.table.noun or f"rows of {self.table.name}"
        if count == 1:
            what = re.sub(r"s\b", "", re.sub(r"ies\b", "y", what, count=1), count=1)
        each = " and ".join(" ".join(_condition(c)) for c in where)
        return f"the {_count(count)} {what}{f' with {each}' if each else ''}"

    def _having(self, one: Condition) -> str:
        """A condition as the object of "have": "the place Yard", "a cost above £60", "yes for injury"."""
        column, (name, values) = self.table.columns[one["column"]], _condition(one)
        if one["test"] == "=" and column.kind != "text":
            return f"{values} for {name}"
        if one["test"] == "=":
            return f"the {name} {values}"
        if column.kind == "number":
            values = f"{_BEYOND[one['test']]} {shown(self._operand(column, one['values'][0], one['test']), column)}"
        return f"{name if _is_plural(name) else f'{_article(name)} {name}'} {values}"

    def _cell(self, n: int, column: Column) -> str:
        number = column.known[column.codes[n]] if column.kind == "number" else None
        return shown(number, column) if number is not None else column.value(n)

    def _of(self, own: Operand, other: Operand) -> str:
        """The words that distinguish the operand `own` from the `other`: its column, its rows, or both."""
        parts = []
        if own["where"] != other["where"]:
            parts.append(
                ", ".join(v for c in own["where"] if c not in other["where"] for v in c["values"]) or "all rows"
            )
        if own["column"] != other["column"]:
            parts.append(own["column"])
        return ", ".join(parts) or own["column"]

    def _shared(self, own: Operand, other: Operand) -> str:
        """The words for what two operands share."""
        shared = [v for c in own["where"] if c in other["where"] for v in c["values"]]
        column = own["column"] if own["column"] == other["column"] else ""
        return ", ".join([*shared, *([column] if column else [])]) or "sums"


def _condition(one: Condition) -> tuple[str, str]:
    """A condition in words: the column and its wanted value."""
    name, values = read_header(one["column"]).words, " or ".join(one["values"])
    return name, values if one["test"] == "=" else f"{_BEYOND[one['test']]} {values}"


def _is_plural(words: str) -> bool:
    return any(word.endswith("s") and not word.endswith(("ss", "us", "is")) for word in words.split()[:1])


def _article(words: str) -> str:
    return "an" if words[0].lower() in "aeiou" else "a"


def _count(number: int) -> str:
    return _NUMBERS[number] if number <= 10 else f"{number:,}"


def rounded(value: Fraction, places: int = 2) -> Decimal:
    """A quotient with two decimals, or four if it is below a tenth."""
    if value and abs(value) < Fraction(1, 10):
        places = 4
    scaled = floor(abs(value) * 10**places + Fraction(1, 2))
    return (Decimal(scaled) if value >= 0 else -Decimal(scaled)).scaleb(-places)


def plain(value: Decimal) -> str:
    """The digits of a figure, without trailing zeros."""
    return f"{value:f}" if value != value.to_integral_value() else f"{value.quantize(Decimal(1), ROUND_HALF_UP):f}"


def shown(value: Decimal, column: Column | None = None) -> str:
    """A figure for display, with thousands separators and unit."""
    if column is not None and column.is_year:
        return plain(value)
    digits = f"{abs(value):,f}" if value != value.to_integral_value() else f"{abs(value).quantize(Decimal(1)):,f}"
    unit, minus = column.unit if column else "", "-" if value < 0 else ""
    return f"{minus}{_SIGNS[unit]}{digits}" if unit in _SIGNS else f"{minus}{digits} {_UNITS.get(unit, unit)}".strip()


def signed(value: Decimal, column: Column | None = None) -> str:
    """A figure with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{shown(abs(value), column)}"


def _sum(column: Column, rows: Rows) -> Decimal:
    """The exact sum of a column over rows with a figure: each distinct value times its number of rows."""
    codes, counts = np.unique(column.codes[rows], return_counts=True)
    return sum((column.known[code] * int(count) for code, count in zip(codes, counts, strict=True)), Decimal())


def _about(exact: Fraction, value: Decimal) -> str:
    return " (rounded)" if exact != Fraction(value) else ""
