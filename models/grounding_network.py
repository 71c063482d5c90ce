"""The grounding network on onnxruntime: one claim with its digest a call, several calls at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from cragraph.errors import WeightsError
from cragraph.models.grounding_text import Floats, Ints
from cragraph.models.weights import Weights

CLS: Final = 101
SEP: Final = 102
MAX_CLAIM: Final = 96
"""Word pieces of a claim in one call; longer claims are judged in parts."""
MAX_PIECES: Final = 256

_loaded: dict[Path, "Network"] = {}
_loading: Final = Lock()


@dataclass(frozen=True)
class Network:
    """A loaded session; may be called from many threads at once."""

    session: Any

    def __call__(self, claim: Ints, passage: Ints) -> tuple[Floats, Floats]:
        """Logits of one pair: (3,) for supported, unsupported, contradicted; (pieces of the claim,) for its words."""
        own = claim[:MAX_CLAIM]
        other = passage[: MAX_PIECES - len(own) - 3]
        ids = np.concatenate([[CLS], own, [SEP], other, [SEP]]).astype(np.int64)
        types = np.zeros_like(ids)
        types[len(own) + 2 :] = 1
        scores, words = self.session.run(["claim", "word"], {"input_ids": ids[None], "types": types[None]})
        return scores[0], words[0, 1 : len(own) + 1]

    def many(self, pairs: Sequence[tuple[Ints, Ints]], threads: int) -> list[tuple[Floats, Floats]]:
        """The logits of many pairs, in order; `threads` calls run side by side, the longest first."""
        order = sorted(range(len(pairs)), key=lambda i: -(len(pairs[i][0]) + len(pairs[i][1])))
        if min(threads, len(pairs)) < 2:
            return [self(*pair) for pair in pairs]
        with ThreadPoolExecutor(min(threads, len(pairs)), thread_name_prefix="cragraph-grounding") as pool:
            found = dict(zip(order, pool.map(lambda i: self(*pairs[i]), order), strict=True))
        return [found[i] for i in range(len(pairs))]


def load_network(parts: Weights) -> Network:
    """The network of these weights, loaded by the first caller; one a process."""
    with _loading:
        if parts.folder not in _loaded:
            _loaded[parts.folder] = open_network(parts.path("grounding.onnx"))
        return _loaded[parts.folder]


def open_network(path: Path) -> Network:
    """A session of its own for a model file; raises WeightsError where onnxruntime cannot read it."""
    # Imported here because onnxruntime takes longer to import than a command line should take to print its help.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a pair: sums are then always added in the same order.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises bare Exceptions of its own
        raise WeightsError(
            f"onnxruntime {onnxruntime.__version__} cannot load {path.name} ({error}); wanted 1.20 or newer: "
            "pip install --upgrade onnxruntime."
        ) from error
    return Network(session)
