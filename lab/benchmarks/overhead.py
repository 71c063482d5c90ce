"""The graph's own time: a run with one correction whose parts answer at once.

python -m lab.benchmarks.overhead
python -m lab.benchmarks.overhead --savers      # what LangGraph's checkpointers add
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cragraph.graph.build import build_graph, rescue, step
from cragraph.graph.context import Context
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.review import Review
from cragraph.nodes.verify import Verify
from cragraph.protocols import Notes
from cragraph.testing import FakeGenerator, FakeQueryWriter, FakeReranker, FakeRetriever
from cragraph.types import Passage, Verdict
from cragraph.verification.result import Verification
from lab.benchmarks.measure import Figure, below, milliseconds

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


def made(saver: Any = None, letters: int = 0) -> Any:
    """A graph of fakes, whose passages have about so many letters each."""
    more = " It goes on." * (letters // 12)
    table = {"sea": ["The sea is salt.", "The sea is deep."], "sky": [f"The sky is blue {n}." for n in range(5)]}
    table = {word: [text + more for text in texts] for word, texts in table.items()}
    defaults = Context()
    return build_graph(
        retrieve=step("retrieve", Retrieve(FakeRetriever(table), lambda: 10), defaults),
        rerank=step("rerank", Rerank(FakeReranker()), defaults),
        generate=step("generate", Generate(FakeGenerator(["The sky is green.", "The sky is blue."])), defaults),
        verify=step("verify", Verify(InstantVerifier()), defaults),  # type: ignore[arg-type]
        requery=step("requery", Requery(FakeQueryWriter(), lambda question, answer: []), defaults),
        review=step("review", Review(), defaults),
        finalize=step("finalize", Finalize(), defaults),
        rescue=rescue,
        defaults=defaults,
    ).compile(checkpointer=saver)


def measure() -> list[Figure]:
    """Milliseconds a run."""
    graph = made()
    assert len(graph.invoke(QUESTION)["attempts"]) == 2
    return [below("graph overhead, one correction", milliseconds(lambda: graph.invoke(QUESTION), runs=100), 5)]


def savers(runs: int = 50) -> Iterator[tuple[str, float, float]]:
    """By checkpointer: milliseconds of this process's processor time and kilobytes a run, one correction each."""
    with ExitStack() as open_ones, TemporaryDirectory() as folder:
        server = open_ones.enter_context(pgserver.get_server(f"{folder}/pg", cleanup_mode="delete"))
        postgres = open_ones.enter_context(PostgresSaver.from_conn_string(server.get_uri()))
        postgres.setup()
        size = "select pg_database_size(current_database())"
        sqlite = open_ones.enter_context(SqliteSaver.from_conn_string(f"{folder}/threads.sqlite"))
        sqlite.setup()
        for name, saver, held in (
            ("none", None, lambda: 0),
            ("InMemorySaver", InMemorySaver(), lambda: 0),
            ("SqliteSaver", sqlite, lambda: sum(path.stat().st_size for path in Path(folder).glob("threads*"))),
            ("PostgresSaver", postgres, lambda: next(iter(postgres.conn.execute(size).fetchone().values()))),
        ):
            graph = made(saver, letters=900)
            before, begun = held(), time.process_time()
            for number in range(runs):
                graph.invoke(QUESTION, {"configurable": {"thread_id": str(number)}})
            yield name, (time.process_time() - begun) / runs * 1000, (held() - before) / runs / 1000


if __name__ == "__main__":
    if "--savers" in sys.argv:
        import pgserver
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.checkpoint.sqlite import SqliteSaver

        for name, ms, kilobytes in savers():
            print(f"{name:<14} {ms:6.1f} ms {kilobytes:6.0f} kB")
    else:
        for figure in measure():
            print(figure.row())
