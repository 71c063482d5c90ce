"""Citations: every marker verified, put right or dropped, and the passages that remain, numbered."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cragraph.language.cells import CELLS
from cragraph.language.markers import Marker, code_spans, find_markers, without_markers
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, terms
from cragraph.passages import heading_at
from cragraph.types import Citation, Passage, Verdict
from cragraph.verification.conflicts import stated_in
from cragraph.verification.result import IN_FAVOUR, is_counted

ENOUGH: Final = 0.75
"""Share of the words before a marker that its passage must hold if no judge has decided."""

# Citations of a response at most; an answer that lists rows of a table has one citation for each row.
MOST_CITATIONS: Final = 5
REPEATED: Final = ("chunk_id", "doc_id", "chunk_index", "start_index", "filename", "source")

PREFIX: Final = 120  # passages without a chunk id are the same when they share this many characters

Span = tuple[int, int]


@dataclass
class Pointer:
    """Passages (positions from 0) that the answer will cite at ``answer[start:end]``, and whether each was verified."""

    start: int
    end: int
    passages: list[int]
    verified: bool
    quotes: dict[int, list[str]] = field(default_factory=dict)


def cite(
    answer: str, verdicts: Sequence[Verdict], passages: Sequence[Passage], *, most: int = MOST_CITATIONS
) -> tuple[str, list[Citation]]:
    """The answer with verified, renumbered markers, and the citations that they point at.

    A marker stays where its passage supports the sentence that carries it, is moved to the passage that does, or is
    dropped where none does or the claim failed. Supported claims without a marker get one. Without verdicts (or on text
    that no claim covers) a marker that names a passage is kept as not verified; it is moved only to another chunk of
    the same document that holds the words while the one named does not. Citations are numbered by first appearance, one
    a chunk id or first 120 characters, at most five; further markers are dropped.
    """
    pointers = _Draft(answer, verdicts, passages).pointers()
    pointers.sort(key=lambda pointer: (pointer.start, pointer.end))
    seen: dict[str, int] = {}
    first = [seen.setdefault(p["chunk_id"] or p["text"][:PREFIX], position) for position, p in enumerate(passages)]
    cited = dict.fromkeys(first[position] for pointer in pointers for position in pointer.passages)
    numbers = {passage: number for number, passage in enumerate(list(cited)[:most], start=1)}
    edits = []
    for pointer in pointers:
        shown = dict.fromkeys(numbers[first[p]] for p in pointer.passages if first[p] in numbers)
        edits.append((pointer.start, pointer.end, "".join(f"[{number}]" for number in shown)))
    return spliced(answer, edits), [
        _citation(number, passages[passage], [p for p in pointers if passage in (first[i] for i in p.passages)])
        for passage, number in numbers.items()
    ]


class _Draft:
    """An answer as written, with its verdicts and the offsets of its sentences and markers."""

    def __init__(self, answer: str, verdicts: Sequence[Verdict], passages: Sequence[Passage]) -> None:
        self.answer, self.verdicts, self.passages = answer, verdicts, passages
        self.markers, self.sentences = find_markers(answer), sentence_spans(answer)

    def pointers(self) -> list[Pointer]:
        """The written markers with the passages that they should name, and new markers for supported claims without
        one."""
        written = [self._corrected(marker) for marker in self.markers]
        return [*written, *self._added(written)]

    def _corrected(self, marker: Marker) -> Pointer:
        named = [number - 1 for number in marker.numbers if 1 <= number <= len(self.passages)]
        start, end = self._sentence_of(marker)
        # A marker within a sentence speaks for the words since the marker before it; markers in a row for the same.
        before = (m.end for m in self.markers if start <= m.start and m.end <= marker.start)
        since = max((e for e in before if without_markers(self.answer[e : marker.start]).strip()), default=start)
        within = [v for v in self.verdicts if v["start"] < end and start < v["end"]]
        carriers = [v for v in within if v["start"] < marker.start and since < v["end"]] or within
        words = without_markers(self.answer[since : marker.start])
        if not carriers or all(v["verdict"] == "unjudged" for v in carriers):
            return Pointer(marker.start, marker.end, [self._holder(n, words) for n in named], verified=False)
        good = [e for v in carriers if v["verdict"] in IN_FAVOUR for e in (v["evidence"], *v.get("further", ()))]
        if not good:
            return Pointer(marker.start, marker.end, [], verified=False)
        quotes: dict[int, list[str]] = {}
        for evidence in filter(None, good):
            quotes.setdefault(evidence["passage"], []).append(evidence["quote"])
        lacking = set(content_words(words)).difference(*(terms(self.passages[n]["text"]) for n in quotes))
        kept = [n for n in named if n in quotes or (words and (self._stated(words, n) or self._adds(lacking, n)))]
        right = kept or [position for position in quotes if position < len(self.passages)]
        verified = all(v["verdict"] == "supported" for v in carriers)
        return Pointer(marker.start, marker.end, right, verified, quotes)

    def _sentence_of(self, marker: Marker) -> Span:
        """The sentence that carries a marker: the one around it, else the last one before it."""
        own = (marker.start, marker.end)
        around = next((span for span in self.sentences if span[0] <= marker.start < span[1]), own)
        # A line that holds nothing but the marker cites what stands above it.
        return around if around != own else next((s for s in reversed(self.sentences) if s[1] <= marker.start), own)

    def _stated(self, words: str, position: int) -> bool:
        return stated_in(words, self.passages[position]["text"], ENOUGH)

    def _adds(self, lacking: set[str], position: int) -> bool:
        """Whether this passage holds the words that the quoted passages lack."""
        return bool(lacking) and lacking <= set(terms(self.passages[position]["text"]))

    def _holder(self, named: int, words: str) -> int:
        """The named passage; if it lacks the words, the neighbouring passage of its document that has them."""
        if not words or self._stated(words, named):
            return named
        document, index = self.passages[named]["doc_id"], self.passages[named]["chunk_index"]
        others = (n for n, p in enumerate(self.passages) if p["doc_id"] == document and n != named)
        beside = (n for n in others if self._stated(words, n))
        return min(beside, key=lambda n: abs(self.passages[n]["chunk_index"] - index), default=named)

    def _added(self, written: Sequence[Pointer]) -> list[Pointer]:
        code = code_spans(self.answer)
        added: dict[int, Pointer] = {}
        for verdict in self.verdicts:
            evidence, own = verdict["evidence"], (verdict["start"], verdict["end"])
            if verdict["verdict"] != "supported" or not is_counted(verdict) or evidence is None:
                continue
            if evidence["passage"] >= len(self.passages) or own[0] >= own[1]:
                continue
            start, end = next((span for span in self.sentences if span[0] < own[1] and own[0] < span[1]), own)
            if any(pointer.passages and start <= pointer.start < end for pointer in written):
                continue
            place = insertion_point(self.answer, min(own[1], len(self.answer)), start, end, code)
            if place is None:
                continue
            pointer = added.setdefault(place, Pointer(place, place, [], verified=True))
            for one in (evidence, *verdict.get("further", ())):
                if one["passage"] not in pointer.passages:
                    pointer.passages.append(one["passage"])
                pointer.quotes.setdefault(one["passage"], []).append(one["quote"])
        return list(added.values())


def _citation(number: int, passage: Passage, pointers: Sequence[Pointer]) -> Citation:
    metadata = passage["metadata"] | place_in_store(passage) | {"page": passage["page"]}
    if passage["page"] is None:
        del metadata["page"]
    quotes = dict.fromkeys(
        quote
        for pointer in pointers
        for position in pointer.passages
        for quote in pointer.quotes.get(position, ())
        if quote in passage["text"]
    )
    metadata.pop(CELLS, None)
    if metadata.pop("headings", None) and quotes:
        metadata["heading"] = heading_at(passage, passage["text"].index(next(iter(quotes))))
    return Citation(
        number=number,
        text=passage["text"],
        quote=next(iter(quotes), ""),
        quotes=[*quotes],
        metadata=metadata,
        chunk_id=passage["chunk_id"],
        doc_id=passage["doc_id"],
        start_index=passage["start_index"],
        verified=bool(pointers) and all(pointer.verified for pointer in pointers),
    )


def place_in_store(passage: Passage) -> dict[str, Any]:
    """The origin of a passage, as metadata of a citation."""
    given: Mapping[str, Any] = passage
    return {name: given[name] for name in REPEATED}


_STOP: Final = re.compile(r"[ \t]*[.!?…。！？,;:]+$")
_CELL: Final = re.compile(r"[ \t]*\|[ \t]*$")
_TIGHT: Final = " \t\n.,;:!?)…。"


def insertion_point(text: str, claim_end: int, start: int, end: int, code: Sequence[tuple[int, int]]) -> int | None:
    """Position for the marker of a claim in ``text[start:end]``: before its full stop; None within a code block."""
    place = claim_end if start < claim_end <= end else end
    place = start + len(text[start:place].rstrip(" \t\n"))
    for pattern in (_CELL, _STOP):
        if match := pattern.search(text, start, place):
            place = match.start()
    for opening, closing in code:
        if opening < place <= closing:
            if "\n" in text[opening:closing]:
                return None
            place = closing
    # A claim whose end was guessed must not cut a word in two.
    while place < end and text[place - 1].isalnum() and text[place].isalnum():
        place += 1
    return place if place > start else None


def spliced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with the ordered edits applied, each replacing ``text[start:end]``; blanks are adjusted."""
    pieces: list[str] = []
    position = 0
    for start, end, new in edits:
        before, following = text[position:start], text[end : end + 1]
        if not new:
            # A dropped marker takes the blank before it along, unless a word follows directly.
            if following in _TIGHT and (before.strip(" \t") or pieces):
                before = before.rstrip(" \t")
        elif start == end and before and not before[-1].isspace() and before[-1] not in "([":
            before += " "
        pieces += [before, new]
        position = end
    return "".join([*pieces, text[position:]])
