"""Ask a folder of annual reports: each answer with the page that says so, and a report of it to look at.

python examples/filings.py FOLDER "What were total current assets in 2023?" ["ANOTHER QUESTION" ...]
"""

import sys
from pathlib import Path

from cragraph import Context, Report, create_graph, load_settings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import ingest, open_store


def main(folder: str, *questions: str) -> None:
    """Read what is new in the folder, then answer; one store and one graph serve all the questions."""
    reports = Path("reports")
    reports.mkdir(exist_ok=True)
    with open_store(reports / "store", EmbeddedEncoder()) as store:
        read = ingest(folder, store)
        print(f"{len(read.added)} files read, {read.chunks} passages")
        for path, reason in read.failed:
            print(f"not read: {path}: {reason}")
        graph = create_graph(load_settings(), store=store).compile()
        for number, question in enumerate(questions, 1):
            found = graph.invoke({"question": question}, context=Context(show_claims=True))
            print(f"\n{question}\n  {found['answer']}  ({found['confidence']:.2f})")
            for citation in found["citations"]:
                print(
                    f"  [{citation['number']}] {citation['metadata']['filename']}, page {citation['metadata']['page']}"
                )
            report = Report(found, neighbours=lambda passage: store.adjacent(passage, 1, 1), files=store.files)
            page = report.save(reports / f"{number}.html")
            print(f"  {page}")


if __name__ == "__main__":
    main(*sys.argv[1:])
