"""What reads claims: a head for the claim and one for each of its words; the rows they learn from, and the loss."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lab.training import learning
from lab.training.judge.prepare import UNKNOWN
from lab.training.judge.rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED

WORD_WEIGHT = 0.5
"""Share of the word loss beside the claim loss."""
UNSUPPORTED_WORD_WEIGHT = 3.0
"""Unsupported words are rare: each counts this often."""


@dataclass(frozen=True)
class Batch(learning.Batch):
    """Padded rows with their tags, (rows, length)."""

    tags: Tensor


class Rows(learning.Rows):
    """The prepared claims with their passages, labels and tags."""

    batch_pieces: ClassVar[int] = 2304
    most_rows: ClassVar[int] = 40
    pool: ClassVar[int] = 64 * 32

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.tags, self.labels = self.data["tags"], self.data["labels"]
        self.tag_starts = np.concatenate([[0], np.cumsum(self.sizes[:, 0])])

    def batch(self, rows: learning.Ints) -> Batch:
        """Padded tensors of some rows."""
        ids, types, mask = self.pairs(rows)
        tags = np.full_like(ids, UNKNOWN)
        for line, row in enumerate(rows):
            own = self.sizes[row, 0]
            tags[line, 1 : own + 1] = self.tags[self.tag_starts[row] : self.tag_starts[row + 1]]
        arrays = (ids, types, mask, self.labels[rows].astype(np.int64), tags)
        return Batch(*map(torch.from_numpy, arrays))


class GroundingNet(nn.Module):
    """Reads ``[CLS] claim [SEP] digest [SEP]``; gives 3 claim logits and one logit for each piece."""

    def __init__(self, trunk: nn.Module) -> None:
        super().__init__()
        self.trunk = trunk
        width = trunk.config.hidden_size  # type: ignore[union-attr]
        self.mix = nn.Linear(3 * width, width)
        self.drop = nn.Dropout(0.1)
        self.claim = nn.Linear(width, 3)
        self.word = nn.Linear(width, 1)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Claim logits (rows, 3) and word logits (rows, length).

        The claim is read from its first state, the mean of its own words, and the word with most doubt.
        """
        states = self.trunk(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
        word = self.word(states).squeeze(-1)
        own = (mask * (1 - types)).to(states.dtype)
        own[:, 0] = 0
        mean = (states * own.unsqueeze(-1)).sum(1) / own.sum(1, keepdim=True).clamp(min=1)
        doubt = torch.softmax(word.float() - 1e4 * (1 - own.float()), dim=1).to(states.dtype)
        worst = (states * doubt.unsqueeze(-1)).sum(1)
        mixed = torch.tanh(self.mix(torch.cat([states[:, 0], mean, worst], dim=-1)))
        return self.claim(self.drop(mixed)), word


def loss_of(claim: Tensor, word: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of the claims plus the weighted binary loss of the tagged words.

    A row that is only known to be not supported is charged for its supported probability alone.
    """
    scores = torch.log_softmax(claim.float(), dim=-1)
    known = scores.gather(1, batch.labels.clamp(max=CONTRADICTED).unsqueeze(1)).squeeze(1)
    either = torch.logsumexp(scores[:, SUPPORTED + 1 :], dim=-1)
    claims = -torch.where(batch.labels == NOT_SUPPORTED, either, known).mean()
    tagged = batch.tags != UNKNOWN
    if not bool(tagged.any()):
        return claims
    words = F.binary_cross_entropy_with_logits(
        word.float()[tagged],
        batch.tags[tagged].float(),
        pos_weight=torch.tensor(UNSUPPORTED_WORD_WEIGHT, device=word.device),
    )
    return claims + WORD_WEIGHT * words
