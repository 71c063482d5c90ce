"""Write net.pt from the weights that ship, so that a run can go on from them where no checkpoint is left.

    python -m lab.training.reading.restore RUN --trunk FOLDER [--weights cragraph/models/data/reading.onnx …]

Of several weights, such as those of versions that followed each other, the mean is written. What was never learned
(embeddings, relative positions) comes whole from the trunk; the layers and the heads are what their codes of six bits
stand for. Then `training.reading.train --start RUN` goes on.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import NodeProto, numpy_helper

from lab.training.encoder_graph import Array
from lab.training.reading.net import LAYERS, ReadingNet

CONSTANTS = {"Add", "DequantizeLinear", "DynamicQuantizeMatMul", "Gemm", "LayerNormalization", "MatMul", "Mul"}


def linears(nodes: list[NodeProto], constants: dict[str, Array]) -> Iterator[tuple[Array, Array]]:
    """Weight and bias of each int8 layer in order; what divides its input is multiplied back."""
    made = {name: node for node in nodes for name in node.output}
    for node in nodes:
        if node.op_type != "DynamicQuantizeMatMul":
            continue
        codes, scales, bias = (constants[node.input[i]] for i in (1, 2, 4))
        before = made.get(node.input[0])
        divided = before is not None and before.op_type == "Mul" and before.input[1] in constants
        factors = constants[before.input[1]] if divided and before is not None else np.float32(1)
        yield (codes * scales).T.astype(np.float32) * factors, bias


def heads(nodes: list[NodeProto], constants: dict[str, Array]) -> Iterator[tuple[Array, Array]]:
    """Weight and bias of the heads' layers in order: word, mix, claim, pieces, mix, answer."""
    made = {name: node for node in nodes for name in node.output}

    def matrix(name: str) -> Array:
        if name in constants:
            return constants[name]
        codes, scales = (constants[given] for given in made[name].input[:2])
        return (codes * scales[:, None]).astype(np.float32)

    for node in nodes:
        if node.op_type == "Gemm":
            yield matrix(node.input[1]), constants[node.input[2]]
        elif node.op_type == "MatMul":
            [bias] = (n.input[1] for n in nodes if n.op_type == "Add" and n.input[0] == node.output[0])
            yield constants[node.input[1]].T, constants[bias]


def learned(weights: Path) -> dict[str, Array]:
    """What the weights hold of everything that was learned, by its name in the network."""
    graph = onnx.load(weights).graph
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    nodes = list(graph.node)
    found: dict[str, Array] = {}
    layers = linears(nodes, constants)
    norms = [n for n in nodes if n.op_type == "LayerNormalization"][1:]
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        weight, bias = next(layers)
        for name, part, piece in zip("qkv", np.split(weight, 3), np.split(bias, 3), strict=True):
            found |= {f"{at}attention.attn.{name}.weight": part, f"{at}attention.attn.{name}.bias": piece}
        for name in ("attention.attn.o", "intermediate.dense", "output.dense"):
            found[f"{at}{name}.weight"], found[f"{at}{name}.bias"] = next(layers)
        for name, node in zip(("attention.LayerNorm", "output.LayerNorm"), norms[2 * i : 2 * i + 2], strict=True):
            found[f"{at}{name}.weight"], found[f"{at}{name}.bias"] = (constants[n] for n in node.input[1:3])
    whole = {f"{task}.trunk.net.{name}": value for task in ("judge", "reader") for name, value in found.items()}
    names = ("judge.word", "judge.mix", "judge.claim", "reader.piece", "reader.mix", "reader.answer")
    for name, (weight, bias) in zip(names, heads(nodes, constants), strict=True):
        whole |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return whole


def main() -> None:
    """Restore, and say how much of the network was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--trunk", type=Path, required=True)
    parser.add_argument("--weights", type=Path, nargs="+", default=[Path("cragraph/models/data/reading.onnx")])
    given = parser.parse_args()
    every = [learned(weights) for weights in given.weights]
    whole = {name: sum(one[name].astype(np.float32) for one in every) / len(every) for name in every[0]}
    net = ReadingNet(given.trunk)
    state = net.state_dict()
    for name, value in whole.items():
        if state[name].shape != value.shape:
            raise SystemExit(f"{name} is {value.shape} in the weights and {tuple(state[name].shape)} in the net.")
        state[name] = torch.from_numpy(np.array(value, np.float32))
    net.load_state_dict(state)
    given.run.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), given.run / "net.pt")
    print(f"{len(whole)} of {len(state)} tensors restored; the others are the trunk's")


if __name__ == "__main__":
    main()
