"""Write the additions as ONNX, on the weights of the reading network, and the card that the loader checks.

    python -m lab.training.quotations.export RUN [--out cragraph/models/data]

The graph is that of `reading.onnx`, whose weights it takes out of that file by their places, with two narrow layers
beside each linear one, and the last layer as it was learned. It fits that file alone: the card names both.
"""

import argparse
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import TensorProto, helper

from cragraph.models.weights import DATA
from lab.training.encoder_graph import Array, Drawing, Tensors, matrix
from lab.training.reading.net import LAYERS

READING = "reading.onnx"
SHARED = 4096
"""Bytes from which a constant is taken out of the other file."""
MOST = 127
"""The largest code of a narrow layer's weight."""
NAME, VERSION = "quotations", "3"


class Added(Drawing):
    """Constants and nodes whose names no other graph has."""

    def constant(self, value: Array) -> str:
        """A constant by its new name."""
        super().constant(value)
        self.constants[-1].name = f"added{len(self.constants)}"
        return self.constants[-1].name

    def op(self, kind: str, *args: str, domain: str = "", outputs: int = 1, **options: Any) -> list[str]:
        """A node with new names."""
        self.count += 1
        made = [f"added.{kind}.{self.count}.{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(kind, args, made, domain=domain, **options))
        return made

    count = 0


def additions(state: Tensors) -> Iterator[list[tuple[Array, Array]]]:
    """The narrow and the wide layers beside each linear layer of the graph, in its order: none, one, or three where it
    is packed."""
    for i in range(LAYERS):
        at = f"trunk.net.encoder.layer.{i}."
        attention = [f"{at}attention.attn.{name}" for name in "qkvo"]
        for names in (attention[:3], attention[3:], [f"{at}intermediate.dense"], [f"{at}output.dense"]):
            yield [(state[f"{name}.narrow"], state[f"{name}.wide"]) for name in names if f"{name}.narrow" in state]


def drawn(reading: Path, state: Tensors) -> onnx.ModelProto:
    """The graph for claims of `reading`, with the additions; its large constants are taken from that file."""
    model = onnx.load(reading)
    graph, g = model.graph, Added()
    made = {name: node for node in graph.node for name in node.output}
    constants = {constant.name for constant in graph.initializer}
    new = additions(state)
    nodes: list[onnx.NodeProto] = []

    def beside(node: onnx.NodeProto, pairs: list[tuple[Array, Array]]) -> None:
        """Add what the narrow layers make of the layer's input, before it is smoothed."""
        scaled = made.get(node.input[0])
        smoothed = scaled is not None and scaled.op_type == "Mul" and scaled.input[1] in constants
        given = scaled.input[0] if smoothed and scaled is not None else node.input[0]
        parts = []
        for narrow, wide in pairs:
            [thin] = g.op("MatMul", given, matrix(g, narrow.T, MOST))
            parts += g.op("MatMul", thin, matrix(g, wide.T, MOST))
        [whole] = g.op("Concat", *parts, axis=2) if len(parts) > 1 else parts
        out = node.output[0]
        node.output[0] = f"{out}.base"
        nodes.extend([node, *g.nodes, helper.make_node("Add", [node.output[0], whole], [out])])

    for node in _before(graph, "claim"):
        g.nodes = []
        if "claim" in node.output:
            node.input[1], node.input[2] = g.constant(state["claim.weight"]), g.constant(state["claim.bias"])
            nodes.append(node)
        elif node.op_type == "Gemm":
            beside(node, [(state["mix.narrow"], state["mix.wide"])])
        elif node.op_type == "DynamicQuantizeMatMul" and (pairs := next(new)):
            beside(node, pairs)
        else:
            nodes.append(node)
    for number, node in enumerate(nodes):
        node.name = f"{node.op_type}-{number}"
    used = {name for node in nodes for name in node.input}
    shared = [_shared(constant, reading.read_bytes()) for constant in graph.initializer if constant.name in used]
    outputs = [value for value in graph.output if value.name == "claim"]
    whole = helper.make_graph(nodes, NAME, graph.input, outputs, [*shared, *g.constants])
    return helper.make_model(whole, opset_imports=model.opset_import, ir_version=model.ir_version)


def _before(graph: onnx.GraphProto, output: str) -> list[onnx.NodeProto]:
    """The nodes that an output needs, in order."""
    wanted, kept = {output}, []
    for node in reversed(graph.node):
        if wanted & {*node.output}:
            wanted |= {*node.input}
            kept.append(node)
    return kept[::-1]


def _shared(constant: TensorProto, held: bytes) -> TensorProto:
    """A constant of the reading network, if it is large by its place in that file."""
    raw = constant.raw_data
    if len(raw) < SHARED:
        return constant
    for key, value in (("location", READING), ("offset", str(held.index(raw))), ("length", str(len(raw)))):
        entry = constant.external_data.add()
        entry.key, entry.value = key, value
    constant.ClearField("raw_data")
    constant.data_location = TensorProto.EXTERNAL
    return constant


def main() -> None:
    """Write the graph and its card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=DATA)
    given = parser.parse_args()
    state = {name: value.float().numpy() for name, value in torch.load(given.run / "net.pt").items()}
    reading, own = given.out / READING, given.out / f"{NAME}.onnx"
    own.write_bytes(drawn(reading, state).SerializeToString())
    files = {path.name: sha256(path.read_bytes()).hexdigest() for path in (own, reading)}
    card = {
        "name": f"cragraph-{NAME}-int8",
        "version": VERSION,
        "source": "low-rank additions to the reading network by lab/training/quotations",
        "licence": "Apache-2.0",
        "files": files,
    }
    (given.out / f"{NAME}.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"{own}: {own.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
