import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import HashEmbeddings
from cragraph.types import Claim
from lab.evals.grounding import simple_judges

PASSAGES = as_passages(["The mill opened in 1820. It burned down in 1901.", "Berlin is a city."])


def claim(text: str) -> Claim:
    return Claim(text=text, start=0, end=len(text), type="factual")


def test_coverage_is_the_share_of_words_and_sees_no_contradiction() -> None:
    judge = simple_judges(None)["coverage"]
    held, opposite, foreign = judge(
        [claim("The mill opened in 1820."), claim("The mill never opened in 1820."), claim("Zebras graze.")],
        PASSAGES,
        Notes(),
    )
    assert held["support"] == pytest.approx(1.0)
    assert opposite["verdict"] == "supported"
    assert (foreign["verdict"], foreign["support"]) == ("unsupported", 0.0)


def test_similarity_is_the_cosine_to_the_closest_window() -> None:
    judge = simple_judges(HashEmbeddings(64))["similarity"]
    copied, other = judge([claim("Berlin is a city."), claim("The mill opened.")], PASSAGES, Notes())
    assert copied["support"] > 0.99
    assert 0.0 <= other["support"] < 0.99
    assert judge([claim("Anything at all.")], as_passages([""]), Notes())[0]["support"] == 0.0


def test_without_embeddings_there_is_no_similarity_judge() -> None:
    assert set(simple_judges(None)) == {"coverage"}
