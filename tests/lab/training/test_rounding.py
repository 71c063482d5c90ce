"""Weights that are rounded with a look at what they are multiplied with."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx is for training alone and not installed here")

from lab.training.encoder_graph import quantised, rounded

LARGEST = 31


def test_rounding_that_minds_the_inputs_keeps_their_products_closer() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((900, 40)) @ rng.standard_normal((40, 200)) + 0.3 * rng.standard_normal((900, 200))
    weight = rng.standard_t(4, (200, 60)).astype(np.float32)
    weight[:, 7] = 0

    def far(codes: np.ndarray, scales: np.ndarray) -> float:
        return float(np.linalg.norm(inputs @ (codes * scales) - inputs @ weight))

    codes, scales = rounded(weight, LARGEST, inputs.T @ inputs)
    assert codes.dtype == np.int8
    assert np.abs(codes).max() <= LARGEST
    assert not codes[:, 7].any()
    assert far(codes, scales) < 0.6 * far(*quantised(weight, LARGEST))
