from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.language.markers import find_markers
from cragraph.passages import as_passages
from cragraph.testing import judged, quoted, verdict
from cragraph.verification.citations import cite
from tests.support.cases import cases

PASSAGES = as_passages(
    [
        {"text": "Revenue was $394 billion in 2022. Costs fell by 3%.", "source": "docs/a.md", "page": 4, "year": 2022},
        {"text": "The phone was launched in 2007 in the United States.", "source": "docs/b.md"},
        {"text": "Staff numbered 164,000 people.", "source": "docs/c.md"},
    ]
)
REVENUE, PHONE = "Revenue was $394 billion", "The phone was launched in 2007"


def cited(answer: str, labels: list[str], evidence: list[int | None], passages: Any = PASSAGES, **more: Any):
    text, citations = cite(answer, judged(answer, labels, passages, evidence), passages, **more)
    return text, [(c["number"], passages.index(next(p for p in passages if p["text"] == c["text"]))) for c in citations]


SS = ["supported", "supported"]


@pytest.mark.parametrize(
    ("answer", "labels", "evidence", "text", "numbers"), cases("verification/citations", "markers are verified moved")
)
def test_markers_are_verified_moved_dropped_inserted_and_numbered(
    answer: str, labels: list[str], evidence: list[int | None], text: str, numbers: list[list[int]]
) -> None:
    assert cited(answer, labels, evidence) == (text, [tuple(pair) for pair in numbers])


@pytest.mark.parametrize("answer", cases("verification/citations", "brackets that"))
def test_brackets_that_are_no_markers_are_left_alone(answer: str) -> None:
    assert cite(answer, [], PASSAGES) == (answer, [])
    assert find_markers(answer) == [] or all(not (1 <= n <= 3) for m in find_markers(answer) for n in m.numbers)


@pytest.mark.parametrize(
    ("labels", "verified"), [(["supported"], True), (["partially_supported"], False), (["unjudged"], False)]
)
def test_a_citation_is_verified_only_where_its_claim_is_supported(labels: list[str], verified: bool) -> None:
    answer = f"{REVENUE} [1]."
    _, citations = cite(answer, judged(answer, labels, PASSAGES, [0]), PASSAGES)
    assert [c["verified"] for c in citations] == [verified]


def test_a_citation_has_the_documented_fields() -> None:
    answer = f"{REVENUE}."
    claims = judged(answer, ["supported"])
    claims[0]["evidence"] = quoted(PASSAGES, 0, "$394 billion")
    _, [citation] = cite(answer, claims, PASSAGES)
    passage = PASSAGES[0]
    assert citation == {
        "number": 1,
        "text": passage["text"],
        "quote": "$394 billion",
        "quotes": ["$394 billion"],
        "metadata": {
            "year": 2022,
            "chunk_id": passage["chunk_id"],
            "doc_id": passage["doc_id"],
            "chunk_index": 0,
            "start_index": 0,
            "filename": "a.md",
            "source": "docs/a.md",
            "page": 4,
        },
        "chunk_id": passage["chunk_id"],
        "doc_id": passage["doc_id"],
        "start_index": 0,
        "verified": True,
    }


@pytest.mark.parametrize(("answer", "text"), cases("verification/citations", "an inserted marker stands"))
def test_an_inserted_marker_stands_after_the_words_and_before_the_stop(answer: str, text: str) -> None:
    assert cited(answer, ["supported", "unsupported"], [0, None])[0] == text


PIECES = st.lists(
    st.sampled_from(
        [
            REVENUE,
            PHONE,
            "Pigs fly",
            ". ",
            " [1]",
            "[2]",
            " [1, 9]",
            "【3】",
            "\n",
            "- ",
            "`a[1]`",
            " x[1]",
            "[1] ",
            "|",
            "! ",
        ]
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.data())
def test_every_marker_points_at_a_citation_and_every_citation_has_one(answer: str, data: st.DataObject) -> None:
    from cragraph.language.sentences import sentence_spans

    count = len(sentence_spans(answer))
    labels = data.draw(
        st.lists(st.sampled_from(["supported", "unsupported", "unjudged"]), min_size=count, max_size=count)
    )
    evidence = [data.draw(st.sampled_from([0, 1, 2])) if label == "supported" else None for label in labels]
    text, citations = cite(answer, judged(answer, labels, PASSAGES, evidence), PASSAGES)
    numbers = [citation["number"] for citation in citations]
    assert numbers == list(range(1, len(citations) + 1))
    assert len(citations) <= 3
    for citation in citations:
        assert f"[{citation['number']}]" in text


def test_a_citation_names_the_heading_that_its_quote_stands_under() -> None:
    text = "## Keys\n\nThree of them.\n\n## Lamp\n\nIt is green."
    about = {"heading": "Desk > Keys", "headings": [[25, "Desk > Lamp"]]}
    passages = as_passages([{"text": text, "metadata": about}])
    for said, heading in (("It is green.", "Desk > Lamp"), ("Three of them.", "Desk > Keys")):
        held = {**verdict("supported", said), "evidence": quoted(passages, 0, said)}
        [citation] = cite(f"{said} [1]", [held], passages)[1]
        assert (citation["metadata"]["heading"], "headings" in citation["metadata"]) == (heading, False)


def test_at_most_five_passages_are_cited_and_further_markers_go() -> None:
    passages = as_passages([f"Metal number {n} is heavy." for n in "abcdefg"])
    answer = " ".join(f"Metal number {n} is heavy." for n in "abcdefg")
    text, citations = cite(answer, judged(answer, ["supported"] * 7, passages, list(range(7))), passages)
    assert [c["number"] for c in citations] == [1, 2, 3, 4, 5]
    assert text.endswith("Metal number e is heavy [5]. Metal number f is heavy. Metal number g is heavy.")
    assert len(cite(answer, judged(answer, ["supported"] * 7, passages, list(range(7))), passages, most=2)[1]) == 2
