"""Vectors as arrays."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cragraph.errors import StoreError

Floats = np.ndarray[Any, np.dtype[np.float32]]


def as_floats(vectors: Iterable[Sequence[float]]) -> Floats:
    """Vectors as float32 (n, dimension).

    Raises:
        StoreError: where they are of different lengths or hold something that is no finite number.
    """
    try:
        rows = list(vectors)
        array = np.asarray(rows, dtype=np.float32) if rows else np.empty((0, 0), dtype=np.float32)
    except ValueError as error:
        raise StoreError(
            f"the embedding model gave vectors of different lengths ({error}); wanted one length."
        ) from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise StoreError(
            f"the embedding model gave vectors of shape {array.shape} or not finite; wanted (n, dimension) numbers: "
            "try another model."
        )
    return array
