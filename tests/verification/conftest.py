from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.signals import Material
from cragraph.verification.sources import Closeness


@pytest.fixture
def material() -> Callable[..., Material]:
    """Builds what signals are measured on; what a test does not name is empty."""

    def build(
        answer: str = "", passages: Sequence[Any] = (), verdicts: Sequence[Verdict] = (), **more: Any
    ) -> Material:
        return Material(
            **{
                "answer": answer,
                "passages": as_passages(passages),
                "verdicts": verdicts,
                "closeness": Closeness(),
                **more,
            }
        )

    return build


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Writes a tiny entailment model."""
    nli = pytest.importorskip("tests.support.nli", reason="the tiny model is built with onnx (the dev extra)")
    return partial(nli.make_nli, tmp_path)


@pytest.fixture
def reader_of_claims(tmp_path: Path) -> Callable[..., Path]:
    """Writes a tiny entailment model that reads the claim alone."""
    nli = pytest.importorskip("tests.support.nli", reason="the tiny model is built with onnx (the dev extra)")
    return partial(nli.make_reader_of_claims, tmp_path)


@dataclass
class ScriptedJudge:
    """Keeps the protocol of a judge: returns what `script` makes of the claims, and remembers what it was asked."""

    script: Callable[[Sequence[Claim], Sequence[Passage]], Any]
    name: str = "scripted"
    asked: list[list[str]] = field(default_factory=list)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        self.asked.append([claim["text"] for claim in claims])
        found: list[Verdict] = self.script(claims, passages)
        return found


@pytest.fixture
def scripted() -> type[ScriptedJudge]:
    return ScriptedJudge


@pytest.fixture
def scoring() -> Callable[..., ScriptedJudge]:
    """A judge that gives each claim the support named for it, else 0.9."""

    def make(name: str, **support: float) -> ScriptedJudge:
        def script(claims: Sequence[Claim], passages: Sequence[Passage]) -> list[Verdict]:
            scores = [support.get(claim["text"].split()[0].lower(), 0.9) for claim in claims]
            return [
                verdict_of(claim, "supported" if score >= 0.5 else "unsupported", score, 0.0, None, "", name)
                for claim, score in zip(claims, scores, strict=True)
            ]

        return ScriptedJudge(script, name)

    return make


@pytest.fixture
def claims() -> list[Claim]:
    return split_claims("Sales rose. Costs fell. Profits doubled.")


@pytest.fixture
def passages() -> list[Passage]:
    return as_passages(["In spring sales rose. In autumn costs fell.", "The moon\nis far."])
