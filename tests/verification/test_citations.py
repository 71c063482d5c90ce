from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.language.markers import find_markers
from cragraph.passages import as_passages
from cragraph.testing import judged, quoted, verdict
from cragraph.verification.citations import cite

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
    ("answer", "labels", "evidence", "text", "numbers"),
    [
        # right as they stand
        (f"{REVENUE} [1]. {PHONE} [2].", SS, [0, 1], f"{REVENUE} [1]. {PHONE} [2].", [(1, 0), (2, 1)]),
        # numbered by first appearance
        (f"{PHONE} [2]. {REVENUE} [1].", SS, [1, 0], f"{PHONE} [1]. {REVENUE} [2].", [(1, 1), (2, 0)]),
        # moved to the passage that supports
        (f"{REVENUE} [3]. {PHONE} [1].", SS, [0, 1], f"{REVENUE} [1]. {PHONE} [2].", [(1, 0), (2, 1)]),
        # names no passage at all: put right
        (f"{REVENUE} [9]. {PHONE} [12].", SS, [0, 1], f"{REVENUE} [1]. {PHONE} [2].", [(1, 0), (2, 1)]),
        # none was written
        (f"{REVENUE}. {PHONE}.", SS, [0, 1], f"{REVENUE} [1]. {PHONE} [2].", [(1, 0), (2, 1)]),
        # one is missing
        (f"{REVENUE}. {PHONE} [2].", SS, [0, 1], f"{REVENUE} [1]. {PHONE} [2].", [(1, 0), (2, 1)]),
        # the claim failed: its marker goes, and the blank before it
        (
            f"{REVENUE} [1]. Pigs fly [2].",
            ["supported", "unsupported"],
            [0, None],
            f"{REVENUE} [1]. Pigs fly.",
            [(1, 0)],
        ),
        (
            f"{REVENUE} [1]. It launched in 1999 [2].",
            ["supported", "contradicted"],
            [0, 1],
            f"{REVENUE} [1]. It launched in 1999.",
            [(1, 0)],
        ),
        # of several, the ones that do not support go
        (f"{REVENUE} [1, 3].", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        (f"{REVENUE} [1-3].", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        (f"{REVENUE} [2][1].", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        # after the full stop, without a blank, in other brackets, spelled out
        (f"{REVENUE}. [1] {PHONE}. [2]", SS, [0, 1], f"{REVENUE}. [1] {PHONE}. [2]", [(1, 0), (2, 1)]),
        (f"{REVENUE}[1].", ["supported"], [0], f"{REVENUE}[1].", [(1, 0)]),
        (f"{REVENUE}【1†source】.", ["supported"], [0], f"{REVENUE}[1].", [(1, 0)]),
        (f"{REVENUE} [Source: 1].", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        (f"{REVENUE} (Source: 1).", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        (f"{REVENUE} [^1].", ["supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        # partly supported: kept where it stands, never inserted
        (f"{REVENUE} [1].", ["partially_supported"], [0], f"{REVENUE} [1].", [(1, 0)]),
        (f"{REVENUE}.", ["partially_supported"], [0], f"{REVENUE}.", []),
        # nothing to go by
        ("", [], [], "", []),
        ("Pigs fly.", ["unsupported"], [None], "Pigs fly.", []),
    ],
)
def test_markers_are_verified_moved_dropped_inserted_and_numbered(
    answer: str, labels: list[str], evidence: list[int | None], text: str, numbers: list[tuple[int, int]]
) -> None:
    assert cited(answer, labels, evidence) == (text, numbers)


@pytest.mark.parametrize(
    "answer",
    [
        "Use `rows[1]` to read it.",
        "Use ``a[1]`` there.",
        "```python\nx = rows[1]\n```",
        "[1] first item\n\n[2] second item",
        "- [1] first item\n- [2] second item",
        "[1]: https://example.org",
        "See [1](https://example.org) there.",
        "The set x[1] is small.",
        "The value rows_seen[2] is small.",
        "The value rows[2] = 3 is small.",
        "It grew [sic] in [2023] by [a lot].",
        "An interval of [0] or [10-99].",
    ],
)
def test_brackets_that_are_no_markers_are_left_alone(answer: str) -> None:
    assert cite(answer, [], PASSAGES) == (answer, [])
    assert find_markers(answer) == [] or all(not (1 <= n <= 3) for m in find_markers(answer) for n in m.numbers)


def test_another_passage_that_says_the_same_may_be_cited_too() -> None:
    passages = as_passages(
        ["Revenue was $394 billion.", "In 2022 the revenue was $394 billion.", "Revenue was $383 billion."]
    )
    text, numbers = cited("Revenue was $394 billion [2].", ["supported"], [0], passages)
    assert (text, numbers) == ("Revenue was $394 billion [1].", [(1, 1)])
    text, numbers = cited("Revenue was $394 billion [3].", ["supported"], [0], passages)
    assert (text, numbers) == ("Revenue was $394 billion [1].", [(1, 0)])


def test_a_marker_within_a_sentence_speaks_for_the_words_before_it() -> None:
    answer = "Revenue was $394 billion in 2022 [1] and the phone was launched in 2007 [2]."
    text, citations = cite(answer, judged(answer, ["supported"], PASSAGES, [0]), PASSAGES)
    assert text == answer
    assert [c["chunk_id"] for c in citations] == [PASSAGES[0]["chunk_id"], PASSAGES[1]["chunk_id"]]


def test_two_claims_of_one_sentence_are_cited_each_at_its_end() -> None:
    answer = "Revenue was $394 billion and the phone was launched in 2007."
    first, second = answer.split(" and ")
    claims = [
        verdict(text=first, evidence=quoted(PASSAGES, 0)),
        verdict(text=second, start=answer.index(second), evidence=quoted(PASSAGES, 1)),
    ]
    assert cite(answer, claims, PASSAGES)[0] == "Revenue was $394 billion [1] and the phone was launched in 2007 [2]."


def test_without_verdicts_markers_that_name_a_passage_are_kept_as_not_verified() -> None:
    text, citations = cite(f"{REVENUE} [2]. Pigs fly [7].", [], PASSAGES)
    assert text == f"{REVENUE} [1]. Pigs fly."
    assert [(c["number"], c["verified"], c["quote"]) for c in citations] == [(1, False, "")]


@pytest.mark.parametrize(
    ("labels", "verified"), [(["supported"], True), (["partially_supported"], False), (["unjudged"], False)]
)
def test_a_citation_is_verified_only_where_its_claim_is_supported(labels: list[str], verified: bool) -> None:
    answer = f"{REVENUE} [1]."
    _, citations = cite(answer, judged(answer, labels, PASSAGES, [0]), PASSAGES)
    assert [c["verified"] for c in citations] == [verified]


def test_a_citation_used_twice_is_verified_only_if_both_sentences_are_supported() -> None:
    answer = f"{REVENUE} [1]. Costs fell by 3% [1]."
    _, one = cite(answer, judged(answer, ["supported", "unjudged"], PASSAGES, [0, None]), PASSAGES)
    _, both = cite(answer, judged(answer, SS, PASSAGES, [0, 0]), PASSAGES)
    assert [c["verified"] for c in one] == [False]
    assert [(c["number"], c["verified"]) for c in both] == [(1, True)]


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


def test_a_passage_cited_twice_shows_both_quotes_in_the_order_of_the_answer() -> None:
    passages = as_passages(["Costs fell by 3%. Sales rose by 5%. Rent stayed."])
    answer = "Sales rose by 5% [1]. Costs fell by 3% [1]. Sales rose by 5% [1]."
    claims = judged(answer, ["supported"] * 3, passages, [0, 0, 0])
    for claim, quote in zip(claims, ("Sales rose by 5%.", "Costs fell by 3%.", "Sales rose by 5%."), strict=True):
        claim["evidence"] = quoted(passages, 0, quote)
    _, [citation] = cite(answer, claims, passages)
    assert (citation["quote"], citation["quotes"]) == ("Sales rose by 5%.", ["Sales rose by 5%.", "Costs fell by 3%."])


def test_at_most_five_passages_are_cited_and_further_markers_go() -> None:
    passages = as_passages([f"Metal number {n} is heavy." for n in "abcdefg"])
    answer = " ".join(f"Metal number {n} is heavy." for n in "abcdefg")
    text, citations = cite(answer, judged(answer, ["supported"] * 7, passages, list(range(7))), passages)
    assert [c["number"] for c in citations] == [1, 2, 3, 4, 5]
    assert text.endswith("Metal number e is heavy [5]. Metal number f is heavy. Metal number g is heavy.")
    assert len(cite(answer, judged(answer, ["supported"] * 7, passages, list(range(7))), passages, most=2)[1]) == 2


@pytest.mark.parametrize("key", ["chunk_id", "prefix"])
def test_the_same_chunk_is_cited_once(key: str) -> None:
    one, other = as_passages([f"{REVENUE}. {'x' * 120} one", f"{REVENUE}. {'x' * 120} two"])
    for passage in (one, other):
        passage["chunk_id"] = "same" if key == "chunk_id" else ""
    answer = f"{REVENUE} [1]. {REVENUE} [2]."
    text, citations = cite(answer, judged(answer, SS, [one, other], [0, 1]), [one, other])
    assert (text, len(citations)) == (f"{REVENUE} [1]. {REVENUE} [1].", 1)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("- Revenue was $394 billion\n- Pigs fly", "- Revenue was $394 billion [1]\n- Pigs fly"),
        ("**Revenue was $394 billion.**\n\nPigs fly", "**Revenue was $394 billion.** [1]\n\nPigs fly"),
        ("“Revenue was $394 billion.”\n\nPigs fly", "“Revenue was $394 billion.” [1]\n\nPigs fly"),
        ("Revenue was $394 billion!\n\nPigs fly", "Revenue was $394 billion [1]!\n\nPigs fly"),
        ("Revenue is `x`\n\nPigs fly", "Revenue is `x` [1]\n\nPigs fly"),
    ],
)
def test_an_inserted_marker_stands_after_the_words_and_before_the_stop(answer: str, text: str) -> None:
    assert cited(answer, ["supported", "unsupported"], [0, None])[0] == text


def test_a_marker_in_a_table_stays_in_its_cell() -> None:
    row = "| Revenue | $394 billion |"
    answer = f"| What | How much |\n|---|---|\n{row}"
    claims = [verdict(text=row, start=answer.index(row), evidence=quoted(PASSAGES, 0))]
    assert cite(answer, claims, PASSAGES)[0].endswith("| Revenue | $394 billion [1] |")


def test_nothing_is_inserted_into_a_code_block() -> None:
    answer = "```\nRevenue was $394 billion\n```"
    claims = [verdict(text=answer, evidence=quoted(PASSAGES, 0))]
    assert cite(answer, claims, PASSAGES) == (answer, [])


def test_offsets_that_a_judge_guessed_cut_no_word() -> None:
    answer = "Revenue was enormous."
    claims = [verdict(text="Revenue was eno", evidence=quoted(PASSAGES, 0))]
    assert cite(answer, claims, PASSAGES)[0] == "Revenue was enormous [1]."


def test_opinions_get_no_marker() -> None:
    answer = "I like revenue."
    claims = [verdict(text=answer, type="opinion", evidence=quoted(PASSAGES, 0))]
    assert cite(answer, claims, PASSAGES) == (answer, [])


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
