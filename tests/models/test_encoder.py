import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cragraph.errors import WeightsError
from cragraph.models import weights as shipped
from cragraph.models.embeddings import EmbeddedEncoder

SENTENCES = [
    "The board approved a dividend of $0.24 a share in May 2023.",
    "Revenue rose.",
    "A wing in a slipstream has more lift than a wing without one, and the difference grows with the angle. " * 4,
    "Berlin ist die Hauptstadt von Deutschland.",
    "cat",
    "",
]


@pytest.fixture(scope="module")
def encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder(threads=2)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_vector_is_the_same_bit_for_bit_alone_in_any_company_and_on_any_number_of_threads(threads: int) -> None:
    alone = np.stack([EmbeddedEncoder(threads=1).embed([text])[0] for text in SENTENCES])
    together = EmbeddedEncoder(threads=threads).embed(SENTENCES)
    backwards = EmbeddedEncoder(threads=threads).embed(SENTENCES[::-1])[::-1]
    assert np.array_equal(alone, together)
    assert np.array_equal(alone, backwards)


@pytest.mark.slow
def test_the_model_is_loaded_once_however_many_threads_ask_first() -> None:
    code = (
        "import onnxruntime\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from cragraph.models.embeddings import EmbeddedEncoder\n"
        "opened, real = [], onnxruntime.InferenceSession\n"
        "def count(*args, **options):\n"
        "    opened.append(args)\n"
        "    return real(*args, **options)\n"
        "onnxruntime.InferenceSession = count\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    list(pool.map(lambda i: EmbeddedEncoder().embed([str(i)]), range(8)))\n"
        "print(len(opened))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("encoder.json", "encoder.onnx", "encoder-tokenizer.json"):
        shutil.copy(shipped.DATA / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("encoder.onnx", b"not a model", "damaged or of another version"),
        ("encoder.onnx", None, "encoder.onnx is missing"),
        ("encoder-tokenizer.json", b"{}", "damaged or of another version"),
        ("encoder.json", None, "encoder.json is missing"),
        ("encoder.json", b"{", "cannot be read"),
        ("encoder.json", b"{}", "lacks name, version or files"),
    ],
)
def test_damaged_weights_are_an_error_that_says_what_to_do(
    copy: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    with pytest.raises(WeightsError, match=message) as caught:
        EmbeddedEncoder(folder=copy).embed(["text"])
    assert "reinstall cragraph" in str(caught.value)


def test_one_changed_byte_in_the_weights_is_noticed(copy: Path) -> None:
    model = copy / "encoder.onnx"
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
    with pytest.raises(WeightsError, match="damaged"):
        EmbeddedEncoder(folder=copy).embed(["text"])
