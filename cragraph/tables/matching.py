"""Matching of a question's words with one table: values of cells, columns, and the kind of its rows."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple, cast

from cragraph.documents.tables import Column, Table
from cragraph.language.cells import NO, meant_by
from cragraph.language.cells import UNITS as HEADING_UNITS
from cragraph.language.facts import value_of
from cragraph.language.facts.fact import MONTHS
from cragraph.language.lexicon import LEXICON
from cragraph.language.words import content_words, stem, weight
from cragraph.tables.asked import (
    ASKS,
    DIMENSIONS,
    GENERIC,
    GROWS,
    IS_YEAR,
    LIMITS,
    LISTS_PRICES,
    PERIOD,
    PLAIN,
    QUALIFIES,
    QUANTITY,
    RATES,
    UNITS,
    UNSPECIFIC,
    UPWARDS,
    ParsedQuestion,
    Token,
    pole,
)
from cragraph.tables.engine import Rows, rows_with
from cragraph.types import Condition

Near = Callable[[str, Sequence[str]], Sequence[float]]
"""The similarity of a word to each of some others, 0..1."""

_ONES: Final = {word: number for number, word in enumerate(LEXICON["to_nineteen"].split())}
PERCENT: Final = frozenset({"percentag", "percent", "cent", "growth"})
NEAR: Final = 0.55  # least cosine of a word that means a column without naming it
MOST_VALUES: Final = 5_000  # different values of a column whose every word is held against the question
LISTS: Final = frozenset(map(stem, ("list", "rota", "sheet", "log", "table", "register")))
_SOLD_OUT: Final = re.compile(r"\b(?:sold out|out of stock|not in stock|no longer (?:available|in stock))\b")
_STOCK: Final = re.compile(r"stock|quantity|qty|availab|on hand|units left|inventory", re.I)
SYNONYM: Final = 0.6  # worth of a synonym of a word of a heading, beside 1 of the word
ALIKE: Final = 0.95  # share of the best cosine from which on two columns may be meant
DERIVED: Final = 5  # least letters of a word that counts as the root of a longer one


class NamedColumn(NamedTuple):
    """Values of a column that words of the question name: the condition, the words, and whether they are only a part of
    the value."""

    condition: Condition
    tokens: frozenset[int]
    partial: bool
    several: bool

    def negated(self) -> "NamedColumn":
        """The same column with the opposite condition."""
        return self._replace(condition={**self.condition, "test": "!="})


class Chosen(NamedTuple):
    """A column that words mean: the words, and whether it is only implied, found by meaning, or ambiguous."""

    column: Column
    tokens: frozenset[int]
    implied: bool
    near: bool
    tied: bool


class Matching:
    """One question matched with one table."""

    def __init__(self, asked: ParsedQuestion, table: Table, near: Near | None) -> None:
        self.asked, self.table, self.near = asked, table, near
        self.at = dict(enumerate(asked.tokens))
        self.every = set(self.at)
        self.number = [c for c in table.columns.values() if c.kind == "number" and not c.is_number_of]
        names = re.sub(r"[_\-./]+", " ", f"{table.filename.rpartition('.')[0]} {table.headings}")
        months = {self.at[n + part].stem for n in self.at if self._names_the_list(n) for part in (0, 1)}
        self.about = frozenset(content_words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", names))) | months
        self.figures = [c for c in self.number if not c.is_year and not self._numbers_the_rows(c)]
        self.of_words = {w for c in table.columns.values() if c.kind != "number" for w in words_of_column(c)}
        self.column_words = frozenset(w for c in table.columns.values() for w in words_of_column(c))
        self.label_words = {w for name in table.labels for w in words_of_column(table.columns[name])}
        self.elsewhere: frozenset[str] = frozenset()  # words of the titles of other tables

    def _numbers_the_rows(self, column: Column) -> bool:
        """Whether a column holds the number by which a row's thing goes: the first one, as "plot" of a register of
        plots."""
        first = next(iter(self.table.columns.values()))
        return column is first and column.distinct == self.table.size and bool(words_of_column(column) & self.about)

    def within(self, start: int, end: int) -> set[int]:
        """The words in a stretch of the question."""
        return {n for n, t in self.at.items() if start <= t.start < end}

    # -- values of cells ---------------------------------------------------------------------------------------

    def named(self, among: Collection[int]) -> list[NamedColumn]:
        """The values of cells that some words of the question name; each word belongs to one value."""
        among = {n for n in among if n in self.at and (not self.at[n].light or self.at[n].text[:1].isupper())}
        if compared := self.asked.compared:
            among -= self.within(*compared.span("figure"))
        found: list[NamedColumn] = []
        for column in self.table.columns.values():
            if column.kind == "text":
                found += self._text_values(column, among)
            elif column.kind == "date" or column.is_year:
                found += self._dates(column, among)
            elif column.kind == "number":
                found += self._of_number(column)
        # A word belongs to one value: the one of which it is the largest part.
        found.sort(key=lambda one: (one.partial, -len(one.tokens), one.several, not self._heads(one, among)))
        kept: list[NamedColumn] = []
        for one in found:
            if not any(one.tokens & other.tokens for other in kept):
                kept.append(one)
        return [*kept, *self.flags(among - used_by(kept))]

    def _heads(self, named: NamedColumn, among: Collection[int]) -> bool:
        """Whether the question names the column of a value too: "on how many Saturdays does Ronan do the sorting"."""
        words = words_of_column(self.table.columns[named.condition["column"]])
        return any(self.at[n].stem in words for n in among if n not in named.tokens)

    def _text_values(self, column: Column, among: set[int]) -> list[NamedColumn]:
        by_stem: dict[str, set[int]] = {}
        for n in among:
            by_stem.setdefault(self.at[n].stem, set()).add(n)
        hits: dict[tuple[frozenset[int], frozenset[str], bool], list[str]] = {}
        for value, words in self._values(column).items():
            own = frozenset(words & by_stem.keys())
            # A word of a heading, such as "repair", does not name a value that only contains it.
            if own == words or own - self.about - UNSPECIFIC - self.column_words:
                tokens = frozenset(n for w in own for n in by_stem[w])
                hits.setdefault((tokens, own, own == words), []).append(value)
        groups: list[NamedColumn] = []
        for tokens, own, whole in sorted(hits, key=lambda hit: (-len(hit[1]), not hit[2])):
            if own and not any(tokens & one.tokens for one in groups):
                values = hits[tokens, own, whole]
                condition: Condition = {"column": column.name, "test": "=", "values": values}
                groups.append(NamedColumn(condition, tokens, not whole, len(values) > 1 and not whole))
        if len(groups) < 2:
            return groups
        beside = ((one, other) for one in groups for other in groups if any(n + 1 in other.tokens for n in one.tokens))
        if any(one.partial and other.partial for one, other in beside):
            return groups[:1]  # "autumn 2025" is one phrase, and neither "autumn 2024" nor "spring 2025"
        # "July and August together" means both.
        tokens = frozenset(n for one in groups for n in one.tokens)
        condition = {**groups[0].condition, "values": [v for one in groups for v in one.condition["values"]]}
        several = all(self.at[n].stem in self.about for n in tokens) or any(one.several for one in groups)
        return [NamedColumn(condition, tokens, any(one.partial for one in groups), several)]

    def _values(self, column: Column) -> Mapping[str, frozenset[str]]:
        """The values of a column with their words; of very many values only those that the question has word for
        word."""
        if column.distinct <= MOST_VALUES:
            return _values_of(self.table, column.name)
        return {value: frozenset(content_words(value)) for value in column.found(self.asked.phrases)}

    def _dates(self, column: Column, among: set[int]) -> list[NamedColumn]:
        """The months and years of the question that occur in the column."""
        dated = column.kind == "date"
        days = [str(day) for day in column.known if day is not None]
        years = {d[:4] for d in days}
        told = {n: self.at[n].text for n in among if self.at[n].text in years}
        months = {n: MONTHS[t.text.casefold()] for n, t in self.at.items() if n in among and _is_month(t)}
        months = {n: month for n, month in months.items() if not self._names_the_list(n)}
        lower, test = self.asked.lower, "="
        if months and dated:
            of_years = sorted(told.values()) or (sorted(years) if len(years) == 1 else [])
            every = [f"{year}-{month:02d}" for year in of_years for month in months.values()]
            values = [month for month in every if any(d.startswith(month) for d in days)]
        elif told and not months:
            values = sorted(set(told.values()))
            if len(told) == 2:
                one, two = (self.at[n] for n in sorted(told))
                apart = lower[one.start + len(one.text) : two.start].strip()
                between = apart == "and" and "between" in lower[: one.start]
                if between or apart in ("to", "-", "–", "until", "through", "till"):
                    values = [y for y in sorted(years) if one.text <= y <= two.text]
        else:
            return []
        tokens = frozenset([*told, *months])
        first = min(self.at[n].start for n in tokens)
        if before := re.search(r"\b(since|after|before|until|from)\s+(?:the\s+)?\w*\s?$", lower[:first]):
            test = {"since": ">=", "from": ">=", "after": ">", "before": "<", "until": "<="}[before[1]]
            tokens |= self.within(before.start(1), before.start(1) + 1)
        if not values or (test != "=" and len(values) > 1):
            return []
        return [
            NamedColumn(cast(Condition, {"column": column.name, "test": test, "values": values}), tokens, False, False)
        ]

    def _names_the_list(self, place: int) -> bool:
        """Whether a word is the month of the table itself: "the August list" of animals-2025-08-15.csv."""
        word, after = self.at[place].text.casefold(), self.at.get(place + 1)
        if not _is_month(self.at[place]) or after is None or after.stem not in LISTS:
            return False
        name = self.table.filename.casefold()
        return word in name or re.search(rf"(?<!\d){MONTHS[word]:02d}(?!\d)", name) is not None

    def _of_number(self, column: Column) -> list[NamedColumn]:
        """The rows of "one-bed flats": a number before the singular of a column's word."""
        words = words_of_column(column)
        for n, token in self.at.items():
            after = self.at.get(n + 1)
            if after is None or after.stem not in words or after.text.endswith("s"):
                continue
            between = self.asked.text[token.start + len(token.text) : after.start]
            number = int(token.text) if token.text.isdigit() else _ONES.get(token.text.casefold())
            if number and Decimal(number) in column.known and between in ("-", " "):
                condition: Condition = {"column": column.name, "test": "=", "values": [str(number)]}
                return [NamedColumn(condition, frozenset({n, n + 1}), False, False)]
        return []

    def sold_out(self) -> list[NamedColumn]:
        """The rows without stock, if the question asks for sold-out things."""
        stock = next((c for c in self.number if _STOCK.search(c.name)), None)
        if stock is None or not (said := _SOLD_OUT.search(self.asked.lower)):
            return []
        condition: Condition = {"column": stock.name, "test": "=", "values": ["0"]}
        return [NamedColumn(condition, frozenset(self.within(*said.span())), False, False)]

    def flags(self, among: set[int]) -> list[NamedColumn]:
        """The yes-or-no columns that the question names, each with the wanted value."""
        found = []
        for column in (column for column in self.table.columns.values() if column.kind == "flag"):
            words = words_of_column(column)
            tokens = frozenset(n for n in among if self.at[n].stem in words)
            said = {self.at[n].stem for n in tokens}
            if said and len(said) * 2 >= len(words):
                found.append(self._flag(column, tokens, partial=len(said) < len(words)))
        return found

    def _flag(self, column: Column, tokens: frozenset[int], *, partial: bool) -> NamedColumn:
        """The condition for yes in a column, or for no if the question negates it."""
        denied = self.asked.denied
        said = (value for value in column.values if value and (value.casefold() in NO) == bool(denied))
        value = next(said, "no" if denied else "yes")
        extra = self.within(*denied.span()) if denied else set[int]()
        return NamedColumn({"column": column.name, "test": "=", "values": [value]}, tokens | extra, partial, False)

    # -- columns of figures ------------------------------------------------------------------------------------

    def column(
        self,
        among: set[int],
        *,
        dimension: str = "",
        dates: Sequence[Column] = (),
        strict: bool = False,
        counts: bool = False,
    ) -> Chosen | None:
        """The column of figures that words mean, else the column of the wanted dimension, else the only column of
        figures; `counts`: the words ask for a number of things."""
        pool = [*self.figures, *dates]
        if dimension == "age":
            pool += [c for c in self.number if c.is_year and c not in pool]
        if dimension:
            # "The heaviest" needs a column of weights.
            pool = [c for c in pool if dimension in dimensions_of(c)]
        wanted = {dimension} if dimension else self.asked.dimensions
        scored = [(column, *self.score(column, among)) for column in pool]
        if counts:
            scored = [self._counting(one) for one in scored]
        if (best := self._best(scored)) is not None:
            return self._chosen(best, scored)
        if strict:
            return None
        fitting = [c for c in pool if wanted & dimensions_of(c)]
        if fitting:
            tokens = frozenset(n for n in among for name in wanted if self.at[n].stem in ASKS.get(name, ()))
            # Of several prices, the plain one: "cost", and not "replacement value".
            plain = fitting if len(fitting) == 1 else [c for c in fitting if words_of_column(c) & PLAIN]
            return Chosen(plain[0], tokens, len(fitting) > 1, False, False) if len(plain) == 1 else None
        if (near := self._near_column(among)) is not None:
            return near
        if len(self.figures) == 1 and not dimension:
            return Chosen(self.figures[0], frozenset(), True, False, False)
        return None

    def _counting(self, scored: "_Scored") -> "_Scored":
        """A scored column for a number of things: a quantity need not be named, and is no limit and has no unit."""
        column, score, tokens, missed = scored
        left = words_of_column(column) - {self.at[n].stem for n in tokens}
        return column, score, tokens, missed - len(left & QUANTITY) + bool(column.unit or left & LIMITS)

    @staticmethod
    def _best(scored: "Sequence[_Scored]") -> "_Scored | None":
        """The column with most words in the question and fewest missing from its name; None without any word."""
        best = max(scored, key=lambda one: (one[1], -one[3]), default=None)
        return best if best and best[1] > 0 else None

    @staticmethod
    def _chosen(best: "_Scored", scored: "Sequence[_Scored]") -> Chosen:
        alike = [one for one in scored if one[1] >= best[1] - 1e-9 and one[3] == best[3]]
        return Chosen(best[0], best[2], False, False, len(alike) > 1)

    def score(self, column: Column, among: Collection[int]) -> tuple[float, frozenset[int], int]:
        """The score of words for a column's name, those words, and the number of words of the name that are missing."""
        score, tokens, missed = 0.0, set[int](), 0
        known = {word: set(group) for word, *group in map(tuple, meant_by(column.name))}
        for word in words_of_column(column):
            exact = {n for n in among if self.at[n].stem == word}
            same = exact or {n for n in among if self._alike(self.at[n], word, known.get(word, set()))}
            score += (1.0 if exact else SYNONYM if same else 0.0) * weight(word)
            tokens |= same
            missed += not same
        return score, frozenset(tokens), missed

    def _alike(self, token: Token, word: str, meant: set[str]) -> bool:
        """Whether a word of the question is a synonym or form of a word of a heading."""
        if token.light:
            return False
        if token.stem in meant:
            return True
        # "Membership" belongs to "members".
        shortest = min(len(token.stem), len(word))
        return shortest >= DERIVED and (token.stem.startswith(word) or word.startswith(token.stem))

    def column_by(self, own: set[int] | str, shared: set[int]) -> Chosen | None:
        """The column that its own words, or a year, distinguish among columns with the same shared words."""
        scored = []
        for column in self.figures:
            if isinstance(own, str):
                score, tokens, missed = (2.0 * (own in words_of_column(column)), frozenset[int](), 0)
            else:
                score, tokens, missed = self.score(column, own)
            if score > 0:
                more, with_them, _ = self.score(column, shared)
                scored.append((column, score + more / 2, tokens | with_them, missed))
        best = self._best(scored)
        return None if best is None else self._chosen(best, scored)

    def direct(self, heads: set[int]) -> Chosen | None:
        """The column of figures whose name or unit is the thing after "how many"."""
        scored = []
        generic = any(self.at[n].stem in GENERIC for n in heads)
        for column in self.figures:
            score, tokens, _ = self.score(column, heads)
            names = {*words_of_column(column), *([stem(column.unit)] if column.unit else [])}
            exact = any(self.at[n].stem in names for n in heads)
            if exact or (score > 0 and not generic):
                rest, more, left = self.score(column, self.every - heads)
                scored.append((column, score + exact + rest / 2, tokens | more, left))
        if (best := self._best(scored)) is not None:
            return self._chosen(best, scored)
        first = min(heads)
        return None if self.is_subject(self.at[first]) else self._near_column({first})

    def _near_column(self, among: set[int]) -> Chosen | None:
        """The column that a word means without naming it, by the embedding model."""
        if self.near is None or not self.figures:
            return None
        known, values = UNSPECIFIC | GENERIC | self.about | self.of_words, list[tuple[float, Column, int]]()
        for n in among:
            token = self.at[n]
            if token.light or token.stem in known or token.text[0].isdigit():
                continue
            # A weight is similar to many words, and is no amount of money.
            measures = {kind for said in (DIMENSIONS, ASKS) for kind, words in said.items() if token.stem in words}
            near = self.near(token.text, [c.header.words for c in self.figures])
            fitting = zip(near, self.figures, strict=True)
            values += [(v, c, n) for v, c in fitting if not measures or measures & dimensions_of(c)]
        best = max(values, key=lambda one: one[0], default=None)
        if best is None or best[0] < NEAR:
            return None
        second = max((value for value, column, _ in values if column is not best[1]), default=0.0)
        return Chosen(best[1], frozenset({best[2]}), False, True, second > ALIKE * best[0])

    def compared(self, among: set[int]) -> NamedColumn | None:
        """The column and bound of "more than 10 days"."""
        match = self.asked.compared
        assert match is not None
        own, figure = self.within(*match.span()), match["figure"].replace(",", "")
        upwards = UPWARDS.search(match["how"]) is not None and not match["how"].startswith("no more")
        dimension = ""
        if match["adjective"] and (meant := pole(match["adjective"])):
            dimension, end = meant
            upwards = end > 0
        chosen = self.column(
            among - {n for n in own if self.at[n].text.replace(",", "") == figure}, dimension=dimension
        )
        if chosen is None:
            return None
        equal = match["how"] in ("at least", "at most", "up to", "no less than", "no more than")
        unit = HEADING_UNITS.get(match["unit"] or "")
        if unit and chosen.column.unit and unit != chosen.column.unit:
            return None  # pounds are not compared with euros
        said = frozenset(n for n in own if unit or not match["unit"] or self.at[n].start < match.start("unit"))
        bound = {"column": chosen.column.name, "test": (">" if upwards else "<") + "=" * equal, "values": [figure]}
        return NamedColumn(cast(Condition, bound), said | chosen.tokens, chosen.implied, False)

    # -- rows and subjects -------------------------------------------------------------------------------------

    def is_subject(self, token: Token) -> bool:
        """Whether a word is the noun for the table's rows."""
        return token.stem in self.about | self.label_words

    def is_row_name(self, head: Sequence[Token]) -> bool:
        """Whether the counted thing is the name of the column that labels the rows."""
        return any(token.stem in self.label_words for token in head)

    def has_a_row_each(self, head: Sequence[Token]) -> bool:
        """Whether each counted thing has one row: a list of loans has some members twice."""
        names = [
            name for name in self.table.labels if words_of_column(self.table.columns[name]) & {t.stem for t in head}
        ]
        return any(self.table.columns[name].distinct == self.table.size for name in names)

    def rows_are_others(self, counted: set[str]) -> bool:
        """Whether rows are other things than the counted ones, by the file's name: "book-loans.csv" has loans, and a
        list of ticket prices has no tickets."""
        words = re.split(r"[\W_\d]+", self.table.filename.rpartition(".")[0].casefold())
        things = [stem(word) for word in words if word and word not in MONTHS and stem(word) not in LISTS | PERIOD]
        if not things or things[-1] in counted:
            return False
        return bool(LISTS_PRICES & set(things)) or not counted & self.label_words

    def rows_are_periods(self) -> bool:
        """Whether a row sums up a period, rather than being one event."""
        first = self.table.columns[self.table.labels[0]]
        if first.kind != "date":
            return first.is_year or bool(words_of_column(first) & PERIOD)
        # Rows have more than figures, and no figure is a number of things.
        counts = any(words_of_column(c) & QUANTITY for c in self.figures)
        return counts or not any(c.kind in ("text", "flag") for c in self.table.columns.values())

    def head(self) -> int | None:
        """The word that "which" asks for."""
        for n, token in self.at.items():
            if token.text.casefold() in ("which", "what") and n + 1 in self.at and not self.at[n + 1].light:
                numbered = value_of(self.at[n + 1].text) or self.at[n + 1].text.isdigit()
                return n + 2 if numbered and n + 2 in self.at else None if numbered else n + 1
        return None

    def accounts_head(self, head: Token) -> bool:
        """Whether the table has the thing that "which" asks for."""
        return self.is_subject(head) or head.stem in self.of_words or head.stem in GENERIC

    def group(self, head: int | None) -> str | None:
        """The column that "which" asks for, if rows share its values."""
        if head is None:
            return None
        for column in self.table.columns.values():
            shared = column.kind in ("text", "date") and column.distinct < self.table.size
            if shared and self.at[head].stem in words_of_column(column):
                return column.name
        return None

    def column_years(self) -> list[str]:
        """The years in the names of columns."""
        return sorted({w for c in self.figures for w in words_of_column(c) if IS_YEAR.fullmatch(w)})

    def period(self) -> Column | None:
        """The column of dates or periods."""
        dated = [c for c in self.table.columns.values() if c.kind == "date" or c.is_year]
        return dated[0] if len(dated) == 1 else None

    def rows(self, where: Sequence[Condition]) -> Rows:
        """The rows that conditions name, ignoring bounds."""
        return rows_with([one for one in where if one["test"] == "="], self.table)

    def counts(self, where: Sequence[Condition]) -> bool:
        """Whether there are rows to count: more than the single row of a name."""
        for one in (one for one in where if one["test"] == "="):
            column = self.table.columns[one["column"]]
            if column.kind == "text" and column.distinct == self.table.size:
                return False
        return len(self.rows(where)) > 0

    def unaccounted(self, used: Collection[int], chosen: Chosen | None) -> set[int]:
        """The content words that operation, columns, rows and table do not account for."""
        known = self.about | self.of_words
        if chosen is not None:
            known |= words_of_column(chosen.column) | {stem(unit) for unit in (chosen.column.unit,) if unit}
            known = known.union(*(ASKS.get(name, frozenset()) for name in dimensions_of(chosen.column)))
        left = set()
        for n, token in self.at.items():
            word = token.text.casefold()
            if n in used or token.stem in known or self._operates(token):
                continue
            if word in QUALIFIES:
                if word not in RATES or not (self.asked.mean or self.asked.superlative):
                    left.add(n)
            elif not (
                token.light
                or (token.stem in UNSPECIFIC and token.stem not in self.elsewhere)
                or token.stem in GENERIC
                or token.stem in known
            ):
                left.add(n)
        return left

    def _operates(self, token: Token) -> bool:
        """Whether a word is part of the operation's words."""
        asked = self.asked
        said = (asked.mean, asked.share, asked.difference, asked.total, asked.count, asked.superlative)
        if any(match and match.start() <= token.start < match.end() for match in said):
            return True
        if asked.than and asked.than.start() <= token.start < asked.than.end() and pole(token.text.casefold()):
            return True
        percent = asked.share and token.stem in PERCENT
        return bool(percent or (asked.growth and re.fullmatch(GROWS, token.text.casefold())))


_Scored = tuple[Column, float, frozenset[int], int]
"""A column, its score, the words that name it, and the number of words missing from its name."""


def _is_month(token: Token) -> bool:
    """Whether a word is a month: "may" is none, "May" is one."""
    return token.text.casefold() in MONTHS and (token.text[0].isupper() or len(token.text) > 3)


def used_by(named: Sequence[NamedColumn]) -> set[int]:
    """The words that values, flags or bounds account for."""
    return {n for one in named for n in one.tokens}


def where_of(named: Sequence[NamedColumn], chosen: Chosen | None) -> list[Condition]:
    """The conditions of named values, without those on the chosen column."""
    own = chosen.column.name if chosen else None
    return sorted_where([one.condition for one in named if one.condition["column"] != own])


def sorted_where(where: Sequence[Condition]) -> list[Condition]:
    """Conditions in a fixed order, so that equal sets of conditions are equal lists."""
    return sorted(where, key=lambda c: (c["column"], c["test"], c["values"]))


def words_of_column(column: Column) -> frozenset[str]:
    """The words of a column's name, its unit aside."""
    return frozenset(content_words(column.header.words.replace("_", " ")))


def dimensions_of(column: Column) -> set[str]:
    """The dimensions of a column, by its unit and its name."""
    words = words_of_column(column)
    by_name = {name for name, said in DIMENSIONS.items() if words & said}
    if column.kind == "date":
        return {"age"}
    if column.is_year:
        return {"age"}
    by_unit = {name for name, units in UNITS.items() if column.unit in units}
    return by_unit | (by_name & {"income"}) if by_unit else by_name - {"age"}


def _values_of(table: Table, name: str) -> dict[str, frozenset[str]]:
    """The distinct values of a column with their distinguishing words."""
    kept = table.__dict__.setdefault("_values", {})
    if name not in kept:
        words = {value: frozenset(content_words(value)) for value in table.columns[name].values if value}
        common = frozenset.intersection(*words.values()) if len(words) > 1 else frozenset[str]()
        kept[name] = {value: own - common for value, own in words.items() if own - common}
    found: dict[str, frozenset[str]] = kept[name]
    return found
