"""A shipped int8 network as a net to train on from; RUN gets net.pt.

    python -m training.judge.restore RUN [--reader]

The codes times their scales, with what SmoothQuant moved into the weights divided out again, are within half a step of
the trained weights; the figures of int8 and full precision differ by less than .002 AUROC.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper

from cragraph.models.weights import DATA
from training.encoder_graph import LAYERS, WIDTH, Array
from training.judge.model import GroundingNet
from training.judge.prepare import minilm
from training.reader.train import ReaderNet

FIRST = 7
"""Constants of the graph before its first layer: embeddings and their norm."""
PER_LAYER = 19


def restored(path: Path) -> dict[str, Array]:
    """The tensors of a drawn int8 graph by their names in the net."""
    constants = [numpy_helper.to_array(c) for c in onnx.load(str(path)).graph.initializer]
    trunk = "trunk.embeddings."
    found: dict[str, Array] = {
        f"{trunk}word_embeddings.weight": constants[0] * constants[1],
        f"{trunk}token_type_embeddings.weight": constants[2],
        f"{trunk}position_embeddings.weight": constants[4],
        f"{trunk}LayerNorm.weight": constants[5],
        f"{trunk}LayerNorm.bias": constants[6],
    }
    for layer in range(LAYERS):
        own = iter(constants[FIRST + PER_LAYER * layer :])
        at = f"trunk.encoder.layer.{layer}."

        def linear(*, smoothed: bool, own: object = own) -> tuple[Array, Array]:
            inverse = next(own) if smoothed else 1.0  # type: ignore[call-overload]
            codes, scales, bias = (next(own) for _ in range(3))  # type: ignore[call-overload]
            return (codes * scales).T * inverse, bias

        joint = linear(smoothed=True)
        for number, name in enumerate(("query", "key", "value")):
            for kind, value in zip(("weight", "bias"), joint, strict=True):
                found[f"{at}attention.self.{name}.{kind}"] = value[number * WIDTH : (number + 1) * WIDTH]
        for name, smoothed, norm in (
            ("attention.output", False, True),
            ("intermediate", True, False),
            ("output", True, True),
        ):
            for kind, value in zip(("weight", "bias"), linear(smoothed=smoothed), strict=True):
                found[f"{at}{name}.dense.{kind}"] = value
            if norm:
                for kind in ("weight", "bias"):
                    found[f"{at}{name}.LayerNorm.{kind}"] = next(own)
    heads = constants[FIRST + PER_LAYER * LAYERS :]
    return found | (reader_heads(heads) if "reader" in path.name else judge_heads(heads))


def judge_heads(constants: Sequence[Array]) -> dict[str, Array]:
    """The tensors after the trunk of the judge's graph."""
    matrices = [c for c in constants if c.size >= WIDTH or c.shape in ((3,), (WIDTH,))]
    word, mix, mix_bias, claim, claim_bias = matrices
    bias = next(c for c in constants if c.shape == (1,) and c.dtype == word.dtype)
    return {
        "word.weight": word.T,
        "word.bias": bias,
        "mix.weight": mix,
        "mix.bias": mix_bias,
        "claim.weight": claim,
        "claim.bias": claim_bias,
    }


def reader_heads(constants: Sequence[Array]) -> dict[str, Array]:
    """The tensors after the trunk of the reader's graph."""
    piece, piece_bias, mix, mix_bias, answer = (c for c in constants if c.size >= WIDTH or c.shape == (3,))
    return {
        "piece.weight": piece.T,
        "piece.bias": piece_bias,
        "mix.weight": mix,
        "mix.bias": mix_bias,
        "answer.weight": answer,
        "answer.bias": constants[-1],
    }


def main() -> None:
    """Write the net."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--reader", action="store_true", help="the reader instead of the judge")
    given = parser.parse_args()
    given.run.mkdir(parents=True, exist_ok=True)
    net = (ReaderNet if given.reader else GroundingNet).from_minilm(minilm())
    state = net.state_dict()
    for name, value in restored(DATA / ("reader.onnx" if given.reader else "grounding.onnx")).items():
        tensor = torch.from_numpy(value.copy()).float()
        if name.endswith("position_embeddings.weight"):
            state[name][: len(tensor)] = tensor
        else:
            assert state[name].shape == tensor.shape, (name, state[name].shape, tensor.shape)
            state[name] = tensor
    torch.save(state, given.run / "net.pt")


if __name__ == "__main__":
    main()
