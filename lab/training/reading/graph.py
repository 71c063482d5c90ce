"""Draws the trained network as an ONNX graph, in full precision or with the int8 layers of the sentence encoder.

Takes one pair at a time: `input_ids`, numbered as BERT numbers word pieces, and `types`, int64, 1 x pieces, no padding.
Gives `claim` and `word` of the judge's head, `answer` and `pieces` of the reader's.

Relative positions are a constant of all heads, cut to the length. No code of a weight is above `LARGEST`: a processor
multiplies bytes whatever is in them, and what the package takes to download is compressed.
"""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper

from lab.training.encoder_graph import FUSED, Array, Drawing, Smoothing, Tensors, _linear, looked_up, matrix
from lab.training.judge.graph import MAX_TOKENS
from lab.training.judge.graph import heads as judge_heads
from lab.training.learning import CLS, SEP

HEADS, EPSILON = 12, 1e-5
BEGIN, PAD, END, RAISED = 0, 1, 2, 4
"""MPNet's numbers of the special pieces, and by how much it raises BERT's numbers of all others."""
LARGEST = 31
"""The largest code of a weight: six bits, of which a compressed file takes five."""
BUCKETS, FARTHEST = 32, 128


def draw(tensors: Tensors, smoothing: Smoothing | None = None) -> tuple[onnx.ModelProto, list[str]]:
    """The model and the names of its linear layers' inputs, in order; int8 where `smoothing` is given.

    `tensors` are the network's, named as in `ReadingNet`.
    """
    g = Drawing()
    prefix = "judge.trunk.net."
    trunk = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    x = _embed(g, trunk, quantise=smoothing is not None)
    bias = _positions(g, trunk)
    for i in range(sum(name.endswith("attention.attn.q.weight") for name in trunk)):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.attn.{name}" for name in "qkv"]
        packed = {kind: np.concatenate([trunk[f"{p}.{kind}"] for p in parts]) for kind in ("weight", "bias")}
        qkv = _linear(g, x, packed["weight"], packed["bias"], smoothing, LARGEST)
        query, key, value = g.op("Split", qkv, outputs=3, axis=2, num_outputs=3)
        [seen] = g.op("MultiHeadAttention", query, key, value, "", "", bias, domain=FUSED, num_heads=HEADS)
        seen = _dense(g, seen, trunk, f"{at}attention.attn.o", smoothing)
        x = _add_and_normalise(g, seen, x, trunk, f"{at}attention.LayerNorm")
        wide = _dense(g, x, trunk, f"{at}intermediate.dense", smoothing)
        [wide] = g.op("Gelu", wide, domain=FUSED)
        narrow = _dense(g, wide, trunk, f"{at}output.dense", smoothing)
        x = _add_and_normalise(g, narrow, x, trunk, f"{at}output.LayerNorm")
    largest = LARGEST if smoothing else 0
    for part, heads in (("judge.", judge_heads), ("reader.", reader_heads)):
        own = {name.removeprefix(part): value for name, value in tensors.items() if name.startswith(part)}
        heads(g, x, own, largest)
    whole = TensorProto.FLOAT
    graph = helper.make_graph(
        g.nodes,
        "reading",
        [helper.make_tensor_value_info(n, TensorProto.INT64, [1, "pieces"]) for n in ("input_ids", "types")],
        [
            helper.make_tensor_value_info("claim", whole, [1, 3]),
            helper.make_tensor_value_info("word", whole, [1, "pieces"]),
            helper.make_tensor_value_info("answer", whole, [1, 1]),
            helper.make_tensor_value_info("pieces", whole, [1, "pieces", 3]),
        ],
        g.constants,
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), g.inputs


def _embed(g: Drawing, trunk: Tensors, *, quantise: bool) -> str:
    """Words and places; pieces are numbered as BERT numbers them."""
    words = np.asarray(trunk["embeddings.word_embeddings.weight"])
    words = words[RAISED:-1].copy()
    words[CLS], words[SEP] = (trunk["embeddings.word_embeddings.weight"][special] for special in (BEGIN, END))
    x = looked_up(g, words, LARGEST if quantise else 0)
    [count] = g.op("Shape", "input_ids", start=1, end=2)
    zero = g.constant(np.array([0]))
    places = g.constant(trunk["embeddings.position_embeddings.weight"][2 : MAX_TOKENS + 2])
    [place] = g.op("Slice", places, zero, count, zero)
    [x] = g.op("Add", x, place)
    norm = [g.constant(trunk[f"embeddings.LayerNorm.{kind}"]) for kind in ("weight", "bias")]
    return g.op("LayerNormalization", x, *norm, axis=-1, epsilon=EPSILON)[0]


def _positions(g: Drawing, trunk: Tensors) -> str:
    """The relative positions of all pairs of pieces, 1 x heads x pieces x pieces."""
    place = np.arange(MAX_TOKENS)
    table = np.asarray(trunk["encoder.relative_attention_bias.weight"])[bucket(place[None, :] - place[:, None])]
    [count] = g.op("Shape", "input_ids", start=1, end=2)
    [ends] = g.op("Concat", count, count, axis=0)
    whole = g.constant(np.ascontiguousarray(table.transpose(2, 0, 1)[None]).astype(np.float32))
    return g.op("Slice", whole, g.constant(np.array([0, 0])), ends, g.constant(np.array([2, 3])))[0]


def bucket(distance: Array) -> Array:
    """MPNet's bucket of each distance: near ones apart, far ones together by their logarithm."""
    half = BUCKETS // 2
    near, far = half // 2, np.abs(distance)
    ratio = np.log(np.maximum(far, 1) / near) / math.log(FARTHEST / near)
    grown = np.minimum(near + (ratio * (half - near)).astype(np.int64), half - 1)
    return (distance > 0) * half + np.where(far < near, far, grown)


def _dense(g: Drawing, x: str, trunk: Tensors, name: str, smoothing: Smoothing | None) -> str:
    return _linear(g, x, trunk[f"{name}.weight"], trunk[f"{name}.bias"], smoothing, LARGEST)


def _add_and_normalise(g: Drawing, x: str, skip: str, trunk: Tensors, name: str) -> str:
    norm = [g.constant(trunk[f"{name}.{kind}"]) for kind in ("weight", "bias")]
    [joined] = g.op("Add", x, skip)
    return g.op("LayerNormalization", joined, *norm, axis=-1, epsilon=EPSILON)[0]


def reader_heads(g: Drawing, x: str, tensors: Tensors, largest: int = 0) -> None:
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
