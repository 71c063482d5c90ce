"""Tiny classifiers of the tests' own making: words of the premise vote for entailment or contradiction."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "yes",
    "no",
    "sales",
    "rose",
    "fell",
    "in",
    "spring",
    ".",
    "costs",
    "not",
    "never",
    "open",
]
LABELS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
YES, NO = WORDS.index("yes"), WORDS.index("no")


def make_nli(folder: Path, labels: tuple[str, ...] = ("entailment", "neutral", "contradiction"), **config: Any) -> Path:
    """Writes a model whose premise says "yes" for entailment and "no" for contradiction; labels in any order."""
    votes = np.zeros((len(WORDS), len(labels)), dtype=np.float32)
    for column, label in enumerate(labels):
        votes[YES if label.lower().startswith(("entail", "support")) else NO, column] = 5.0
        if label.lower().startswith(("neutral", "not")):
            votes[:, column] = 0.3
            votes[NO, column] = 0.0
    save(folder / "model.onnx", votes)
    tokenizer().save(str(folder / "tokenizer.json"))
    said = {"id2label": {str(i): label for i, label in enumerate(labels)}, "max_position_embeddings": 64} | config
    (folder / "config.json").write_text(json.dumps(said))
    return folder


def make_reader_of_claims(
    folder: Path, columns: str, *, length: int | None = None, tokens: bool = False, batch: int | None = None
) -> Path:
    """Writes a model that reads the claim alone; `columns` orders its outputs by the first letters of their labels.

    Claims with "no", "not", "never" or "open" are contradicted. With `tokens` it is a token classifier.
    """
    votes = np.zeros((len(WORDS), len(columns)), dtype=np.float32)
    votes[WORDS.index("[SEP]"), columns.index("e")] = 0.0 if tokens else 2.0
    votes[:, columns.index("e")] += 4.0 if tokens else 0.0
    for word in ("no", "not", "never", "open"):
        votes[WORDS.index(word), columns.index("c")] = 9.0
    save(folder / "model.onnx", votes, claim=True, tokens=tokens, size=(batch or "batch", length or "length"))
    tokenizer().save(str(folder / "tokenizer.json"))
    labels = {str(i): LABELS[letter] for i, letter in enumerate(columns)}
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return folder


def save(
    path: Path,
    votes: np.ndarray[Any, Any],
    *,
    claim: bool = False,
    tokens: bool = False,
    size: tuple[int | str, int | str] = ("batch", "length"),
) -> None:
    """Logits are the sum of the premise's votes (tokens of the claim have type 1), or of the claim's, or a token's."""
    make, number = onnx.helper.make_node, onnx.TensorProto
    nodes = [
        make("Gather", ["votes", "input_ids"], ["each"]),
        make("Cast", ["attention_mask"], ["mask"], to=number.FLOAT),
        make("Cast", ["token_type_ids"], ["types"], to=number.FLOAT),
        make("Sub", ["one", "types"], ["premise"]),
        make("Mul", ["mask", "types" if claim else "premise"], ["kept"]),
        make("Unsqueeze", ["kept", "last"], ["column"]),
        make("Mul", ["each", "column"], ["logits" if tokens else "counted"]),
        *([] if tokens else [make("ReduceSum", ["counted", "axis"], ["logits"], keepdims=0)]),
    ]
    inputs = [
        onnx.helper.make_tensor_value_info(name, number.INT64, list(size))
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    shape = [*size, votes.shape[1]] if tokens else [size[0], votes.shape[1]]
    output = onnx.helper.make_tensor_value_info("logits", number.FLOAT, shape)
    constants = [
        onnx.numpy_helper.from_array(votes, "votes"),
        onnx.numpy_helper.from_array(np.array(1.0, dtype=np.float32), "one"),
        onnx.numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
        onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
    ]
    graph = onnx.helper.make_graph(nodes, "votes", inputs, [output], constants)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))],
    )
    return made
