"""Excerpts: the stretches of the passages that may answer, so that a chat model reads no more than it needs.

A model on a laptop takes longer to read a prompt than to write its answer, and needless text misleads a small model. So
sentences and rows are ranked by the reader, by words shared with the question and by similarity to the question. The
best are sent with the sentences around them, up to `BUDGET` tokens.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.answers.candidates import heading_of, is_row, pieces, similarities
from cragraph.answers.ranking import Ranking
from cragraph.language.words import content_words, terms, weight
from cragraph.models.budget import estimated_tokens
from cragraph.protocols import Embeddings, reason_of
from cragraph.types import Passage

logger = logging.getLogger(__name__)

BUDGET: Final = 440
"""Estimated tokens of excerpts, some 600 with the lines around them. Of 248 questions of new users the excerpts hold
the answer for 234, all passages for 238, and 340 tokens chosen without similarity for 229."""
ROW_FRAME: Final = 4  # the same for a row, which stands in a block of rows
FRAME: Final = 24  # tokens of the lines around a passage, counted for each excerpt
READ: Final = 1.5  # weight of the reader's choice; words count 1 at most
NEAR: Final = 0.35  # added to a sentence beside a chosen one
EARLY: Final = 0.25  # added to the first passage over the last
TABLE: Final = 0.5  # factor on the words of a row if the reader chooses no row
LISTED: Final = 3.0  # added to a looked-up row: more than anything else can have
LEAST: Final = 0.15  # a piece below this is not sent, whatever room there is
GAP: Final = " … "


@dataclass(frozen=True)
class Excerpt:
    """The excerpt of one passage; `number` counts the passages from 1."""

    number: int
    passage: Passage


@dataclass(frozen=True)
class _Piece:
    """A sentence, heading or row of a passage."""

    passage: int
    start: int
    end: int
    text: str
    row: bool

    @property
    def tokens(self) -> int:
        return estimated_tokens(self.text) + 1


def excerpts(
    question: str,
    passages: Sequence[Passage],
    rankings: Sequence[Ranking] = (),
    embeddings: Embeddings | None = None,
    *,
    budget: int = BUDGET,
) -> list[Excerpt]:
    """The excerpts of the passages, in their order; a passage without one is left out.

    If all passages fit, all are sent whole.
    """
    whole = [Excerpt(number, passage) for number, passage in enumerate(passages, start=1)]
    cost = sum(estimated_tokens(p["text"]) + (ROW_FRAME if "row" in p["metadata"] else FRAME) for p in passages)
    if cost <= budget + FRAME * 2:
        return whole
    split = [_pieces(number, passage) for number, passage in enumerate(passages)]
    worth = _worth(question, passages, split, rankings)
    for piece, near in _meaning(question, passages, [piece for own in split for piece in own], embeddings).items():
        worth[piece] += near
    chosen: set[_Piece] = set()
    spent, seen = 0, set[int]()
    for piece in sorted(worth, key=lambda piece: -worth[piece]):
        if worth[piece] < LEAST and chosen:
            break
        extra = [p for p in _with_lead(piece, split[piece.passage]) if p not in chosen]
        frame = ROW_FRAME if "row" in passages[piece.passage]["metadata"] else FRAME
        more = sum(p.tokens for p in extra) + (0 if piece.passage in seen else frame)
        # If the question asks for a list, every row is part of the answer.
        if spent + more > budget + (budget if worth[piece] >= LISTED else 0) and chosen:
            continue
        chosen.update(extra)
        seen.add(piece.passage)
        spent += more
    return [
        Excerpt(one.number, {**one.passage, "text": _text(one.passage["text"], [p for p in own if p in chosen])})
        for one, own in zip(whole, split, strict=True)
        if one.number - 1 in seen
    ]


def _pieces(number: int, passage: Passage) -> list[_Piece]:
    text = passage["text"]
    return [_Piece(number, start, end, text[start:end], is_row(text[start:end])) for start, end in pieces(text)]


def _worth(
    question: str, passages: Sequence[Passage], split: Sequence[Sequence[_Piece]], rankings: Sequence[Ranking]
) -> dict[_Piece, float]:
    """The score of each piece; pieces with the highest scores are sent."""
    asked = {word: weight(word) for word in content_words(question)}
    total = sum(asked.values()) or 1.0
    scored = [s for ranking in rankings for s in ranking.scored]
    listed = {(c.passage, c.start) for ranking in rankings for c in ranking.rows}
    rows = bool(listed) or any(ranking.scored and ranking.scored[0].candidate.is_row for ranking in rankings)
    worth: dict[_Piece, float] = {}
    for number, own in enumerate(split):
        above = set(terms(f"{heading_of(passages[number])} {passages[number]['filename']}"))
        early = EARLY * (1 - number / len(passages))
        alone = []
        for piece in own:
            said = set(terms(piece.text))
            words = sum(w for word, w in asked.items() if word in said)
            words += 0.3 * sum(w for word, w in asked.items() if word in above and word not in said)
            value = words / total * (TABLE if piece.row and not rows else 1.0)
            hits = [s for s in scored if s.candidate.passage == number and s.candidate.start < piece.end
                    and piece.start < s.candidate.end]  # fmt: skip
            value += READ * max((s.score for s in hits), default=0.0)
            alone.append(value + (LISTED if (number, piece.start) in listed else 0.0))
        for place, piece in enumerate(own):
            beside = [alone[i] for i in (place - 1, place + 1) if 0 <= i < len(own) and not (own[i].row or piece.row)]
            worth[piece] = alone[place] + NEAR * max(beside, default=0.0) + early
    return worth


def _meaning(
    question: str, passages: Sequence[Passage], own: Sequence[_Piece], embeddings: Embeddings | None
) -> dict[_Piece, float]:
    """The similarity of each piece to the question, 0..1; empty without embeddings."""
    if embeddings is None or not own:
        return {}
    texts = [f"{heading_of(passages[piece.passage])} {piece.text}" for piece in own]
    try:
        return dict(zip(own, map(float, similarities(embeddings, question, texts)), strict=True))
    except Exception as error:  # the model may be the caller's own
        logger.warning("the embedding model failed (%s): excerpts are chosen by words and reader", reason_of(error))
        return {}


def _with_lead(piece: _Piece, own: Sequence[_Piece]) -> list[_Piece]:
    """A piece with its lead: the first row of its table, else the line that heads it."""
    place = own.index(piece)
    if piece.row:
        first = place
        while first and own[first - 1].row:
            first -= 1
        return [own[first], piece] if first != place else [piece]
    head = next((p for p in reversed(own[:place]) if p.text.lstrip().startswith("#")), None)
    return [head, piece] if head else [piece]


def _text(text: str, chosen: Sequence[_Piece]) -> str:
    """The chosen stretches of a text, with a mark for each gap between them."""
    parts: list[str] = []
    end = 0
    for piece in chosen:
        between = text[end : piece.start]
        if parts:
            parts.append(between if not between.strip(" \n|-=:") else ("\n…\n" if "\n" in between else GAP))
        parts.append(text[piece.start : piece.end])
        end = piece.end
    return "".join(parts)
