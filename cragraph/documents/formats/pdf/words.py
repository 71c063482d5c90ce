"""The words of a PDF page with their places, their lines, and words that a line end divides."""

import ctypes
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from itertools import pairwise, zip_longest
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from cragraph.documents.formats.pdf.spacing import Joined, Piece, joined
from cragraph.documents.signs import STRUCK, lowered, raised, settled
from cragraph.documents.table_text import SIGNS, TAILS, is_number, is_period

_BOLD = re.compile(rb"bold|black|heavy|demi", re.I)
# PDFium writes these for a hyphen at the end of a line.
_LINE_HYPHENS = frozenset({0x02, 0xFFFE})
_SPACES = frozenset({0xA0, 0x3000})
_BREAKS = frozenset({0x0A, 0x0D})
_DEEPEST: Final = 15  # forms within forms on a page
_THROUGH = 0.28, 0.6  # the part of a line's height in which a stroke strikes it through; an underline is lower
_TURNS, ASLANT = 4, -1
USUAL: Final = 12.0  # height of a line in points on a page without lines
_UPRIGHT = 0.12  # degrees from a quarter turn: a page scanned askew still counts as upright, a watermark does not
_TURNED = 0.001  # quarter turns from which on a word is askew
SMALLER: Final = 0.85  # signs below this share of a line's height are in a smaller size
RAISED: Final = 0.2  # least share of a line's height by which signs are raised


class PageWord(NamedTuple):
    """A run of signs without white space; points from the left and the top of the page as it is shown."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    bold: bool = False

    @property
    def height(self) -> float:
        """Height of the font, not of the signs: equal for every word of a line in one font."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Height of the middle of the line."""
        return (self.top + self.bottom) / 2


class PageText(NamedTuple):
    """The words of a page in their main direction, in the order of the file, and the text across them.

    `unmapped` counts words whose letters are mostly glyphs without a Unicode mapping; `drawn` says whether the file
    holds the font of these glyphs.
    """

    words: list[PageWord]
    across: list[str]
    unmapped: int = 0
    drawn: bool = True


def words_of(page: Any, over: Callable[[Any, float], Any]) -> PageText:
    """The words of a page with its annotations from `over`, which is called with the page and the usual word height."""
    with closing(page.get_textpage()) as text:
        words, unmapped, drawn = _placed(text, page)
    turns = Counter(turn for _, turn in words if turn != ASLANT)
    main = turns.most_common(1)[0][0] if turns else 0
    left, bottom, right, top = page.get_cropbox()
    usual = weighted_median((word.bottom - word.top, 1) for word, turn in words if turn == main) or USUAL
    above = over(page, usual)
    placed = [_struck(word, above.struck) for word, turn in words if turn == main] + above.words
    upright = [_turned(word, main, right - left, top - bottom) for word in placed]
    return PageText(
        levelled(upright), [word.text for word, turn in words if turn != main] + above.comments, unmapped, drawn
    )


def _struck(word: PageWord, boxes: Sequence[tuple[float, float, float, float]]) -> PageWord:
    """The word, or the mark for a struck-out word if it lies in one of these boxes."""
    x, height = (word.x0 + word.x1) / 2, word.bottom - word.top
    low, high = word.top + _THROUGH[0] * height, word.top + _THROUGH[1] * height
    inside = any(left <= x <= right and bottom <= high and top >= low for left, bottom, right, top in boxes)
    return word._replace(text=STRUCK) if inside else word


def _placed(page: Any, whole: Any) -> tuple[list[tuple[PageWord, int]], int, bool]:
    """Words in the coordinates of the file (origin at the bottom left, y upwards) with their quarter turns; the number
    of words with unmapped letters, and whether the file holds the font of these letters."""
    codes = [pdfium.FPDFText_GetUnicode(page, index) for index in range(page.count_chars())]
    twice = doubled(page, codes)
    words: list[tuple[PageWord, int]] = []
    pieces: list[Piece] = []
    signs: list[tuple[int, int]] = []
    unmapped, drawn = 0, True
    for index, code in enumerate([*codes, _SPACE]):
        if code in _LINE_HYPHENS:
            code = 0x2D
        if code > _SPACE and code not in _SPACES:
            signs.extend([(code, index)] * (2 if index in twice else 1))
        elif signs and index - 1 not in twice:
            words.append(_word(page, signs))
            own = index == len(codes) or pdfium.FPDFText_IsGenerated(page, index) != 1
            word, turn = words[-1]
            box = (word.x0, word.top, word.x1, word.bottom)
            pieces.append(Piece(signs, box, apart=own or turn != 0, broken=code in _BREAKS))
            # A bullet or a sign of a symbol font stands alone.
            lost = sum(pdfium.FPDFText_HasUnicodeMapError(page, place) == 1 for _, place in signs)
            unmapped += lost > 1 and 2 * lost > len(signs)
            drawn &= lost < 2 or _is_embedded(page, signs[0][1])
            signs = []
    if any(len(piece.signs) == 1 and not piece.apart for piece in pieces):
        place, spaced = partial(page.get_charbox, loose=True), partial(_spaced, page, whole, pieces)
        words = [_whole(page, words, pieces, one) for one in joined(pieces, place, spaced)]
    return words, unmapped, drawn


def _spaced(page: Any, whole: Any, pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces apart where the file draws a space between them, which PDFium leaves out if it is drawn alone."""
    drawn = whole.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=_DEEPEST)
    order = {ctypes.cast(one.raw, ctypes.c_void_p).value: number for number, one in enumerate(drawn)}

    def place(sign: tuple[int, int]) -> int:
        handle = ctypes.cast(pdfium.FPDFText_GetTextObject(page, sign[1]), ctypes.c_void_p)
        return order.get(handle.value, 0)

    pairs = pairwise(pieces)
    apart = [piece.apart or place(behind.signs[0]) - place(piece.signs[-1]) > 1 for piece, behind in pairs]
    return [piece._replace(apart=own) for piece, own in zip(pieces, [*apart, True], strict=True)]


def _whole(
    page: Any, words: Sequence[tuple[PageWord, int]], pieces: Sequence[Piece], one: Joined
) -> tuple[PageWord, int]:
    """The word of joined pieces."""
    word, turn = words[one.start]
    if one.end - one.start > 1:
        word, turn = _word(page, [sign for piece in pieces[one.start : one.end] for sign in piece.signs])
    return (word if one.right is None else word._replace(x1=max(word.x1, one.right))), turn


def _word(page: Any, signs: Sequence[tuple[int, int]]) -> tuple[PageWord, int]:
    """A word of signs with their indexes on the page, and its quarter turns, or `ASLANT`."""
    angle = pdfium.FPDFText_GetCharAngle(page, signs[0][1])
    quarters = angle / (math.pi / 2) if angle > 0 else 0.0
    turn = round(quarters) % _TURNS if abs(quarters - round(quarters)) < _UPRIGHT else ASLANT
    bold = bool(_BOLD.search(font_name(page, signs[0][1])))
    runs = _runs(page, signs) if turn == 0 and any(chr(code).isdigit() for code, _ in signs) else [(0, signs)]
    text = ""
    for moved, run in runs:
        # PDFium returns characters beyond the first plane as two surrogates.
        part = "".join(chr(code) for code, _ in run).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text += part if not moved else raised(part, text) if moved > 0 else lowered(part, text)
    boxes = [page.get_charbox(index, loose=True) for index in {signs[0][1], signs[-1][1]}]
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    if turn != ASLANT and abs(quarters - round(quarters)) > _TURNED and turn % 2 == 0:
        half, middle = (tops[0] - bottoms[0]) / 2, (sum(tops) + sum(bottoms)) / 2 / len(tops)
        bottoms, tops = (middle - half,), (middle + half,)
    elif len(runs) > 1:
        whole = next(run for moved, run in runs if not moved)
        _, bottom, _, top = page.get_charbox(whole[0][1], loose=True)
        bottoms, tops = (bottom,), (top,)
    return PageWord(text, min(lefts), max(rights), min(bottoms), max(tops), bold), turn


def _runs(page: Any, signs: Sequence[tuple[int, int]]) -> list[tuple[int, list[tuple[int, int]]]]:
    """The signs of a word in runs of one height: 1 above the largest signs' line, -1 below it, 0 on it."""
    boxes = [page.get_charbox(index, loose=True) for _, index in signs]
    height = max(top - bottom for _, bottom, _, top in boxes)
    base = next(bottom for _, bottom, _, top in boxes if top - bottom >= height * 0.99)
    runs: list[tuple[int, list[tuple[int, int]]]] = []
    for sign, (_, bottom, _, top) in zip(signs, boxes, strict=True):
        small = top - bottom < SMALLER * height
        moved = 1 if bottom - base > RAISED * height else -1 if small and bottom < base - 0.02 * height else 0
        if not runs or runs[-1][0] != moved:
            runs.append((moved, []))
        runs[-1][1].append(sign)
    return runs


def _turned(word: PageWord, turn: int, width: float, height: float) -> PageWord:
    x0, x1, low, high = word.x0, word.x1, word.top, word.bottom
    if turn == 3:  # reads upwards
        x0, x1, low, high, height = low, high, width - x1, width - x0, width
    elif turn == 1:  # reads downwards
        x0, x1, low, high, height = height - high, height - low, x0, x1, width
    elif turn == 2:
        x0, x1, low, high = width - x1, width - x0, height - high, height - low
    return PageWord(word.text, x0, x1, height - high, height - low, word.bold)


LEAST_PAIRS: Final = 12  # words beside one another that tell how far a page is askew
LEVEL: Final = 0.004, 0.06  # the slopes between which a page is askew: a quarter of a degree to three


def levelled(words: Sequence[PageWord]) -> list[PageWord]:
    """The words of a page that was scanned askew, turned back; other words as they are."""
    slopes = [
        ((right.middle - left.middle) / (right.x0 + right.x1 - left.x0 - left.x1) * 2, 1)
        for left, right in pairwise(words)
        if 0 <= right.x0 - left.x1 < left.height
        and right.x0 + right.x1 > left.x0 + left.x1
        and abs(right.middle - left.middle) < 0.3 * left.height
    ]
    slope = weighted_median(slopes)
    if len(slopes) < LEAST_PAIRS or not LEVEL[0] <= abs(slope) <= LEVEL[1]:
        return list(words)
    return [_levelled(word, slope) for word in words]


def _levelled(word: PageWord, slope: float) -> PageWord:
    x, y, width = (word.x0 + word.x1) / 2, word.middle, word.x1 - word.x0
    across, down = x + slope * y, y - slope * x
    height = word.height
    return word._replace(x0=across - width / 2, x1=across + width / 2, top=down - height / 2, bottom=down + height / 2)


WIDER = 1.35  # least width, relative to the narrowest of its kind, of a letter that stands for two
NAME_BYTES = 96
_LETTERS = frozenset(map(ord, "ft"))
_SPACE = 0x20


def doubled(page: Any, codes: Sequence[int]) -> set[int]:
    """Indexes of ligatures that were read as one letter; each is followed by a space that is not on the page."""
    suspects = {
        index
        for index in range(len(codes) - 2)
        if codes[index] in _LETTERS
        and codes[index + 1] == _SPACE
        and chr(codes[index + 2]).islower()
        and pdfium.FPDFText_IsGenerated(page, index + 1) == 1
    }
    widths: dict[tuple[int, bytes, float], dict[int, float]] = defaultdict(dict)
    for index, code in enumerate(codes if suspects else ()):
        if code in _LETTERS:
            left, bottom, right, top = page.get_charbox(index, loose=True)
            widths[code, font_name(page, index), round(top - bottom, 1)][index] = right - left
    alike = ((index, width, min(kind.values())) for kind in widths.values() for index, width in kind.items())
    return {index for index, width, narrowest in alike if index in suspects and width > WIDER * narrowest}


# One buffer each for all calls, which are made under PDFium's lock.
_NAME = ctypes.create_string_buffer(NAME_BYTES)
_FLAGS = ctypes.c_int()


def font_name(page: Any, index: int) -> bytes:
    """The name of the font that a sign is set in."""
    _NAME[0] = b"\x00"
    pdfium.FPDFText_GetFontInfo(page, index, _NAME, NAME_BYTES, _FLAGS)
    return bytes(_NAME.value)


def _is_embedded(page: Any, index: int) -> bool:
    """Whether the file holds the font of a sign, so that the sign can be drawn."""
    font = pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(page, index))
    return bool(font) and pdfium.FPDFFont_GetIsEmbedded(font) == 1


SAME_LINE = 0.4  # words are on one line if their middles are nearer than this share of the higher word
CELL_GAP = 0.9  # a gap wider than this share of the line's height separates two cells; justified words stand closer
BOX_GAP = 1.8  # the same between a box to tick and what it is for
BOXES: Final = frozenset("☐☑☒")
_BRACKETED = re.compile(r"\(\w{1,2}\)$")  # such a mark beside an amount would be taken for a minus sign
_LEADER = re.compile(r"^[.·•_…]{3,}$")
_TRAILING_LEADER = re.compile(r"(?:\s?[.·_…]){4,}$")


class PageCell(NamedTuple):
    """Text between two edges, in points from the left."""

    text: str
    x0: float
    x1: float


_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")


def leftwards(words: Iterable[PageWord]) -> bool:
    """Whether most words with letters are in a script that reads from right to left."""
    lettered = [bool(_LEFTWARDS.search(word.text)) for word in words if _LETTER.search(word.text)]
    return 2 * sum(lettered) > len(lettered)


def as_read(words: Sequence[PageWord]) -> Iterator[str]:
    """The texts of words from left to right, in reading order."""
    if not leftwards(words):
        yield from (word.text for word in words)
        return
    run: list[str] = []  # words of another script among them, which reads from left to right
    for word in reversed(words):
        if _LETTER.search(word.text) and not _LEFTWARDS.search(word.text):
            run.insert(0, word.text)
        else:
            yield from run
            run = []
            yield word.text
    yield from run


class Segment:
    """Words of a line that stand together; `text` leaves dot leaders out."""

    def __init__(self, words: Sequence[PageWord]) -> None:
        self.words = words
        self.leads = False  # whether dot leaders follow
        self.text = settled(_TRAILING_LEADER.sub("", " ".join(as_read(words))).strip())
        self.x0, self.x1 = words[0].x0, max(word.x1 for word in words)

    def parts(self) -> list[PageCell]:
        """The segment as cells: several if it ends in an amount or consists of amounts (`$ 689 $ 775`)."""
        words = [PageCell(word.text, word.x0, word.x1) for word in self.words]
        if len(words) > 1 and all(is_number(word.text) or word.text in SIGNS | TAILS for word in words):
            return words
        if len(words) > 1 and words[-1].text in SIGNS and not is_number(words[-2].text):
            # A label that runs up to the currency sign of the first amount.
            return [PageCell(" ".join(word.text for word in words[:-1]), words[0].x0, words[-2].x1), words[-1]]
        return [PageCell(self.text, self.x0, self.x1)] if self.text else []


class Line:
    """Segments on one height, from left to right."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self.dated = False  # whether it is a page header with a date
        self.words = [word for segment in segments for word in segment.words]
        texts = [segment.text for segment in segments if segment.text]
        self.text = " ".join(texts[::-1] if leftwards(self.words) else texts)
        self.x0, self.x1 = segments[0].x0, max(segment.x1 for segment in segments)
        self.top, self.bottom = min(word.top for word in self.words), max(word.bottom for word in self.words)

    @cached_property
    def height(self) -> float:
        """Height of the font that most signs of the line are in."""
        return weighted_median((word.height, len(word.text)) for word in self.words)

    @cached_property
    def bold(self) -> bool:
        """Whether nearly all signs of the line are bold."""
        signs = sum(len(word.text) for word in self.words)
        return sum(len(word.text) for word in self.words if word.bold) > 0.8 * signs

    @cached_property
    def cells(self) -> list[PageCell]:
        """The segments, with currency signs, brackets and percent signs joined to their amounts."""
        cells: list[PageCell] = []
        for part in (part for segment in self.segments for part in segment.parts()):
            last = cells[-1] if cells else None
            if last and (part.text in TAILS if last.text not in SIGNS else is_number(part.text)):
                cells[-1] = PageCell(last.text + part.text, last.x0, part.x1)
            else:
                cells.append(part)
        return cells

    @cached_property
    def figures(self) -> bool:
        """Whether the line is a row of amounts: two cells or more, and an amount that is no period after the first."""
        return any(is_number(cell.text) and not is_period(cell.text) for cell in self.cells[1:])


def lines_of(words: Sequence[PageWord]) -> list[Line]:
    """Words gathered in lines from top to bottom; raised and lowered signs stay on their line."""
    rows: list[list[PageWord]] = []
    for word in sorted(words, key=lambda word: (word.middle, word.x0)):
        row = rows[-1] if rows else None
        if row and abs(word.middle - row[0].middle) <= SAME_LINE * max(word.height, row[0].height):
            row.append(word)
        else:
            rows.append([word])
    return [Line(segments) for segments in map(_segments, rows) if segments]


def _segments(words: Iterable[PageWord]) -> list[Segment]:
    ordered = sorted(words, key=lambda word: word.x0)
    height = weighted_median((word.height, len(word.text)) for word in ordered)
    low = weighted_median((word.bottom, len(word.text)) for word in ordered)
    segments: list[list[PageWord]] = []
    led: set[int] = set()
    apart, boxed = True, False
    right = 0.0
    for word, behind in zip_longest(ordered, ordered[1:]):
        above = low - word.bottom > RAISED * height and word.height < SMALLER * height and len(word.text) < 5
        if above and segments and word.x0 - right < (1.2 if _BRACKETED.match(word.text) else 0.3) * height:
            last = segments[-1][-1]
            segments[-1][-1] = last._replace(text=last.text + raised(word.text, last.text), x1=word.x1)
            right = word.x1
            continue
        # The number of a footnote stands right before it.
        begins = not segments and behind is not None and abs(behind.x0 - word.x1) < 0.5 * height
        if above and (begins or (segments and _BRACKETED.match(word.text))):
            word = word._replace(text=raised(word.text))
        if _LEADER.match(word.text):
            apart = True
            led.add(len(segments) - 1)
            continue
        box = word.text in BOXES
        beside = box and bool(segments) and len(segments[-1]) > 1 and segments[-1][0].text in BOXES
        if not beside and (apart or word.x0 - right > (BOX_GAP if boxed else CELL_GAP) * height):
            segments.append([])
        segments[-1].append(word)
        boxed = box and len(segments[-1]) == 1
        right, apart = max(word.x1, right) if len(segments[-1]) > 1 else word.x1, False
    made = [Segment(segment) for segment in segments]
    for number, segment in enumerate(made):
        segment.leads = number in led or bool(_TRAILING_LEADER.search(segment.words[-1].text))
    return made


LEAST_NUMBERED: Final = 5  # least numbered lines of a page with line numbers; three if only every fifth is numbered
ALIGNED: Final = 3.0  # points by which the edges of such numbers differ at most


def without_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """Lines without the numbers that count them in a margin of the page.

    Line numbers stand in a separate column beside prose and rise in equal steps. Numbers of a list or of table rows
    stand beside beginnings of items, or beside several cells.
    """
    for side in (0, -1):
        outer = {n: line.segments[side].words[side] for n, line in enumerate(lines)}
        numbers = {n: word for n, word in outer.items() if word.text.isdecimal() and len(word.text) < 6}
        for edge in ("x0", "x1"):
            usual = weighted_median((getattr(word, edge), 1) for word in numbers.values())
            own = {n: word for n, word in numbers.items() if abs(getattr(word, edge) - usual) <= ALIGNED}
            if _counts_lines(lines, own, side):
                return [left for n, line in enumerate(lines) if (left := _without(line, own.get(n)))]
    return list(lines)


def _counts_lines(lines: Sequence[Line], numbers: Mapping[int, PageWord], side: int) -> bool:
    values = [int(word.text) for word in numbers.values()]
    steps = {later - earlier for earlier, later in pairwise(values)}
    step = steps.pop() if len(steps) == 1 else 0
    if step not in (1, 2, 5, 10) or len(values) < (3 if step > 2 else LEAST_NUMBERED):
        return False
    rest = [left for n, line in enumerate(lines) if (left := _without(line, numbers.get(n)))]
    if side == 0:
        apart = max(w.x1 for w in numbers.values()) < min((line.x0 for line in rest), default=0.0)
    else:
        apart = min(w.x0 for w in numbers.values()) > max((line.x1 for line in rest), default=math.inf)
    single = sum(len(line.segments) == 1 for line in rest)
    goes_on = sum(line.text[:1].islower() for line in rest)
    return apart and single >= 0.8 * len(rest) and goes_on >= max(1, 0.15 * len(rest))


def _without(line: Line, word: PageWord | None) -> Line | None:
    """A line without one of its words; None if it has no other."""
    if word is None:
        return line
    kept = [[other for other in segment.words if other is not word] for segment in line.segments]
    return Line([Segment(words) for words in kept if words]) if any(kept) else None


def weighted_median(values: Iterable[tuple[float, int]]) -> float:
    """The weighted median; 0 without values."""
    ordered = sorted(values)
    half = sum(weight for _, weight in ordered) / 2
    seen = 0
    for value, weight in ordered:
        seen += weight
        if seen >= half:
            return value
    return 0.0


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"(\w+)-$")
# `pre- and post-tax` keeps its hyphen and its space.
_JOINERS = frozenset({"and", "or", "to", "und", "oder", "et"})
_FIRST = re.compile(r"^[^\W\d_]+")


# The remains of `affect` without its second f; `of` and `if` are words.
_LOST_F = re.compile(r"\b(?!(?:of|if)\b)(\w+f) ([a-z]\w*)", re.I)


class Vocabulary:
    """The words that a document writes whole; they decide how divided words are joined."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._words: set[str] = set()
        for line in lines:
            self._words.update(word.casefold() for word in _WORD.findall(line))

    def joined(self, left: str, right: str) -> str:
        """Two lines joined, with a space between them unless a word is divided there.

        The hyphen at the end of `left` goes where the document writes the word without it, or writes neither half
        alone. It stays where the document writes it, before capitals and digits, and where both halves are words.
        """
        last, first = _LAST.search(left), _FIRST.match(right)
        if not last or (first and first[0] in _JOINERS):
            return f"{left} {right}"
        if not first or not first[0][0].islower():
            return left + right
        head, tail = last[1].casefold(), first[0].casefold()
        parts = f"{head}-{tail}" in self._words or (head in self._words and tail in self._words)
        return left + right if parts and head + tail not in self._words else left[:-1] + right

    def mended(self, text: str) -> str:
        """The text with lost second letters f restored, if the document writes the word elsewhere."""

        def whole(match: re.Match[str]) -> str:
            word = f"{match[1]}f{match[2]}"
            return word if word.casefold() in self._words else match[0]

        return _LOST_F.sub(whole, text)
