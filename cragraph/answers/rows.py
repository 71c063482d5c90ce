"""Look-ups: rows of tables by the cells that a question names, with the answering column; answers below their
question."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from cragraph.answers.candidates import Candidate, heads_as_question, may_answer
from cragraph.language.cells import NO, SEPARATOR, YES, Cell, cells, meant_by, rows_of, sentence_of
from cragraph.language.facts.fact import dates
from cragraph.language.lexicon import LEXICON, YEAR
from cragraph.language.questions import FIGURES, QUOTED_KINDS, Kind, Question, read_question
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import asked_words, content_words, is_stopword, numbers, others, stem, weight
from cragraph.types import Passage

_NOT: Final = re.compile(r"\b(?:not|never|no|none|without|nicht|kein\w*)\b|n['’]t\b", re.I)
_ZERO: Final = re.compile(r"0+(?:\.0+)?|none", re.I)
_SUMMED: Final = re.compile(
    r"\b(?:altogether|all together|in total|in all|all told|together|combined|on average|average|mean|sum of|total)\b"
    rf"|\b(?:from|between) {YEAR} (?:to|until|and) {YEAR}\b",
    re.I,
)
_HOLDS: Final = frozenset(map(stem, ["capacity", "seats", "places", "berths", "room"]))
_CAME: Final = re.compile(r"\b(?:came|attended|turned up|showed up|took part|visited|were there)\b", re.I)
"""Words for people who came, as opposed to places that were there."""
_SHARE: Final = re.compile(r"%|per ?cent|pct|share|rate|ratio|proportion|anteil|quote", re.I)
_SUMS: Final = re.compile(
    r"\b(?:sub)?totals?\b|\b(?:average|mean|sum|overall|altogether|combined)\b|total_|_total|gesamt", re.I
)
_AMOUNT: Final = r"[$€£]?\s?-?\d[\d,]*(?:\.\d+)?\s?(?:%|[A-Za-z€£$]{1,4})?"
_FIGURE: Final = re.compile(rf"{_AMOUNT}(?: / {_AMOUNT})*")
_CAPITAL: Final = re.compile(r"(?<=[^\W_] )[A-ZÄÖÜ][\w’'-]*")
_PROPER: Final = re.compile(r"[A-ZÄÖÜ][\w.’'-]+(?: (?:[A-ZÄÖÜ&][\w.’'-]*|of|and|de|von))*")
SAME_QUESTION: Final = 0.5
"""Least similarity of two questions that ask the same: the product of the shares of each one's words in the other."""
SENTENCES: Final = 3  # sentences at most of the answer below a question
MOST_NAMES: Final = 2  # cells that name a row if one of its cells is stated
CERTAIN: Final = 0.89
"""Probability of rows that account for every word of the question; the numbers below are taken off. `CERTAIN`,
`UNACCOUNTED` and `UNASKED` were fitted with `benchmarks.table_cells`, on made questions and three sets of new users';
the rest was set by hand."""
UNACCOUNTED: Final = 0.8  # taken off, times the share of the question's words that nothing here accounts for
MOST_UNACCOUNTED: Final = 0.4
"""Rows do not answer if this share of the question is not accounted for: of 28 such questions they answered one."""
UNASKED: Final = 0.12  # taken off if no column is asked for
DOUBTED: Final = 0.6
"""Probability at most if a word of the question is not accounted for: such an answer is doubtful."""
PARTLY: Final = 0.35  # taken off if a part of a cell names the row: 5 of 13 were right, of made questions 1 of 14
SEVERAL: Final = 0.3
"""Taken off if several rows fit a question for one thing, figure or time: none of new users' three was right."""
FLAGS: Final = 0.6  # least share of yes and no among the cells of a flag column
WORTH: Final = 0.4  # least probability that counts


@dataclass(frozen=True)
class Lookup:
    """The rows for a question, the probability (0..1) that they answer it, and the answering cell of each."""

    rows: tuple[Candidate, ...]
    probability: float
    cells: tuple[tuple[int, int], ...]
    """Start and end of the answering cell's value in each row's text; the whole row if no column is asked for."""
    depth: int = 0
    """Number of cells before the one that names the first row: labels of rows stand first."""


class _Fit(NamedTuple):
    """A fitting row: the probability that it answers, its answering cell, and the place of the cell that names it."""

    probability: float
    row: Candidate
    cell: Cell | None
    depth: int
    naming: tuple[Cell, ...] = ()


def _is_flag(value: str) -> bool:
    """Whether a value means yes, no or nothing."""
    return value.casefold() in YES | NO or _ZERO.fullmatch(value) is not None


def names_its_columns(row: Candidate) -> bool:
    """Whether the cells of a row carry most names that the table's heading row has."""
    names = {cell.name for cell in cells(row.text)} if row.header else set()
    headings = [name.strip(" |") for name in row.header.split(SEPARATOR)]
    return 2 * sum(name in names for name in headings) > len(headings)


def lookup(question: Question, pool: Sequence[Candidate], passages: Sequence[Passage]) -> Lookup | None:
    """The rows that answer a question: "what does the lamp cost" asks for the price in the row of the lamp.

    A question for all gets every row: "which orders are open" asks for `status: open`; which are not is computed. Rows
    come from the one table that accounts for most of the question.
    """
    tables: dict[str, list[tuple[Candidate, Sequence[Cell]]]] = {}
    every = {n: {row.start: row for row in rows_of(passages[n])} for n in {one.passage for one in pool if one.is_row}}
    for candidate in pool:
        if not candidate.is_row or one_of_many(question, candidate):
            continue
        passage, row = passages[candidate.passage], every[candidate.passage].get(candidate.start)
        read = row.moved(-candidate.start).cells if row else cells(candidate.text)
        if any(cell.name for cell in read):
            tables.setdefault(passage["source"] or passage["doc_id"], []).append((candidate, read))
    looked = (_labelled(question, pool), *(_RowQuestion(question, rows).answer() for rows in tables.values()))
    best = max((one for one in looked if one), key=lambda one: (one.probability, -one.depth), default=None)
    return best if best and best.probability >= WORTH else None


def one_of_many(question: Question, row: Candidate) -> bool:
    """Whether the question asks for a sum or a mean over rows such as this: then one row is not the answer."""
    return _SUMMED.search(question.text) is not None and not _SUMS.search(f"{row.header} {row.text}")


def answer_below(question: Question, passages: Sequence[Passage]) -> Lookup | None:
    """The answer below the listed question that asks the same in much the same words."""
    best: Lookup | None = None
    words = set(asked_words(question.text))
    for number, passage in enumerate(passages):
        headed = list(_headed(number, passage["text"]))
        for heading, answer in headed:
            own = set(asked_words(heading))
            shared, whole = sum(map(weight, words & own)), sum(map(weight, words)) * sum(map(weight, own))
            same = shared * shared / whole if whole else 0.0
            if same < SAME_QUESTION or read_question(heading.strip("#* ")).kind != question.kind:
                continue
            if (len(headed) > 1 or heading.startswith("#")) and CERTAIN * same > (best.probability if best else 0.0):
                best = Lookup(answer, CERTAIN * same, tuple((0, len(part.text)) for part in answer))
    return best


def _headed(number: int, text: str) -> Iterator[tuple[str, tuple[Candidate, ...]]]:
    """The questions of a passage that stand on a line of their own, each with the first sentences below it."""
    spans = sentence_spans(text)
    for place, (start, end) in enumerate(spans):
        if not heads_as_question(text, start, end):
            continue
        below: list[Candidate] = []
        for left, right in spans[place + 1 : place + 1 + SENTENCES]:
            gap = text[spans[place][1] : left]
            # The answer is the paragraph below, with or without an empty line between.
            if not may_answer(text, left, right) or ("\n\n" in gap if below else "\n" not in gap):
                break
            below.append(Candidate(number, left, right, text[left:right], context=text[start:end]))
            place += 1
        if below:
            yield text[start:end], tuple(below)


def _labelled(question: Question, pool: Sequence[Candidate]) -> Lookup | None:
    """The only value behind a label that the question names in whole: "what is the delivery day": `Delivery day: …`."""
    asked = frozenset(asked_words(question.text)) - _LIGHT
    if not asked or question.kind not in {*QUOTED_KINDS, Kind.OTHER} or _NOT.search(question.text):
        return None
    typed: Callable[[str], object] = _TYPED.get(question.kind, bool)
    found: dict[str, Lookup] = {}
    for one, cell in ((candidate, cell) for candidate in pool for cell in cells(candidate.text)):
        groups = meant_by(cell.name) if cell.name else ()
        rest = asked.difference(*groups, content_words(one.context))
        if groups and not rest and typed(cell.value) and all(group[0] in asked for group in groups):
            found.setdefault(cell.value.casefold(), Lookup((one,), CERTAIN, (cell.place,)))
    return next(iter(found.values())) if len(found) == 1 else None


class _RowQuestion:
    """One question asked of the rows of one table."""

    def __init__(self, question: Question, rows: Sequence[tuple[Candidate, Sequence[Cell]]]) -> None:
        self.question, self.rows = question, rows
        asked = question.text
        for phrase, word in _PHRASES:
            asked = phrase.sub(word, asked)
        self.words = frozenset(asked_words(asked))
        self.names = self.words.union(content_words(" ".join(_CAPITAL.findall(question.text))))
        self.others = {stem(same): word for word in self.words for same in others(word) if " " not in same}
        self.figures = set(numbers(question.text))
        self.dates = [fact for fact in dates(question.text) if fact.kind == "date" and fact.date[1]]
        self.columns = {name: meant_by(name) for _, row in rows for name in (cell.name for cell in row) if name}
        self.of_columns = {word for groups in self.columns.values() for group in groups for word in group}
        self.words_for = {name: self._words_meaning(groups) for name, groups in self.columns.items()}
        self.column_words = frozenset().union(*self.words_for.values())
        self.above = {candidate.context: self._words_of_context(candidate.context) for candidate, _ in rows}
        self.about = frozenset[str]().union(*self.above.values())
        self.values = defaultdict[str, list[str]](list)
        for cell in (cell for _, row in rows for cell in row):
            self.values[cell.name].append(cell.value)
        self.flags = {name for name in self.columns if self._is_flag(name)}

    def _words_of_context(self, context: str) -> frozenset[str]:
        """The words that title and headings state, with their synonyms: under "Visitors" a row need not say who
        visited."""
        stems = content_words(context.replace("_", " ").replace("-", " ")) if context else ()
        others = (self.others[word] for word in stems if word in self.others)
        begun = (w for w in self.words if len(w) > 4 and any(word.startswith(w) for word in stems))
        return frozenset(stems).union(others, begun)

    def answer(self) -> Lookup | None:
        """The rows that account for most of the question."""
        table = " ".join(candidate.text for candidate, _ in self.rows) + " ".join(self.columns) + " ".join(self.about)
        if not self.words or any(year not in table for year in re.findall(rf"\b{YEAR}\b", self.question.text)):
            return None
        # The "no" in "Order no" is no negation.
        named = "|".join(re.escape(name) for name in self.columns if " " in name)
        if _NOT.search(re.sub(named or "$", " ", self.question.text, flags=re.I)):
            return None  # the other rows are computed
        fits = [fit for candidate, row in self.rows if (fit := self._fit(candidate, row))]
        best = max((fit.probability for fit in fits), default=0.0)
        chosen = [fit for fit in fits if fit.probability > best - 1e-9]
        wants_cell = self.question.kind in _TYPED or self.question.kind is Kind.YES_NO
        if not chosen or (wants_cell and not any(fit.cell for fit in chosen)):
            return None
        if len(chosen) > 1 and (not self.question.wants_rows or self.question.kind in FIGURES):
            best -= SEVERAL
        whole = len(chosen) > 1 and self.question.wants_rows
        return _looked_up(
            [(fit.row if whole else self._as_sentence(fit), fit.cell) for fit in chosen], best, chosen[0].depth
        )

    def _as_sentence(self, fit: _Fit) -> Candidate:
        """A row as a sentence: column name, row label and value of the answering cell.

        The whole row is given if the column name says nothing, as in "By for the edger: Joss Whitlow".
        """
        naming = [cell for cell in fit.naming if cell is not fit.cell][:MOST_NAMES]
        if fit.cell is None or not fit.cell.name or is_stopword(fit.cell.name) or not naming:
            return fit.row
        return replace(fit.row, sentence=sentence_of(fit.cell, naming, self.question.text))

    def _is_flag(self, name: str) -> bool:
        """Whether a column holds yes and no, and the question names it."""
        values = self.values[name]
        plain = sum(map(_is_flag, values))
        if plain < FLAGS * len(values) or not any(v.casefold() in YES for v in values):
            return False
        own = {group[0] for group in self.columns[name]}
        return bool(own) and own <= self.words

    def _fit(self, candidate: Candidate, row: Sequence[Cell]) -> _Fit | None:
        """The fit of a row that one of its cells names; None for any other row."""
        naming = {place: words for place, cell in enumerate(row) if (words := self._named_by(cell))}
        if not naming:
            return None
        whole = any(words == row[place].words or not row[place].words for place, words in naming.items())
        column = self._asked_column({row[place].name for place in naming}, row)
        cell = next((cell for cell in row if cell.name == column), None) if column else None
        named = self.column_words.union(*naming.values())
        probability = self._probability(
            named | self.above[candidate.context], whole, cell is not None or self.question.wants_rows
        )
        return _Fit(probability, candidate, cell, min(naming), tuple(row[place] for place in sorted(naming)))

    def _named_by(self, cell: Cell) -> frozenset[str]:
        """The words of the question that a cell accounts for: all words of the cell, a figure, a date, or a part of a
        name."""
        if fact := next((f for f in dates(cell.value) if f.kind == "date" and f.date[1]), None):
            # The date asked for, or a date in the month asked for.
            asked = (own for own in self.dates if all(a in (None, b) for a, b in zip(own.date, fact.date, strict=True)))
            return frozenset(content_words(next((own.text for own in asked), "")))
        if not cell.words:
            value = cell.value.replace(",", "")
            return frozenset({value}) if value in self.figures and len(value) > 1 and cell.name else frozenset()
        own = cell.words & self.names
        others = frozenset(self.others[w] for w in cell.words - own if w in self.others)
        if len(own) + len(others) == len(cell.words):
            return own | others
        return own - self.of_columns - self.about if len(cell.words) <= 4 and _PROPER.match(cell.value) else frozenset()

    def _words_meaning(self, groups: Sequence[Sequence[str]]) -> frozenset[str]:
        """The words of the question that mean a column; `groups` has the synonyms of each word of its heading."""
        others = (self.others.get(group[0]) for group in groups)
        return frozenset(w for w in self.words if any(w in group for group in groups)).union(filter(None, others))

    def _asked_column(self, naming: set[str], row: Sequence[Cell] = ()) -> str | None:
        """The column that the question asks for: by name, or by the kind of its values."""
        values = {cell.name: cell.value for cell in row or self.rows[0][1] if cell.name and cell.name not in naming}
        typed = _TYPED.get(self.question.kind)
        implied = _IMPLIED.get(self.question.kind, frozenset())
        fitting = {}
        for name, value in values.items():
            if not self._may_be(name, value):
                continue
            fits = any(implied & set(group) for group in self.columns[name])
            code = _CODE.fullmatch(value) is not None
            named = [group[0] in self.words for group in self.columns[name]]
            called = self.question.kind is Kind.PERSON and named and all(named) and _PROPER.fullmatch(value)
            # "80" may be a code, unless its column is asked for by name.
            sure = typed(value) or called if typed else value.isdigit() and any(named)
            if sure or (not code and (fits or not typed)):
                fitting[name] = sum(map(weight, self.words_for[name])) + IMPLIED * fits
        # "When was it opened" means the column "Opened", and not "Opening hours".
        best = max(fitting, key=lambda name: (fitting[name], -len(self.columns[name])), default=None)
        # The only column of figures need not hold the counted thing, nor be the column asked for by name.
        alone = typed is not None and len(fitting) == 1 and self.question.kind not in (Kind.NUMBER, Kind.PERCENT)
        if self.question.kind is Kind.MONEY:
            alone = alone and not any(self.words_for[name] for name in values if name not in fitting)
        return best if best and (fitting[best] or alone) else None

    def _may_be(self, column: str, value: str) -> bool:
        """Whether a cell may answer by its kind: a date is no number of things, a plain figure no share and no yes, a
        start no end."""
        kind = self.question.kind
        if content_words(column) == ("year",) and _A_YEAR.search(self.question.text):
            return False
        if any(
            asks.search(self.question.text)
            and is_other.search(column)
            and not is_own.search(column)
            and not other.search(self.question.text)
            for asks, is_own, other, is_other in _SIDES
        ):
            return False
        if kind is Kind.YES_NO:
            return column in self.flags
        if kind is Kind.PLACE:
            return not re.search(r"(?:^|[\W_])by$", column, re.I)  # "checked by" is a person
        if kind is Kind.PERCENT:
            return "%" in value or _SHARE.search(column) is not None
        if kind is Kind.NUMBER:
            dated = any(fact.kind == "date" and fact.date[1] for fact in dates(value))
            named = set(content_words(column.replace("_", " ")))
            held = named & _HOLDS and not named & self.words and _CAME.search(self.question.text)
            return not dated and "year" not in named and not held and not self._numbers_the_rows(column)
        return True

    def _numbers_the_rows(self, column: str) -> bool:
        """Whether a column has the number by which a row's thing goes, and the question asks how large or old it is."""
        own, plain = self.values[column], _HOW.search(self.question.text) is not None
        return plain and column == next(iter(self.columns)) and len({*own}) == len(own) and all(map(str.isdigit, own))

    def _probability(self, accounted: frozenset[str], whole: bool, asked: bool) -> float:
        heavy = self.words - _LIGHT
        unaccounted = sum(map(weight, heavy - accounted)) / (sum(map(weight, heavy)) or 1.0)
        if unaccounted >= MOST_UNACCOUNTED:
            return 0.0
        probability = CERTAIN - UNACCOUNTED * unaccounted - PARTLY * (not whole) - UNASKED * (not asked)
        return min(probability, DOUBTED) if unaccounted else probability


def _looked_up(rows: Sequence[tuple[Candidate, Cell | None]], probability: float, depth: int = 0) -> Lookup:
    places = tuple(cell.place if cell else (0, len(candidate.text)) for candidate, cell in rows)
    return Lookup(tuple(candidate for candidate, _ in rows), min(CERTAIN, probability), places, depth)


_START: Final = re.compile(r"\b(?:start\w*|beg[aiu]n\w*|first day)\b", re.I)
_END: Final = re.compile(r"\b(?:end(?:s|ed|ing)?|finish\w*|last day|until|till|expir\w*)\b", re.I)
_START_COLUMN: Final = re.compile(r"(?<![a-z])(?:start\w*|beg[aiu]n\w*|from)(?![a-z])", re.I)
_END_COLUMN: Final = re.compile(r"(?<![a-z])(?:end(?:s|ed|ing)?|finish\w*|until|till|to|expir\w*)(?![a-z])", re.I)
_SIDES: Final = ((_START, _START_COLUMN, _END, _END_COLUMN), (_END, _END_COLUMN, _START, _START_COLUMN))
"""Of each side of a period: how a question asks for it and a column is called, and the same of the other side."""
_LIGHT: Final = frozenset(map(stem, LEXICON["said_of_anything"].split()))

_PHRASES: Final = tuple(
    (re.compile(rf"\b{first}(?:s|ed|ing)? {last}\b", re.I), key)
    for key, line in LEXICON["same_deed"].items()
    for first, last in (phrase.split("_") for phrase in line.split() if phrase.count("_") == 1)
)
_A_YEAR: Final = re.compile(r"\b(?:an?|per|each|every|one|whole) year\b", re.I)
"""A length of time, and no column of years."""
_HOW: Final = re.compile(r"\bhow (?:big|large|small|old|tall|high|deep|wide|long|heavy|far|fast)\b", re.I)
_IMPLIED: Final = {
    kind: frozenset(map(stem, words.split()))
    for kind, words in (
        (Kind.PERSON, "person customer owner lead leader"),
        (Kind.PLACE, "place address where city town destination room venue hall office site ground"),
        (Kind.TIME, "date due"),
        (Kind.MONEY, "price"),
        (Kind.NUMBER, "stock quantity"),
    )
}
"""Meanings of columns that a question asks for without a word for them: "how much is the lamp"."""
IMPLIED: Final = 0.5
"""Weight of a column that is meant without a word for it; words of the question weigh 0.15 to 1.6."""
_TIME: Final = re.compile(
    r"day\b|\d:\d\d|\d ?[ap]\.?m\b|\buhr\b|^(?:1[5-9]|20)\d\d$|\bQ[1-4]\b|\d ?(?:weeks?|days?)\b", re.I
)
_CODE: Final = re.compile(r"[A-Z]{0,4}[-#]?\d+[A-Z]?")
_TYPED: Final = {
    Kind.PERSON: lambda value: _PROPER.fullmatch(value) is not None and " " in value,
    Kind.PLACE: lambda value: _PROPER.fullmatch(value) is not None,
    Kind.TIME: lambda value: next(dates(value), None) is not None or _TIME.search(value) is not None,
    Kind.MONEY: lambda value: _FIGURE.fullmatch(value) is not None,
    Kind.NUMBER: lambda value: re.search(r"\d", value) is not None,
    Kind.PERCENT: lambda value: _FIGURE.fullmatch(value) is not None,
}
"""The form of the answering cell, by kind of question."""
