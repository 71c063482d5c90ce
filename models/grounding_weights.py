"""Opens the reader that goes with the grounding weights: the encoder's tokenizer and the idf of the card."""

from base64 import b64decode, b64encode
from functools import cache
from pathlib import Path

import numpy as np

from cragraph.errors import WeightsError
from cragraph.models.grounding_text import Floats, Reader
from cragraph.models.weights import Weights, weights

STEP = 1 / 16
"""One idf step: the table ships as one byte a word piece."""


def pack_idf(idf: Floats) -> str:
    """An idf table as text for the card."""
    return b64encode(np.round(idf / STEP).clip(0, 255).astype(np.uint8).tobytes()).decode("ascii")


def unpack_idf(packed: str) -> Floats:
    """The idf table that `pack_idf` wrote, to within half a step."""
    return np.frombuffer(b64decode(packed), np.uint8).astype(np.float32) * np.float32(STEP)


def open_reader(parts: Weights, folder: Path) -> Reader:
    """The reader of these weights, one a process; raises WeightsError where tokenizer and table do not fit."""
    return _open(str(weights("encoder", folder).path("encoder-tokenizer.json")), str(parts.card["idf"]))


@cache
def _open(tokenizer: str, packed: str) -> Reader:
    from tokenizers import Tokenizer

    try:
        tok = Tokenizer.from_file(tokenizer)
    except Exception as error:  # tokenizers raises bare Exceptions of its own
        raise WeightsError(
            f"tokenizers cannot load {Path(tokenizer).name} ({error}): pip install --upgrade tokenizers."
        ) from error
    tok.no_padding()
    tok.no_truncation()
    idf = unpack_idf(packed)
    if len(idf) != tok.get_vocab_size():
        raise WeightsError(
            f"the grounding card weighs {len(idf)} word pieces, the tokenizer has {tok.get_vocab_size()}; they come "
            "from different versions: reinstall cragraph (pip install --force-reinstall cragraph)."
        )
    return Reader(tok, idf)
