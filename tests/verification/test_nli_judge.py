"""The entailment judge on a tiny ONNX model of the test's own making: words vote for entailment or contradiction."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import WeightsError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Passage
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.classifiers import NLIJudge
from tests.support.cases import cases

pytest.importorskip("onnx", reason="the tiny model is built with onnx (the dev extra)")

Build = Callable[..., Path]


PASSAGES: list[Passage] = as_passages(["in spring sales rose yes .", "costs fell no no ."])


def judged(judge: NLIJudge, claim: str, passages: list[Passage]) -> str:
    [verdict] = judge(split_claims(claim), passages, Notes())
    return verdict["verdict"]


def both(judge: NLIJudge) -> list[str]:
    return [judged(judge, "Sales rose.", PASSAGES[:1]), judged(judge, "Costs rose.", PASSAGES[1:])]


def test_entailment_supports_and_contradiction_contradicts(build: Build) -> None:
    judge = NLIJudge(build())
    [first] = judge(split_claims("Sales rose."), PASSAGES[:1], Notes())
    [second] = judge(split_claims("Costs rose."), as_passages(["the sun", PASSAGES[1]["text"]]), Notes())
    assert (first["verdict"], second["verdict"]) == ("supported", "contradicted")
    assert first["support"] > 0.9
    assert second["contradiction"] > 0.75
    assert first["evidence"] is not None
    assert first["evidence"]["quote"] == "in spring sales rose yes ."
    assert second["evidence"] is not None
    assert second["evidence"]["passage"] == 1


@pytest.mark.parametrize("labels", cases("verification/nli_judge", "the order of labels"))
def test_the_order_of_labels_is_read_from_the_config(build: Build, labels: tuple[str, ...]) -> None:
    assert both(NLIJudge(build(labels))) == ["supported", "contradicted"]


def test_a_place_that_does_not_exist_is_named() -> None:
    with pytest.raises(WeightsError, match=r"no_such_folder holds no model.onnx and no tokenizer.json and no config"):
        NLIJudge("no_such_folder")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(build: Build, missing: str) -> None:
    folder = build()
    (folder / missing).unlink()
    with pytest.raises(WeightsError, match=f"holds no {missing}; wanted an ONNX classifier"):
        NLIJudge(folder)


@pytest.mark.parametrize("labels", [("neutral", "contradiction"), ("entailment", "maybe"), ("LABEL_0", "LABEL_1")])
def test_labels_that_do_not_say_what_they_mean_are_refused(build: Build, labels: tuple[str, ...]) -> None:
    with pytest.raises(WeightsError, match="name them in id2label"):
        NLIJudge(build(labels))


@pytest.mark.parametrize("config", ["{", "[]"])
def test_a_config_that_cannot_be_read_is_named(build: Build, config: str) -> None:
    folder = build()
    (folder / "config.json").write_text(config)
    with pytest.raises(WeightsError, match=r"config\.json"):
        NLIJudge(folder)


@pytest.mark.parametrize("size", [{"length": 32}, {"length": 32, "batch": 1}, {"tokens": True}])
def test_a_model_of_fixed_size_or_of_tokens_judges_too(reader_of_claims: Build, size: dict[str, Any]) -> None:
    judge = NLIJudge(reader_of_claims("ec", **size))
    assert judged(judge, "Sales rose in spring.", PASSAGES[:1]) == "supported"
    assert judged(judge, "Sales never rose in spring.", PASSAGES[:1]) != "supported"


def test_an_output_with_fewer_columns_than_labels_is_named(build: Build) -> None:
    folder = build(("neutral", "entailment"))
    (folder / "config.json").write_text(json.dumps({"id2label": {"0": "neutral", "5": "entailment"}}))
    with pytest.raises(WeightsError, match="a logit for each label"):
        NLIJudge(folder)(split_claims("sales rose."), PASSAGES, Notes())
