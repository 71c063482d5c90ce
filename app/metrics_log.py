"""The metrics log: one JSON line a run, opt-in, on the person's own disk."""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from cragraph.metrics_summary import summarise, table
from cragraph.text.sentences import CITATION
from cragraph.types import IDK
from cragraph.verification.claims import split_claims

__all__ = ["citation_coverage", "log_run", "record", "summarise", "table"]

logger = logging.getLogger(__name__)

ANSWER_CHARACTERS: Final = 100
"""How much of an answer a line keeps, to recognise the run by."""

_LOCK: Final = Lock()
_MARKER: Final = re.compile(CITATION)


def log_run(path: str | Path, response: Mapping[str, Any], timings: Mapping[str, float] | None = None) -> None:
    """Append one run to the log; a log that cannot be written costs a warning, never the answer."""
    line = json.dumps(record(response, timings), ensure_ascii=False, allow_nan=False) + "\n"
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # One write of one line in append mode: lines of several processes do not mix.
        with _LOCK, Path(path).open("ab", buffering=0) as log:
            log.write(line.encode("utf-8", "surrogatepass"))
    except OSError as error:
        logger.warning("the metrics log %s cannot be written (%s): the run is not in it", path, error)


def record(response: Mapping[str, Any], timings: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The line of a run.

    - `timestamp` (UTC), `question`, `answer` (its first 100 characters), `abstained`, `confidence`, `is_grounded`
    - `attempts`: corrections made; `triggered`: whether there was one; `first_confidence`, `best_confidence`;
      `improved`: whether a correction raised the confidence, null where none was made or nothing was verified
    - `rejected`: an answer was written and withheld; `claims_checked`, `claims_supported` of the returned answer
    - `citations`, `citation_coverage`: share of its claims with a marker; `citation_accuracy`: share of verified
      citations; both null for an abstention
    - `rerank_gain`: what the reranker's choice scores above retrieval's on the first pass, null without one
    - `judge`, `models`, `llm_calls`, `degraded`, `issues`; `timings_ms` by node and in `total`
    """
    tried = [a for a in response.get("attempts") or [] if isinstance(a, Mapping)]
    scores = [a.get("confidence") for a in tried]
    measured = [score for score in scores if isinstance(score, int | float)]
    first = scores[0] if scores else None
    triggered = len(tried) > 1
    abstained = bool(response.get("abstained"))
    block = response.get("verification") or {}
    citations: Sequence[Mapping[str, Any]] = response.get("citations") or []
    models = dict(response.get("models") or {})
    answer = str(response.get("answer") or "")
    return {
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "question": str(response.get("question") or ""),
        "answer": answer[:ANSWER_CHARACTERS],
        "abstained": abstained,
        "confidence": response.get("confidence"),
        "is_grounded": response.get("is_grounded"),
        "attempts": max(len(tried) - 1, 0),
        "triggered": triggered,
        "first_confidence": first,
        "best_confidence": max(measured, default=None),
        "improved": max(measured) > first if triggered and first is not None else None,
        "rejected": abstained and any(a.get("answer") not in (None, "", IDK) for a in tried),
        "claims_checked": None if abstained else block.get("claims_checked"),
        "claims_supported": None if abstained else block.get("claims_supported"),
        "citations": len(citations),
        "citation_coverage": None if abstained else citation_coverage(answer),
        "citation_accuracy": sum(bool(c.get("verified")) for c in citations) / len(citations) if citations else None,
        "rerank_gain": response.get("rerank_gain"),
        "judge": models.get("judge"),
        "models": models,
        "llm_calls": response.get("llm_calls", 0),
        "degraded": list(response.get("degraded") or []),
        "issues": list(response.get("issues") or []),
        "timings_ms": dict(timings if timings is not None else response.get("timings_ms") or {}),
    }


def citation_coverage(answer: str) -> float | None:
    """Share of an answer's claims that carry a marker, in or directly behind them; None without claims."""
    claims = split_claims(answer)
    ends = [claim["start"] for claim in claims[1:]] + [len(answer)]
    if not claims:
        return None
    return sum(bool(_MARKER.search(answer, c["start"], end)) for c, end in zip(claims, ends, strict=True)) / len(claims)
