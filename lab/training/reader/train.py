"""The head for questions, what it learns by, and the rows that it learns from."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertModel

from lab.training import learning
from lab.training.judge.prepare import UNKNOWN

SPAN_WEIGHT, EVIDENCE_WEIGHT, EVIDENCE_PIECE = 0.5, 0.5, 2.0


class ReaderNet(nn.Module):
    """Reads ``[CLS] question [SEP] text [SEP]``: does the text answer, where, and in which sentences."""

    def __init__(self, trunk: BertModel) -> None:
        super().__init__()
        self.trunk = trunk
        width = trunk.config.hidden_size
        self.piece = nn.Linear(width, 3)
        self.mix = nn.Linear(3 * width, width)
        self.drop = nn.Dropout(0.1)
        self.answer = nn.Linear(width, 1)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The logit that the text answers, (rows,); start, end and evidence logits of each piece, (rows, length, 3).

        Whether it answers is read from the first state, the mean of the question, and the text's pieces weighed by
        how much they look like evidence.
        """
        states = self.trunk(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
        pieces = self.piece(states)
        text = (types * mask).float()
        weight = torch.softmax(pieces[..., 2].float() - 1e4 * (1 - text), dim=1).to(states.dtype)
        evidence = (states * weight.unsqueeze(-1)).sum(1)
        asked = (mask * (1 - types)).to(states.dtype)
        question = (states * asked.unsqueeze(-1)).sum(1) / asked.sum(1, keepdim=True)
        mixed = torch.tanh(self.mix(torch.cat([states[:, 0], question, evidence], dim=-1)))
        return self.answer(self.drop(mixed)).squeeze(-1), pieces


def loss_of(answer: Tensor, pieces: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """Whether it answers, where (the first piece stands for nowhere), and in which sentences.

    Where the batch has a `weight`, (rows,), each row counts so often in the first.
    """
    loss = F.binary_cross_entropy_with_logits(answer.float(), batch["answer"], batch.get("weight"))
    known = batch["start"] >= 0
    if bool(known.any()):
        open_places = batch["places"][known]
        for place, name in enumerate(("start", "end")):
            logits = pieces[known][..., place].float() - 1e4 * (1 - open_places)
            loss = loss + SPAN_WEIGHT * F.cross_entropy(logits, batch[name][known])
    tagged = batch["tags"] != UNKNOWN
    if not bool(tagged.any()):
        return loss
    evidence = F.binary_cross_entropy_with_logits(
        pieces[..., 2].float()[tagged], batch["tags"][tagged].float(), pos_weight=torch.tensor(EVIDENCE_PIECE)
    )
    return loss + EVIDENCE_WEIGHT * evidence


class Rows(learning.Rows):
    """The prepared questions with their windows, answers, spans and evidence."""

    batch_pieces: ClassVar[int] = 4608
    most_rows: ClassVar[int] = 72
    pool: ClassVar[int] = 48 * 40

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.tags, self.answer, self.span = (self.data[name] for name in ("tags", "answer", "span"))
        self.tag_starts = np.concatenate([[0], np.cumsum(self.sizes[:, 1])])

    def batch(self, rows: learning.Ints) -> dict[str, Tensor]:
        """Padded tensors of some rows."""
        ids, types, mask = self.pairs(rows)
        tags, places = np.full_like(ids, UNKNOWN), np.zeros(ids.shape, np.float32)
        start, end = np.full(len(rows), -1), np.full(len(rows), -1)
        for line, row in enumerate(rows):
            own, other = self.sizes[row]
            first = own + 2
            tags[line, first : first + other] = self.tags[self.tag_starts[row] : self.tag_starts[row + 1]]
            places[line, 0] = 1
            places[line, first : first + other] = 1
            if self.span[row, 0] >= 0:
                start[line], end[line] = self.span[row] + first
            elif not self.answer[row]:
                start[line] = end[line] = 0
        arrays = {
            "ids": ids,
            "types": types,
            "mask": mask,
            "tags": tags,
            "places": places,
            "start": start,
            "end": end,
            "answer": self.answer[rows].astype(np.float32),
        }
        return {name: torch.from_numpy(value) for name, value in arrays.items()}
