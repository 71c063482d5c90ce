"""The network: MiniLM as a cross-encoder with a head for the claim and a head for each of its words."""

from dataclasses import dataclass, fields
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertModel

from training.judge.prepare import UNKNOWN
from training.judge.rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED

WORD_WEIGHT = 0.5
"""Share of the word loss beside the claim loss."""
UNSUPPORTED_WORD_WEIGHT = 3.0
"""Unsupported words are rare: each counts this often."""


@dataclass(frozen=True)
class Batch:
    """Padded rows: ids, types and mask are (rows, length); labels (rows,); tags (rows, length)."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    labels: Tensor
    tags: Tensor
    prior: Tensor | None = None
    """Log-probabilities (rows, 3) that the claims alone give away; they are added to the logits in the loss."""

    def to(self, device: torch.device) -> "Batch":
        """The same on a device."""
        moved = (getattr(self, field.name) for field in fields(self))
        return Batch(*(None if tensor is None else tensor.to(device) for tensor in moved))


class GroundingNet(nn.Module):
    """Reads ``[CLS] claim [SEP] digest [SEP]``; gives 3 claim logits and one logit for each piece."""

    def __init__(self, trunk: BertModel) -> None:
        super().__init__()
        self.trunk = trunk
        width = trunk.config.hidden_size
        self.mix = nn.Linear(3 * width, width)
        self.drop = nn.Dropout(0.1)
        self.claim = nn.Linear(width, 3)
        self.word = nn.Linear(width, 1)

    @classmethod
    def from_minilm(cls, folder: Path) -> "GroundingNet":
        """Start from the sentence-embedding weights; the word embeddings stay as they are.

        Dropout inside the trunk is off: on a CPU it takes a third of the time of a step; fused attention gains none.
        """
        trunk = BertModel.from_pretrained(
            folder,
            add_pooling_layer=False,
            attn_implementation="eager",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        net = cls(trunk)
        net.trunk.embeddings.word_embeddings.weight.requires_grad_(False)
        return net

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
    logits = claim.float() if batch.prior is None else claim.float() + batch.prior
    scores = torch.log_softmax(logits, dim=-1)
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
