"""Keeping a prompt within the model's context: Ollama cuts off what does not fit, and does not say so."""

import re
from collections.abc import Callable, Sequence
from math import ceil
from typing import Final

from cragraph.passages import own_text
from cragraph.protocols import Notes
from cragraph.types import Passage

MARGIN: Final = 0.05
"""Share of the context left free, because tokens are estimated and chat templates add some."""

_RUNS = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_|\n+", re.A)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few.

    Counted by runs: an ASCII word is one token up to six letters and one more for each six after, digits are
    three a token, punctuation and line breaks one each; letters of other scripts one each, because
    vocabularies of small models split them.
    """
    total = 0
    for run in _RUNS.findall(text):
        if run.isdigit():
            total += ceil(len(run) / 3)
        elif run.isascii() and run.isalpha():
            total += ceil(len(run) / 6)
        else:
            total += 1 if run.isspace() else len(run)
    return total + sum(1 for character in text if ord(character) > 127 and character.isalnum())


def fitting(
    passages: Sequence[Passage],
    prompt_of: Callable[[Sequence[Passage]], str],
    num_ctx: int | None,
    num_predict: int | None,
    notes: Notes,
    *,
    task: str,
) -> list[Passage]:
    """The passages, best first, that fit with the rest of the prompt and the reply into `num_ctx` tokens.

    Text around passages goes first, that of the lowest-ranked before that of others; then the lowest-ranked
    are dropped, whole; if not even the best one fits, it is shortened. What was left out is noted, with `task`
    naming the prompt. Without a known `num_ctx` all passages stay.
    """
    kept = list(passages)
    if num_ctx is None or not kept:
        return kept
    reply = min(num_predict or num_ctx // 4, num_ctx // 2)
    room = int(num_ctx * (1 - MARGIN)) - reply
    frame = estimated_tokens(prompt_of([]))
    costs = [max(1, estimated_tokens(prompt_of([passage])) - frame) for passage in kept]
    narrowed = 0
    for place in reversed(range(len(kept))):
        narrow = own_text(kept[place])
        if narrow is not kept[place] and frame + sum(costs) > room:
            kept[place], narrowed = narrow, narrowed + 1
            costs[place] = max(1, estimated_tokens(prompt_of([narrow])) - frame)
    if narrowed:
        notes.degraded(
            f"{narrowed} of {len(passages)} passages, the lowest ranked, were put into the {task} prompt without the "
            f"text around them, because the model's context of {num_ctx} tokens is too small: raise "
            "CRAG_OLLAMA__NUM_CTX or lower passage_window."
        )
    while len(kept) > 1 and frame + sum(costs[: len(kept)]) > room:
        kept.pop()
    dropped = len(passages) - len(kept)
    if dropped:
        notes.degraded(
            f"{dropped} of {len(passages)} passages, the lowest ranked, were left out of the {task} prompt, because "
            f"the model's context of {num_ctx} tokens is too small: raise CRAG_OLLAMA__NUM_CTX or lower top_k."
        )
    over = frame + costs[0] - room
    if len(kept) == 1 and over > 0:
        kept = [_shortened(kept[0], max(0.0, 1 - over / costs[0]))]
        notes.degraded(
            f"The only passage that was left in the {task} prompt was shortened, because the model's context of "
            f"{num_ctx} tokens is too small: raise CRAG_OLLAMA__NUM_CTX."
        )
    return kept


def _shortened(passage: Passage, share: float) -> Passage:
    text = passage["text"]
    cut = text[: int(len(text) * share * 0.95)]
    return {**passage, "text": cut.rsplit(" ", 1)[0] if " " in cut else cut}
