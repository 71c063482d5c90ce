"""The embedded sentence encoder: int8 MiniLM on onnxruntime.

Texts go through it one at a time: int8 layers scale by the largest value of a batch, so a text's vector would depend on
its neighbours.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cragraph.models.weights import CLS, SEP, Shipped, open_tokenizer, opened, side_by_side, whole

Vectors = NDArray[np.float32]

_LONGEST: Final = 16_384  # characters that are tokenised at most: far more than 256 tokens of prose


def is_known_word(word: str) -> bool:
    """Whether a lower-case word is in the networks' vocabulary, as nearly every correctly spelt word is."""
    return open_tokenizer().token_to_id(word) is not None


class Encoder(Shipped):
    """Turns texts, read up to their 256th token, into unit-length vectors of 384 numbers.

    The same text always gets the same vector, bit for bit, whatever it is embedded together with.
    """

    network = "encoder"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._weights.card["dimension"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed many texts: float32, shape (len(texts), dimension), each row of unit length."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        session, tokenizer = opened("encoder", self._folder), open_tokenizer(self._folder)
        most = self._weights.card["max_tokens"] - 2

        def vector(text: str) -> Vectors:
            pieces = tokenizer.encode(whole(text[:_LONGEST]), add_special_tokens=False).ids[:most]
            [vectors] = session.run(None, {"input_ids": np.array([[CLS, *pieces, SEP]], dtype=np.int64)})
            return np.asarray(vectors[0], dtype=np.float32)

        distinct = list(dict.fromkeys(texts))
        row = dict(zip(distinct, side_by_side(vector, distinct, self.threads, size=len), strict=True))
        return np.stack([row[text] for text in texts])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed many texts, in order."""
        rows: list[list[float]] = self.embed(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Embed one question; MiniLM treats questions and documents alike."""
        return self.embed_documents([text])[0]
