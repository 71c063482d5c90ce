"""MiniLM in full precision on onnxruntime, as exported by lab/training/export_encoder.py, for comparison only."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

Vectors = NDArray[np.float32]


class ReferenceEncoder:
    """Mean pooling over real tokens, 256 at most, unit length, as the model's authors publish it."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "model.onnx").exists():
            raise SystemExit(f"{folder} holds no model.onnx; make it with: python -m lab.training.export_encoder")
        self.session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Vectors:
        ids = np.array([self.tokenizer.encode(text).ids])
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self.session.run(None, inputs)[0][0].mean(0)
        return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)
