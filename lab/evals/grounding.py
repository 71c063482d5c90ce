"""How well judges tell supported answers from unsupported ones, over files of labelled answers."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.language.markers import without_markers
from cragraph.passages import as_passages
from cragraph.protocols import Embeddings, Judge, Notes
from cragraph.types import Claim, Label, Passage, Verdict
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.policies import pooled_support
from cragraph.verification.reading import space
from cragraph.verification.result import AGAINST, Verification
from cragraph.verification.sources import by_vectors
from cragraph.verification.verifier import Verifier
from lab.evals.data import Row, read_rows
from lab.evals.metrics import auroc, calibration_error, classified, means, precision_recall, reliability, times

Progress = Callable[[int, int, str], None]

APART: Final = ("financebench", "xnli_ko")
"""Data sets outside the `macro_core` mean: labelled by correctness rather than grounding, or not English."""

MEANS: Final = ("balanced_accuracy", "f1_unsupported", "auroc", "ece", "confidence_auroc", "confidence_ece", "span_f1")
_WORD: Final = re.compile(r"\w+(?:[.,'’-]\w+)*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Judged:
    """What a judge made of one row: `score` is the mean support of the claims, None where no judge could run."""

    row: Row
    score: float | None
    predicted: bool
    verification: Verification
    words: Counter[str]
    baseline: Counter[str]
    ms: float


def figures_of(rows: Sequence[Judged]) -> dict[str, Any]:
    """The figures of a judge on one file; the parts of one claim count as one row, by the best supported part."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    kinds: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            groups[row.row.group].append(row)
        if row.row.kind:
            kinds[row.row.kind].append(row.predicted == row.row.supported)
    truth = [any(r.row.supported for r in group) for group in groups.values()]
    scores = [max(r.score or 0.0 for r in group) for group in groups.values()]
    predicted = [any(r.predicted for r in group) for group in groups.values()]
    confidences = [max(r.verification.confidence for r in group) for group in groups.values()]
    return classified(truth, scores, predicted) | {
        "unjudged": sum(row.score is None for row in rows),
        "confidence_auroc": auroc(truth, confidences),
        "confidence_ece": calibration_error(reliability(truth, confidences)),
        "span_f1": f1(sum((row.words for row in rows), Counter())),
        "span_f1_new_words": f1(sum((row.baseline for row in rows), Counter())),
        **times([row.ms for row in rows]),
        "judged_by": dict(Counter(row.verification.judge for row in rows).most_common()),
        "degraded": dict(Counter(s for row in rows for s in row.verification.degraded).most_common(5)),
        "kinds": {kind: f"{sum(right)} of {len(right)}" for kind, right in sorted(kinds.items())},
    }


def run(
    files: Sequence[str | Path],
    judges: Sequence[str],
    verifier: Verifier,
    *,
    policy: str = "claims",
    limit: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Judge every row of the files with every judge.

    Returns ``{"policy", "limit", "judges": {name: {"data_sets": {file: figures}, "macro": means, "macro_core": means,
    "ms_p50", "ms_p95"}}}``; a mean is over the files that have the figure. `limit` is how many rows (claims) a file is
    sampled to; `progress` gets rows done, rows in all, and what is judged. Raises InputError for a file that is none.
    """
    if not files or not judges:
        raise InputError("there is nothing to evaluate: name at least one file and one judge.")
    # What the policy needs is measured all the same; the rest would only cost time.
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
    if unknown := [name for name in judges if name not in verifier.judges]:
        raise InputError(f"there is no judge {', '.join(unknown)}; choose among {', '.join(verifier.judges)}.")
    data = {Path(file).stem: read_rows(Path(file), limit) for file in files}
    if empty := [name for name, rows in data.items() if not rows]:
        raise InputError(f"{', '.join(empty)} holds no row of labelled answers.")
    total, done = sum(map(len, data.values())) * len(judges), 0
    result: dict[str, Any] = {"policy": policy, "limit": limit, "judges": {}}
    for judge in judges:
        sets: dict[str, Any] = {}
        took: list[float] = []
        for name, rows in data.items():
            judged = []
            for row in rows:
                judged.append(judge_row(row, judge, verifier, policy))
                done += 1
                if progress is not None:
                    progress(done, total, f"{judge}: {name}")
            took += [row.ms for row in judged]
            sets[name] = figures_of(judged)
        core = {name: figures for name, figures in sets.items() if not name.startswith(APART)}
        result["judges"][judge] = {"data_sets": sets, "macro": macro(sets), "macro_core": macro(core), **times(took)}
    return result


def judge_row(row: Row, judge: str, verifier: Verifier, policy: str = "claims") -> Judged:
    """One row judged; the time is that of the whole verification."""
    start, notes, passages = perf_counter(), Notes(), as_passages(row.passages)
    verification = verifier(row.question, row.answer, passages, notes, judge=judge, policy=policy)
    ms = (perf_counter() - start) * 1000
    verdicts: Sequence[Verdict] = verification.counted or verification.claims
    if not verdicts:
        # A reply without a statement (a greeting, a question) is labelled as a whole, so it is judged as a whole.
        whole = Claim(text=row.answer, start=0, end=len(row.answer), type="factual")
        verdicts = verifier.judged([whole], passages, notes, judge=judge, question=row.question)
    open_claims = any(verdict["verdict"] == "unjudged" for verdict in verdicts)
    return Judged(
        row=row,
        score=None if open_claims else pooled_support([verdict["support"] for verdict in verdicts]),
        predicted=all(verdict["verdict"] == "supported" for verdict in verdicts),
        verification=verification,
        words=count(row.answer, marked_by(verdicts), row.spans),
        baseline=count(row.answer, new_words(row.answer, row.passages), row.spans),
        ms=ms,
    )


def macro(sets: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
    """The unweighted mean of each figure over the data sets that have both labels (for spans: marked words)."""
    both = [figures for figures in sets.values() if figures["supported"] and figures["unsupported"]]
    return {"data_sets": float(len(both))} | means(both, MEANS)


def f1(words: Counter[str]) -> float | None:
    """Word-level F1 of what `count` counted, over many answers; None where nothing was to be marked."""
    return precision_recall(words["hits"], words["found"], words["wanted"])["f1"]


def count(answer: str, marked: Sequence[Span], truth: Sequence[Span]) -> Counter[str]:
    """Words that were marked rightly, marked in all, and to be marked; a word belongs to a span that it overlaps."""

    def within(spans: Sequence[Span]) -> set[Span]:
        words = (match.span() for match in _WORD.finditer(answer))
        return {word for word in words if any(start < word[1] and word[0] < end for start, end in spans)}

    marks, wanted = within(marked), within(truth)
    return Counter(hits=len(marks & wanted), found=len(marks), wanted=len(wanted))


def marked_by(verdicts: Sequence[Verdict]) -> list[Span]:
    """What a judge marks: the spans that it names, else the whole of a claim that it does not support."""
    spans: list[Span] = []
    for verdict in verdicts:
        whole = [(verdict["start"], verdict["end"])] if verdict["verdict"] in AGAINST else []
        spans += verdict.get("unsupported_spans") or whole
    return spans


def new_words(answer: str, passages: Sequence[str]) -> list[Span]:
    """The simplest way to mark: the words of the answer that occur in no passage."""
    known = {match.group().lower() for text in passages for match in _WORD.finditer(text)}
    return [match.span() for match in _WORD.finditer(answer) if match.group().lower() not in known]


# -- the yardsticks: word coverage and similarity -----------------------------------------------------------------

THRESHOLD: Final = 0.5


@dataclass(frozen=True)
class SimpleJudge:
    """Supports a claim by one number: `support` makes one per text of a claim, from the passages."""

    name: str
    support: Callable[[list[str], Sequence[Passage]], Iterable[float]]

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        verdicts, shares = [], self.support([without_markers(claim["text"]) for claim in claims], passages)
        for claim, share in zip(claims, shares, strict=True):
            support = min(1.0, max(0.0, float(share)))
            label: Label = "supported" if support >= THRESHOLD else "unsupported"
            reason = f"{support:.0%} by {self.name}."
            verdicts.append(verdict_of(claim, label, support, 0.0, None, reason, self.name))
        return verdicts


def simple_judges(embeddings: Embeddings | None) -> Mapping[str, Judge]:
    """The yardsticks by name: `coverage` is the weighted share of a claim's words that occur in any passage.

    `similarity`, where there are embeddings, is the cosine to the closest of the three windows that share most of them.
    """
    judges: dict[str, Judge] = {"coverage": SimpleJudge("coverage", lambda texts, found: space(texts, found).whole)}
    if embeddings is not None:
        judges["similarity"] = SimpleJudge(
            "similarity", lambda texts, found: by_vectors(embeddings, "", "", texts, found, whole=False).best
        )
    return judges
