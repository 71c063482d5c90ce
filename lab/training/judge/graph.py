"""Draws what reads pairs of texts as parts of an ONNX graph: MiniLM's layers, and the heads for claims and their words.

A graph takes one pair at a time: `input_ids` and `types`, int64, 1 x pieces, no padding. One pair a call keeps a
claim's figures the same whatever it is judged together with, because the int8 layers scale their activations by the
largest value they see.
"""

import numpy as np
from onnx import TensorProto, helper

from lab.training import encoder_graph as minilm
from lab.training.encoder_graph import FUSED, HEADS, LAYERS, Array, Drawing, Smoothing, Tensors

MAX_TOKENS = 256


def trunk_of(g: Drawing, tensors: Tensors, smoothing: Smoothing | None) -> str:
    """Draw the layers of MiniLM for a pair of texts; gives the name of their last states, 1 x pieces x width."""
    trunk = {name.removeprefix("trunk."): value for name, value in tensors.items()}
    x = _embed(g, trunk, quantise=smoothing is not None)
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        parts = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
        packed = {kind: np.concatenate([trunk[f"{p}.{kind}"] for p in parts]) for kind in ("weight", "bias")}
        qkv = minilm._linear(g, x, packed["weight"], packed["bias"], smoothing)
        query, key, value = g.op("Split", qkv, outputs=3, axis=2, num_outputs=3)
        [seen] = g.op("MultiHeadAttention", query, key, value, domain=FUSED, num_heads=HEADS)
        seen = minilm._dense(g, seen, trunk, f"{at}attention.output.dense", smoothing)
        x = minilm._add_and_normalise(g, seen, x, trunk, f"{at}attention.output.LayerNorm")
        wide = minilm._dense(g, x, trunk, f"{at}intermediate.dense", smoothing)
        [wide] = g.op("Gelu", wide, domain=FUSED)
        narrow = minilm._dense(g, wide, trunk, f"{at}output.dense", smoothing)
        x = minilm._add_and_normalise(g, narrow, x, trunk, f"{at}output.LayerNorm")
    return x


def _embed(g: Drawing, trunk: Tensors, *, quantise: bool) -> str:
    words: Array = trunk["embeddings.word_embeddings.weight"]
    x = minilm.looked_up(g, words, 127 if quantise else 0)
    [kind] = g.op("Gather", g.constant(trunk["embeddings.token_type_embeddings.weight"]), "types")
    [x] = g.op("Add", x, kind)
    [count] = g.op("Shape", "input_ids", start=1, end=2)
    zero = g.constant(np.array([0]))
    places = g.constant(trunk["embeddings.position_embeddings.weight"][:MAX_TOKENS])
    [place] = g.op("Slice", places, zero, count, zero)
    [x] = g.op("Add", x, place)
    norm = [g.constant(trunk[f"embeddings.LayerNorm.{kind}"]) for kind in ("weight", "bias")]
    return g.op("LayerNormalization", x, *norm, axis=-1, epsilon=minilm.EPSILON)[0]


def heads(g: Drawing, x: str, tensors: Tensors, largest: int = 0) -> None:
    """What `GroundingNet.forward` makes of the states `x`: `claim` and `word`; `largest` as for `matrix`."""
    [word] = g.op("MatMul", x, g.constant(tensors["word.weight"].T))
    [word] = g.op("Add", word, g.constant(tensors["word.bias"]))
    axis = g.constant(np.array([2]))
    g.nodes.append(helper.make_node("Squeeze", [word, axis], ["word"]))
    # The claim's own pieces: type 0, without [CLS] at place 0; its [SEP] counts, as it did in training.
    [other] = g.op("Cast", "types", to=TensorProto.FLOAT)
    [own] = g.op("Sub", g.constant(np.array(1, np.float32)), other)
    [ones] = g.op("Slice", own, g.constant(np.array([1])), g.constant(np.array([2**31])), g.constant(np.array([1])))
    [own] = g.op("Concat", g.constant(np.zeros((1, 1), np.float32)), ones, axis=1)
    first = g.constant(np.array([1]))
    [size] = g.op("ReduceSum", own, first, keepdims=1)
    [share] = g.op("Div", own, size)
    [blocked] = g.op("Sub", g.constant(np.array(1, np.float32)), own)
    [blocked] = g.op("Mul", blocked, g.constant(np.array(-1e4, np.float32)))
    [doubt] = g.op("Add", "word", blocked)
    [doubt] = g.op("Softmax", doubt, axis=1)
    [start] = g.op("Gather", x, g.constant(np.array([0])), axis=1)
    [start] = g.op("Squeeze", start, first)
    seen = [start]
    for weight in (share, doubt):
        [column] = g.op("Unsqueeze", weight, axis)
        [part] = g.op("Mul", x, column)
        seen.extend(g.op("ReduceSum", part, first, keepdims=0))
    [joined] = g.op("Concat", *seen, axis=1)
    mix = minilm.matrix(g, tensors["mix.weight"], largest)
    [mixed] = g.op("Gemm", joined, mix, g.constant(tensors["mix.bias"]), transB=1)
    [mixed] = g.op("Tanh", mixed)
    claim = [mixed, g.constant(tensors["claim.weight"]), g.constant(tensors["claim.bias"])]
    g.nodes.append(helper.make_node("Gemm", claim, ["claim"], transB=1))
