from collections.abc import Iterator

import pytest

from cragraph.passages import as_passages
from cragraph.store import Store, open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

TEXTS = [
    {"text": "Apple reported net revenue of 383 billion dollars.", "source": "filings/apple.md", "year": 2023},
    {"text": "Apple reported net revenue of 394 billion dollars.", "source": "filings/apple22.md", "year": 2022},
    {"text": "Intel reported net revenue of 54 billion dollars.", "source": "drafts/intel.md", "year": 2023},
    {"text": "Penguins swim under the ice and dive for krill.", "source": "birds.md", "year": 2020},
    {"text": "Whales sing, and nobody knows why they do.", "source": "whales.md", "year": 2020},
    {"text": "The ice of the south pole is four kilometres thick.", "source": "ice.md", "year": 2021},
]


@pytest.fixture
def passages() -> list[Passage]:
    return as_passages(TEXTS)


@pytest.fixture
def embeddings() -> HashEmbeddings:
    return HashEmbeddings(96)


@pytest.fixture
def store(passages: list[Passage], embeddings: HashEmbeddings) -> Iterator[Store]:
    with open_store(None, embeddings) as opened:
        opened.add(passages)
        yield opened
