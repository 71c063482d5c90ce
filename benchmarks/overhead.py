"""The graph's own time: a run with one correction whose parts answer at once.

python -m benchmarks.overhead
"""

from benchmarks.measure import Figure, below, milliseconds
from cragraph.graph.build import build_graph, rescue, step
from cragraph.graph.context import Context
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.verify import Verify
from cragraph.protocols import Notes
from cragraph.testing.fakes import FakeGenerator, FakeQueryWriter, FakeReranker, FakeRetriever
from cragraph.types import Passage, Verdict
from cragraph.verification.result import Verification

QUESTION = {"question": "Are the sea and the sky as they say?"}


class InstantVerifier:
    """Fails the first answer it sees and accepts the next one."""

    def __init__(self) -> None:
        self.judges = {"auto": None}
        self.calls = 0

    def __call__(self, question: str, answer: str, passages: list[Passage], notes: Notes, **_: object) -> Verification:
        """A verdict on the whole answer, without looking."""
        self.calls += 1
        good = self.calls % 2 == 0
        verdict = Verdict(
            text=answer, start=0, end=len(answer), type="factual", verdict="supported" if good else "unsupported",
            support=float(good), contradiction=0.0, evidence=None, reasoning="", judge="instant",
        )  # fmt: skip
        return Verification(confidence=float(good), claims=(verdict,), judge="instant")


def measure() -> list[Figure]:
    """Milliseconds a run."""
    table = {"sea": ["The sea is salt.", "The sea is deep."], "sky": [f"The sky is blue {n}." for n in range(5)]}
    defaults = Context()
    graph = build_graph(
        retrieve=step("retrieve", Retrieve(FakeRetriever(table), lambda: 10), defaults),
        rerank=step("rerank", Rerank(FakeReranker()), defaults),
        generate=step("generate", Generate(FakeGenerator(["The sky is green.", "The sky is blue."])), defaults),
        verify=step("verify", Verify(InstantVerifier()), defaults),  # type: ignore[arg-type]
        requery=step("requery", Requery(FakeQueryWriter(), lambda question, answer: []), defaults),
        finalize=step("finalize", Finalize(), defaults),
        rescue=rescue,
        defaults=defaults,
    ).compile()
    assert len(graph.invoke(QUESTION)["attempts"]) == 2
    return [below("graph overhead, one correction", milliseconds(lambda: graph.invoke(QUESTION), runs=100), 5)]


if __name__ == "__main__":
    for figure in measure():
        print(figure.row())
