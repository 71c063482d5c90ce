"""Runs a query over the rows of a table, with SQLite's own SQL, exactly, and says in words what was computed.

Figures are kept as whole numbers of the column's smallest decimal place, so that SQLite adds and compares them without
rounding; only a quotient (a mean, a share, a growth) is rounded, and says so.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import floor
from typing import Any, Final, NamedTuple

from cragraph.errors import InputError
from cragraph.language.tables import NO, YES, Column, Table, day_of, number_of
from cragraph.types import Cited, Computed, Condition, Operand, Query

CITED: Final = 12  # rows that are cited of those a figure was computed of
NAMED: Final = 12  # rows or groups that a list or a ranking names at most
PARTIAL: Final = 0.5  # the chance, at most, of a figure over a part of a file's rows: shown, and never accepted
_TESTS: Final = frozenset({"=", "!=", ">", ">=", "<", "<="})
_WORDS: Final[Mapping[str, str]] = {
    "count": "Number", "sum": "Sum", "mean": "Mean", "largest": "Largest", "smallest": "Smallest",
}  # fmt: skip


class _Total(NamedTuple):
    """The sum of an operand (or how many rows), over how many rows, of which some have no figure."""

    value: Decimal
    rows: Sequence[int]
    missing: int


def compute(query: Query, table: Table, chance: float = 1.0) -> Computed:
    """What a query comes to. Raises InputError where it does not fit the table, or nothing answers it."""
    with closing(_Engine(query, table)) as engine:
        return engine.run(chance)


class _Engine:
    def __init__(self, query: Query, table: Table) -> None:
        self.query, self.table = query, table
        operands: list[Operand] = [{"column": query["column"], "where": query["where"]}]
        if other := query.get("against"):
            operands.append(other)
        conditions = [condition for operand in operands for condition in operand["where"]]
        named = [
            *(operand["column"] for operand in operands),
            *(c["column"] for c in conditions),
            query.get("group", ""),
        ]
        for name in named:
            self._known(name)
        self.columns = {name: f"c{n}" for n, name in enumerate(table.columns)}
        self.scale = {column.name: _scale(column, conditions) for column in table.columns.values()}
        self.db = sqlite3.connect(":memory:")
        fields = ", ".join(["n INTEGER PRIMARY KEY", *self.columns.values()])
        self.db.execute(f"CREATE TABLE t ({fields})")
        marks = ",".join("?" * (len(self.columns) + 1))
        values = [self._values(column) for column in table.columns.values()]
        try:
            self.db.executemany(f"INSERT INTO t VALUES ({marks})", zip(range(len(table.rows)), *values, strict=True))
        except OverflowError:
            raise InputError(
                f"{table.name} holds figures of more than 18 digits; they are not computed with."
            ) from None

    def close(self) -> None:
        """Let go of the rows."""
        self.db.close()

    def _known(self, name: str) -> None:
        if name and name not in self.table.columns:
            raise InputError(
                f"there is no column {name!r} in {self.table.name}; it has {', '.join(self.table.columns)}."
            )

    def _values(self, column: Column) -> list[Any]:
        if column.kind == "number":
            scale = self.scale[column.name]
            return [None if n is None else int(n.scaleb(scale)) for n in column.numbers]
        if column.kind == "date":
            return list(column.days)
        values = [_folded(row.value(column.name)) or None for row in self.table.rows]
        if column.kind == "flag":
            return [None if v is None else "yes" if v in YES else "no" if v in NO else None for v in values]
        return values

    # -- the parts of a statement ------------------------------------------------------------------------------

    def _where(self, conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
        parts, values = ["1"], list[Any]()
        for one in conditions:
            column, test = self.table.columns[one["column"]], one["test"]
            if test not in _TESTS or not one["values"] or (test not in ("=", "!=") and len(one["values"]) > 1):
                raise InputError(f"a condition came as {dict(one)!r}; wanted a test of {', '.join(sorted(_TESTS))}.")
            given = [self._operand(column, value, test) for value in one["values"]]
            field = self.columns[column.name]
            if column.kind == "date":
                # A month stands for all its days, and what is after it is after the last of them.
                lengths = {len(value) for value in given}
                field = f"substr({field}, 1, {min(lengths)})"
                given = [value[: min(lengths)] for value in given]
            marks = ",".join("?" * len(given))
            parts.append(
                f"{field} {'NOT IN' if test == '!=' else 'IN'} ({marks})"
                if test in ("=", "!=")
                else f"{field} {test} ?"
            )
            values += given
        return " AND ".join(parts), values

    def _operand(self, column: Column, value: str, test: str) -> Any:
        if column.kind == "number":
            read = number_of(value)
            if read is None:
                raise InputError(f"{column.name} holds figures and was compared with {value!r}; wanted a figure.")
            return int(read.value.scaleb(self.scale[column.name]))
        if column.kind == "date":
            day = value if value.isdigit() and len(value) == 4 else day_of(value)
            if day is None:
                raise InputError(f"{column.name} holds dates and was compared with {value!r}; wanted a date.")
            return day
        if test not in ("=", "!="):
            raise InputError(
                f"{column.name} holds words, which are not compared by {test}; wanted a column of figures."
            )
        folded = _folded(value)
        return "yes" if column.kind == "flag" and folded in YES else "no" if column.kind == "flag" else folded

    def _field(self, name: str, *, figures: bool = True) -> str:
        column = self.table.columns[name]
        if figures and column.kind != "number":
            raise InputError(
                f"{name} of {self.table.name} does not hold figures of one unit; they are not computed with."
            )
        return self.columns[name]

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self.db.execute(sql, values).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise InputError(f"the figures of {self.table.name} cannot be computed with ({error}).") from error

    def _total(self, operand: Operand) -> _Total:
        clause, values = self._where(operand["where"])
        rows = [row[0] for row in self._rows(f"SELECT n FROM t WHERE {clause} ORDER BY n", values)]
        if not operand["column"]:
            [(count,)] = self._rows(f"SELECT count(*) FROM t WHERE {clause}", values)
            return _Total(Decimal(count), rows, 0)
        field = self._field(operand["column"])
        [(total, known)] = self._rows(f"SELECT sum({field}), count({field}) FROM t WHERE {clause}", values)
        if not known:
            raise InputError(f"no row of {self.table.name} has a figure there.")
        figured = [r for r in rows if self.table.columns[operand["column"]].numbers[r] is not None]
        return _Total(self._decimal(operand["column"], total), figured, len(rows) - len(figured))

    def _decimal(self, column: str, value: int) -> Decimal:
        return Decimal(value).scaleb(-self.scale[column])

    # -- running -----------------------------------------------------------------------------------------------

    def run(self, chance: float) -> Computed:
        operation = self.query["operation"]
        own: Operand = {"column": self.query["column"], "where": self.query["where"]}
        if self.query.get("group"):
            return self._grouped(chance)
        if operation in ("largest", "smallest"):
            return self._extreme(chance)
        if operation == "list":
            return self._list(chance)
        if operation in ("count", "sum", "mean"):
            return self._simple(own, chance)
        if operation == "adjusted":
            return self._adjusted(own, chance)
        if "against" not in self.query:
            raise InputError(f"a query came with the operation {operation!r} and nothing to compare with.")
        return self._two(own, self.query["against"], chance)

    def _simple(self, own: Operand, chance: float) -> Computed:
        operation, column = self.query["operation"], own["column"]
        total = self._total(own if operation != "count" else {**own, "column": ""})
        over = self._over(len(total.rows), total.missing, own["where"])
        if operation == "count":
            whole = len(self.table.rows)
            text = f"{self._tested(own['where'])}: {total.value:,} of {whole:,} rows of {self.table.name}"
            if not own["where"]:
                text = f"Number of rows of {self.table.name}: {total.value:,}"
            return self._made(text, total.value, "", total, chance)
        unit = self.table.columns[column].unit
        if operation == "sum":
            text = f"Sum of {column} over {over}: {shown(total.value, unit)}"
            return self._made(text, total.value, unit, total, chance)
        mean = Fraction(total.value) / len(total.rows)
        value = rounded(mean)
        text = f"Mean of {column} over {over}: {shown(value, unit)}{_about(mean, value)}"
        return self._made(text, value, unit, total, chance, rounded=mean != Fraction(value))

    def _extreme(self, chance: float) -> Computed:
        name, largest, most = self.query["column"], self.query["operation"] == "largest", self.query.get("most", 1)
        column = self.table.columns[name]
        if column.kind not in ("number", "date"):
            raise InputError(f"{name} of {self.table.name} holds nothing that has an order; wanted figures or dates.")
        clause, values = self._where(self.query["where"])
        order, field = "DESC" if largest else "ASC", self.columns[name]
        found = self._rows(
            f"SELECT n, {field} FROM t WHERE {clause} AND {field} IS NOT NULL ORDER BY {field} {order}, n", values
        )
        [(every,)] = self._rows(f"SELECT count(*) FROM t WHERE {clause}", values)
        if not found:
            raise InputError(f"no row of {self.table.name} has a figure there.")
        last = found[min(most, len(found)) - 1][1]
        best = [n for n, value in found if (value >= last if largest else value <= last)]
        labels = [self.table.label(n) for n in best]
        value = self.table.rows[best[0]].value(name) if column.kind == "date" else ""
        figure = Decimal(0) if value else self._decimal(name, found[0][1])
        unit = column.unit
        told = value or shown(figure, unit)
        over = self._over(len(found), every - len(found), self.query["where"])
        what = self._title(name, largest=largest)
        if most > 1:
            told = "; ".join(f"{self.table.label(n)}, {self._cell(n, name)}" for n in best[:NAMED])
            text = f"{most} {what.lower()} over {over}: {told}"
        else:
            text = f"{what} over {over}: {' and '.join(labels[:NAMED])}, {told}"
        return self._made(
            text,
            value or figure,
            unit,
            _Total(figure, best, every - len(found)),
            chance,
            labels=labels,
            rows=len(found),
        )

    def _title(self, name: str, *, largest: bool) -> str:
        if self.table.columns[name].kind == "date":
            return f"{'Latest' if largest else 'Earliest'} {name}"
        return f"{'Largest' if largest else 'Smallest'} {name}"

    def _list(self, chance: float) -> Computed:
        clause, values = self._where(self.query["where"])
        rows = [row[0] for row in self._rows(f"SELECT n FROM t WHERE {clause} ORDER BY n", values)]
        if not rows:
            raise InputError(f"no row of {self.table.name} passes.")
        tested = list(dict.fromkeys(c["column"] for c in self.query["where"]))
        labels = [self.table.label(n) for n in rows]

        def told(n: int) -> str:
            cells = [self._cell(n, name) for name in tested if self.table.columns[name].kind in ("number", "date")]
            return f"{self.table.label(n)}{f' ({chr(44).join(cells)})' if cells else ''}"

        more = f"; and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        text = f"{self._tested(self.query['where'])}: {'; '.join(map(told, rows[:NAMED]))}{more}"
        text += f" ({len(rows):,} of {len(self.table.rows):,} rows of {self.table.name})"
        return self._made(text, Decimal(len(rows)), "", _Total(Decimal(len(rows)), rows, 0), chance, labels=labels)

    def _grouped(self, chance: float) -> Computed:
        query = self.query
        group, of, name = query["group"], query.get("of", "sum"), query["column"]
        clause, values = self._where(query["where"])
        key, field = self.columns[group], self._field(name) if name and of != "count" else "n"
        found = self._rows(
            f"SELECT {key}, sum({field}), count({field}), min(n) FROM t WHERE {clause} AND {key} IS NOT NULL "
            f"AND {field} IS NOT NULL GROUP BY {key}",
            values,
        )
        if not found:
            raise InputError(f"no row of {self.table.name} has a figure there.")
        unit = self.table.columns[name].unit if name and of != "count" else ""

        def value(row: tuple[Any, ...]) -> Fraction:
            if of == "count":
                return Fraction(row[2])
            total = Fraction(self._decimal(name, row[1]))
            return total / row[2] if of == "mean" else total

        ranked = sorted(found, key=lambda row: (value(row), -row[3]), reverse=query["operation"] != "smallest")
        most = query.get("most", 1) if query["operation"] in ("largest", "smallest") else len(ranked)
        best = [row for row in ranked if value(row) == value(ranked[0])] if most == 1 else ranked[:most]
        names = [self.table.rows[row[3]].value(group) for row in best]
        taken = sum(row[2] for row in found)
        sql = f"SELECT n FROM t WHERE {clause} AND {key} = ? AND {field} IS NOT NULL ORDER BY n"
        numbers = {row[0]: [n for (n,) in self._rows(sql, [*values, row[0]])] for row in best}
        what = f"{'number of rows' if of == 'count' else f'{of} of {name}'} by {group}"
        over = self._over(taken, 0, query["where"])
        first = rounded(value(best[0]))
        figures = [f"{label}, {shown(rounded(value(row)), unit)}" for label, row in zip(names, best, strict=True)]
        lead = _WORDS.get(query["operation"], "")
        title = f"{lead} {what}" if query["operation"] in ("largest", "smallest") else what[:1].upper() + what[1:]
        more = f"; and {len(figures) - NAMED} more" if len(figures) > NAMED else ""
        text = f"{title} over {over}: {'; '.join(figures[:NAMED])}{more}"
        rows = [n for row in best for n in numbers[row[0]]]
        inexact = any(value(row) != Fraction(rounded(value(row))) for row in best)
        return self._made(text, first, unit, _Total(first, rows, 0), chance, labels=names, rows=taken, rounded=inexact)

    def _two(self, own: Operand, other: Operand, chance: float) -> Computed:
        one, two = self._total(own), self._total(other)
        if not one.rows or not two.rows:
            raise InputError(f"no row of {self.table.name} has a figure there.")
        units = {self.table.columns[o["column"]].unit if o["column"] else "" for o in (own, other)}
        if len(units) > 1:
            raise InputError(f"{own['column']} and {other['column']} of {self.table.name} have different units.")
        unit, operation = units.pop(), self.query["operation"]
        both = _Total(one.value, list(dict.fromkeys([*one.rows, *two.rows])), one.missing + two.missing)
        first, second = (
            f"{self._of(own, other)} {shown(one.value, unit)}",
            f"{self._of(other, own)} {shown(two.value, unit)}",
        )
        place = f" ({self._column_of(own, other)} in {self.table.name})"
        if operation == "compare":
            more = self.query.get("test", ">") == ">"
            yes = one.value > two.value if more else one.value < two.value
            gap = (
                "both are the same"
                if one.value == two.value
                else f"difference {shown(abs(one.value - two.value), unit)}"
            )
            text = f"{'Yes' if yes else 'No'}: {first}, {second}; {gap}{place}"
            return self._made(text, "yes" if yes else "no", "", both, chance)
        if operation == "difference":
            value = one.value - two.value
            return self._made(
                f"{first}, {second}; difference {shown(abs(value), unit)}{place}", abs(value), unit, both, chance
            )
        if not two.value:
            raise InputError("a share of nothing, or a growth from nothing, has no figure.")
        if operation == "share":
            exact = Fraction(one.value) / Fraction(two.value) * 100
            value = rounded(exact)
            told = f"{shown(one.value, unit)} of {shown(two.value, unit)}"
            what = own["column"] or "rows"
            text = f"Share of {what} of {self.table.name}{self._if(own['where'])}: {shown(value)} %, {told}"
            text += _about(exact, value)
            whole = _Total(one.value, one.rows, one.missing)
            return self._made(text, value, "%", whole, chance, rows=len(two.rows), rounded=exact != Fraction(value))
        if operation != "growth":
            raise InputError(f"there is no operation {operation!r}.")
        if two.value < 0:
            raise InputError("a growth from a figure below nothing is not stated in percent.")
        gained = one.value - two.value
        exact = Fraction(gained) / Fraction(two.value) * 100
        percent = rounded(exact)
        text = f"From {second} to {first}: {signed(gained, unit)}, which is {signed(percent)} %"
        text += f"{_about(exact, percent)}{place}"
        return self._made(text, percent, "%", both, chance, rounded=exact != Fraction(percent))

    def _adjusted(self, own: Operand, chance: float) -> Computed:
        total, percent = self._total(own), number_of(self.query.get("percent", ""))
        at = self.query.get("percent_at")
        if percent is None or at is None or len(total.rows) != 1:
            raise InputError("a figure is adjusted by a percentage that a text states, and of one row.")
        unit = self.table.columns[own["column"]].unit
        exact = Fraction(total.value) * (100 + Fraction(percent.value)) / 100
        value = rounded(exact)
        sign = "more" if percent.value > 0 else "less"
        base = f"{self.table.label(total.rows[0])}, {own['column']} {shown(total.value, unit)}"
        text = f"{base}, {shown(abs(percent.value))} % {sign}: {shown(value, unit)}{_about(exact, value)}"
        made = self._made(text, value, unit, total, chance, rounded=exact != Fraction(value))
        return {**made, "cited": [*made["cited"], at]}

    # -- words -------------------------------------------------------------------------------------------------

    def _made(
        self, text: str, value: Decimal | str, unit: str, total: _Total, chance: float,
        *, labels: Sequence[str] = (), rows: int | None = None, rounded: bool = False,
    ) -> Computed:  # fmt: skip
        cited: list[Cited] = []
        for n in total.rows[:CITED]:
            row = self.table.rows[n]
            quote = (
                self.table.passages[row.chunk_id]["text"][row.start : row.end]
                if row.chunk_id in self.table.passages
                else ""
            )
            cited.append({"chunk_id": row.chunk_id, "start": row.start, "end": row.end, "quote": quote})
        taken = len(total.rows) if rows is None else rows
        if len(total.rows) > CITED:
            text += f"; the first {CITED} of the rows are cited"
        made = Computed(
            query=self.query, answer=text, value=value if isinstance(value, str) else plain(value), unit=unit,
            labels=list(labels), rows=taken, missing=total.missing, rounded=rounded, cited=cited, chance=chance,
        )  # fmt: skip
        read = {self.table.rows[n].chunk_id: None for n in total.rows}
        doubts = [doubt for i in read for doubt in self.table.passages[i]["metadata"].get("doubts", ())]
        if left_out := self.table.left_out:
            made["answer"] += f" ({left_out})"
            made["chance"] = min(chance, PARTIAL)
            doubts.append(f"Of {self.table.filename} {left_out}: the figure leaves the rest out.")
        if doubts:
            made["doubts"] = list(dict.fromkeys(doubts))
        return made

    def _over(self, rows: int, missing: int, where: Sequence[Condition]) -> str:
        count = f"{rows:,} row{'s' if rows != 1 else ''} of {self.table.name}{self._if(where)}"
        return f"{count} ({missing:,} more without a figure)" if missing else count

    def _if(self, where: Sequence[Condition]) -> str:
        return f" where {' and '.join(map(_said, where))}" if where else ""

    def _tested(self, where: Sequence[Condition]) -> str:
        return " and ".join(map(_said, where))

    def _cell(self, n: int, name: str) -> str:
        column = self.table.columns[name]
        number = column.numbers[n] if column.numbers else None
        return shown(number, column.unit) if number is not None else self.table.rows[n].value(name)

    def _of(self, own: Operand, other: Operand) -> str:
        """What tells an operand from the other: its column, its rows, or both."""
        parts = []
        if own["where"] != other["where"]:
            parts.append(
                ", ".join(v for c in own["where"] if c not in other["where"] for v in c["values"]) or "all rows"
            )
        if own["column"] != other["column"]:
            parts.append(own["column"])
        return ", ".join(parts) or own["column"]

    def _column_of(self, own: Operand, other: Operand) -> str:
        shared = [v for c in own["where"] if c in other["where"] for v in c["values"]]
        column = own["column"] if own["column"] == other["column"] else ""
        return ", ".join([*shared, *([column] if column else [])]) or "sums" if shared or column else "sums"


def _scale(column: Column, conditions: Sequence[Condition]) -> int:
    """How many decimal places the figures of a column have, and those that it is compared with."""
    if column.kind != "number":
        return 0
    compared = [number_of(v) for c in conditions if c["column"] == column.name for v in c["values"]]
    figures = [n for n in column.numbers if n is not None] + [one.value for one in compared if one]
    return max((-int(n.as_tuple().exponent) for n in figures), default=0) if figures else 0


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _said(one: Condition) -> str:
    return f"{one['column']} {one['test']} {' or '.join(one['values'])}"


def rounded(value: Fraction, places: int = 2) -> Decimal:
    """A quotient with two decimals, more for one below a tenth; as it is where that says it exactly."""
    if value and abs(value) < Fraction(1, 10):
        places = 4
    scaled = floor(abs(value) * 10**places + Fraction(1, 2))
    return (Decimal(scaled) if value >= 0 else -Decimal(scaled)).scaleb(-places)


def plain(value: Decimal) -> str:
    """The digits of a figure, without zeros that say nothing."""
    return f"{value:f}" if value != value.to_integral_value() else f"{value.quantize(Decimal(1), ROUND_HALF_UP):f}"


def shown(value: Decimal, unit: str = "") -> str:
    """A figure as a person reads it: thousands apart, its unit behind it."""
    digits = f"{value:,f}" if value != value.to_integral_value() else f"{value.quantize(Decimal(1)):,f}"
    return f"{digits} {unit}".strip()


def signed(value: Decimal, unit: str = "") -> str:
    """A figure with its sign."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{shown(abs(value), unit)}"


def _about(exact: Fraction, value: Decimal) -> str:
    return " (rounded)" if exact != Fraction(value) else ""
