"""Is the page with the answer among the first found? Seven company filings, 31 questions of analysts.

python -m lab.benchmarks.finance_pages [FOLDER] [--cache FOLDER] [--size 1000] [--overlap 150] [--misses]

FOLDER holds the filings as PDF and questions.jsonl with the gold pages (default: $CRAG_DATA/finance). All filings are
in one store, so that a question has to find its company as well as its page.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pypdfium2

from cragraph.documents import Document, discover, load, split
from cragraph.documents.files import Found
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.search.rerankers import LexicalReranker
from cragraph.store import Store, open_store
from cragraph.types import Passage
from lab.benchmarks.vectors import RememberedEmbeddings

DEPTHS = (1, 5, 10, 20)
POOL = 40

Search = Callable[[str, dict[str, Any] | None], list[Passage]]


@dataclass(frozen=True)
class Question:
    """What an analyst asked, and where the answer stands."""

    text: str
    doc: str
    pages: frozenset[int]

    def rank(self, passages: Sequence[Passage]) -> int:
        """The place of the first passage from a gold page, counted from 1; 0 if there is none."""
        for place, passage in enumerate(passages, start=1):
            first = passage["page"] or 0
            pages = range(first, int(passage["metadata"].get("last_page", first)) + 1)
            if Path(passage["filename"]).stem == self.doc and self.pages.intersection(pages):
                return place
        return 0


def questions(folder: Path) -> list[Question]:
    """The questions of the folder, in order."""
    rows = map(json.loads, (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    return [Question(row["question"], row["doc"], frozenset(row["gold_pages"])) for row in rows]


def flat_passages(path: Path, size: int, overlap: int) -> Iterator[Passage]:
    """The text of each page as the file has it, cut every so many characters: what stands beside our own."""
    with pypdfium2.PdfDocument(path) as pdf:
        for number in range(len(pdf)):
            text = pdf[number].get_textpage().get_text_range().replace("\x00", "")
            for start in range(0, max(1, len(text)), size - overlap):
                if text[start : start + size].strip():
                    yield Passage(
                        text=text[start : start + size],
                        chunk_id=f"{path.stem}-{number}-{start}",
                        doc_id=path.stem,
                        chunk_index=0,
                        start_index=start,
                        source=str(path),
                        filename=path.name,
                        page=number + 1,
                        metadata={},
                        retrieval_score=None,
                        rerank_score=None,
                    )


def bare(passages: Sequence[Passage]) -> list[Passage]:
    """The same chunks without what stands above them."""
    return [{**passage, "metadata": _only_pages(passage["metadata"])} for passage in passages]


def _only_pages(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key == "last_page"}


def searches(store: Store, mode: str, rerank: bool = False) -> Search:
    """A search of one kind, with or without the lexical reranker."""
    retriever = replace(SearchRetriever(store), mode=mode)
    reranker = LexicalReranker()

    def search(question: str, where: dict[str, Any] | None) -> list[Passage]:
        found = retriever([question], POOL, Notes(), where=where)
        return reranker(question, found, Notes()) if rerank else found

    return search


def report(name: str, asked: Sequence[Question], search: Search, misses: bool) -> None:
    """Print the shares of one arm, over all filings and within the right one."""
    everywhere = [question.rank(search(question.text, None)) for question in asked]
    within = [question.rank(search(question.text, {"filename": f"{question.doc}.pdf"})) for question in asked]
    shares = [f"{sum(0 < r <= k for r in ranks) / len(asked):6.3f}" for ranks in (everywhere, within) for k in DEPTHS]
    print(f"{name:<34}", *shares, flush=True)
    if misses:
        for question, rank, inside in zip(asked, everywhere, within, strict=True):
            if not 0 < rank <= 10:
                print(f"    {rank:>3} {inside:>3} {question.doc} {sorted(question.pages)} {question.text[:100]}")


def main() -> None:
    """Run every arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=Path(os.environ.get("CRAG_DATA", "../shared/data")) / "finance")
    parser.add_argument("--cache", type=Path, help="keep vectors here between runs")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--overlap", type=int, default=150)
    parser.add_argument("--misses", action="store_true", help="list what is not among the first ten")
    options = parser.parse_args()
    folder = Path(options.folder)
    if not (folder / "questions.jsonl").is_file():
        raise SystemExit(f"no questions.jsonl in {folder}; name the folder with the filings, or set CRAG_DATA.")
    begun = perf_counter()
    paths = [found.path for found in discover(folder) if isinstance(found, Found) and found.format == "pdf"]
    documents: list[Document] = [document for path in paths for document in load(path)]
    pages = sum(len(document.page_starts) for document in documents)
    print(f"{len(paths)} filings, {pages} pages, {pages / (perf_counter() - begun):.0f} pages/s")
    cut = (options.size, options.overlap)
    ours = [p for document in documents for p in split(document, chunk_size=cut[0], chunk_overlap=cut[1])]
    flat = [p for path in paths for p in flat_passages(path, *cut)]
    embeddings = RememberedEmbeddings(EmbeddedEncoder(), options.cache)
    asked = questions(folder)
    print(f"{'gold page among the first':<34}", *(f"{k:>6}" for k in DEPTHS * 2), " (all filings | the right one)")
    for name, passages in (
        ("fixed windows of plain text", flat),
        ("our chunks, no headings", bare(ours)),
        ("our chunks", ours),
    ):
        with open_store(None, embeddings) as store:
            store.add(passages)
            embeddings.save()
            for mode in ("lexical", "dense", "hybrid"):
                report(f"{name}: {mode}", asked, searches(store, mode), False)
            report(f"{name}: hybrid + rerank", asked, searches(store, "hybrid", rerank=True), options.misses)


if __name__ == "__main__":
    main()
