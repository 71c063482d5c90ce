"""Numbers of workbooks and charts in their number format: dates, durations, shares, currencies, units, codes."""

import datetime as dt
import re
from functools import lru_cache
from typing import Final, NamedTuple

BUILT_IN: Final = {
    2: "0.00", 4: "#,##0.00", 7: "#,##0.00", 8: "#,##0.00", 39: "#,##0.00", 40: "#,##0.00", 44: "#,##0.00",
    9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "yyyy-mm-dd", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
}  # fmt: skip
"""The built-in formats, which a workbook names by number. Their currencies depend on the reader's computer."""

_PART: Final = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>[hms])\1*\]|\[[^\]]*\]'
    r"|(?P<clock>AM/PM|A/P)|(?P<general>General)|(?P<digits>[0#?][0#?,. ]*(?:/[0#?\d]+)?(?:E[+-][0#?]+)?)"
    r"|(?P<date>[yYmMdDhHsSeg]+)|(?P<sign>.)".replace(r"\1", r"(?P=elapsed)"),
    re.S,
)
_FIRST: Final = {False: dt.datetime(1899, 12, 30), True: dt.datetime(1904, 1, 1)}
_CENTS: Final = 3  # decimals at most that a figure gets zeros for
_DAYS: Final = 2_958_466  # the last day of the year 9999 is the last that a workbook knows


class Amount(float):
    """A figure as its format shows it, with its currency or unit."""

    shown: str

    def __new__(cls, value: float, shown: str) -> "Amount":
        """A figure with the text that shows it."""
        made = super().__new__(cls, value)
        made.shown = shown
        return made

    def __str__(self) -> str:
        return self.shown


class _Format(NamedTuple):
    """One section of a format: prefix and suffix of the digits, or the parts of a date."""

    before: str = ""
    after: str = ""
    digits: tuple[str, ...] = ()
    date: str = ""
    elapsed: str = ""
    literal: bool = False  # shows no figure at all


def shown(value: float, code: str, *, from_1904: bool = False) -> str | int | float:
    """A number in its format: a date, time or share as text, an `Amount` with its unit, else the bare figure."""
    if code in ("", "General"):
        return plain(value)
    section = _section(code, value)
    if section.elapsed or section.date:
        return _moment(value, section, from_1904)
    if section.literal:
        return section.before
    if "%" in section.before + section.after:
        return f"{value * 100:.10g}%"
    digits = section.digits[-1] if section.digits else ""
    scale = len(digits) - len(digits.rstrip(",")) if digits else 0
    figure = plain(value / 1000**scale)
    if isinstance(figure, int) and figure >= 0 and (masked := _masked(figure, section)):
        return masked
    before, after = section.before.replace("(", "").strip(" -+"), section.after.replace(")", "").strip()
    cents = re.search(r"\.(0+)[#?, ]*$", digits)
    text = with_cents(figure, len(cents[1]) if cents else 0)
    if not (before or after):
        return Amount(figure, f"{'-' * (figure < 0)}{text}") if cents else figure
    gap = " " * (before[-1:].isalpha() and len(before) > 1)
    tail = f" {after}" if after[:1].isalpha() or after in "€£$¥" else after
    return Amount(figure, f"{'-' * (figure < 0)}{before}{gap}{text}{tail if after else ''}")


def plain(value: float) -> int | float:
    """A figure without the noise of binary fractions; a whole figure as an integer."""
    return int(value) if abs(value) < 1e15 and value == int(value) else float(f"{value:.15g}")


def with_cents(figure: float, places: int) -> str:
    """A figure without its sign, with zeros up to so many decimals: 64.80. No decimal is rounded away."""
    text = f"{abs(figure):.15g}"
    return f"{abs(figure):.{places}f}" if len(text.partition(".")[2]) < places <= _CENTS and "e" not in text else text


def _masked(figure: int, section: _Format) -> str:
    """A number that is a code, with its leading zeros and separators: 00420, 030-1234."""
    joined = "".join(section.digits)
    if len(section.digits) > 1 and all(re.fullmatch(r"[0#?]+", d) for d in section.digits[::2]):
        digits = str(figure).rjust(sum(map(len, section.digits[::2])))
        text = ""
        for n in range(len(section.digits) - 1, -1, -1):
            part = section.digits[n]
            if n % 2:
                text = part + text
            else:
                cut = len(digits) - len(part) if n else 0
                text, digits = digits[cut:].replace(" ", "0") + text, digits[:cut]
        return f"{section.before}{text}{section.after}".strip()
    if re.fullmatch(r"0{2,}", joined):
        return f"{section.before}{figure:0{len(joined)}d}{section.after}".strip()
    return ""


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Format, ...]:
    cut, quoted, start = [], False, 0
    for at, sign in enumerate(code[:500]):
        quoted ^= sign == '"'
        if sign == ";" and not quoted and code[at - 1 : at] != "\\":
            cut.append(code[start:at])
            start = at + 1
    return tuple(map(_read, [*cut, code[start:500]]))


def _section(code: str, value: float) -> _Format:
    sections = _sections(code)
    at = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    return sections[at]


def _read(section: str) -> _Format:
    before, digits, date, elapsed = "", list[str](), "", ""
    after, figure = "", False
    for part in _PART.finditer(section):
        kind, text = part.lastgroup, part[part.lastgroup] if part.lastgroup else ""
        if kind in ("quoted", "escaped", "currency", "sign"):
            text = "" if kind == "sign" and text in "@" else text
            before, after = (before, after + text) if figure else (before + text, after)
        elif kind in ("digits", "general"):
            if digits and kind == "digits":
                digits, after = [*digits, after, text.rstrip()], ""
            elif kind == "digits":
                digits = [text.rstrip()]
                after += " " * (len(text) - len(text.rstrip()))
            figure = True
        elif kind == "elapsed":
            elapsed = elapsed or text.lower()
            date += text.lower()
        elif kind == "date":
            date += text.lower()
    if date:
        return _Format(date=date, elapsed=elapsed)
    return _Format(before.replace("\u00a0", " "), after.replace("\u00a0", " "), tuple(digits),
                   literal=not figure and bool(before))  # fmt: skip


def _moment(value: float, section: _Format, from_1904: bool) -> str | int | float:
    """A date, a time of day or both; a duration as hours and minutes, also above 24 hours."""
    seconds = round(value * 86400)
    date = section.date
    if section.elapsed or (value < 1 and not set(date) & set("yd") and "h" not in date):
        minutes, second = divmod(abs(seconds), 60)
        hours, minute = divmod(minutes, 60)
        text = f"{hours}:{minute:02d}:{second:02d}" if "h" in date or section.elapsed == "h" else ""
        text = text or f"{minutes}:{second:02d}"
        return "-" * (seconds < 0) + (text.removesuffix(":00") if "h" in date and "s" not in date else text)
    if not 0 <= value < _DAYS:
        return plain(value)
    before_march = value < 60 and not from_1904  # February of 1900, which workbooks take for a leap year
    moment = _FIRST[from_1904] + dt.timedelta(days=int(before_march), seconds=seconds)
    clock = moment.strftime("%H:%M:%S" if "s" in date else "%H:%M")
    if not set(date) & set("yd") and ("h" in date or value < 1):
        return clock
    if "d" not in date and "h" not in date:
        day = moment.strftime("%Y-%m" if "m" in date else "%Y")
        return day if "y" in date else moment.date().isoformat()
    day = moment.date().isoformat()
    timed = "h" in date or ("s" in date and seconds % 86400)
    return f"{day} {clock}" if timed and seconds % 86400 else day
