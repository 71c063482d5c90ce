"""One fact of a text."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "percent", "points", "money", "measure", "date", "quarter", "time", "ordinal", "name"]

DatePart = tuple[int | None, int | None, int | None]
"""Year, month, day; None where the text leaves it out."""


@dataclass(frozen=True)
class Fact:
    """A number, date or name as written: `said` is ``text[start:end]``.

    `value` is in base units (`unit` names the dimension or the currency), `figure` as written. `step` is the unit of
    the last digit that was written, so that ``1.5`` (step 0.1) may stand for 1.49. `bound` is ``>`` or ``<`` for "more
    than" and "less than", ``~`` for "about". `bare` marks a number without a unit, as in a table's cell. `written` is
    the number alone where its unit was read from the name of its field (``kilograms: 612``): a table may give the unit
    only there.
    """

    kind: Kind
    said: str
    start: int
    end: int
    value: float = 0.0
    figure: float = 0.0
    step: float = 0.0
    unit: str = ""
    bound: str = ""
    date: DatePart = (None, None, None)
    words: tuple[str, ...] = ()
    written: "Fact | None" = None

    @property
    def bare(self) -> bool:
        """Whether it is a number without a unit."""
        return self.kind == "number"
