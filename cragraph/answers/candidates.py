"""Candidates: the sentences and table rows that could be quoted as an answer, their context, and features of words."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cragraph.language.cells import SEPARATOR
from cragraph.language.lexicon import YEAR, pattern
from cragraph.language.markers import without_mark
from cragraph.language.questions import Question
from cragraph.language.sentences import STAMP, sentence_spans
from cragraph.language.words import content_words, terms, weight
from cragraph.protocols import Embeddings
from cragraph.types import Passage

_PRONOUN: Final = re.compile(
    r"[\"'“(]*(?:it|its|he|she|his|her|him|they|their|them|this|these|those|that|such|the (?:former|latter)|both|"
    r"here|there|es|er|sie|dies\w*)\b(?! (?:is|are|was|were) (?:a|an|no|many|several|two|three)\b)",
    re.I,
)
_POINTS_BACK: Final = re.compile(
    r"(?:You|We|I|One|Mr|Mrs|Ms|Dr|[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?)\b(?: (?!that\b|and\b)[^\s,;.]+){1,7}?"
    r" (?:it|them)\b"
    r"|(?:For (?:this|that|these)|To do (?:so|this|that)|(?:When|If) (?:it|this|that) (?:does|happens|is))\b"
    r"|[A-Z][a-z]+ (?:(?:for|about|with|of) )?(?:it|them|one)\b"
    r"|(?:Since|In|On|At|From|After|During|Then|Now|Today|For (?:this|that)|At present|This \w+|Until)\b"
    r"(?: [^\s,;.]+){0,3}?,? (?:it|they|he|she|them|that|this)\b"
)
"""A sentence with a pronoun inside that points to the sentence before: "Martin has them"."""
_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)]|[a-z][.)])\s+\S")
_CELL: Final = re.compile(r"^\(?[-–—]?\s?[$€£]?\s?\(?\d[\d,]*(?:\.\d+)?\)?\s?%?\)?$|^[-–—]$")
_YEAR: Final = re.compile(rf"\b{YEAR}\b")
_LABEL: Final = re.compile(r"\n(?=(?:[A-ZÄÖÜ][^\n:|.]{1,30}|[\w.]{2,60}): )")
_HEADING: Final = re.compile(r"^#{1,6}\s|^\*\*[^*]+\*\*:?$")
_ASKING: Final = pattern("asking")
_FIGURE: Final = re.compile(r"^[|$€£%()–—-]+$|^\W*\d[\d.,]*\W*$")
_CROSS_REFERENCE: Final = re.compile(
    r"^\W*(?:see|refer to|please (?:see|refer)|as (?:discussed|described) in|siehe)\b[^.]{0,40}"
    r"(?:[\"“]|\b(?:item|note|part|section|chapter|page|exhibit|table|figure|appendix)\b)"
    r"|\bincorporated (?:herein )?by reference\b",
    re.I,
)
_NOTE: Final = re.compile(r"^\W*(?:source|sources|quelle|photo|image credit|contact|copyright|©)\s*[:©]", re.I)
_SENT: Final = re.compile(r"^Date: (?:\w{3}, )?\d{1,2} \w{3} \d{4} \d\d:\d\d")
QUESTION: Final = 120  # characters, at most, of a question that heads the lines below it
READ: Final = 400
"""Characters of a sentence that the encoder reads: its subject has been named by then, and more costs time."""
LONGEST: Final = 700
"""Characters of a quotable sentence at most; longer ones are usually lists that were not split."""


@dataclass(frozen=True)
class Candidate:
    """A quotable sentence, row or list: `passages[passage]["text"][start:end] == text`.

    `text` may be a list with the line above it. `context` is the title, heading and table header above it. `opener` is
    the sentence before it, if a pronoun points there. `header` is the row that names the columns of its table.
    `sentence` is the answering cell of a row as a sentence."""

    passage: int
    start: int
    end: int
    text: str
    context: str = ""
    opener: str = ""
    header: str = ""
    sentence: str = field(default="", compare=False)

    @property
    def is_row(self) -> bool:
        """Whether the candidate is a row of a table."""
        return is_row(self.text)

    @property
    def is_sending_date(self) -> bool:
        """Whether the candidate is the line of a mail with the date of its sending."""
        return _SENT.match(self.text) is not None

    @property
    def label(self) -> str:
        """The label of a row: its first cell with a word in it, without figures; empty for a sentence."""
        if not self.is_row:
            return ""
        first = next((cell for cell in re.split(r"\||\t", self.text) if re.search(r"[^\W\d_]", cell)), "")
        return " ".join(word for word in first.split() if not _FIGURE.search(word))

    @property
    def subject(self) -> str:
        """The words that the opening pronoun may point to: the names and the first words of the sentence before."""
        words = self.opener.split()
        return " ".join(word for i, word in enumerate(words) if i < 3 or word[:1].isupper())

    @property
    def read(self) -> str:
        """The text for the encoder: a row's label with its heading, a sentence with the sentence its pronoun points
        to."""
        if self.is_row:
            return f"{self.context.removesuffix(self.header)[-80:]} {self.label}".strip()
        return f"{self.subject[:160]} {self.text[:READ]}".strip()


def candidates(passages: Sequence[Passage]) -> list[Candidate]:
    """All candidates of the passages, in order; a text that several passages share is kept once."""
    seen: set[str] = set()
    kept = []
    for number, passage in enumerate(passages):
        for candidate in _of_passage(number, passage):
            key = f"{' '.join(candidate.text.split())}\n{candidate.header}"
            if key not in seen:
                seen.add(key)
                kept.append(candidate)
    return kept


def _of_passage(number: int, passage: Passage) -> Iterator[Candidate]:
    text, about = passage["text"], passage["metadata"]
    fixed = " ".join(str(about[key]) for key in ("title", "heading") if about.get(key))
    # A file's name often says whose report it is, and of which year; its pages need not.
    fixed = f"{passage['filename'].rpartition('.')[0]} {fixed}".strip()
    heading, before, header = "", "", str(about.get("table_header") or "")
    spans = list(pieces(text))
    for place, (start, end) in enumerate(spans):
        piece = text[start:end]
        if (last := _list_below(text, spans[place:])) and last - start <= LONGEST:
            yield Candidate(number, start, last, text[start:last], f"{fixed} {heading}".strip())
        if is_row(piece):
            if _is_header(piece):
                # A row such as "(in millions)" or "Liabilities:" must not hide the row that names the years.
                if _YEAR.search(piece) or not _YEAR.search(header):
                    header = piece
                continue
            if len(piece) <= LONGEST and not is_noise(piece):
                yield Candidate(number, start, end, piece, f"{fixed} {heading} {header}".strip(), header=header)
            continue
        if before and not piece.strip("|-=: \n"):
            continue
        header = ""
        if _is_heading(piece) or heads_as_question(text, start, end):
            heading, before = piece, ""
            if not _may_state(piece):
                continue
        elif len(piece.split()) < 3:
            continue
        if len(piece) <= LONGEST and not _says_nothing(piece):
            back = _PRONOUN.match(piece) or _POINTS_BACK.match(piece)
            opener = before if back and len(before) <= LONGEST // 2 else ""
            yield Candidate(number, start, end, piece, f"{fixed} {heading}".strip(), opener=opener)
        before = piece


def is_list(text: str) -> bool:
    """Whether a text is a list with the line above it."""
    above, _, items = text.partition("\n")
    return above.rstrip("* ").endswith(":") and _ITEM.match(items.lstrip()) is not None


def _list_below(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """The end of the list that a line with a colon announces; 0 if the first piece announces no list."""
    start, end = spans[0]
    if not text[start:end].rstrip("* ").endswith(":") or is_row(text[start:end]):
        return 0
    last = 0
    for left, right in spans[1:]:
        # A sentence in the line of an item belongs to it.
        if not _ITEM.match(text, left) and (not last or "\n" in text[last:left]):
            break
        last = right
    return last


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text; lines that begin with a label and a colon count as sentences without a full stop."""
    for start, end in sentence_spans(text):
        for label in _LABEL.finditer(text, start, end):
            if label.start() > start:
                yield start, label.start()
                start = label.end()
        yield start, end


def _says_nothing(sentence: str) -> bool:
    return sentence.rstrip("\"'”) ").endswith("?") or _ASKING.match(sentence) is not None or is_noise(sentence)


def is_row(text: str) -> bool:
    """Whether a line is a table row: cells between bars or tabs, or a label followed by figures."""
    if SEPARATOR in text or text.lstrip().startswith("|") or "\t" in text:
        return True
    return "\n" not in text.strip() and _trailing_figures(text.split()) >= 2


def _is_header(row: str) -> bool:
    cells = [cell.strip() for cell in re.split(r"\||\t", row) if cell.strip()]
    if len(cells) == 1:
        cells = row.split()[-_trailing_figures(row.split()) :]
    if 2 * sum(": " in cell for cell in cells) > len(cells):
        # Every cell carries the name of its column: "Day: Monday | Hours: closed".
        return False
    values = (without_mark(cell.rpartition(": ")[2].strip()) for cell in cells if ": " in cell)
    return not any(map(_CELL.match, values)) and all(_YEAR.fullmatch(cell) for cell in cells if _CELL.match(cell))


def _trailing_figures(words: Sequence[str]) -> int:
    count = 0
    for word in reversed(words):
        if not _CELL.match(word) and word not in "$€£%)(":
            break
        count += word not in "$€£%)("
    return count


def _may_state(text: str) -> bool:
    """Whether a line without a full stop may state something: a value behind a colon, a clause."""
    plain = text.strip()
    if _HEADING.match(plain) or plain.isupper():
        return False
    name, _, value = plain.partition(": ")
    words = plain.split()
    clause = len(words) >= 4 and 2 * sum(w[:1].isalpha() and not w[:1].isupper() for w in words) > len(words)
    return bool(name and value.strip()) or clause or STAMP.match(plain) is not None


def _is_heading(text: str) -> bool:
    plain = text.strip()
    if _HEADING.match(plain) or (plain.isupper() and len(plain.split()) <= 12):
        return True
    return len(plain.split()) <= 12 and plain[-1:] not in ".!?。…\"”')]" and "\n" not in plain


def heads_as_question(text: str, start: int, end: int) -> bool:
    """Whether a sentence is a question on a line of its own, as in a list of frequent questions."""
    before, after = text[max(0, start - 3) : start].rstrip(" \t"), text[end : end + 3].lstrip(" \t")
    alone = before[-1:] in ("", "\n") and after[:1] in ("", "\n")
    return alone and end - start <= QUESTION and text[start:end].rstrip("* ").endswith("?")


def may_answer(text: str, start: int, end: int) -> bool:
    """Whether a sentence below a question may be part of its answer: it is no heading, row, question or note."""
    piece = text[start:end]
    return not (is_row(piece) or _is_heading(piece) or _says_nothing(piece))


def is_noise(text: str) -> bool:
    """Whether a sentence only refers to another place or names a source; such a sentence is never quoted."""
    return _CROSS_REFERENCE.search(text) is not None or _NOTE.match(text) is not None


# -- parts of passages ---------------------------------------------------------------------------------------------

WINDOW: Final = 360
"""Characters of a passage that are read at once; longer passages are read in parts that share a sentence."""
MOST_WINDOWS: Final = 24
"""Parts of passages that are read for one question at most, in the order of the passages."""
AFTER: Final = 3
"""Ranking offset: a passage's second-best part ranks with the best part of the passage this many places below."""
HEADING: Final = 90  # characters of heading and title that are read before a text
NAMED: Final = 50  # characters of a file's name
AROUND: Final = 260  # characters before and after a quotation that are read with it


class Part(NamedTuple):
    """A part of a passage that is read at once, with the numbers of its candidates and of its passage."""

    heading: str
    text: str
    start: int
    holds: tuple[int, ...]
    passage: int


def parts_of(question: Question, passages: Sequence[Passage], pool: Sequence[Candidate]) -> list[Part]:
    """The parts of passages that hold the candidates, cut between candidates; the most promising, in order."""
    parts: list[Part] = []
    for number, passage in enumerate(passages):
        own = [i for i, c in enumerate(pool) if c.passage == number]
        heading, start = heading_of(passage), 0
        while own:
            first = start if pool[own[0]].start - start < WINDOW // 3 else pool[own[0]].start
            # Rows and sentences are read separately: a table would drown the line of text above it.
            turn = next((n for n, i in enumerate(own) if pool[i].is_row != pool[own[0]].is_row), len(own))
            alike = own[:turn]
            inside = [i for i in alike if pool[i].end - first <= WINDOW] or own[:1]
            last = max(pool[i].end for i in inside)
            lead = lead_of(heading, pool[inside[0]])
            parts.append(Part(lead, passage["text"][first:last], first, tuple(inside), number))
            rest = own[len(inside) :]
            # The last sentence of a part is read again at the head of the next, as context.
            again = len(inside) > 1 and len(inside) < len(alike)
            own = [inside[-1], *rest] if again else rest
            start = pool[own[0]].start if own else 0
    if len(parts) <= MOST_WINDOWS:
        return parts
    worth = shares_of(question, parts)
    taken: Counter[int] = Counter()
    places = []
    for n in sorted(range(len(parts)), key=lambda n: -worth[n]):
        place = parts[n].passage
        places.append((place + AFTER * taken[place], n))
        taken[place] += 1
    return [parts[n] for n in sorted(n for _, n in sorted(places)[:MOST_WINDOWS])]


def shares_of(question: Question, parts: Sequence[Part]) -> list[float]:
    """The weighted share of the question's words in each part, its heading included."""
    asked = set(content_words(question.text))
    whole = sum(map(weight, asked)) or 1.0
    return [sum(map(weight, asked & set(terms(f"{part.heading} {part.text}")))) / whole for part in parts]


def heading_of(passage: Passage) -> str:
    """A passage's title and the end of its heading path; without both, its file's name."""
    about = passage["metadata"]
    title, heading = str(about.get("title") or ""), str(about.get("heading") or "")
    shown = heading if title and title in heading else f"{title} {heading}".strip()
    return (shown or re.sub(r"[_-]+", " ", passage["filename"].rpartition(".")[0]))[-HEADING:]


def named(passage: Passage) -> str:
    """The name of a passage's file and the heading above it, without repeating one in the other."""
    name, heading = re.sub(r"[_-]+", " ", passage["filename"].rpartition(".")[0])[:NAMED], heading_of(passage)
    if name.lower() in heading.lower() or heading.lower() in name.lower():
        return max(heading, name, key=len)
    return f"{name}: {heading}"


def claim_of(question: str, quotation: str) -> str:
    """A question followed by a quotation, as the networks read it."""
    return f"{question if question.endswith('?') else question + '?'} {' '.join(quotation.split())}"


def surroundings(text: str, start: int, end: int) -> str:
    """A stretch of a text with the whole sentences around it."""
    spans = sentence_spans(text)
    first = min((a for a, b in spans if b <= start and start - a <= AROUND), default=start)
    last = max((b for a, b in spans if a >= end and b - end <= AROUND), default=end)
    return text[first:last]


def lead_of(heading: str, first: Candidate) -> str:
    """What goes before a part when it is read: its heading, and the header of its table."""
    header = first.header if first.is_row else ""
    return f"{heading} {header}".strip()[-2 * HEADING :] if header and header not in first.text else heading


IN_SUBJECT: Final = 0.9  # weight of a question word that stands in the sentence to which the opening pronoun points
IN_CONTEXT: Final = 0.6  # weight of a question word that stands only in a heading or title


@dataclass(frozen=True)
class Features:
    """The word features of one candidate, each 0..1.

    `coverage` is the share of the question's words that it holds, rare words counting more; `similarity` the cosine to
    the question; `passage_score` the rank of its passage.
    """

    coverage: float
    similarity: float
    passage_score: float


def by_words(features: Features) -> float:
    """The score of a candidate, 0..1."""
    f = features
    return 0.41 * f.coverage + 0.53 * f.similarity + 0.06 * f.passage_score


def rarity(texts: Iterable[Sequence[str]]) -> Mapping[str, float]:
    """Inverse document frequency of every word over some texts; unknown words count as the rarest."""
    counted = [set(words) for words in texts]
    seen = Counter(word for words in counted for word in words)
    known = {word: log(1 + len(counted) / count) for word, count in seen.items()}
    return defaultdict(lambda: log(1 + len(counted) / 0.5), known)


def coverage(weights: Mapping[str, float], counts: Mapping[str, float]) -> float:
    """Weighted share of the question's words that are present; `counts` has the weight of each present word (0..1)."""
    total = sum(weights.values())
    return sum(weight * counts.get(word, 0.0) for word, weight in weights.items()) / total if total else 0.0


def similarities(embeddings: Embeddings, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Cosine of the question and each text, in 0..1 (unrelated and opposite are both 0); one batch."""
    vectors = np.array(embeddings.embed_documents([question, *texts]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines: NDArray[np.float32] = np.clip(vectors[1:] @ vectors[0], 0, 1)
    return cosines


def own_words(candidate: Candidate) -> tuple[str, ...]:
    """The candidate's words; a row has the words of its table header too."""
    return content_words(f"{candidate.header} {candidate.text}")


def read_words(candidate: Candidate) -> dict[str, float]:
    """The words of the candidate and its context, each with its weight."""
    counts = dict.fromkeys(content_words(candidate.context), IN_CONTEXT)
    counts.update(dict.fromkeys(content_words(candidate.subject), IN_SUBJECT))
    counts.update(dict.fromkeys(own_words(candidate), 1.0))
    return counts
