"""What training the judge's and the reader's network has in common: rows, batches, the rate, the loop, the export."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import chain, count
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import Tensor, nn

from lab.training.encoder_graph import Array, Smoothing, Tensors

CLS, SEP = 101, 102
REPORTED = 500
"""Rows after which the mean loss is printed."""
ROUND = 32
AHEAD = 3
"""Batches that are made while the network learns."""
CALIBRATION_ROWS = 400
"""Rows from which the ranges of the int8 layers are taken."""
Ints = NDArray[np.int64]


class Rows:
    """Prepared pairs of texts, and the batches of an epoch in a fixed order for a seed.

    The file holds `ids`, the pieces of all pairs, and `sizes`, (rows, 2), the pieces of the first and the second text.
    """

    batch_pieces: ClassVar[int]
    """About so many padded pieces are in a batch,"""
    most_rows: ClassVar[int]
    """and at most so many rows."""
    pool: ClassVar[int]
    """Rows drawn together and sorted by length: little padding, still a mixed order."""

    def __init__(self, path: Path) -> None:
        self.data = np.load(path)
        self.ids: NDArray[np.uint16] = self.data["ids"]
        self.sizes: NDArray[np.int32] = self.data["sizes"]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes.sum(1))])

    def pair(self, row: int) -> tuple[Ints, Ints]:
        """``[CLS] first [SEP] second [SEP]``, and which of its pieces are of the second."""
        own = self.sizes[row, 0]
        text = self.ids[self.starts[row] : self.starts[row + 1]].astype(np.int64)
        full = np.concatenate([[CLS], text[:own], [SEP], text[own:], [SEP]])
        return full, (np.arange(len(full)) > own + 1).astype(np.int64)

    def pairs(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """`ids`, `types` and `mask` of some rows, each (rows, length), padded with zeros.

        Lengths are multiples of `ROUND`: for each new shape torch prepares anew, and keeps what it prepared.
        """
        length = -(-(int(self.sizes[rows].sum(1).max()) + 3) // ROUND) * ROUND
        ids = np.zeros((len(rows), length), np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for line, row in enumerate(rows):
            full, second = self.pair(row)
            ids[line, : len(full)], types[line, : len(full)], mask[line, : len(full)] = full, second, 1
        return ids, types, mask

    def batches(self, epoch: int, seed: int) -> list[Ints]:
        """Row numbers of each batch: rows of like length."""
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(self.sizes))
        lengths = self.sizes.sum(1) + 3
        every: list[Ints] = []
        for start in range(0, len(order), self.pool):
            pool = order[start : start + self.pool]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            here = []
            while len(pool):
                rows = int(np.searchsorted(np.arange(1, len(pool) + 1) * lengths[pool], self.batch_pieces, "right"))
                rows = max(1, min(rows, self.most_rows))
                here.append(pool[:rows])
                pool = pool[rows:]
            every.extend(here[i] for i in rng.permutation(len(here)))
        return every


@dataclass(frozen=True)
class Batch:
    """Padded rows: ids, types and mask are (rows, length); labels (rows,)."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> Self:
        """The same on a device."""
        return type(self)(*(getattr(self, field.name).to(device) for field in fields(self)))


def halves(device: torch.device) -> bool:
    """Whether to read in bfloat16: on a GPU, and on processors that have it; made up by software, it takes twenty times
    as long."""
    return device.type == "cuda" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def reading(device: torch.device) -> torch.autocast:
    """The precision to read in: bfloat16, or whole."""
    return torch.autocast(device.type, torch.bfloat16, enabled=halves(device))


@dataclass(frozen=True)
class Schedule:
    """How many rows are seen, over how many of the last the learning rate falls, and its highest value."""

    rows: int
    decay: int
    peak: float = 2e-4
    warmup: int = 3000

    def rate(self, seen: int) -> float:
        """The learning rate after `seen` rows: warm-up, plateau, linear fall."""
        return self.peak * max(0.0, min(1.0, (seen + 1) / self.warmup, (self.rows - seen) / self.decay))


def options(
    description: str | None,
    rows: int,
    decay: int,
    seed: int,
    peak: float,
    frozen: int,
    more: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> argparse.Namespace:
    """The command line of a training run, with its own defaults; `more` adds options of its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--trunk", type=Path, required=True, help="folder of the weights to start from")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="whose rows to train on")
    parser.add_argument("--start", type=Path, help="a run whose net.pt to go on from")
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--decay", type=int, default=decay)
    parser.add_argument("--peak", type=float, default=peak, help="the highest learning rate")
    parser.add_argument("--warmup", type=int, default=Schedule.warmup, help="rows until then; few for one that goes on")
    parser.add_argument("--frozen", type=int, default=frozen, help="layers from the first that stay as they are")
    parser.add_argument("--batch", type=int, default=1, help="how many times as many pieces are in a batch")
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--save-every", type=float, default=120.0, help="seconds between checkpoints")
    more(parser)
    return parser.parse_args()


class Batches(Protocol):
    """What gives the rows of each batch of an epoch, always the same for a seed."""

    def batches(self, epoch: int, seed: int) -> list[Ints]:
        """Row numbers of each batch."""


def learn(
    net: nn.Module,
    data: Batches,
    batch_of: Callable[[Ints], Any],
    loss_of: Callable[[Any, torch.device], Tensor],
    given: argparse.Namespace,
    groups: Sequence[tuple[Sequence[nn.Parameter], float]] = (),
) -> None:
    """Train a network on batches of rows; go on from the last checkpoint of `given.run`; write net.pt at the end.

    `batch_of` makes the batch of some rows; `loss_of` reads it with the network and gives the loss. `groups` are
    parameters that learn at so many times the rate; without them all learn at one.
    """
    run: Path = given.run
    run.mkdir(parents=True, exist_ok=True)
    schedule = Schedule(given.rows, given.decay, given.peak, given.warmup)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net.to(device).train()
    if given.start is not None:
        net.load_state_dict(torch.load(given.start / "net.pt", map_location=device))
    learned = [p for p in net.parameters() if p.requires_grad]
    parts = groups or ((learned, 1.0),)
    parameters = [{"params": list(part), "factor": factor} for part, factor in parts]
    optimizer = torch.optim.AdamW(parameters, lr=schedule.peak, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    state = {"epoch": 0, "step": 0, "seen": 0}
    saved = run / "checkpoint.pt"
    if saved.exists():
        loaded = torch.load(saved, map_location=device)
        net.load_state_dict(loaded["net"])
        optimizer.load_state_dict(loaded["optimizer"])
        state = loaded["state"]

    def save() -> None:
        temporary = saved.with_suffix(".tmp")
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, temporary)
        temporary.replace(saved)

    last = clock = time.monotonic()
    begun, total, since = state["seen"], torch.zeros((), device=device), 0
    for rows, batch in _ahead(_from(data, dict(state), given.seed), batch_of):
        if state["seen"] >= schedule.rows:
            break
        if not len(rows):  # an epoch has ended
            state["epoch"], state["step"] = state["epoch"] + 1, 0
            continue
        torch.manual_seed(given.seed + state["seen"])
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(state["seen"]) * group["factor"]
        loss = loss_of(batch, device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        state["seen"] += len(rows)
        state["step"] += 1
        total, since = total + loss.detach() * len(rows), since + len(rows)
        if since > REPORTED * given.batch:
            speed = (state["seen"] - begun) / (time.monotonic() - clock)
            print(f"seen {state['seen']} loss {float(total) / since:.4f} rows/s {speed:.1f}", flush=True)
            total, since = torch.zeros_like(total), 0
        if time.monotonic() - last > given.save_every:
            save()
            last = time.monotonic()
    save()
    torch.save(net.state_dict(), run / "net.pt")


def _from(data: Batches, state: dict[str, int], seed: int) -> Iterator[Ints]:
    """Batches from where the state says; after the last one of an epoch come no rows."""
    for epoch, first in chain([(state["epoch"], state["step"])], ((n, 0) for n in count(state["epoch"] + 1))):
        yield from data.batches(epoch, seed)[first:]
        yield np.zeros(0, np.int64)


def _ahead(every: Iterator[Ints], batch_of: Callable[[Ints], Any]) -> Iterator[tuple[Ints, Any]]:
    """Each batch's rows with the batch, made in a thread while the ones before are learned from."""
    with ThreadPoolExecutor(1) as pool:
        made: list[tuple[Ints, Future[Any]]] = []
        for rows in every:
            made.append((rows, pool.submit(lambda own: batch_of(own) if len(own) else None, rows)))
            if len(made) > AHEAD:
                own, batch = made.pop(0)
                yield own, batch.result()


def tensors_of(runs: Sequence[Path], shares: Sequence[float] = ()) -> dict[str, Array]:
    """The runs' tensors in float32, each counting by its share, from the finished net or the last checkpoint.

    Without shares all count alike. With a share for the net that they began from, what it could do is kept (Wortsman
    and others 2022, "Robust fine-tuning of zero-shot models").
    """
    nets = []
    for run in runs:
        finished = run / "net.pt"
        nets.append(torch.load(finished) if finished.exists() else torch.load(run / "checkpoint.pt")["net"])
    whole = shares or [1 / len(nets)] * len(nets)
    return {
        name: sum(n[name].float() * share for n, share in zip(nets, whole, strict=True)).numpy() for name in nets[0]
    }


def export(
    draw: Callable[..., tuple[Any, list[str]]], tensors: Tensors, data: Sequence[Rows], most: int, out: Path
) -> None:
    """Write fp32.onnx and int8.onnx; pairs of at most `most` pieces give the ranges of the int8 layers.

    `draw(tensors, smoothing)` gives the model and the names of its linear layers' inputs. Each of `data` gives as many
    of the pairs.
    """
    out.mkdir(parents=True, exist_ok=True)
    model, inputs = draw(tensors)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks: list[Array] = [np.zeros(1, dtype=np.float32)] * len(inputs)
    moments: list[Array] = [np.zeros((1, 1), dtype=np.float32)] * len(inputs)
    pairs = (rows.pair(row) for rows in data for row in range(min(CALIBRATION_ROWS // len(data), len(rows.sizes))))
    for ids, types in ((ids[:most], types[:most]) for ids, types in pairs):
        seen = session.run(inputs, {"input_ids": ids[None], "types": types[None]})
        peaks = [np.maximum(peak, np.abs(value[0]).max(0)) for peak, value in zip(peaks, seen, strict=True)]
        moments = [moment + value[0].T @ value[0] for moment, value in zip(moments, seen, strict=True)]
    for name, smoothing in (("fp32", None), ("int8", Smoothing(peaks, moments=moments))):
        model, _ = draw(tensors, smoothing)
        onnx.checker.check_model(model)
        onnx.save(model, str(out / f"{name}.onnx"))
        print(f"{name}.onnx: {(out / f'{name}.onnx').stat().st_size / 1e6:.1f} MB")
