"""Write the trained reader as ONNX, in full precision and int8.

python -m training.reader.export RUN [RUN …] --rows FOLDER --out FOLDER

The weights of several runs are averaged. FOLDER of `--rows` holds train.npz, from whose rows the ranges of the int8
layers are taken. The graph takes one pair at a time, unpadded: `input_ids` and `types`, int64, 1 x pieces. It gives
`answer` (one logit) and `pieces` (start, end and evidence logits of each piece).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

from training.encoder_graph import FUSED, Array, Drawing, Smoothing, Tensors
from training.judge.graph import trunk_of
from training.reader.train import CLS, SEP, Rows

CALIBRATION_ROWS = 400


def draw(tensors: Tensors, smoothing: Smoothing | None = None) -> tuple[onnx.ModelProto, list[str]]:
    """The model and the names of its linear layers' inputs, in order; int8 where `smoothing` is given."""
    g = Drawing()
    x = trunk_of(g, tensors, smoothing)
    [pieces] = g.op("MatMul", x, g.constant(tensors["piece.weight"].T))
    g.nodes.append(helper.make_node("Add", [pieces, g.constant(tensors["piece.bias"])], ["pieces"]))
    one, first, last = g.constant(np.array(1, np.float32)), g.constant(np.array([1])), g.constant(np.array([2]))
    [text] = g.op("Cast", "types", to=TensorProto.FLOAT)
    [own] = g.op("Sub", one, text)
    [size] = g.op("ReduceSum", own, first, keepdims=1)
    [share] = g.op("Div", own, size)
    [blocked] = g.op("Mul", own, g.constant(np.array(-1e4, np.float32)))
    [evidence] = g.op("Gather", "pieces", last, axis=2)
    [evidence] = g.op("Squeeze", evidence, last)
    [evidence] = g.op("Add", evidence, blocked)
    [evidence] = g.op("Softmax", evidence, axis=1)
    [start] = g.op("Gather", x, g.constant(np.array([0])), axis=1)
    [start] = g.op("Squeeze", start, first)
    seen = [start]
    for weight in (share, evidence):
        [column] = g.op("Unsqueeze", weight, last)
        [part] = g.op("Mul", x, column)
        seen.extend(g.op("ReduceSum", part, first, keepdims=0))
    [joined] = g.op("Concat", *seen, axis=1)
    [mixed] = g.op("Gemm", joined, g.constant(tensors["mix.weight"]), g.constant(tensors["mix.bias"]), transB=1)
    [mixed] = g.op("Tanh", mixed)
    head = [mixed, g.constant(tensors["answer.weight"]), g.constant(tensors["answer.bias"])]
    g.nodes.append(helper.make_node("Gemm", head, ["answer"], transB=1))
    graph = helper.make_graph(
        g.nodes,
        "reader",
        [helper.make_tensor_value_info(n, TensorProto.INT64, [1, "pieces"]) for n in ("input_ids", "types")],
        [
            helper.make_tensor_value_info("answer", TensorProto.FLOAT, [1, 1]),
            helper.make_tensor_value_info("pieces", TensorProto.FLOAT, [1, "pieces", 3]),
        ],
        g.constants,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), g.inputs


def tensors_of(runs: Sequence[Path]) -> dict[str, Array]:
    """The mean of the runs' tensors in float32, each from the finished net or the last checkpoint."""
    nets = []
    for run in runs:
        finished = run / "net.pt"
        nets.append(torch.load(finished) if finished.exists() else torch.load(run / "checkpoint.pt")["net"])
    return {name: (sum(net[name].float() for net in nets) / len(nets)).numpy() for name in nets[0]}


def channel_peaks(tensors: Tensors, data: Rows) -> list[Array]:
    """The largest absolute value of every input channel of every linear layer over some training rows."""
    model, inputs = draw(tensors)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks: list[Array] = [np.zeros(1, dtype=np.float32)] * len(inputs)
    for row in range(CALIBRATION_ROWS):
        own, _ = data.sizes[row]
        text = data.ids[data.starts[row] : data.starts[row + 1]].astype(np.int64)
        ids = np.concatenate([[CLS], text[:own], [SEP], text[own:], [SEP]])
        types = (np.arange(len(ids)) > own + 1).astype(np.int64)
        seen = session.run(inputs, {"input_ids": ids[None], "types": types[None]})
        peaks = [np.maximum(peak, np.abs(value[0]).max(0)) for peak, value in zip(peaks, seen, strict=True)]
    return peaks


def main() -> None:
    """Export both precisions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, required=True, help="folder with train.npz")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tensors = tensors_of(options.runs)
    smoothing = Smoothing(channel_peaks(tensors, Rows(options.rows / "train.npz")))
    for name, given in (("fp32", None), ("int8", smoothing)):
        model, _ = draw(tensors, given)
        onnx.checker.check_model(model)
        onnx.save(model, str(options.out / f"{name}.onnx"))
        print(f"{name}.onnx: {(options.out / f'{name}.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
