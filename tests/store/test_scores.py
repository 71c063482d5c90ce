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


def test_a_query_of_unknown_words_scores_low_however_well_one_word_fits(store: Store) -> None:
    store.add(as_passages(["alpha alpha alpha", *(f"filler {i}" for i in range(20))]))
    known = store.lexical("alpha", 1)[0]["retrieval_score"] or 0.0
    mostly_unknown = store.lexical("alpha zzz yyy xxx www", 1)[0]["retrieval_score"] or 0.0
    assert mostly_unknown < known / 3


def test_a_single_passage_still_has_a_score(store: Store) -> None:
    store.add(as_passages(["Penguins swim under the ice."]))
    score = store.lexical("penguins under ice", 1)[0]["retrieval_score"] or 0.0
    assert 0.3 < score <= 1.0
