"""Embeddings that need no model: words hashed into a vector, the same for the same text, always."""

import math
import re
from collections.abc import Sequence
from hashlib import blake2b

from langchain_core.embeddings import Embeddings


class HashEmbeddings(Embeddings):
    """Bags of words hashed to `dimension` numbers of unit length; texts that share words are near each other.

    `asked` remembers every text that was embedded, in order. A text without words gets the first axis.
    """

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self.dimension = dimension
        self.name = f"{name}-{dimension}"
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        self.asked.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        self.asked.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            digest = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
            vector[digest % self.dimension] += 1.0 if digest >> 63 else -1.0
        length = math.sqrt(sum(number * number for number in vector))
        if not length:
            return [1.0] + [0.0] * (self.dimension - 1)
        return [number / length for number in vector]
