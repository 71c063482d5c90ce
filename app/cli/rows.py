"""Verify many rows: streaming, in order, several side by side, a bad line reported and skipped."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from cragraph.errors import CragError
from cragraph.passages import as_passages

Outcome = tuple[int, str, str]
"""Line number from 1, the row as JSON, and what was wrong with it (one of the two is empty)."""


def verify_rows(lines: Iterable[str], verify: Callable[..., Any], workers: int) -> Iterator[Outcome]:
    """Yield one outcome a non-blank line, in the order of the lines; at most a few lines are held at a time."""
    pending: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            pending.append(pool.submit(_one, number, line, verify))
            if len(pending) > workers * 4:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _one(number: int, line: str, verify: Callable[..., Any]) -> Outcome:
    try:
        row = _checked(json.loads(line))
        passages = as_passages(row["passages"])
        result = verify(row["answer"], passages, row.get("question")).to_dict()
    except json.JSONDecodeError as error:
        return number, "", f"not JSON ({error.msg} at character {error.pos + 1})"
    except CragError as error:
        return number, "", str(error)
    except _BadRowError as error:
        return number, "", str(error)
    return number, json.dumps({"id": row.get("id", number)} | result, ensure_ascii=False), ""


class _BadRowError(ValueError):
    """A row without the fields that it needs."""


def _checked(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise _BadRowError(f"came as a {type(row).__name__}; wanted an object with answer and passages")
    if not isinstance(row.get("answer"), str):
        raise _BadRowError("has no text in `answer`; wanted a string")
    if not isinstance(row.get("passages"), list):
        raise _BadRowError("has no list in `passages`; wanted strings or objects with text")
    question = row.get("question")
    if question is not None and not isinstance(question, str):
        raise _BadRowError(f"has a {type(question).__name__} as `question`; wanted a string or nothing")
    return row
