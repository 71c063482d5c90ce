"""The network: one trunk that reads two texts together, a head for claims and a head for questions."""

from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn
from transformers import MPNetModel

from lab.training.judge.model import GroundingNet
from lab.training.learning import CLS, SEP
from lab.training.reader.train import ReaderNet
from lab.training.reading.graph import BEGIN, END, PAD, RAISED

LAYERS = 8
"""Layers that are kept of the trunk's twelve, from the first: the last ones are the most given to what the trunk was
made for, one vector for a sentence, and a third of the time to read and to learn goes with them."""
FROZEN = 3
"""Layers that stay as they are on two cores, with the embeddings and the relative positions."""


class Trunk(nn.Module):
    """The first layers of all-mpnet-base-v2 behind BERT's arguments: BERT's numbers of pieces, types that are not read.

    Dropout is off, as for the smaller networks.
    """

    def __init__(self, folder: Path, frozen: int = FROZEN, layers: int = LAYERS) -> None:
        super().__init__()
        self.net = MPNetModel.from_pretrained(
            folder,
            add_pooling_layer=False,
            num_hidden_layers=layers,
            attn_implementation="eager",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.config = self.net.config
        for part in (self.net.embeddings, self.net.encoder.relative_attention_bias, *self.net.encoder.layer[:frozen]):
            part.requires_grad_(False)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        """The last states, (rows, length, width)."""
        ids = input_ids + RAISED
        ids = torch.where(input_ids == CLS, BEGIN, torch.where(input_ids == SEP, END, ids))
        ids = torch.where(attention_mask == 0, PAD, ids)
        return SimpleNamespace(last_hidden_state=self.net(input_ids=ids, attention_mask=attention_mask)[0])


class ReadingNet(nn.Module):
    """Both networks on one trunk."""

    def __init__(self, folder: Path, frozen: int = FROZEN) -> None:
        super().__init__()
        trunk = Trunk(folder, frozen)
        self.judge, self.reader = GroundingNet(trunk), ReaderNet(trunk)

    def groups(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """What is learned of the trunk, and the heads."""
        trunk = [p for p in self.judge.trunk.parameters() if p.requires_grad]
        known = {id(p) for p in self.judge.trunk.parameters()}
        return trunk, [p for p in self.parameters() if id(p) not in known]
