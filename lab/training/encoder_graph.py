"""Draws MiniLM as an ONNX graph, in full precision or with int8 weights, straight from its tensors.

The graph takes one text at a time (`input_ids`, int64, shape 1 x tokens: no padding, hence no mask) and returns its
unit-length sentence vector (`embedding`, float32, 1 x 384). Drawing it by hand, rather than converting a traced
model, gives onnxruntime's fused operators and leaves each quantisation choice visible:

* embedding rows: int8 with one scale a row;
* linear layers: int8 weights with one scale an output column, activations quantised as they come (uint8);
* activation outliers are divided out before the layers that have them and multiplied into the weights
  (SmoothQuant, Xiao et al. 2023), because one scale must serve a whole activation matrix.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[Any]
Tensors = Mapping[str, Array]

LAYERS: Final = 6
HEADS: Final = 12
WIDTH: Final = 384
EPSILON: Final = 1e-12
FUSED: Final = "com.microsoft"
DAMPING: Final = 0.01  # of the mean square of the inputs, added to each channel's, so that the moments can be inverted
BLOCK: Final = 128  # channels that are rounded before what they lose reaches the channels behind them


@dataclass
class Drawing:
    """Nodes and constants of a graph under construction; `inputs` are the names that feed each linear layer."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    def constant(self, value: Array) -> str:
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, *args: str, domain: str = "", outputs: int = 1, **options: Any) -> list[str]:
        name = f"{kind}_{len(self.nodes)}"
        made = [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, args, made, name=name, domain=domain, **options))
        return made


@dataclass(frozen=True)
class Smoothing:
    """Largest absolute input of every channel of every linear layer, and how much of it moves into the weights.

    `strength` is 0..1: 1 makes all channels of the activation equally large, 0 does so for the weights. The attention
    output has no outliers and is left alone. `moments` are the sums of products of every two channels of the inputs,
    channels x channels: where they are given, weights are rounded so that the products stay close (`rounded`).
    """

    peaks: list[Array]
    strength: tuple[float, float, float, float] = (0.7, 0.0, 0.7, 1.0)
    moments: list[Array] = field(default_factory=list)

    def factors(self, layer: int, weight: Array) -> Array | None:
        """What to divide the input channels of a layer by (geometric mean 1), or None to leave them."""
        strength = self.strength[layer % 4]
        if not strength:
            return None
        peaks = np.maximum(self.peaks[layer], 1e-3)
        columns = np.maximum(np.abs(weight).max(0), 1e-5)
        factors = peaks**strength / columns ** (1 - strength)
        return np.asarray(factors / np.exp(np.log(factors).mean()), dtype=np.float32)

    def moment(self, layer: int, factors: Array | None) -> Array | None:
        """The sums of products of a layer's inputs, once divided by `factors`; None where none are known."""
        if not self.moments:
            return None
        return self.moments[layer] if factors is None else self.moments[layer] / np.outer(factors, factors)


def draw(tensors: Tensors, max_tokens: int, smoothing: Smoothing | None = None) -> tuple[onnx.ModelProto, list[str]]:
    """The model and the names of its linear layers' inputs, in order; int8 where `smoothing` is given."""
    g = Drawing()
    x = _embed(g, tensors, max_tokens, quantise=smoothing is not None)
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
        packed = {kind: np.concatenate([tensors[f"{p}.{kind}"] for p in parts]) for kind in ("weight", "bias")}
        qkv = _linear(g, x, packed["weight"], packed["bias"], smoothing)
        query, key, value = g.op("Split", qkv, outputs=3, axis=2, num_outputs=3)
        [seen] = g.op("MultiHeadAttention", query, key, value, domain=FUSED, num_heads=HEADS)
        seen = _dense(g, seen, tensors, f"{at}attention.output.dense", smoothing)
        x = _add_and_normalise(g, seen, x, tensors, f"{at}attention.output.LayerNorm")
        wide = _dense(g, x, tensors, f"{at}intermediate.dense", smoothing)
        [wide] = g.op("Gelu", wide, domain=FUSED)
        narrow = _dense(g, wide, tensors, f"{at}output.dense", smoothing)
        x = _add_and_normalise(g, narrow, x, tensors, f"{at}output.LayerNorm")
    [mean] = g.op("ReduceMean", x, g.constant(np.array([1])), keepdims=0)
    [length] = g.op("ReduceL2", mean, g.constant(np.array([1])), keepdims=1)
    g.nodes.append(helper.make_node("Div", [mean, length], ["embedding"]))
    graph = helper.make_graph(
        g.nodes,
        "sentence-encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, WIDTH])],
        g.constants,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), g.inputs


def _embed(g: Drawing, tensors: Tensors, max_tokens: int, *, quantise: bool) -> str:
    words = tensors["embeddings.word_embeddings.weight"]
    x = looked_up(g, words, 127 if quantise else 0)
    # Every token is of the first segment, so that row joins the positions.
    places = tensors["embeddings.position_embeddings.weight"][:max_tokens]
    places = places + tensors["embeddings.token_type_embeddings.weight"][0]
    [count] = g.op("Shape", "input_ids", start=1, end=2)
    zero = g.constant(np.array([0]))
    [place] = g.op("Slice", g.constant(places), zero, count, zero)
    [x] = g.op("Add", x, place)
    norm = [g.constant(tensors[f"embeddings.LayerNorm.{kind}"]) for kind in ("weight", "bias")]
    return g.op("LayerNormalization", x, *norm, axis=-1, epsilon=EPSILON)[0]


def looked_up(g: Drawing, words: Array, largest: int) -> str:
    """The embeddings of the pieces of `input_ids`, kept as `matrix` keeps a matrix."""
    if not largest:
        return g.op("Gather", g.constant(words), "input_ids")[0]
    rows, scales = quantised(words.T, largest)
    [codes] = g.op("Gather", g.constant(rows.T), "input_ids")
    [whole] = g.op("Cast", codes, to=TensorProto.FLOAT)
    [scale] = g.op("Gather", g.constant(scales[:, None]), "input_ids")
    return g.op("Mul", whole, scale)[0]


def _dense(g: Drawing, x: str, tensors: Tensors, name: str, smoothing: Smoothing | None) -> str:
    return _linear(g, x, tensors[f"{name}.weight"], tensors[f"{name}.bias"], smoothing)


def _linear(g: Drawing, x: str, weight: Array, bias: Array, smoothing: Smoothing | None, largest: int = 127) -> str:
    layer = len(g.inputs)
    g.inputs.append(x)
    if smoothing is None:
        [product] = g.op("MatMul", x, g.constant(weight.T))
        return g.op("Add", product, g.constant(bias))[0]
    factors = smoothing.factors(layer, weight)
    if factors is not None:
        [x] = g.op("Mul", x, g.constant(1 / factors))
        weight = weight * factors
    moment = smoothing.moment(layer, factors)
    codes, scales = quantised(weight.T, largest) if moment is None else rounded(weight.T, largest, moment)
    args = (x, g.constant(codes), g.constant(scales), "", g.constant(bias))
    return g.op("DynamicQuantizeMatMul", *args, domain=FUSED)[0]


def matrix(g: Drawing, weight: Array, largest: int) -> str:
    """A matrix in full precision, kept as int8 codes of at most `largest` with one scale a row; 0 keeps it as it is."""
    if not largest:
        return g.constant(weight)
    codes, scales = quantised(weight.T, largest)
    return g.op("DequantizeLinear", g.constant(codes.T), g.constant(scales), axis=0)[0]


def _add_and_normalise(g: Drawing, x: str, skip: str, tensors: Tensors, name: str) -> str:
    norm = [g.constant(tensors[f"{name}.{kind}"]) for kind in ("weight", "bias")]
    # The sum and its normalisation apart: onnxruntime's fused operator for both takes five times as long.
    [joined] = g.op("Add", x, skip)
    return g.op("LayerNormalization", joined, *norm, axis=-1, epsilon=EPSILON)[0]


def quantised(weight: Array, largest: int = 127) -> tuple[Array, Array]:
    """Symmetric int8 codes of a matrix and one float32 scale a column: `codes * scales` is close to `weight`.

    No code is above `largest`: fewer of them take as much memory, and less of a compressed file.
    """
    scales = np.abs(weight).max(0) / largest
    scales = np.where(scales == 0, 1, scales).astype(np.float32)
    return np.round(weight / scales).astype(np.int8), scales


def rounded(weight: Array, largest: int, moment: Array) -> tuple[Array, Array]:
    """Codes and scales as of `quantised`, such that the products of inputs with this `moment` stay close.

    The rows of the matrix, one for each input channel, are rounded one after the other, and what is lost in each is
    made up for by those that are left (GPTQ, Frantar et al. 2023). A column's scale is the best of some from the
    largest weight's down, by the inputs' squares.
    """
    left = np.array(weight, np.float64)
    squares = np.diag(moment)[:, None]
    most = np.abs(left).max(0)
    most = np.where(most == 0, 1, most)
    tried = [most * share / largest for share in np.arange(1.0, 0.69, -0.05)]
    lost = [(squares * (left - np.clip(np.round(left / s), -largest, largest) * s) ** 2).sum(0) for s in tried]
    scales = np.choose(np.argmin(lost, axis=0), tried)
    damped = moment.astype(np.float64) + DAMPING * squares.mean() * np.eye(len(moment))
    after = np.linalg.cholesky(np.linalg.inv(damped)).T
    codes = np.zeros_like(left)
    for first in range(0, len(left), BLOCK):
        last = min(first + BLOCK, len(left))
        missing = np.zeros((last - first, left.shape[1]))
        for row in range(first, last):
            codes[row] = np.clip(np.round(left[row] / scales), -largest, largest)
            missing[row - first] = (left[row] - codes[row] * scales) / after[row, row]
            left[row + 1 : last] -= np.outer(after[row, row + 1 : last], missing[row - first])
        left[last:] -= after[first:last, last:].T @ missing
    return codes.astype(np.int8), scales.astype(np.float32)
