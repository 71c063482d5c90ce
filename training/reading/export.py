"""Write the network as ONNX with weights of four bits, and say how far it is from the trained one.

    python -m training.reading.export OUT --trunk FOLDER --data ROWS [--run RUN] [--bits 4]

OUT gets reading.onnx. Without a run the heads are as they begin, which shows what the drawing loses and nothing more.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from training.learning import tensors_of
from training.reading.graph import draw
from training.reading.net import ReadingNet
from training.reading.train import Both

PAIRS = 40
"""Pairs of texts of each task that the two are compared on."""


def main() -> None:
    """Export and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--trunk", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=4)
    given = parser.parse_args()
    torch.manual_seed(0)
    net = ReadingNet(given.trunk).eval()
    if given.run is not None:
        net.load_state_dict({name: torch.from_numpy(value) for name, value in tensors_of([given.run]).items()})
    model = draw({name: value.float().numpy() for name, value in net.state_dict().items()}, bits=given.bits)
    onnx.checker.check_model(model)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "reading.onnx"
    onnx.save(model, str(path))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    data, far = Both(given.data), dict.fromkeys(("claim", "word", "answer", "pieces"), 0.0)
    for rows, heads, names in (
        (data.claims, net.judge, ("claim", "word")),
        (data.questions, net.reader, ("answer", "pieces")),
    ):
        for row in range(PAIRS):
            ids, types = (part[None] for part in rows.pair(row))
            drawn = session.run(names, {"input_ids": ids, "types": types})
            with torch.no_grad():
                exact = heads(torch.from_numpy(ids), torch.from_numpy(types), torch.ones(ids.shape, dtype=torch.int64))
            for name, one, other in zip(names, drawn, exact, strict=True):
                far[name] = max(far[name], float(np.abs(one - other.numpy()).max()))
    print("the largest differences of a logit:", ", ".join(f"{name} {value:.4f}" for name, value in far.items()))


if __name__ == "__main__":
    main()
