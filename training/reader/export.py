"""Write the trained reader as ONNX, in full precision and int8.

python -m training.reader.export RUN [RUN …] --rows FOLDER --out FOLDER

The weights of several runs are averaged. FOLDER of `--rows` holds train.npz, from whose rows the ranges of the int8
layers are taken. The graph takes one pair at a time, unpadded: `input_ids` and `types`, int64, 1 x pieces. It gives
`answer` (one logit) and `pieces` (start, end and evidence logits of each piece).
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from training.encoder_graph import FUSED, Drawing, Smoothing, Tensors, matrix
from training.judge.graph import trunk_of
from training.learning import export, tensors_of
from training.reader.prepare import MAX_PIECES
from training.reader.train import Rows


def draw(tensors: Tensors, smoothing: Smoothing | None = None) -> tuple[onnx.ModelProto, list[str]]:
    """The model and the names of its linear layers' inputs, in order; int8 where `smoothing` is given."""
    g = Drawing()
    x = trunk_of(g, tensors, smoothing)
    heads(g, x, tensors)
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


def heads(g: Drawing, x: str, tensors: Tensors, largest: int = 0) -> None:
    """What `ReaderNet.forward` makes of the states `x`: `answer` and `pieces`; `largest` as for `matrix`."""
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
    [mixed] = g.op("Gemm", joined, matrix(g, tensors["mix.weight"], largest), g.constant(tensors["mix.bias"]), transB=1)
    [mixed] = g.op("Tanh", mixed)
    head = [mixed, g.constant(tensors["answer.weight"]), g.constant(tensors["answer.bias"])]
    g.nodes.append(helper.make_node("Gemm", head, ["answer"], transB=1))


def main() -> None:
    """Export both precisions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, required=True, help="folder with train.npz")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = Rows(options.rows / "train.npz")
    export(draw, tensors_of(options.runs), [rows], MAX_PIECES, options.out)


if __name__ == "__main__":
    main()
