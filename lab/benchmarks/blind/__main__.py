"""Questions and claims that were written without sight of the code or its data, in other words than the texts'.

`questions.jsonl` asks about the files beside it: `any` are texts of which one in answer or citation makes it right,
`partly` those that make it partly right; a third have no answer there. `claims.jsonl` has 120 claims on 30 passages,
the true ones in other words, the false ones in the passage's; `false80.jsonl` 80 false and 20 true ones on four;
`unrelated.jsonl` claims and passages that have nothing to do with each other. `nearmiss.jsonl` has 80 short texts with
two questions each that look alike: one that the text answers, every second time in other words, and one about somebody
or something else that it does not answer. Nothing is fitted on any of them.

`bats` holds forty more questions, on the files of a bat hospital, written likewise; what they showed of tables and
dates was mended afterwards.

`observatory` holds a later set of everything: eighty questions on the fourteen files of an observatory, a third of them
without an answer there, 160 claims on 32 passages and sixty near misses, written when what the first ones had shown of
the network's settings had been seen. Nothing was fitted on them; the line from which a doubtful answer is shown was
taken from other sources, after their first figures were known.

`pottery` has eighty questions on the twelve files of a members' workshop, 26 without an answer there, 160 claims on 32
passages and forty near misses. Nothing was fitted on them. They decided which of two finished networks ships, and with
the questions of all sets before, by their counts, that question and answer are judged as one claim in place of a second
reading.

`canal` was asked only after that: eighty questions on the twelve files of a boat trust, 26 without an answer there, and
160 claims on 32 passages.

`rink` is the latest: as many questions and claims, the questions on the twelve files of an ice rink, asked once all of
the network, its heads and the search was decided.

    python -m lab.benchmarks.blind                      everything
    python -m lab.benchmarks.blind --threshold 0.7 --on-low-confidence abstain
    python -m lab.benchmarks.blind --only questions --verbose
    python -m lab.benchmarks.blind --only nearmiss --set pottery
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cragraph import Context, create_graph, load_settings
from cragraph.api import verify
from cragraph.run import Assistant
from lab.evals.metrics import auroc, calibration_error, reliability

HERE = Path(__file__).parent
FOLDERS = {"blind": HERE, **{name: HERE / name for name in ("bats", "observatory", "pottery", "canal", "rink")}}
"""Where questions and the files that they ask about lie, and claims and near misses where there are any."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def verdict(row: dict[str, Any], response: dict[str, Any]) -> str:
    """right, partly, wrong or refused; for what the files do not answer, right is refused."""
    if response["abstained"]:
        return "right" if row.get("refuse") else "refused"
    if row.get("refuse"):
        return "wrong"
    answer = response["answer"]
    said = " ".join([answer, *(c["quote"] for c in response["citations"])]).casefold()

    def holds(text: str) -> bool:
        if text in ("Yes", "No"):
            return re.match(rf"\W*{text}\b", answer, re.IGNORECASE) is not None
        return text.casefold() in said

    if any(map(holds, row["any"])):
        return "right"
    return "partly" if any(map(holds, row["partly"])) else "wrong"


def questions(folder: Path, context: Context, model: str | None, *, verbose: bool) -> None:
    """Ask all questions of a folder; right, partly, wrong, refused, and what the confidence is worth."""
    found: list[tuple[dict[str, Any], str, float]] = []
    with tempfile.TemporaryDirectory() as scratch:
        settings = load_settings(store=str(Path(scratch) / "store"), **({"model": model} if model else {}))
        Assistant(settings).ingest([folder / "files"])
        graph = create_graph(settings).compile()
        for row in rows(folder / "questions.jsonl"):
            response = graph.invoke({"question": row["question"]}, context=context)
            found.append((row, verdict(row, response), response["confidence"] or 0.0))
            if verbose:
                print(f"{row['id']:>3} {found[-1][1]:<8} {found[-1][2]:.2f}  {row['question']}")
                print(f"      → {response['answer']!r}")
    for name, some in (("answerable", False), ("without an answer", True)):
        counts = Counter(kind for row, kind, _ in found if bool(row.get("refuse")) is some)
        print(f"{name}:", ", ".join(f"{counts[kind]} {kind}" for kind in ("right", "partly", "wrong", "refused")))
    told = [(kind == "right", confidence) for row, kind, confidence in found if not _refused(row, kind)]
    sure = sum(not right and confidence >= 0.8 for right, confidence in told)
    utility = sum(kind == "right" for _, kind, _ in found) / len(found)
    print(f"utility {utility:.3f}; wrong or partly at .8 or more: {sure}")
    print(f"of the {len(told)} that were answered: {_worth(*zip(*told, strict=True))}")


def _refused(row: dict[str, Any], kind: str) -> bool:
    return kind == "refused" or (bool(row.get("refuse")) and kind == "right")


def _worth(right: Any, confidence: Any) -> str:
    curve = reliability(list(right), list(confidence))
    ranked = auroc(list(right), list(confidence))
    stated = "none, all alike" if ranked is None else f"{ranked:.3f}"
    return f"AUROC {stated}, calibration error {calibration_error(curve):.3f}"


def claims(path: Path, judge: str) -> None:
    """Judge each claim of a file; how many true ones are kept, how many false ones pass."""
    settings, true, scores, kept = load_settings(), [], [], []
    for row in rows(path):
        came = verify(row["answer"], row["passages"], settings=settings, judge=judge)
        true.append(row["label"] == "supported")
        kept.append(all(claim["verdict"] == "supported" for claim in came.claims))
        scores.append(came.confidence)
    truth, passed = np.array(true), np.array(kept)
    balanced = (passed[truth].mean() + (~passed[~truth]).mean()) / 2
    print(
        f"{path.stem}: {passed[truth].sum()} of {truth.sum()} true ones supported, {passed[~truth].sum()} of "
        f"{(~truth).sum()} false ones; balanced accuracy {balanced:.3f}, {_worth(true, scores)}"
    )


def unrelated(judge: str) -> None:
    """Every claim against every passage: how many pairs are called supported."""
    settings, [table] = load_settings(), rows(HERE / "unrelated.jsonl")
    pairs = [(claim, passage) for claim in table["claims"] for passage in table["passages"]]
    came = [verify(claim, [passage], settings=settings, judge=judge).claims for claim, passage in pairs]
    passed = sum(any(claim["verdict"] == "supported" for claim in one) for one in came)
    print(f"unrelated: {passed} of {len(pairs)} supported")


def near_misses(path: Path, context: Context, model: str | None, *, verbose: bool) -> None:
    """Ask both questions of each text; what is answered rightly, what is refused, and how the confidence ranks them."""
    settings = load_settings(**({"model": model} if model else {}))
    graph = create_graph(settings).compile()
    counts: dict[str, Counter[str]] = {}
    scores: dict[str, list[float]] = {}
    for row in rows(path):
        response = graph.invoke({"question": row["question"], "passages": [row["text"]]}, context=context)
        said = " ".join([response["answer"], *(c["quote"] for c in response["citations"])])
        told = "refused" if response["abstained"] else "right" if row["answers"] and row["answer"] in said else "wrong"
        counts.setdefault(row["kind"], Counter())[told] += 1
        scores.setdefault(row["kind"], []).append(response["confidence"] or 0.0)
        if verbose:
            print(f"{row['id']:>3} {row['kind']:<24} {told:<8} {scores[row['kind']][-1]:.2f}  {row['question']}")
    answerable = ("same words", "other words")
    false = [score for kind, some in scores.items() if kind not in answerable for score in some]
    for kind, some in scores.items():
        print(f"{kind}: " + ", ".join(f"{counts[kind][name]} {name}" for name in ("right", "wrong", "refused")))
        if kind in answerable:
            ranked = auroc([True] * len(some) + [False] * len(false), [*some, *false])
            print(f"  AUROC beside all that have no answer {ranked:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["questions", "claims", "nearmiss"])
    parser.add_argument("--set", choices=FOLDERS, help="only what is of this set")
    parser.add_argument("--judge", default="auto")
    parser.add_argument("--model", help="a chat model that writes")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--on-low-confidence", choices=["abstain", "flag", "prune"])
    parser.add_argument("--verbose", action="store_true", help="print every answer")
    options = parser.parse_args()
    own = {"confidence_threshold": options.threshold, "on_low_confidence": options.on_low_confidence}
    context = Context(**{name: value for name, value in own.items() if value is not None})
    folders = {name: folder for name, folder in FOLDERS.items() if options.set in (None, name)}
    for name, folder in folders.items():
        print(f"-- {name}")
        if options.only in (None, "questions"):
            questions(folder, context, options.model, verbose=options.verbose)
        if options.only in (None, "nearmiss") and (folder / "nearmiss.jsonl").exists():
            near_misses(folder / "nearmiss.jsonl", context, options.model, verbose=options.verbose)
        if options.only in (None, "claims"):
            for path in sorted(folder.glob("claims.jsonl")) + sorted(folder.glob("false80.jsonl")):
                claims(path, options.judge)
            if (folder / "unrelated.jsonl").exists():
                unrelated(options.judge)


if __name__ == "__main__":
    main()
