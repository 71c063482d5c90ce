"""Draws the trained network as an ONNX graph: linear layers in 4 bits, or in full precision to compare with.

Takes one pair at a time: `input_ids`, numbered as BERT numbers word pieces, and `types`, int64, 1 x pieces, no padding.
Gives `claim` and `word` of the judge's head, `answer` and `pieces` of the reader's.

* linear layers: 4-bit weights in blocks of `BLOCK` along the input, one scale a block, chosen for the least squared
  error; activations are quantised to int8 block by block as they come (`accuracy_level` 4), so outliers need no care;
* word embeddings: int8 with one scale a row; relative positions: a constant of all heads, cut to the length.
"""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper

from training import encoder_graph as minilm
from training.encoder_graph import FUSED, Array, Drawing, Tensors
from training.judge.graph import MAX_TOKENS
from training.judge.graph import heads as judge_heads
from training.learning import CLS, SEP
from training.reader.export import heads as reader_heads

LAYERS, HEADS, EPSILON = 12, 12, 1e-5
BEGIN, PAD, END, RAISED = 0, 1, 2, 4
"""MPNet's numbers of the special pieces, and by how much it raises BERT's numbers of all others."""
BLOCK = 32
BUCKETS, FARTHEST = 32, 128


def draw(tensors: Tensors, *, bits: int = 4) -> onnx.ModelProto:
    """The model; `tensors` are the network's, named as in `ReadingNet`; `bits` 4, 8 or 32."""
    g = Drawing()
    prefix = "judge.trunk.net."
    trunk = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    x = _embed(g, trunk)
    bias = _positions(g, trunk)
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.attn.{name}" for name in "qkv"]
        packed = {kind: np.concatenate([trunk[f"{p}.{kind}"] for p in parts]) for kind in ("weight", "bias")}
        qkv = _linear(g, x, packed["weight"], packed["bias"], bits)
        query, key, value = g.op("Split", qkv, outputs=3, axis=2, num_outputs=3)
        [seen] = g.op("MultiHeadAttention", query, key, value, "", "", bias, domain=FUSED, num_heads=HEADS)
        seen = _dense(g, seen, trunk, f"{at}attention.attn.o", bits)
        x = _add_and_normalise(g, seen, x, trunk, f"{at}attention.LayerNorm")
        wide = _dense(g, x, trunk, f"{at}intermediate.dense", bits)
        [wide] = g.op("Gelu", wide, domain=FUSED)
        narrow = _dense(g, wide, trunk, f"{at}output.dense", bits)
        x = _add_and_normalise(g, narrow, x, trunk, f"{at}output.LayerNorm")
    for part, heads in (("judge.", judge_heads), ("reader.", reader_heads)):
        heads(g, x, {name.removeprefix(part): value for name, value in tensors.items() if name.startswith(part)})
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
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _embed(g: Drawing, trunk: Tensors) -> str:
    """Words and places; pieces are numbered as BERT numbers them."""
    words = np.asarray(trunk["embeddings.word_embeddings.weight"])
    words = words[RAISED:-1].copy()
    words[CLS], words[SEP] = (trunk["embeddings.word_embeddings.weight"][special] for special in (BEGIN, END))
    rows, scales = minilm.quantised(words.T)
    [codes] = g.op("Gather", g.constant(rows.T), "input_ids")
    [whole] = g.op("Cast", codes, to=TensorProto.FLOAT)
    [scale] = g.op("Gather", g.constant(scales[:, None]), "input_ids")
    [x] = g.op("Mul", whole, scale)
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


def _dense(g: Drawing, x: str, trunk: Tensors, name: str, bits: int) -> str:
    return _linear(g, x, trunk[f"{name}.weight"], trunk[f"{name}.bias"], bits)


def _linear(g: Drawing, x: str, weight: Array, bias: Array, bits: int) -> str:
    if bits == 32:
        [product] = g.op("MatMul", x, g.constant(weight.T))
    elif bits == 8:
        codes, scales = minilm.quantised(weight.T)
        args = (x, g.constant(codes), g.constant(scales), "", g.constant(bias))
        return g.op("DynamicQuantizeMatMul", *args, domain=FUSED)[0]
    else:
        codes, scales = minilm.four_bits(weight, BLOCK)
        outputs, inputs = weight.shape
        args = (x, g.constant(codes), g.constant(scales))
        options = {"K": inputs, "N": outputs, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        [product] = g.op("MatMulNBits", *args, domain=FUSED, **options)
    return g.op("Add", product, g.constant(bias))[0]


def _add_and_normalise(g: Drawing, x: str, skip: str, trunk: Tensors, name: str) -> str:
    norm = [g.constant(trunk[f"{name}.{kind}"]) for kind in ("weight", "bias")]
    [joined] = g.op("Add", x, skip)
    return g.op("LayerNormalization", joined, *norm, axis=-1, epsilon=EPSILON)[0]
