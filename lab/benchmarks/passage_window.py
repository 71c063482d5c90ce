"""Does reading the text around passages help? Questions with known answers, each asked with several windows.

python -m lab.benchmarks.passage_window [FOLDER ...] [--windows 0 1 2 section] [--limit 100] [--size 1000]
    [--cache FOLDER]

A folder is a collection with corpus.jsonl and queries.jsonl, or PDFs with questions.jsonl; default: clapnq_dev and
tatqa_dev of $CRAG_DATA. Five passages are kept (hybrid search, lexical reranker); a row is one window, and says

* read: the share of a gold answer's words that stands in what is read, and `chars` how much that is;
* true, false: the mean support that the judge finds in it for the gold answer, and for the answer to another question;
* apart: how often a gold answer has more support than the other one (AUROC);
* answered, recall: how often the extractive generator answers, and the share of a gold answer's words that it says;
* quiet: how often it abstains where the collection has no answer;
* ms: reading, answering and judging a question, median.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any

from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.ranking import LIKELIEST, AnswerRanker
from cragraph.documents import Document, discover, load, split
from cragraph.documents.files import Found
from cragraph.models.cache import CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.protocols import Brief, Notes
from cragraph.search import SearchRetriever
from cragraph.search.neighbours import Neighbours, Size, read_wide
from cragraph.search.rerankers import LexicalReranker
from cragraph.store import Store, open_store
from cragraph.types import IDK, Passage
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.embedding import EmbeddingJudge
from cragraph.verification.result import mean_support
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.metrics import auroc

KEPT, FETCHED = 5, 30


def words(text: str) -> list[str]:
    """Words and figures in lower case; figures without the signs between thousands."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=\d),(?=\d)", "", text).casefold())


def overlap(gold: str, said: str) -> float:
    """Share of the gold answer's distinct words in what was said."""
    wanted = set(words(gold))
    return len(wanted & set(words(said))) / max(1, len(wanted)) if said != IDK else 0.0


@dataclass(frozen=True)
class Question:
    """What is asked, and the known answer; empty where the collection has none."""

    text: str
    gold: str


@dataclass
class Row:
    """What was measured with one window."""

    read: list[float] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    true: list[float] = field(default_factory=list)
    false: list[float] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    quiet: list[bool] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)


def collection(folder: Path) -> tuple[list[Document], list[Question]]:
    """The documents and questions of a folder of either kind."""
    if (folder / "questions.jsonl").is_file():
        paths = [found.path for found in discover(folder) if isinstance(found, Found) and found.format == "pdf"]
        rows = _rows(folder / "questions.jsonl")
        return [d for path in paths for d in load(path)], [Question(r["question"], r["answer"]) for r in rows]
    documents = [
        Document(
            row["text"],
            metadata={"title": row.get("title") or ""},
            source=row["id"],
            filename=row["id"],
            doc_id=row["id"],
            format="text",
        )
        for row in _rows(folder / "corpus.jsonl")
    ]
    rows = _rows(folder / "queries.jsonl")
    return documents, [Question(r["text"], str(r["answer"] or "") if r["answerable"] else "") for r in rows]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def spread(questions: Sequence[Question], limit: int) -> list[Question]:
    """At most so many with and without an answer, evenly taken."""
    kept: list[Question] = []
    for some in ([q for q in questions if q.gold], [q for q in questions if not q.gold]):
        kept += some[:: max(1, len(some) // limit)][:limit]
    return kept


def measured(
    asked: Sequence[Question], store: Store, encoder: EmbeddedEncoder, windows: Sequence[Size]
) -> dict[Size, Row]:
    """One row a window; each question is searched once."""
    retriever, reranker, neighbours = SearchRetriever(store), LexicalReranker(), Neighbours(store)
    # Each window embeds for itself, or the first would pay for all.
    caches = {window: CachedEmbeddings(encoder) for window in windows}
    rows = {window: Row() for window in windows}
    golds = [question.gold for question in asked if question.gold]
    for number, question in enumerate(asked):
        found = reranker(question.text, retriever([question.text], FETCHED, Notes()), Notes())[:KEPT]
        other = golds[(number + len(golds) // 2) % len(golds)]
        for window, row in rows.items():
            ranker = AnswerRanker(Reader(), caches[window], read=LIKELIEST)
            generator, judge = ExtractiveGenerator(ranker), EmbeddingJudge(caches[window])
            begun = perf_counter()
            passages = read_wide(neighbours(found, window, None, Notes()) if window else found)
            answer = generator(Brief(question.text, passages), Notes())
            if question.gold:
                row.true.append(support(judge, question, question.gold, passages))
                row.ms.append((perf_counter() - begun) * 1000)
                row.false.append(support(judge, question, other, passages))
                row.read.append(held(question.gold, passages))
                row.chars.append(sum(len(p["text"]) for p in passages))
                row.answered.append(answer != IDK)
                row.recall.append(overlap(question.gold, answer))
            else:
                row.quiet.append(answer == IDK)
    return rows


def support(judge: EmbeddingJudge, question: Question, answer: str, passages: Sequence[Passage]) -> float:
    """Mean support of an answer's claims, 0..1."""
    claims = split_claims(answer)
    return mean_support(judge(claims, passages, Notes(), question=question.text)) if claims else 0.0


def held(gold: str, passages: Sequence[Passage]) -> float:
    """Share of the gold answer's distinct words that stand in the passages."""
    wanted = set(words(gold))
    return len(wanted & {word for p in passages for word in words(p["text"])}) / max(1, len(wanted))


def line(window: Size, row: Row) -> str:
    """A row of the table."""
    apart = auroc([True] * len(row.true) + [False] * len(row.false), [*row.true, *row.false]) or 0.0
    quiet = f"{mean(row.quiet):.3f}" if row.quiet else "-"
    shares = (row.read, row.true, row.false)
    costs = f"{mean(row.chars):.0f} | {median(row.ms):.0f}"
    return (
        f"| {window} | {' | '.join(f'{mean(values):.3f}' for values in shares)} | {apart:.3f} "
        f"| {mean(row.answered):.3f} | {mean(row.recall):.3f} | {quiet} | {costs} |"
    )


def difference(row: Row, first: Row) -> str:
    """How much recall and support a window gains over the first, question by question, with standard errors."""
    said = []
    for name, ours, theirs in (("recall", row.recall, first.recall), ("true", row.true, first.true)):
        gains = [a - b for a, b in zip(ours, theirs, strict=True)]
        said.append(f"{name} {mean(gains):+.3f} ± {stdev(gains) / len(gains) ** 0.5:.3f}")
    return ", ".join(said)


def main() -> None:
    """Print a table a collection."""
    data = Path(os.environ.get("CRAG_DATA", "../shared/data"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[data / "retrieval" / n for n in DEFAULT])
    parser.add_argument("--windows", nargs="+", default=["0", "1", "2", "section"])
    parser.add_argument("--limit", type=int, default=100, help="questions with, and without, an answer at most")
    parser.add_argument("--size", type=int, default=1000, help="characters a chunk has at most")
    parser.add_argument("--cache", type=Path, help="keep vectors here between runs")
    options = parser.parse_args()
    windows: list[Size] = ["section" if w == "section" else int(w) for w in options.windows]
    encoder = EmbeddedEncoder()
    embeddings = RememberedEmbeddings(encoder, options.cache)
    for folder in options.folders:
        if not folder.is_dir():
            raise SystemExit(f"{folder} is not a folder; name one with corpus.jsonl, or set CRAG_DATA.")
        documents, questions = collection(folder)
        asked = spread(questions, options.limit)
        cut = {"chunk_size": options.size, "chunk_overlap": options.size * 3 // 20}
        with open_store(None, embeddings) as store:
            store.add(p for document in documents for p in split(document, **cut))
            embeddings.save()
            answerable = sum(bool(question.gold) for question in asked)
            print(f"\n{folder.name}: {store.count()} chunks of {len(documents)} documents, ", end="")
            print(f"{answerable} questions with an answer, {len(asked) - answerable} without\n")
            print("| window | read | true | false | apart | answered | recall | quiet | chars | ms |")
            print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
            rows = measured(asked, store, encoder, windows)
            for window, row in rows.items():
                print(line(window, row), flush=True)
            for window in windows[1:]:
                print(f"\n{window} less {windows[0]}: {difference(rows[window], rows[windows[0]])}", flush=True)


DEFAULT = ("clapnq_dev", "tatqa_dev")

if __name__ == "__main__":
    main()
