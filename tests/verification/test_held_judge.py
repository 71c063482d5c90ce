"""Whoever judges, a claim is worth no more than the encoder's reading says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cragraph.build import Parts
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.testing import quoted, verdict
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.llm import held
from cragraph.verification.judges.verdicts import best_sentence
from cragraph.verification.result import CREDIT
from tests.support.ollama import ModelInfo, OllamaServer, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

ROWS = [
    json.loads(line)
    for name in ("reworded", "reworded-second")
    for line in (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
FALSE = [row for row in ROWS if row["label"] != "supported"]
PASSAGES = as_passages(["Ann Lee lent Ben Cole the key on 3 May."])


def obedient(passages: Any) -> Any:
    """A judge that calls every claim supported and quotes the sentence that is nearest to it."""

    def reply(request: Request) -> dict[str, Any]:
        rows = []
        for number, claim in re.findall(r"^(\d+)\. (.*)", request.prompt.rpartition("<<claims")[2], re.M):
            near = best_sentence(claim, passages, share=0.0)
            quote = near["quote"] if near else passages[0]["text"]
            rows.append({"n": int(number), "status": "SUPPORTED", "evidence": quote})
        return {"claims": rows}

    return reply


@pytest.mark.slow
def test_a_model_that_calls_every_false_claim_supported_passes_no_more_than_the_encoder() -> None:
    some = FALSE[::6]
    assert len(some) >= 10
    with OllamaServer() as server:
        parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
        for row in some:
            passages, claims = as_passages(row["passages"]), split_claims(row["answer"])
            server.play(obedient(passages))
            asked = {name: parts.judges[name](claims, passages, Notes(), question="") for name in ("llm", "encoder")}
            for judged, own in zip(asked["llm"], asked["encoder"], strict=True):
                assert judged["support"] <= own["support"], row["id"]
                assert CREDIT[judged["verdict"]] <= CREDIT[own["verdict"]], row["id"]


def test_roles_that_were_exchanged_are_not_passed_by_a_judge_that_says_so() -> None:
    claims = split_claims("Ben Cole lent Ann Lee the key on 3 May.")
    with OllamaServer(obedient(PASSAGES)) as server:
        parts = Parts(load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url))
        [judged] = parts.judges["llm"](claims, PASSAGES, Notes(), question="Who lent the key?")
    assert judged["verdict"] != "supported"
    assert judged["judge"] == "llm"


def test_a_judge_may_find_fault_with_what_the_encoder_passes_and_not_the_other_way_round() -> None:
    good = verdict("supported", evidence=quoted(PASSAGES, 0), support=0.8)
    bad, open_ = verdict("unsupported", support=0.1), verdict("unjudged")
    assert held(verdict("unsupported"), good)["verdict"] == "unsupported"
    assert (held(verdict("supported"), good)["verdict"], held(verdict("supported"), good)["support"]) == (
        "supported",
        0.8,
    )
    lowered = held(verdict("supported"), bad)
    assert (lowered["verdict"], lowered["support"]) == ("unsupported", 0.1)
    assert "calls it supported" in lowered["reasoning"]
    assert held(verdict("supported"), open_)["verdict"] == "supported"


def test_a_model_too_small_to_judge_leaves_that_to_the_encoder_and_nothing_is_degraded() -> None:
    notes = Notes()
    with OllamaServer(models={"tiny": ModelInfo(parameter_size="1.8B")}) as server:
        parts = Parts(load_settings(store=None, model="ollama:tiny", ollama_host=server.url))
        [judged] = parts.judges["auto"](split_claims(PASSAGES[0]["text"]), PASSAGES, notes, question="")
        assert server.chats == []
    assert (judged["judge"], judged["verdict"]) == ("encoder", "supported")
    assert notes.sentences == []
    assert notes.models["not a judge"] == "ollama:tiny (fewer than 2 billion parameters)"
