"""Ask the questions of `questions.jsonl` over the files beside it, as a new user would, and compare with the sources.

An answer is right when it holds every expected text and none of the rejected ones, and a citation comes from the
expected file; an answer to a question without one is wrong, and so is any other that is not right. `before` are
questions asked earlier in the same conversation.

    python -m lab.benchmarks.new_user
    python -m lab.benchmarks.new_user second
    python -m lab.benchmarks.new_user . second third fourth fifth
    python -m lab.benchmarks.new_user --only 17,21 --verbose

`second` is another set on another subject, written when the first was known. Last comes what was decided on the
answers: how many of the accepted and of the doubtful ones are right, and what would come of it if all that is not
accepted were refused (`on_low_confidence: abstain`).
"""

import argparse
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from cragraph import create_graph, load_settings
from cragraph.run import Assistant
from cragraph.types import IDK

HERE = Path(__file__).parent
LOOP = (
    "searched again",
    "of these answerable",
    "written again",
    "raised the confidence",
    "right before",
    "right after",
    "ms",
)


def write_pdf(lines: list[str], path: Path) -> None:
    """One page of Helvetica, a line of text each."""
    escaped = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
    stream = "BT /F1 11 Tf 14 TL 60 780 Td " + " ".join(f"({line}) Tj T*" for line in escaped) + " ET"
    write_page(stream, path)


def write_page(stream: str, path: Path) -> None:
    """A PDF of one page that shows a content stream, with Helvetica as its font F1."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    rows = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}"
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    path.write_bytes((body + table + end).encode("latin-1"))


def documents(home: Path, folder: Path) -> Path:
    """A copy of the files, the manual among them as a PDF."""
    shutil.copytree(home / "files", folder)
    write_pdf((home / "manual.txt").read_text(encoding="utf-8").splitlines(), folder / "manual.pdf")
    return folder


def verdict(row: dict[str, Any], response: dict[str, Any]) -> str:
    """right, partly, wrong or refused; for what the files do not answer, right is refused."""
    if response["abstained"]:
        return "right" if row.get("refuse") else "refused"
    if row.get("refuse"):
        return "wrong"
    said = " ".join([response["answer"], *(c["quote"] for c in response["citations"])]).casefold()
    held = [text.casefold() in said for text in row["expect"]]
    cited = any(c["metadata"].get("filename") == row["source"] for c in response["citations"])
    if any(text.casefold() in said for text in row.get("reject", ())) or not cited or not any(held):
        return "wrong"
    return "right" if all(held) else "partly"


def said_right(row: dict[str, Any], answer: str) -> bool:
    """Whether an answer, as it was first written, is right."""
    if row.get("refuse"):
        return answer == IDK
    return all(text.casefold() in answer.casefold() for text in row["expect"])


def asked(graph: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The response to a question, after those that came before it in its conversation."""
    if "before" not in row:
        return dict(graph.invoke({"question": row["question"]}, {"configurable": {"thread_id": str(row["id"])}}))
    messages: list[dict[str, str]] = []
    for question in [*row["before"], row["question"]]:
        messages.append({"role": "user", "content": question})
        response = graph.invoke({"messages": messages}, {"configurable": {"thread_id": str(row["id"])}})
        messages.append({"role": "assistant", "content": response["answer"]})
    return dict(response)


VERDICTS = ("right", "partly", "wrong", "refused")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=["."], help="folders of sets, here or anywhere")
    parser.add_argument("--only", help="numbers of questions, with commas between")
    parser.add_argument("--verbose", action="store_true", help="print the right answers too")
    options = parser.parse_args()
    decided: dict[str, Counter[str]] = {outcome: Counter() for outcome in ("accepted", "doubtful", "refused")}
    strict: Counter[str] = Counter()
    for name in options.sets:
        home = HERE / name
        rows = [json.loads(line) for line in (home / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        if options.only:
            rows = [row for row in rows if str(row["id"]) in options.only.split(",")]
        if len(options.sets) > 1:
            print(f"-- {name}")
        for row, found, response in measured(home, rows, verbose=options.verbose):
            decided[response["decision"]["outcome"]][found] += 1
            strict[found if response["accepted"] else "right" if row.get("refuse") else "refused"] += 1
    for outcome, counts in decided.items():
        print(f"{outcome:<9} {counts.total():>4}: {listed(counts)}")
    print(f"as decided     : {listed(sum(decided.values(), Counter()))}")
    print(f"all but accepted refused: {listed(strict)}")


def listed(counts: Counter[str]) -> str:
    """Counts by verdict."""
    return ", ".join(f"{counts[name]} {name}" for name in VERDICTS)


def measured(
    home: Path, rows: list[dict[str, Any]], *, verbose: bool
) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Ask the questions of a set, print what is not right and the figures; each row with verdict and response."""
    counts: Counter[str] = Counter()
    sure_and_wrong, taken = 0, []
    loop: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        settings = load_settings(store=str(Path(scratch) / "store"))
        Assistant(settings).ingest([documents(home, Path(scratch) / "files")])
        graph = create_graph(settings).compile(checkpointer=InMemorySaver())
        for row in rows:
            begun = time.perf_counter()
            response = asked(graph, row)
            taken.append(time.perf_counter() - begun)
            found = verdict(row, response)
            counts[found] += 1
            sure_and_wrong += found == "wrong" and (response["confidence"] or 0) >= 0.9
            if "requery" in response["timings_ms"]:
                loop["searched again"] += 1
                loop["of these answerable"] += not row.get("refuse")
                loop["ms"] += round(sum(response["timings_ms"][name] for name in ("requery", "retrieve", "rerank")))
                if len(response["attempts"]) > 1:
                    loop["written again"] += 1
                    before, *later = (attempt["confidence"] or 0.0 for attempt in response["attempts"])
                    loop["raised the confidence"] += max(later) > before
                    loop["right before"] += said_right(row, response["attempts"][0].get("answer", ""))
                    loop["right after"] += found == "right"
            if found != "right" or verbose:
                how = response["decision"]["outcome"]
                print(f"{row['id']:>3} {found:<8} {how:<8} {response['confidence'] or 0:.2f}  {row['question']}")
                print(f"      → {response['answer']!r}")
            yield row, found, response
    print(listed(counts), end="")
    print(f"; {sure_and_wrong} wrong at 0.9 or above; median {sorted(taken)[len(taken) // 2] * 1000:.0f} ms")
    print("the loop:", ", ".join(f"{loop[name]} {name}" for name in LOOP), f"of {len(rows)} questions")


if __name__ == "__main__":
    main()
