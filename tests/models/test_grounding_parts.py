import numpy as np
import pytest

from cragraph.models.grounding import Blend, blended
from cragraph.models.grounding_features import MAX_SENTENCE, sentences
from cragraph.models.weights import weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Who met J. Smith. They left.", ["Dr. Who met J. Smith.", "They left."]),
        ("Title\n\nBody text", ["Title", "Body text"]),
        ("It rose 3.5 percent.", ["It rose 3.5 percent."]),
        ("  \n ", []),
    ],
)
def test_sentences_are_cut_at_their_ends_with_exact_offsets(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def test_a_text_without_ends_is_cut_at_spaces() -> None:
    text = "word " * 300
    cuts = sentences(text)
    assert all(b - a <= MAX_SENTENCE for a, b in cuts)
    assert "".join(text[a:b] for a, b in cuts).replace(" ", "") == "word" * 300


def test_the_blend_rises_with_both_opinions_falls_with_an_objection_and_stays_a_probability() -> None:
    blend = Blend.from_card(weights("reading").card["blend"])
    low, middle, high = (blend.support(*pair, objected=False) for pair in ((0.2, -2.0), (0.6, -2.0), (0.6, 2.0)))
    assert 0 <= low < middle < high <= 1
    assert blend.support(0.6, 2.0, objected=True) < high
    assert np.isfinite(blended(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 0.4, 0.001)).all()
