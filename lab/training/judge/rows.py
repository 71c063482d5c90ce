"""The grounding rows as training examples, and what each file may contribute."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cragraph.models.grounding import sentences

SUPPORTED, UNSUPPORTED, CONTRADICTED, NOT_SUPPORTED = 0, 1, 2, 3
"""Classes; `NOT_SUPPORTED` is unsupported or contradicted, the annotators did not say which."""

CLASSES = {"supported": SUPPORTED, "unsupported": UNSUPPORTED, "contradicted": CONTRADICTED, "partial": NOT_SUPPORTED}

VAGUE = ("begin", "q2", "faithdial", "summedits", "attributionbench")
"""Files whose *unsupported* also holds contradictions."""


@dataclass(frozen=True)
class Example:
    """One claim, its passages, its class and, where known, the unsupported character ranges (None: not known)."""

    claim: str
    passages: tuple[str, ...]
    label: int
    spans: tuple[tuple[int, int], ...] | None
    source: str


def read_rows(path: Path) -> Iterator[dict[str, object]]:
    """The rows of one JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_examples(path: Path) -> list[Example]:
    """One file as examples: whole answers, or sentence by sentence where annotators marked spans."""
    examples: list[Example] = []
    for row in read_rows(path):
        label = CLASSES[str(row["label"])]
        if label == UNSUPPORTED and path.name.startswith(VAGUE):
            label = NOT_SUPPORTED
        if path.name.startswith(("begin", "faithdial")) and row["label"] == "partial":
            continue
        marked = tuple((int(a), int(b)) for a, b in row["spans"] or ())  # type: ignore[union-attr, attr-defined]
        spans = () if label == SUPPORTED else marked or None
        passages = tuple(str(p) for p in row["passages"])  # type: ignore[attr-defined]
        example = Example(str(row["answer"]), passages, label, spans, path.stem)
        examples.extend(_by_sentence(example))
    return examples


def _by_sentence(example: Example) -> Iterable[Example]:
    """Cut a long answer into sentences where the spans (or full support) say which of them hold."""
    cuts = sentences(example.claim)
    if example.spans is None or len(cuts) < 2 or not example.source.startswith(("summedits", "defacto")):
        return [example]
    parts = []
    for start, end in cuts:
        inside = tuple((max(a, start) - start, min(b, end) - start) for a, b in example.spans if a < end and b > start)
        label = example.label if inside else SUPPORTED
        parts.append(replace(example, claim=example.claim[start:end], label=label, spans=inside))
    return parts


def without_overlap(examples: Iterable[Example], held_out: Iterable[Path]) -> list[Example]:
    """Drop examples whose claim also stands in a held-out file, whatever its passages there."""
    seen = {key(str(row["answer"])) for path in held_out for row in read_rows(path)}
    return [e for e in examples if key(e.claim) not in seen]


def key(text: str) -> str:
    """A text without case, spacing and punctuation."""
    return re.sub(r"\W+", "", text.lower())
