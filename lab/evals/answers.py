"""Measures answers: is what was answered right, and was what has no answer refused?

A row is ``{"question", "passages", "answers", "answerable"}``, with ``gold_sentences`` and ``sentences``, or
``answer_sentences``, where people marked the sentences that answer. Rows answered by yes or no are left out: a
quotation does not say which.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cragraph.errors import InputError
from cragraph.language.markers import without_markers
from cragraph.language.sentences import sentences
from cragraph.language.words import content_words
from cragraph.log import plain
from cragraph.passages import as_passages
from cragraph.types import IDK
from lab.evals.data import json_rows
from lab.evals.metrics import auroc, calibration_error, means, reliability, times

if TYPE_CHECKING:
    from cragraph.answers.ranking import AnswerRanker

SHORT: Final = 8  # words of the longest answer that must stand in what was answered word for word
RECALL: Final = 0.6  # share of a longer answer's content words that must stand in what was answered
FRAGMENT: Final = 6  # content words from which on a line without a full stop is more than a heading
SEED: Final = 3


@dataclass(frozen=True)
class AskedRow:
    """One question with the passages that it is answered from."""

    id: str
    question: str
    passages: tuple[str, ...]
    answers: tuple[str, ...]
    sentences: tuple[str, ...]
    answerable: bool
    title: str = ""

    def is_right(self, text: str) -> bool:
        """Whether a text gives one of the answers; always False where there is none."""
        if not self.answerable or not text:
            return False
        whole, words = plain(text), set(content_words(text))
        if any(plain(s) and (plain(s) in whole or _recall(s, words) >= 0.9) for s in self.sentences):
            return True
        for answer, bare in ((answer, plain(answer)) for answer in self.answers):
            short = len(bare.split()) <= SHORT
            if bare and (f" {bare} " in f" {whole} " if short else bare in whole or _recall(answer, words) >= RECALL):
                return True
        return False


@dataclass(frozen=True)
class Outcome:
    """What an answerer made of a question: the draft, even where it was withheld, and what it could have quoted."""

    text: str
    confidence: float
    abstained: bool
    seconds: float = 0.0
    shortlist: tuple[str, ...] = ()


Answerer = Callable[[str, Sequence[dict[str, Any]]], Outcome]
"""Called with a question and passages, each with `text` and `metadata`."""


def read(path: Path) -> list[AskedRow]:
    """The rows of a file; raises InputError where a line is not such a row."""
    rows = []
    for number, (row, where) in enumerate(json_rows(path), 1):
        try:
            if "rewrite" in row or row.get("kind") in ("yesno", "narrative-implicit"):
                continue
            marked = [row["sentences"][i] for i in row["gold_sentences"]] if row.get("gold_sentences") else []
            rows.append(
                AskedRow(
                    str(row.get("id", number)),
                    row["question"],
                    tuple(row["passages"]),
                    tuple(row["answers"]) + tuple(row.get("ideal") or ()),
                    tuple(marked or row.get("answer_sentences") or ()),
                    bool(row["answerable"]),
                    row.get("title") or "",
                )
            )
        except (KeyError, TypeError, IndexError) as error:
            raise InputError(
                f"{where} is no question row ({error!r}); wanted question, passages, answers and answerable."
            ) from error
    return rows


def with_noise(rows: Sequence[AskedRow], passages: int, gold: bool) -> list[AskedRow]:
    """Each answerable row with passages of other rows that share its words and lack its answer, up to `passages`.

    Its own passages are among them at a place drawn by chance, or, without `gold`, not at all: then nothing answers.
    """
    texts = list(dict.fromkeys(p for row in rows for p in row.passages))
    places: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        for word in set(content_words(text)):
            places[word].append(number)
    made = []
    for row in rows:
        if not row.answerable:
            continue
        rng = Random(f"{SEED}{row.id}")
        worth: dict[int, float] = defaultdict(float)
        for word in set(content_words(row.question)):
            for number in places.get(word, ()):
                worth[number] += log(1 + len(texts) / len(places[word]))
        own = list(row.passages)[: passages - 1] if gold else []
        others = [texts[n] for n in sorted(worth, key=lambda n: (-worth[n], n))[: passages * 4]]
        others = [t for t in others if t not in row.passages and not row.is_right(t)][: passages - len(own)]
        mixed = [*own, *others]
        rng.shuffle(mixed)
        if mixed:
            made.append(replace(row, passages=tuple(mixed), answerable=gold))
    return made


def figures(rows: Sequence[AskedRow], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Utility, precision, refusals, and what the confidence is worth.

    `utility` is the share of rows that were answered right, or refused where nothing answers. `auroc` ranks drafts that
    are right above all others; `auroc_answered` does so among what was answered. `ece` is the calibration error of the
    confidence as a probability of being right. `oracle` is the utility of always choosing the right one of the
    shortlist, and refusing where there is none; `causes` says where questions were lost.
    """
    pairs = list(zip(rows, outcomes, strict=True))
    right = np.array([row.is_right(o.text) for row, o in pairs], dtype=bool)
    answered = np.array([not o.abstained for o in outcomes], dtype=bool)
    wanted = np.array([row.answerable for row in rows], dtype=bool)
    scores = np.array([o.confidence for o in outcomes])
    good = int((right & answered).sum())
    causes = [cause(row, outcome, bool(is_right)) for (row, outcome), is_right in zip(pairs, right, strict=True)]
    best = sum(not row.answerable or any(map(row.is_right, o.shortlist)) for row, o in pairs)
    return {
        "rows": len(rows),
        "utility": (good + int((~answered & ~wanted).sum())) / len(rows),
        "oracle": best / len(rows) if any(o.shortlist for o in outcomes) else None,
        "right": _share(good, wanted.sum()),
        "refused_answerable": _share((~answered & wanted).sum(), wanted.sum()),
        "refused_unanswerable": _share((~answered & ~wanted).sum(), (~wanted).sum()),
        "precision": _share(good, answered.sum()),
        "auroc": auroc(right.tolist(), scores.tolist()),
        "auroc_answered": auroc(right[answered].tolist(), scores[answered].tolist()) if answered.any() else None,
        "ece": calibration_error(reliability(right.tolist(), scores.tolist())),
        "in_passages": _share(sum(row.is_right(" ".join(row.passages)) for row in rows), wanted.sum()),
        **times([1000 * o.seconds for o in outcomes]),
        "causes": dict(Counter(causes).most_common()),
        "outcomes": [
            asdict(o) | {"id": row.id, "right": bool(r), "cause": c}
            for (row, o), r, c in zip(pairs, right, causes, strict=True)
        ],
    }


def cause(row: AskedRow, outcome: Outcome, is_right: bool) -> str:
    """What became of one question, in words."""
    if not row.answerable:
        return "rightly refused" if outcome.abstained else "answered without an answer"
    if is_right:
        return "right, but refused" if outcome.abstained else "right"
    if not row.is_right(" ".join(row.passages)):
        return "not in the passages"
    if not outcome.shortlist:
        return "refused" if outcome.abstained else "another sentence chosen"
    place = next((n for n, text in enumerate(outcome.shortlist) if row.is_right(text)), None)
    if place is None:
        return "not in the shortlist"
    if place == 0:
        return "stood first, but refused" if outcome.abstained else "stood first, but another was quoted"
    first = outcome.shortlist[0]
    if len(content_words(first)) < FRAGMENT and not first.rstrip().endswith((".", "!")):
        return "a heading or fragment stood first"
    return f"stood {'second' if place == 1 else 'third or lower'}"


def run(
    sets: Mapping[str, Sequence[AskedRow]],
    answerers: Mapping[str, Answerer],
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Every answerer on every set, and all sets pooled with equal weight."""
    result: dict[str, Any] = {}
    for name, answer in answerers.items():
        each = {}
        for title, rows in sets.items():
            outcomes = []
            for number, row in enumerate(rows, 1):
                about = {"title": row.title} if row.title else {}
                passages = [{"text": text, "metadata": dict(about)} for text in row.passages]
                outcomes.append(answer(row.question, passages))
                if progress is not None:
                    progress(number, len(rows))
            each[title] = figures(rows, outcomes)
        result[name] = {"sets": each, "pooled": means(each.values(), MEANS)}
    return result


MEANS: Final = (
    "utility", "oracle", "right", "refused_answerable", "refused_unanswerable", "precision", "auroc", "auroc_answered",
    "ece", "in_passages",
)  # fmt: skip


def question_sets(paths: Sequence[Path], noise: Sequence[str], limit: int | None = None) -> dict[str, list[AskedRow]]:
    """The rows of files and folders by name, as they are, and with the kinds of noise asked for (`some`, `only`)."""
    if unknown := set(noise) - {"none", "some", "only"}:
        raise InputError(f"--noise is {', '.join(sorted(unknown))}; wanted none, some or only, comma-separated.")
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    sets: dict[str, list[AskedRow]] = {}
    for file in files:
        rows = read(file)
        sets[file.stem] = rows
        if "some" in noise:
            sets[f"{file.stem}, 1 of 5"] = with_noise(rows, 5, gold=True)
        if "only" in noise:
            sets[f"{file.stem}, noise"] = with_noise(rows, 5, gold=False)
    sets = {name: rows for name, rows in sets.items() if rows}
    if not sets:
        raise InputError(f"no question stands in {', '.join(map(str, paths))}; wanted JSONL files of questions.")
    most = limit or sys.maxsize
    return {name: Random(SEED).sample(rows, most) if most < len(rows) else rows for name, rows in sets.items()}


def graph_answerer(graph: Any, ranker: "AnswerRanker | None" = None) -> Answerer:
    """Answers with a compiled graph; what it withheld is read from its attempts, the shortlist from its ranker."""

    def answer(question: str, passages: Sequence[dict[str, Any]]) -> Outcome:
        start = perf_counter()
        response = graph.invoke({"question": question, "passages": list(passages)}, context={"show_claims": True})
        seconds = perf_counter() - start
        drafts = [a for a in response["attempts"] if a.get("answer") and a["answer"] != IDK]
        best = max(drafts, key=lambda a: a["confidence"] or 0.0, default=None)
        text = response["answer"] if not response["abstained"] else best["answer"] if best else ""
        scored = ranker(question, as_passages(passages)).scored if ranker else ()
        shortlist = tuple(f"{s.candidate.opener} {s.candidate.text}".strip() for s in scored)
        return Outcome(without_markers(text), response["confidence"] or 0.0, response["abstained"], seconds, shortlist)

    return answer


def simple_answerer(embed: Callable[[list[str]], Any], sets: Mapping[str, Sequence[AskedRow]]) -> Answerer:
    """The baseline: the sentence nearest in meaning, refused below the cosine that is best on these very sets."""

    def nearest(question: str, texts: Iterable[str]) -> tuple[str, float]:
        every = [s for text in texts for s in sentences(text) if len(s.split()) > 2]
        if not every:
            return "", 0.0
        vectors = np.asarray(embed([question, *every]))
        cosines = vectors[1:] @ vectors[0]
        best = int(cosines.argmax())
        return every[best], float(max(0.0, cosines[best]))

    rows = [row for every in sets.values() for row in every]
    choices = [nearest(row.question, row.passages) for row in rows]
    outcomes = [
        (cosine, row.is_right(text), not row.answerable) for row, (text, cosine) in zip(rows, choices, strict=True)
    ]
    levels = sorted({round(cosine, 2) for _, cosine in choices} | {1.01})
    threshold = max(levels, key=lambda at: sum(right if c >= at else refused for c, right, refused in outcomes))

    def answer(question: str, passages: Sequence[dict[str, Any]]) -> Outcome:
        text, cosine = nearest(question, (p["text"] for p in passages))
        return Outcome(text, cosine, not text or cosine < threshold)

    return answer


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _recall(text: str, others: set[str]) -> float:
    words = set(content_words(text))
    return len(words & others) / len(words) if words else 0.0
