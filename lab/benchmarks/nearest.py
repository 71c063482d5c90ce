"""What the nearest stretch of a passage adds to its words: of the passages that a search brings, which are read.

    python -m lab.benchmarks.nearest [DATA] [--limit 100] [--every 1] [--first 10 30] [--fit]
    python -m lab.benchmarks.nearest --files --first 10 30

Questions over the written folders of `lab/training/reading/folders`, most in other words than the document's, those
that networks learn from and those that are put aside; and the smaller public collections of DATA/retrieval. For each
reranker the share of questions of which the first three, four and five passages hold the sentence that answers (a
relevant passage), and nDCG@10 of the collections; then, of the folders put aside, how often the sentence is among the
likeliest parts that the answerer reads of five passages. `--fit` prints the weights that put what answers first (a
softmax over the compared passages; folders count three times a collection), twice as large as `search.rerankers` has
them: its scores keep the scale of the lexical reranker's. It needs the extra `training`.

`--files` asks the questions of new users and of `benchmarks.blind` in their place: of those with an expected text, how
often the first five passages hold it (of new users all that are expected, else any).
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from cragraph.answers.candidates import MOST_WINDOWS, candidates, parts_of
from cragraph.answers.ranking import LIKELIEST, AnswerRanker
from cragraph.language.questions import read_question
from cragraph.models.cache import LRU, CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.protocols import Notes, Reranker
from cragraph.run import Assistant
from cragraph.search import SearchRetriever
from cragraph.search.rerankers import FIRST, LexicalReranker, NearestReranker, logit, matches
from cragraph.settings import load_settings
from cragraph.store import open_store
from cragraph.types import Passage
from lab.benchmarks.blind.__main__ import FOLDERS
from lab.benchmarks.new_user.__main__ import documents
from lab.benchmarks.prompts import SETS as SETS_ON_FILES
from lab.benchmarks.prompts import home, questions
from lab.evals.data import read_collection
from lab.evals.metrics import mean, ndcg
from lab.training.reading import lists
from lab.training.reading.written import folders

SETS = ("adi", "clapnq_dev", "tatqa_dev", "xquad_de", "xquad_en")
FOUND = 30
NAMES = ("retrieval", "near", "phrase", "exact", "heading", "nearest")


@dataclass(frozen=True)
class Found:
    """A question, the passages that a search brought, how relevant each is, and the grades of its collection; of a
    folder, the file and the sentence that answer."""

    question: str
    passages: list[Passage]
    relevant: list[int]
    grades: dict[str, int]
    file: str = ""
    sentence: str = ""


def of_folders(embeddings: CachedEmbeddings, every: int, *, aside: bool) -> Iterator[Found]:
    """The questions of the folders that a document answers."""
    for name, folder in list(folders(aside).items())[::every]:
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch) / "files"
            paths = lists.documents(folder, home, Random(name))
            Assistant(load_settings(store=f"{scratch}/store")).ingest([home])
            with open_store(f"{scratch}/store", embeddings) as store:
                search = SearchRetriever(store)
                for text, path in zip(folder, paths, strict=True):
                    for question, (file, sentence, _) in lists.asked_of(text, path.name):
                        if sentence:
                            came = search([question], FOUND, Notes())
                            right = [int(p["filename"] == file and sentence in p["text"]) for p in came]
                            yield Found(question, came, right, {}, file, sentence)


def of_collection(folder: Path, embeddings: CachedEmbeddings, limit: int) -> Iterator[Found]:
    """Queries of a collection, taken evenly."""
    collection = read_collection(folder)
    with open_store(None, embeddings) as store:
        store.add(collection.passages)
        search = SearchRetriever(store)
        for query in collection.judged[:: max(1, -(-len(collection.judged) // limit))]:
            grades = collection.qrels[query]
            came = search([collection.queries[query]], FOUND, Notes())
            yield Found(collection.queries[query], came, [grades.get(p["chunk_id"], 0) for p in came], dict(grades))


def figures(found: Sequence[Found], reranker: Reranker) -> list[float]:
    """Share of the questions with something relevant among the first 3, 4, 5; nDCG@10 where grades are known."""
    first: dict[int, list[float]] = {3: [], 4: [], 5: []}
    gains = []
    for one in found:
        grade = {p["chunk_id"]: value for p, value in zip(one.passages, one.relevant, strict=True)}
        order = [p["chunk_id"] for p in reranker(one.question, one.passages, Notes())]
        for most, held in first.items():
            held.append(float(any(grade[i] > 0 for i in order[:most])))
        if one.grades:
            gains.append(ndcg(order, one.grades))
    return [*map(mean, first.values()), *([mean(gains)] if gains else [])]


def of_parts(found: Sequence[Found], nearest: NearestReranker, embeddings: CachedEmbeddings) -> None:
    """Print of how many questions the first five passages, and the likeliest of their parts, hold the sentence."""
    held: dict[int, list[float]] = {most: [] for most in (6, 8, 10, LIKELIEST, MOST_WINDOWS)}
    counts = []
    for one in found:
        passages = nearest(one.question, one.passages, Notes())[:5]
        question = read_question(one.question)
        every = parts_of(question, passages, candidates(passages))
        counts.append(len(every))
        for most, shares in held.items():
            ranker = AnswerRanker(Reader(), embeddings, read=most)
            parts = ranker.likeliest(question, passages, every) if len(every) > most else every
            right = [one.sentence in p.text and passages[p.passage]["filename"] == one.file for p in parts]
            shares.append(float(any(right)))
    cells = ", ".join(f"{most}: {mean(shares):.3f}" for most, shares in held.items())
    print(f"\n{mean(counts):.1f} parts of five passages; the sentence is among the likeliest {cells}")


def of_files(first: Sequence[int]) -> None:
    """Print, for each set of questions on files, of how many the first five passages hold what is expected."""
    print("| set | questions |", " | ".join(f"nearest {number}" for number in first), "|")
    print("|", " | ".join(["---"] * (2 + len(first))), "|")
    for name in (*SETS_ON_FILES, *FOLDERS):
        with tempfile.TemporaryDirectory() as scratch:
            assistant = Assistant(load_settings(store=f"{scratch}/store"))
            written = name in FOLDERS
            assistant.ingest([home(name) / "files" if written else documents(home(name), Path(scratch) / "files")])
            rerankers = [NearestReranker(assistant.parts.cached_embeddings, number) for number in first]
            held: list[list[float]] = [[] for _ in first]
            for row in questions("1/1", sets=(name,)):
                wanted = [text for text in row.get("any" if written else "expect", ()) if text not in ("Yes", "No")]
                if row.get("refuse") or not wanted:
                    continue
                came = assistant.parts.retriever([row["question"]], FOUND, Notes())
                for shares, reranker in zip(held, rerankers, strict=True):
                    text = " ".join(p["text"] for p in reranker(row["question"], came, Notes())[:5]).casefold()
                    shares.append(float((any if written else all)(one.casefold() in text for one in wanted)))
        cells = " | ".join(f"{mean(shares):.3f}" for shares in held)
        print(f"| {name} | {len(held[0])} | {cells} |", flush=True)


def features(one: Found, reranker: NearestReranker) -> tuple[np.ndarray, np.ndarray]:
    """What the reranker weighs of the passages that it compares, (passages, `NAMES`), and which are relevant."""
    place = {p["chunk_id"]: n for n, p in enumerate(one.passages)}
    own = [place[p["chunk_id"]] for p in LexicalReranker()(one.question, one.passages, Notes())[: reranker.first]]
    match = matches(one.question, one.passages)
    cosines = reranker.nearest(one.question, [one.passages[i] for i in own])
    rows = [
        [logit(one.passages[i]["retrieval_score"] or 0.0), *match[i][1:], c] for i, c in zip(own, cosines, strict=True)
    ]
    return np.array(rows), np.array([one.relevant[i] > 0 for i in own])


def fitted(sets: Sequence[tuple[float, Sequence[Found]]], reranker: NearestReranker) -> dict[str, float]:
    """The weights under which what is relevant has the most of the softmax of its question's passages."""
    from scipy.optimize import minimize

    rows = []
    for say, found in sets:
        known = [(x, y) for x, y in (features(one, reranker) for one in found if any(one.relevant)) if y.any()]
        rows += [(x, y, say / len(known)) for x, y in known]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.003 * float(w @ w), 0.006 * w
        for x, y, say in rows:
            share = np.exp(x @ w - (x @ w).max())
            right = share * y
            value -= say * float(np.log(right.sum() / share.sum()))
            slope = slope + say * (x.T @ (share / share.sum() - right / right.sum()))
        return value, slope

    found = minimize(loss, np.zeros(len(NAMES)), jac=True, method="L-BFGS-B").x
    return dict(zip(NAMES, found.round(2).tolist(), strict=True))


def main() -> None:
    """Print the table, and the weights where they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path(os.environ.get("CRAG_DATA", "../shared/data")))
    parser.add_argument("--limit", type=int, default=100, help="queries of a collection at most")
    parser.add_argument("--every", type=int, default=1, help="every such folder only")
    parser.add_argument("--first", type=int, nargs="+", default=[FIRST], help="passages that are compared")
    parser.add_argument("--files", action="store_true", help="questions on files in place of folders and collections")
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    if given.files:
        of_files(given.first)
        return
    embeddings = CachedEmbeddings(EmbeddedEncoder(), LRU(200_000))
    made: dict[str, Callable[[], Iterator[Found]]] = {
        "folders, learnt from": lambda: of_folders(embeddings, given.every, aside=False),
        "folders, put aside": lambda: of_folders(embeddings, given.every, aside=True),
    }
    for name in SETS:
        if (given.data / "retrieval" / name).is_dir():
            made[name] = lambda name=name: of_collection(given.data / "retrieval" / name, embeddings, given.limit)
    sets = {name: list(make()) for name, make in made.items()}
    nearest = NearestReranker(embeddings, given.first[-1])
    print("| set | questions | reranker | of 3 | of 4 | of 5 | nDCG@10 |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, found in sets.items():
        for reranker in (LexicalReranker(), *(NearestReranker(embeddings, first) for first in given.first)):
            cells = [f"{value:.3f}" for value in figures(found, reranker)]
            compared = f" {reranker.first}" if isinstance(reranker, NearestReranker) else ""
            print(
                f"| {name} | {len(found)} | {reranker.name}{compared} |",
                " | ".join(cells + [""] * (4 - len(cells))),
                "|",
                flush=True,
            )
    of_parts(sets["folders, put aside"], nearest, embeddings)
    if given.fit:
        say = {name: 3.0 if name == "folders, learnt from" else 1.0 for name in sets if name != "folders, put aside"}
        print(fitted([(say[name], found) for name, found in sets.items() if name in say], nearest))


if __name__ == "__main__":
    main()
