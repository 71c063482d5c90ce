"""The reader and its training; may be stopped at any time and goes on from its last checkpoint.

    python -m training.reader.train RUN [--rows 150000] [--decay 45000]     RUN (or --data) holds train.npz

The learning rate warms up, stays, and falls to zero over the last `--decay` rows: a run that must end sooner is stopped
and started again with fewer `--rows`.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertModel

from training.judge.prepare import minilm
from training.reader.prepare import UNKNOWN

CLS, SEP = 101, 102
BATCH_PIECES, MOST_ROWS, POOL = 4608, 72, 48
PEAK, WARMUP = 2e-4, 3000
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

    @classmethod
    def from_minilm(cls, folder: Path) -> "ReaderNet":
        """Start from the sentence-embedding weights; the word embeddings stay as they are."""
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
    """Whether it answers, where (the first piece stands for nowhere), and in which sentences."""
    loss = F.binary_cross_entropy_with_logits(answer.float(), batch["answer"])
    known = batch["start"] >= 0
    if bool(known.any()):
        open_places = batch["places"][known]
        for place, name in enumerate(("start", "end")):
            logits = pieces[known][..., place].float() - 1e4 * (1 - open_places)
            loss = loss + SPAN_WEIGHT * F.cross_entropy(logits, batch[name][known])
    tagged = batch["tags"] != UNKNOWN
    evidence = F.binary_cross_entropy_with_logits(
        pieces[..., 2].float()[tagged], batch["tags"][tagged].float(), pos_weight=torch.tensor(EVIDENCE_PIECE)
    )
    return loss + EVIDENCE_WEIGHT * evidence


class Rows:
    """The prepared examples, and the batches of an epoch in a fixed order for a seed."""

    def __init__(self, path: Path) -> None:
        data = np.load(path)
        self.ids, self.tags, self.answer, self.span = (data[k] for k in ("ids", "tags", "answer", "span"))
        self.sizes: NDArray[np.int32] = data["sizes"]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes.sum(1))])
        self.tag_starts = np.concatenate([[0], np.cumsum(self.sizes[:, 1])])

    def batches(self, epoch: int, seed: int) -> list[NDArray[np.int64]]:
        """Row numbers of each batch: about `BATCH_PIECES` padded pieces, rows of like length."""
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(self.answer))
        lengths = self.sizes.sum(1) + 3
        found: list[NDArray[np.int64]] = []
        for start in range(0, len(order), POOL * 40):
            pool = order[start : start + POOL * 40]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            here = []
            while len(pool):
                rows = int(np.searchsorted(np.arange(1, len(pool) + 1) * lengths[pool], BATCH_PIECES, "right"))
                here.append(pool[: max(1, min(rows, MOST_ROWS))])
                pool = pool[len(here[-1]) :]
            found.extend(here[i] for i in rng.permutation(len(here)))
        return found

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Tensor]:
        """Padded tensors of some rows."""
        length = int(self.sizes[rows].sum(1).max()) + 3
        ids = np.zeros((len(rows), length), np.int64)
        types, mask, places = np.zeros_like(ids), np.zeros_like(ids), np.zeros((len(rows), length), np.float32)
        tags = np.full_like(ids, UNKNOWN)
        start, end = np.full(len(rows), -1), np.full(len(rows), -1)
        for line, row in enumerate(rows):
            own, other = self.sizes[row]
            text = self.ids[self.starts[row] : self.starts[row + 1]]
            full = np.concatenate([[CLS], text[:own], [SEP], text[own:], [SEP]])
            ids[line, : len(full)] = full
            types[line, own + 2 : len(full)] = 1
            mask[line, : len(full)] = 1
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


def train(run: Path, data: Rows, options: argparse.Namespace) -> None:
    """Train from MiniLM, or from the net of another run; a checkpoint every `--save-every` seconds."""
    torch.manual_seed(options.seed)
    net = ReaderNet.from_minilm(minilm())
    if options.start is not None:
        net.load_state_dict(torch.load(options.start / "net.pt"))
    learned = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=options.peak, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    state = {"epoch": 0, "step": 0, "seen": 0}
    saved = run / "checkpoint.pt"
    if saved.exists():
        loaded = torch.load(saved)
        net.load_state_dict(loaded["net"])
        optimizer.load_state_dict(loaded["optimizer"])
        state = loaded["state"]

    def save() -> None:
        temporary = saved.with_suffix(".tmp")
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, temporary)
        temporary.replace(saved)

    net.train()
    clock = last = time.monotonic()
    begun, total, count = state["seen"], 0.0, 0
    while state["seen"] < options.rows:
        batches = data.batches(state["epoch"], options.seed)
        for rows in batches[state["step"] :]:
            if state["seen"] >= options.rows:
                break
            seen = state["seen"]
            torch.manual_seed(options.seed + seen)
            for group in optimizer.param_groups:
                group["lr"] = options.peak * max(
                    0.0, min(1.0, (seen + 1) / WARMUP, (options.rows - seen) / options.decay)
                )
            batch = data.batch(rows)
            with torch.autocast("cpu", torch.bfloat16):
                answer, pieces = net(batch["ids"], batch["types"], batch["mask"])
            loss = loss_of(answer, pieces, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            state["seen"] += len(rows)
            state["step"] += 1
            total, count = total + float(loss.detach()) * len(rows), count + len(rows)
            if count > 1000:
                speed = (state["seen"] - begun) / (time.monotonic() - clock)
                print(f"seen {state['seen']} loss {total / count:.4f} rows/s {speed:.1f}", flush=True)
                total, count = 0.0, 0
            if time.monotonic() - last > options.save_every:
                save()
                last = time.monotonic()
        else:
            state["epoch"], state["step"] = state["epoch"] + 1, 0
    save()
    torch.save(net.state_dict(), run / "net.pt")


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, help="another run whose rows to train on, in the order of --seed")
    parser.add_argument("--start", type=Path, help="a run whose net.pt to go on from; MiniLM without it")
    parser.add_argument("--rows", type=int, default=150_000)
    parser.add_argument("--decay", type=int, default=45_000)
    parser.add_argument("--peak", type=float, default=PEAK, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--save-every", type=float, default=120.0, help="seconds between checkpoints")
    options = parser.parse_args()
    options.run.mkdir(parents=True, exist_ok=True)
    train(options.run, Rows((options.data or options.run) / "train.npz"), options)


if __name__ == "__main__":
    main()
