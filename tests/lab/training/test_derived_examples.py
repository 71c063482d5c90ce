"""Training examples made from claims that people called supported, and the words that they draw on."""

import json
from pathlib import Path
from random import Random

import pytest

from lab.training.judge.compress import retell
from lab.training.judge.derive import MOST_HELD, derived_examples
from lab.training.judge.edits import EDITS, WIDE_EDITS, Material, apply
from lab.training.judge.lexicon import OPPOSITE, SAME, forms
from lab.training.judge.mix import made_examples
from lab.training.judge.rows import SUPPORTED, UNSUPPORTED, Example

MATERIAL = Material(["Maria Lopez"], [" in the harbour of Elsfleth"] * 60, {"bridge": ["tunnel"], "ferry": ["train"]})
TOWNS = ("Brake", "Elsfleth", "Nordenham", "Berne", "Lemwerder", "Stedingen", "Butjadingen", "Ovelgoenne")
THINGS = ("bridge", "ferry", "school", "harbour", "library", "museum", "mill", "market", "tower", "theatre")


@pytest.fixture(scope="module")
def known() -> list[Example]:
    """Two claims of people about each thing of each town, one of them in words of their own."""
    found = []
    for n, town in enumerate(TOWNS):
        for m, thing in enumerate(THINGS):
            year = 1800 + 10 * n + m
            passage = f"The {thing} of {town} was completed in {year} after two long winters and praised by visitors."
            found.append(Example(f"The {thing} of {town} was finished in {year}.", (passage,), SUPPORTED, (), "towns"))
            found.append(Example(f"Visitors praised the {thing} of {town}.", (passage,), SUPPORTED, (), "towns"))
    return found


@pytest.fixture(scope="module")
def derived(known: list[Example]) -> list[Example]:
    return derived_examples(known, 400, MATERIAL, Random(5))


def kind(example: Example) -> str:
    return example.source.split("/")[1]


def test_half_have_an_error_and_the_rest_is_retold_or_stands_before_other_passages(derived: list[Example]) -> None:
    counts = {name: sum(kind(example) == name for example in derived) for name in ("wrong", "retold", "elsewhere")}
    assert sum(counts.values()) == len(derived)
    assert counts["wrong"] >= 100
    assert counts["retold"] >= 80
    assert counts["elsewhere"] >= 80


def test_an_error_is_marked_where_it_is_and_makes_the_claim_false(derived: list[Example], known: list[Example]) -> None:
    claims = {example.claim for example in known}
    for example in derived:
        if kind(example) == "wrong":
            assert example.label != SUPPORTED
            assert example.claim not in claims
            assert example.spans
            assert all(0 <= start < end <= len(example.claim) for start, end in example.spans)


def test_a_retold_claim_has_other_words_and_still_holds(derived: list[Example], known: list[Example]) -> None:
    passages = {example.claim: example.passages for example in known}
    for example in derived:
        if kind(example) == "retold":
            assert example.label == SUPPORTED
            assert example.spans == ()
            assert example.claim not in passages


def test_passages_from_elsewhere_are_not_the_claims_own_and_hold_little_of_it(
    derived: list[Example], known: list[Example]
) -> None:
    own = {example.claim: example.passages for example in known}
    for example in derived:
        if kind(example) == "elsewhere":
            assert example.label == UNSUPPORTED
            assert example.passages != own[example.claim]
            town = next(t for t in TOWNS if t in example.claim)
            thing = next(t for t in THINGS if t in example.claim)
            text = example.passages[0]
            assert town not in text or thing not in text, f"more than {MOST_HELD} of the claim is there"


def test_the_same_seed_derives_the_same_examples(known: list[Example], derived: list[Example]) -> None:
    assert derived_examples(known, 400, MATERIAL, Random(5)) == derived
    assert derived_examples(known, 400, MATERIAL, Random(6)) != derived


def test_no_word_is_both_the_same_and_the_opposite_of_another() -> None:
    assert len(SAME) > 1000
    assert len(OPPOSITE) > 1000
    assert not [word for word, others in SAME.items() if set(others) & set(OPPOSITE.get(word, ()))]
    assert all(word not in others for table in (SAME, OPPOSITE) for word, others in table.items())


def test_opposites_count_both_ways() -> None:
    assert all(word in OPPOSITE[other] for word, others in OPPOSITE.items() for other in others)


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("show", ("show", "shows", "showed", "showing")),
        ("reduce", ("reduce", "reduces", "reduced", "reducing")),
        ("deny", ("deny", "denies", "denied", "denying")),
        ("employ", ("employ", "employs", "employed", "employing")),
        ("reach", ("reach", "reaches", "reached", "reaching")),
        ("stop", ("stop", "stops", "stopped", "stopping")),
        ("agree", ("agree", "agrees", "agreed", "agreeing")),
    ],
)
def test_regular_verbs_have_their_forms(verb: str, expected: tuple[str, ...]) -> None:
    assert forms(verb) == expected


def test_retelling_replaces_words_by_others_of_the_lexicon_alone() -> None:
    text = "The physician demonstrated a technique that reduces errors."
    told = {retell(text, Random(seed)) for seed in range(60)}
    assert len(told) > 5
    words = text.rstrip(".").split()
    for version in told:
        for old, new in zip(words, version.rstrip(".").split(), strict=True):
            assert new == old or new in SAME[old]


def test_an_opposite_out_of_the_lexicon_is_found_among_the_wide_edits_alone() -> None:
    text = "These deletions drive antibody escape."
    assert EDITS["opposite"][0](text, Random(1), MATERIAL) is None
    edit = WIDE_EDITS["opposite"][0](text, Random(1), MATERIAL)
    assert edit is not None
    assert apply(text, edit)[0] == "These deletions prevent antibody escape."


def test_the_lexicon_leaves_examples_without_it_as_they_were(tmp_path: Path) -> None:
    rows = [
        {"id": "a:1", "passages": ["The council approved a large bridge in May."], "answer": "x", "label": "supported"}
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row | {"spans": []}) + "\n" for row in rows))
    plain = {e.claim for e in made_examples([tmp_path / "a.jsonl"], 60, Random(7), {})}
    wide = {e.claim for e in made_examples([tmp_path / "a.jsonl"], 60, Random(7), {}, wide=True)}
    assert not [claim for claim in plain if "authorized" in claim]
    assert [claim for claim in wide if "authorized" in claim]
