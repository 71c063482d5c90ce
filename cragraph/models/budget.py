"""Keeps a prompt within its model's context: tokens are estimated, and low-ranked passages left out."""

import re
from collections.abc import Callable, Sequence
from math import ceil
from typing import Final

from cragraph.protocols import Notes
from cragraph.types import Passage

MARGIN: Final = 0.05  # share of the context that stays free, because tokens are estimated and chat templates add some

Messages = Sequence[tuple[str, str]]  # (role, text) pairs; roles are ``system`` and ``human``

_STRETCH = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_|\n+", re.A)


def estimated_tokens(text: str) -> int:
    """An estimate of a text's tokens, rather too high than too low.

    Letters beyond ASCII count as a token each, because vocabularies of small models split them.
    """
    total = sum(ord(letter) > 127 and letter.isalnum() for letter in text)
    for part in _STRETCH.findall(text):
        if part.isdigit():
            total += ceil(len(part) / 3)
        elif part.isascii() and part.isalpha():
            total += ceil(len(part) / 6)
        else:
            total += 1 if part.isspace() else len(part)
    return total


def fitting(
    passages: Sequence[Passage],
    prompt: Callable[[Sequence[Passage]], Messages],
    num_ctx: int | None,
    num_predict: int | None,
    notes: Notes,
    *,
    task: str,
) -> list[Passage]:
    """The passages, in order, that fit into `num_ctx` tokens with the rest of the `task`'s prompt and the reply.

    Passages are left out from the lowest rank up; the best passage is shortened if it alone does not fit. Omissions
    are noted. Without a known `num_ctx` all passages stay.
    """
    if num_ctx is None or not passages:
        return list(passages)

    def cost(some: Sequence[Passage]) -> int:
        return sum(estimated_tokens(text) for _, text in prompt(some))

    def note(what: str, mend: str) -> None:
        notes.degraded(
            f"{what}, because the model's context of {num_ctx} tokens is too small: raise CRAG_NUM_CTX{mend}."
        )

    room = int(num_ctx * (1 - MARGIN)) - min(num_predict or num_ctx // 4, num_ctx // 2)
    frame = cost([])
    kept = dict(enumerate(passages))
    costs = {place: max(1, cost([passage]) - frame) for place, passage in kept.items()}
    worst_first = sorted(kept, key=lambda n: (kept[n]["rerank_score"] or 0.0, -n))
    for place in worst_first[:-1]:
        if frame + sum(costs.values()) > room:
            del kept[place], costs[place]
    if dropped := len(passages) - len(kept):
        left_out = f"{dropped} of {len(passages)} passages, the lowest ranked, were left out of the {task} prompt"
        note(left_out, " or lower top_k")
    best = worst_first[-1]
    over = frame + costs[best] - room
    if len(kept) == 1 and over > 0:
        text = kept[best]["text"]
        cut = text[: int(len(text) * max(0.0, 1 - over / costs[best]) * 0.95)]
        kept[best] = {**kept[best], "text": cut.rsplit(" ", 1)[0] if " " in cut else cut}
        note(f"The only passage that was left in the {task} prompt was shortened", "")
    return list(kept.values())
