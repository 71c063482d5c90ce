import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.store import Store
from cragraph.store.lexical import lexical_share


@given(
    scores=st.lists(st.floats(0, 50), min_size=2, max_size=6),
    counts=st.lists(st.integers(1, 1000), min_size=1, max_size=5),
    unknown=st.integers(0, 3),
)
def test_the_share_keeps_the_order_of_bm25(scores: list[float], counts: list[int], unknown: int) -> None:
    known = {f"w{i}": n for i, n in enumerate(counts)}
    asked = known | {f"u{i}": 0 for i in range(unknown)}
    shares = [lexical_share(score, known, asked, 1000) for score in sorted(scores)]
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_a_passage_with_every_word_once_scores_about_0_45_however_many_words_were_asked(store: Store) -> None:
    filler = [f"filler words number {i} for length here" for i in range(60)]
    store.add(as_passages(["alpha beta gamma delta some more words", *filler]))
    one, four = (store.lexical(query, 1)[0]["retrieval_score"] for query in ("alpha", "alpha beta gamma delta"))
    assert one == pytest.approx(1 / 2.2, abs=0.08)
    assert four == pytest.approx(one, abs=0.02)
