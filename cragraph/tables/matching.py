"""What the words of a question mean in one table: values of its cells, its columns, what its rows are."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, cast

from cragraph.answers.rows import meant_by
from cragraph.language.facts.numbers import value_of
from cragraph.language.headers import UNITS as HEADING_UNITS
from cragraph.language.lexicon import LEXICON
from cragraph.language.tables import Column, Table
from cragraph.language.words import content_words, stem, weight
from cragraph.tables.asked import (
    ASKS,
    COMMON,
    DIMENSIONS,
    GENERIC,
    GROWS,
    MONTHS,
    NO,
    PERIOD,
    PLAIN,
    QUALIFIES,
    QUANTITY,
    RATES,
    SAID,
    UNITS,
    UPWARDS,
    YEAR,
    Asked,
    Token,
    pole,
    same_words,
)
from cragraph.types import Condition

Near = Callable[[str, Sequence[str]], Sequence[float]]
"""How near a word is in meaning to each of some others, 0..1."""

_ONES: Final = {word: number for number, word in enumerate(LEXICON["to_nineteen"].split())}
NEAR: Final = 0.55  # cosine from which on a word of the question means a column that it does not name
DERIVED: Final = 5  # letters from which on a word that begins another is taken for what it is derived from


class Named(NamedTuple):
    """Values of cells that some words name: the condition, the words, whether only a part of the value is said."""

    condition: Condition
    tokens: frozenset[int]
    partial: bool
    several: bool


class Chosen(NamedTuple):
    """A column that some words mean: the words, whether it is implied alone, or by meaning, or as good as another."""

    column: "Column"
    tokens: frozenset[int]
    implied: bool
    near: bool
    tied: bool


class Matching:
    """One question held against one table."""

    def __init__(self, asked: Asked, table: "Table", near: Near | None) -> None:
        self.asked, self.table, self.near = asked, table, near
        self.at = dict(enumerate(asked.tokens))
        self.number = [c for c in table.columns.values() if c.kind == "number" and not c.is_number_of]
        self.figures = [c for c in self.number if not c.is_year]
        names = re.sub(r"[_\-./]+", " ", f"{table.filename.rpartition('.')[0]} {table.headings}")
        self.about = frozenset(content_words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", names)))
        self.of_words = {w for c in table.columns.values() if c.kind != "number" for w in words_of_column(c)}
        self.label_words = {w for name in table.labels for w in words_of_column(table.columns[name])}
        self.elsewhere: frozenset[str] = frozenset()  # words of the titles of other tables
        self.extension = frozenset(content_words(table.filename.rpartition(".")[2]))

    # -- what words mean in this table -------------------------------------------------------------------------

    def _named(self, among: "Sequence[int] | set[int] | range") -> list[Named]:
        """The values of cells that some words of the question name, the most of each column."""
        among = {n for n in among if n in self.at and (not self.at[n].light or self.at[n].text[:1].isupper())}
        compared = self.asked.compared
        if compared:
            among -= {n for n in among if compared.start("figure") <= self.at[n].start < compared.end("figure")}
        found: list[Named] = []
        for column in self.table.columns.values():
            if column.kind == "text":
                found += self._text_values(column, among)
            elif column.kind == "date" or column.is_year:
                found += self._dates(column, among)
            elif column.kind == "number":
                found += self._of_number(column)
        # A word is one value's: the one that says most of it.
        found.sort(key=lambda one: (one.partial, -len(one.tokens), one.several))
        kept: list[Named] = []
        for one in found:
            if not any(one.tokens & other.tokens for other in kept):
                kept.append(one)
        flags = self._flags(among - used_by(kept))
        return [*kept, *flags]

    def _text_values(self, column: "Column", among: set[int]) -> list[Named]:
        values = _values_of(self.table, column.name)
        by_stem: dict[str, set[int]] = {}
        for n in among:
            token = self.at[n]
            by_stem.setdefault(token.stem, set()).add(n)
            for other in same_words(token):
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
            telling = {w for w in own if w not in self.about and w not in SAID and w not in self._column_words}
            if whole or telling:
                hits.append((value, own, tokens, whole))
        if not hits:
            return []
        hits.sort(key=lambda hit: (-len(hit[1]), not hit[3]))
        groups: list[Named] = []
        taken: set[int] = set()
        for _, own, tokens, whole in hits:
            if tokens & taken:
                continue
            same = [v for v, o, t, w in hits if t == tokens and o == own and w == whole]
            groups.append(
                Named(
                    {"column": column.name, "test": "=", "values": same}, tokens, not whole, len(same) > 1 and not whole
                )
            )
            taken |= tokens
        if len(groups) > 1:
            # "July and August together" are both; what is denied is none of them.
            groups = [g for g in groups if not g.partial] or groups
            joined = [v for g in groups for v in g.condition["values"]]
            tokens = frozenset(n for g in groups for n in g.tokens)
            condition: Condition = {"column": column.name, "test": "=", "values": joined}
            titled = all(self.at[n].stem in self.about for n in tokens)
            return [Named(condition, tokens, any(g.partial for g in groups), titled or any(g.several for g in groups))]
        return groups

    @cached_property
    def _column_words(self) -> frozenset[str]:
        return frozenset(w for c in self.table.columns.values() for w in words_of_column(c))

    def _dates(self, column: "Column", among: set[int]) -> list[Named]:
        """Months and years that the question names, where the column holds them."""
        days = (
            [d for d in column.days if d]
            if column.kind == "date"
            else [str(n) for n in column.numbers if n is not None]
        )
        years = {d[:4] for d in days}
        told = {n: self.at[n].text for n in among if self.at[n].text in years}
        months = {
            n: MONTHS[self.at[n].text.casefold()]
            for n in among
            if self.at[n].text.casefold() in MONTHS and (self.at[n].text[0].isupper() or len(self.at[n].text) > 3)
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
            tokens |= {n for n, t in self.at.items() if t.start == before.start(1)}
        if test != "=" and len(values) > 1:
            return []
        return [Named({"column": column.name, "test": test, "values": values}, tokens, False, False)]  # type: ignore[typeddict-item]

    def _of_number(self, column: "Column") -> list[Named]:
        """The rows of "one-bed flats": a number before the singular of a column's word."""
        words = words_of_column(column)
        for n, token in self.at.items():
            after = self.at.get(n + 1)
            if after is None or after.stem not in words or after.text.endswith("s"):
                continue
            between = self.asked.text[token.start + len(token.text) : after.start]
            number = int(token.text) if token.text.isdigit() else _ONES.get(token.text.casefold())
            if number and number in column.numbers and between in ("-", " "):
                condition: Condition = {"column": column.name, "test": "=", "values": [str(number)]}
                return [Named(condition, frozenset({n, n + 1}), False, False)]
        return []

    def _flags(self, among: set[int]) -> list[Named]:
        """Columns of yes and no that the question names, and whether it wants the no."""
        found = []
        for column in self.table.columns.values():
            if column.kind != "flag":
                continue
            words = words_of_column(column)
            tokens = frozenset(
                n
                for n in among
                if self.at[n].stem in words
                or (not self._is_subject(self.at[n]) and any(stem(o) in words for o in same_words(self.at[n])))
            )
            said = {
                w for w in words if any(self.at[n].stem == w or w in map(stem, same_words(self.at[n])) for n in tokens)
            }
            if not tokens or len(said) * 2 < len(words):
                continue
            found += self._flag(column, tokens, partial=len(said) < len(words))
        return found

    def _flag(self, column: "Column", tokens: frozenset[int], *, partial: bool) -> list[Named]:
        """The rows that say yes to a column, or no where the question denies."""
        denied = self.asked.denied
        said = [row.value(column.name) for row in self.table.rows]
        value = next((v for v in said if (v.casefold() in NO) == bool(denied) and v), "no" if denied else "yes")
        extra = {n for n, t in self.at.items() if denied and denied.start() <= t.start < denied.end()}
        condition: Condition = {"column": column.name, "test": "=", "values": [value]}
        return [Named(condition, tokens | extra, partial, False)]

    def _near_flag(self, among: set[int]) -> list[Named]:
        """The column of yes and no that a word means without naming it."""
        flags = [c for c in self.table.columns.values() if c.kind == "flag"]
        if self.near is None or not flags:
            return []
        known = self.about | self.of_words | SAID | GENERIC | {w for c in self.figures for w in words_of_column(c)}
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
    ) -> Chosen | None:
        """The column of figures that some words mean; the one of the dimension that is asked for; the only one."""
        pool = [*self.figures, *dates]
        if dimension == "age":
            pool += [c for c in self.number if c.is_year and c not in pool]
        if dimension:
            # "The heaviest" is of a weight; of a table without one it is nothing.
            pool = [c for c in pool if dimension in dimensions_of(c)]
        scored = []
        for column in pool:
            score, tokens, missed = self._score(column, among)
            scored.append((score, -missed, column, tokens))
        wanted = {dimension} if dimension else self.asked.dimensions
        best = max(scored, key=lambda s: (s[0], s[1]), default=None)
        if best and best[0] > 0:
            rivals = [s for s in scored if s[0] >= best[0] - 1e-9 and s[2] is not best[2]]
            if rivals and wanted:
                measuring = [s for s in (best, *rivals) if wanted & dimensions_of(s[2])]
                if len(measuring) == 1:
                    return Chosen(measuring[0][2], measuring[0][3], False, False, False)
            tied = any(s[1] == best[1] for s in rivals)
            return Chosen(best[2], best[3], False, False, tied)
        if strict:
            return None
        if wanted:
            fitting = [c for c in pool if wanted & dimensions_of(c)]
            if fitting:
                tokens = frozenset(n for n in among for name in wanted if self.at[n].stem in ASKS.get(name, ()))
                # Of several prices, the plain one: "cost", and not "replacement value".
                plain = [c for c in fitting if words_of_column(c) & PLAIN]
                chosen = fitting[0] if len(fitting) == 1 else plain[0] if len(plain) == 1 else None
                if chosen is not None:
                    return Chosen(chosen, tokens, len(fitting) > 1, False, False)
                return None
        if (near := self._near_column(among)) is not None:
            return near
        if implied and len(self.figures) == 1 and not dimension:
            return Chosen(self.figures[0], frozenset(), True, False, False)
        return None

    def _score(self, column: "Column", among: set[int]) -> tuple[float, frozenset[int], int]:
        """How much of a column's name some words say, which of them, and how many words of the name they leave out."""
        score, tokens, missed = 0.0, set[int](), 0
        groups = meant_by(column.name)
        known = {word: set(group) for word, *group in (tuple(g) for g in groups)}
        for word in words_of_column(column):
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
        if token.light or token.stem in COMMON:
            return False
        if token.stem in meant or word in map(stem, same_words(token)):
            return True
        # "Membership" is of members.
        return min(len(token.stem), len(word)) >= DERIVED and (
            token.stem.startswith(word) or word.startswith(token.stem)
        )

    def _column_by(self, own: "set[int] | dict[int, str]", shared: set[int]) -> Chosen | None:
        """The column that some words tell apart, and others, which it shares, mean."""
        scored = []
        for column in self.figures:
            if isinstance(own, dict):
                score, tokens, missed = (
                    (2.0, frozenset[int](), 0)
                    if set(own.values()) <= words_of_column(column)
                    else (0.0, frozenset(), 1)
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
        return Chosen(best[2], best[3], False, False, tied)

    def _direct(self, heads: set[int]) -> Chosen | None:
        """The column of figures whose name, or unit, is what is counted."""
        scored = []
        for column in self.figures:
            score, tokens, _ = self._score(column, heads)
            exact = any(
                self.at[n].stem in words_of_column(column) or (column.unit and self.at[n].stem == stem(column.unit))
                for n in heads
            )
            if exact or (score > 0 and not any(self.at[n].stem in GENERIC for n in heads)):
                rest, more, left = self._score(column, set(self.at) - heads)
                scored.append((score + exact + rest / 2, -left, column, tokens | more))
        best = max(scored, key=lambda s: (s[0], s[1]), default=None)
        if best is None:
            first = min(heads)
            return None if self._is_subject(self.at[first]) else self._near_column({first})
        tied = sum(s[0] >= best[0] - 1e-9 and s[1] == best[1] for s in scored) > 1
        return Chosen(best[2], best[3], False, False, tied)

    def _near_column(self, among: set[int]) -> Chosen | None:
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
                or token.stem in SAID
                or token.stem in GENERIC
                or token.text[0].isdigit()
                or token.stem in COMMON
            ):
                continue
            if token.stem in self.about or token.stem in self.of_words:
                continue
            # A weight is near many words, and is no amount of money.
            measures = {kind for said in (DIMENSIONS, ASKS) for kind, words in said.items() if token.stem in words}
            for column, value in zip(self.figures, self.near(token.text, names), strict=True):
                if measures and not measures & dimensions_of(column):
                    continue
                if best is None or value > best[0]:
                    second = max(second, best[0] if best and best[1] is not column else second)
                    best = (value, column, n)
                elif column is not best[1]:
                    second = max(second, value)
        if best is None or best[0] < NEAR:
            return None
        return Chosen(best[1], frozenset({best[2]}), False, True, second > 0.95 * best[0])

    def _compared(self, among: set[int]) -> Named | None:
        """The column and bound of "more than 10 days"."""
        match = self.asked.compared
        assert match is not None
        own = {n for n, t in self.at.items() if match.start() <= t.start < match.end()}
        upwards = UPWARDS.search(match["how"]) is not None and not match["how"].startswith("no more")
        dimension = ""
        if match["adjective"] and (meant := pole(match["adjective"])):
            dimension, end = meant
            upwards = end > 0
        chosen = self._column(
            among - {n for n in own if self.at[n].text.replace(",", "") == match["figure"].replace(",", "")},
            dimension=dimension,
        )
        if chosen is None:
            return None
        equal = match["how"] in ("at least", "at most", "up to", "no less than", "no more than")
        test = (">" if upwards else "<") + ("=" if equal else "")
        unit = HEADING_UNITS.get(match["unit"] or "")
        if unit and chosen.column.unit and unit != chosen.column.unit:
            return None  # pounds are not compared with euros
        said = frozenset(n for n in own if unit or not match["unit"] or self.at[n].start < match.start("unit"))
        bound = {"column": chosen.column.name, "test": test, "values": [match["figure"].replace(",", "")]}
        condition = cast(Condition, bound)
        return Named(condition, said | chosen.tokens, chosen.implied, False)

    # -- rows and subjects -------------------------------------------------------------------------------------

    def _is_subject(self, token: Token) -> bool:
        """Whether a word is what the rows of the table are."""
        known = self.about | self.label_words
        return token.stem in known or any(stem(other) in known for other in same_words(token))

    def _is_row_name(self, head: Sequence[Token]) -> bool:
        """Whether what is counted is what the column that names the rows is called."""
        return any(t.stem in self.label_words or any(stem(o) in self.label_words for o in same_words(t)) for t in head)

    def _rows_are_periods(self) -> bool:
        """Whether a row sums up a time, rather than telling of one thing that happened then."""
        first = [self.table.columns[name] for name in self.table.labels[:1]]
        if any(c.is_year or words_of_column(c) & PERIOD for c in first):
            return not any(c.kind == "date" for c in first) or not self._tells_of_things()
        return any(c.kind == "date" for c in first) and not self._tells_of_things()

    def _tells_of_things(self) -> bool:
        """Whether rows say more than figures, and none of these says how many there were."""
        counts = any(words_of_column(c) & QUANTITY for c in self.figures)
        return not counts and any(c.kind in ("text", "flag") for c in self.table.columns.values())

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
        return self._is_subject(self.at[head]) or self.at[head].stem in self.of_words or self.at[head].stem in GENERIC

    def _group(self, head: int | None) -> str | None:
        """The column that "which" asks for, where rows share its values."""
        if head is None:
            return None
        word = self.at[head].stem
        for column in self.table.columns.values():
            if column.kind in ("text", "date") and (
                word in words_of_column(column)
                or any(stem(o) in words_of_column(column) for o in same_words(self.at[head]))
            ):
                values = [row.value(column.name) for row in self.table.rows]
                if len(set(values)) < len(values):
                    return column.name
        return None

    def _column_years(self) -> list[str]:
        return sorted({w for c in self.figures for w in words_of_column(c) if YEAR.fullmatch(w)})

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

    def _where(self, named: Sequence[Named], chosen: Chosen | None) -> list[Condition]:
        return sorted_where(
            [one.condition for one in named if chosen is None or one.condition["column"] != chosen.column.name]
        )

    def _unsaid(self, used: "set[int] | frozenset[int]", chosen: Chosen | None) -> set[int]:
        """The words with a meaning that neither operation, column, rows nor the table itself account for."""
        known = self.about | self.of_words | self.extension
        if chosen is not None:
            known = known | words_of_column(chosen.column) | {stem(unit) for unit in (chosen.column.unit,) if unit}
            for name in dimensions_of(chosen.column):
                known = known | ASKS.get(name, frozenset())
        left = set()
        for n, token in self.at.items():
            if n in used or token.stem in known or self._operates(token):
                continue
            if token.text.casefold() in QUALIFIES:
                averaged = self.asked.mean or self.asked.superlative
                left |= set() if averaged and token.text.casefold() in RATES else {n}
                continue
            if token.light or (token.stem in SAID and token.stem not in self.elsewhere):
                continue
            if token.stem in GENERIC:
                continue
            if any(stem(o) in known for o in same_words(token)):
                continue
            left.add(n)
        return left

    def _operates(self, token: Token) -> bool:
        """Whether a word is part of what says the operation."""
        asked = self.asked
        for match in (asked.mean, asked.share, asked.difference, asked.total, asked.count, asked.superlative):
            if match and match.start() <= token.start < match.end():
                return True
        if asked.than and asked.than.start() <= token.start < asked.than.end() and pole(token.text.casefold()):
            return True
        return bool(asked.growth and re.fullmatch(GROWS, token.text.casefold()))


def used_by(named: Sequence[Named]) -> set[int]:
    """The words that some values, flags or bounds account for."""
    return {n for one in named for n in one.tokens}


def sorted_where(where: Sequence[Condition]) -> list[Condition]:
    """Conditions in one order, so that equal ones are equal."""
    return sorted(where, key=lambda c: (c["column"], c["test"], c["values"]))


def words_of_column(column: "Column") -> frozenset[str]:
    """The words of a column's name, its unit aside."""
    return frozenset(content_words(column.header.words.replace("_", " ")))


def dimensions_of(column: "Column") -> set[str]:
    """What a column measures, by its unit and its name."""
    words = words_of_column(column)
    by_name = {name for name, said in DIMENSIONS.items() if words & said}
    if column.kind == "date":
        return {"age"}
    if column.is_year:
        return {"age"}
    by_unit = {name for name, units in UNITS.items() if column.unit in units}
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
