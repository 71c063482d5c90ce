"""Write the trained network as ONNX, in full precision and int8.

python -m training.judge.export RUN [--rows FOLDER]     RUN holds net.pt (or checkpoint.pt); gets fp32.onnx, int8.onnx

FOLDER (else RUN) holds train.npz, from whose rows the ranges of the int8 layers are taken.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

from training.encoder_graph import Array, Smoothing, Tensors
from training.judge.graph import MAX_TOKENS, draw
from training.judge.train import CLS, SEP, Rows

CALIBRATION_ROWS = 400


def tensors_of(run: Path) -> dict[str, Array]:
    """The network's tensors in float32, from the finished net or the last checkpoint."""
    finished = run / "net.pt"
    loaded = torch.load(finished) if finished.exists() else torch.load(run / "checkpoint.pt")["net"]
    return {name: value.float().numpy() for name, value in loaded.items()}


def channel_peaks(tensors: Tensors, data: Rows) -> list[Array]:
    """The largest absolute value of every input channel of every linear layer over some training rows."""
    model, inputs = draw(tensors)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks: list[Array] = [np.zeros(1, dtype=np.float32)] * len(inputs)
    for row in range(CALIBRATION_ROWS):
        own, _ = data.sizes[row]
        text = data.ids[data.starts[row] : data.starts[row + 1]].astype(np.int64)
        ids = np.concatenate([[CLS], text[:own], [SEP], text[own:], [SEP]])[:MAX_TOKENS]
        types = (np.arange(len(ids)) > own + 1).astype(np.int64)
        seen = session.run(inputs, {"input_ids": ids[None], "types": types[None]})
        peaks = [np.maximum(peak, np.abs(value[0]).max(0)) for peak, value in zip(peaks, seen, strict=True)]
    return peaks


def main() -> None:
    """Export both precisions of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--net", type=Path, help="folder with net.pt; default: the run's own")
    parser.add_argument("--rows", type=Path, help="folder with train.npz; default: the run's own")
    options = parser.parse_args()
    run = options.run
    tensors = tensors_of(options.net or run)
    smoothing = Smoothing(channel_peaks(tensors, Rows((options.rows or run) / "train.npz")))
    for name, given in (("fp32", None), ("int8", smoothing)):
        model, _ = draw(tensors, given)
        onnx.checker.check_model(model)
        onnx.save(model, str(run / f"{name}.onnx"))
        print(f"{name}.onnx: {(run / f'{name}.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
