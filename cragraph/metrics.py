"""Metrics: one JSON line per run, opt-in, in a local file, and a summary of many runs beside the targets."""

import json
import logging
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.language.markers import CITED
from cragraph.private import private
from cragraph.types import IDK
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import DEFAULT_LINE, reaches

logger = logging.getLogger(__name__)

ANSWER_CHARACTERS: Final = 100  # how much of an answer a line keeps, to recognise the run by
_LOCK: Final = Lock()


def log_run(path: str | Path, run: Mapping[str, Any]) -> None:
    """Append one run to the log; a log that cannot be written costs a warning, never the answer."""
    append_line(path, record(run))


def append_line(path: str | Path, entry: Mapping[str, Any]) -> None:
    """Append an entry to a log of JSON lines; one that cannot be written costs a warning."""
    line = json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # One write of one line in append mode: lines of several processes do not mix.
        with _LOCK, private(path, "ab", buffering=0) as log:
            log.write(line.encode("utf-8", "surrogatepass"))
    except OSError as error:
        logger.warning("the metrics log %s cannot be written (%s): the run is not in it", path, error)


def record(run: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a run, made of its response and, where they are at hand, the fields of its state.

    - `timestamp` (UTC), `query` (also as `question`), `answer` (its first 100 characters), `abstained`, `confidence`,
      `is_grounded`, `accepted`; `decision` (accepted, doubtful, refused) and the `threshold`, null where verification
      was off
    - `attempts`: corrections made; `triggered`: whether there was one; `first_confidence`, `best_confidence`;
      `improved`: whether a correction raised the confidence, null where none was made or nothing was verified
    - `rejected`: an answer was written and withheld
    - `claims_checked`, `claims_supported`, `hallucination_count`, `passed`, `warnings` of the returned answer; null
      (and no warnings) where none was returned or none verified
    - `citations`, `cited_claims`: share of its claims with a marker; `citation_accuracy`: share of verified
      citations; both null for an abstention
    - `rerank_gain`: what the reranker's choice scores above retrieval's on the first pass; `selection_rate`: passages
      kept ÷ passages met; null without one
    - `judge`, `models`, `llm_calls`, `degraded`, `issues`; `timings_ms` by node and in `total`
    """
    tried = [a for a in run.get("attempts") or [] if isinstance(a, Mapping)]
    scores = [a.get("confidence") for a in tried]
    first = scores[0] if scores else None
    best = max((score for score in scores if isinstance(score, int | float)), default=None)
    abstained = bool(run.get("abstained"))
    checked: Mapping[str, Any] = {} if abstained else run.get("verification") or {}
    citations: Sequence[Mapping[str, Any]] = run.get("citations") or []
    answer, query, met = str(run.get("answer") or ""), str(run.get("question") or ""), run.get("seen") or []
    models, decision = dict(run.get("models") or {}), run.get("decision") or {}
    return {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "query": query,
        "question": query,
        "answer": answer[:ANSWER_CHARACTERS],
        "abstained": abstained,
        **{name: run.get(name) for name in ("confidence", "is_grounded", "accepted")},
        "decision": decision.get("outcome"),
        "threshold": decision.get("threshold"),
        "attempts": max(len(tried) - 1, 0),
        "triggered": len(tried) > 1,
        "first_confidence": first,
        "best_confidence": best,
        "improved": best > first if len(tried) > 1 and first is not None and best is not None else None,
        "rejected": abstained and any(a.get("answer") not in (None, "", IDK) for a in tried),
        **{name: checked.get(name) for name in ("claims_checked", "claims_supported", "hallucination_count", "passed")},
        "warnings": list(checked.get("warnings") or []),
        "citations": len(citations),
        "cited_claims": None if abstained else cited_claims(answer),
        "citation_accuracy": _rate(citation.get("verified") for citation in citations),
        "rerank_gain": run.get("rerank_gain"),
        "selection_rate": len(run.get("held") or []) / len(met) if met else None,
        "judge": models.get("judge"),
        "models": models,
        "llm_calls": run.get("llm_calls", 0),
        **{name: list(run.get(name) or []) for name in ("degraded", "issues")},
        "timings_ms": dict(run.get("timings_ms") or {}),
    }


def cited_claims(answer: str) -> float | None:
    """Share of an answer's claims that carry a marker, in or directly behind them; None without claims."""
    claims = split_claims(answer)
    ends = [claim["start"] for claim in claims[1:]] + [len(answer)]
    if not claims:
        return None
    return sum(bool(CITED.search(answer, c["start"], end)) for c, end in zip(claims, ends, strict=True)) / len(claims)


GOALS: Final = (
    ("unsupported claims in answers", "hallucination_rate", "<", 0.05),
    ("confidence agrees with a person's judgement", "confidence_accuracy", ">", 0.80),
    ("runs that needed a correction", "trigger_rate", "<", 0.20),
    ("corrections that raised the confidence", "success_rate", ">", 0.70),
    ("claims with a citation", "cited_claims", ">", 0.90),
    ("verification, p50", "verification_ms", "<", 500.0),
)
"""The founding documents' success figures that a log can show, with the fields of the summary; ms where above 1."""


def summarise(file: str | Path) -> dict[str, Any]:
    """Rates, means and latency percentiles of a log, and the targets; lines that are no JSON are counted and skipped.

    A rate is null where no run can show it. Lines may be marked by a person: with ``"correct": true`` or ``false`` for
    `confidence_accuracy`, the share where the confidence reached its run's threshold just when the answer was right,
    and `labelled_hallucination_rate`, the share of wrong answers; with ``"answerable": true`` or ``false`` for the
    false positives (answered all the same) and false negatives (refused all the same) of answerability.
    Raises InputError where there is no such file.
    """
    runs, bad = _read(Path(file))
    answered = [run for run in runs if not run.get("abstained")]
    marked = [run for run in answered if isinstance(run.get("correct"), bool) and _number(run.get("confidence"))]
    judged = [run for run in answered if run.get("claims_checked")]
    checked = sum(run["claims_checked"] for run in judged)
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for node, ms in (run.get("timings_ms") or {}).items():
            if _number(ms):
                times[node].append(float(ms))
    latency = {
        node: {**{f"p{p}": round(quantile(times[node], p / 100), 1) for p in (50, 95, 99)}, "runs": len(times[node])}
        for node in sorted(times, key=lambda node: node == "total")  # last, below the nodes that make it up
    }
    summary: dict[str, Any] = {
        "runs": len(runs),
        "bad_lines": bad,
        "answered": len(answered),
        "abstention_rate": _rate(run.get("abstained") for run in runs),
        "rejection_rate": _rate(run.get("rejected") for run in runs),
        "doubtful_rate": _rate(run["decision"] == "doubtful" for run in runs if run.get("decision")),
        "trigger_rate": _rate(run.get("triggered") for run in runs),
        "success_rate": _rate(run["improved"] for run in runs if run.get("improved") is not None),
        "grounded_rate": _rate(run["is_grounded"] for run in answered if run.get("is_grounded") is not None),
        "hallucination_rate": 1 - sum(r["claims_supported"] for r in judged) / checked if checked else None,
        "labelled_hallucination_rate": _rate(not run["correct"] for run in marked),
        "false_positive_rate": _rate(not run.get("abstained") for run in runs if run.get("answerable") is False),
        "false_negative_rate": _rate(run.get("abstained") for run in runs if run.get("answerable") is True),
        "confidence": _mean(answered, "confidence"),
        "confidence_accuracy": _rate(
            reaches(run["confidence"], run.get("threshold") or DEFAULT_LINE) == run["correct"] for run in marked
        ),
        **{name: _mean(answered, name) for name in ("cited_claims", "citation_accuracy")},
        **{name: _mean(runs, name) for name in ("rerank_gain", "selection_rate", "llm_calls")},
        "degraded_rate": _rate(run.get("degraded") for run in runs),
        "degraded": dict(Counter(s for run in runs for s in run.get("degraded") or []).most_common(10)),
        "judges": dict(Counter(str(run.get("judge") or "none") for run in runs).most_common()),
        "latency_ms": latency,
        "verification_ms": latency["verify"]["p50"] if "verify" in latency else None,
    }
    targets = []
    for name, figure, sign, bound in GOALS:
        value = summary[figure]
        met = None if value is None else value < bound if sign == "<" else value > bound
        target = f"{sign} {bound:g} ms" if bound > 1 else f"{sign} {bound:.0%}"
        targets.append({"name": name, "value": value, "target": target, "met": met})
    return summary | {"targets": targets}


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1) of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else 0.0


def _read(file: Path) -> tuple[list[Mapping[str, Any]], int]:
    runs: list[Mapping[str, Any]] = []
    bad = 0
    try:
        with file.open(encoding="utf-8", errors="replace") as log:
            for line in filter(str.strip, log):
                with suppress(ValueError):
                    if isinstance(run := json.loads(line), dict):
                        runs.append(run)
                        continue
                bad += 1
    except OSError as error:
        raise InputError(
            f"the metrics log {file} cannot be read ({error.strerror}); wanted a file of JSON lines: set "
            "CRAG_METRICS_LOG to have one written."
        ) from error
    return runs, bad


def _rate(answers: Iterable[Any]) -> float | None:
    values = [bool(answer) for answer in answers]
    return sum(values) / len(values) if values else None


def _mean(runs: Sequence[Mapping[str, Any]], field: str) -> float | None:
    values = [float(run[field]) for run in runs if _number(run.get(field))]
    return sum(values) / len(values) if values else None


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
