"""Fit the two heads that join the reader with what words say, and calibrate them on sources held out.

python -m lab.training.reader.fit DATA RUN [--limit 300]     DATA is the folder with qa/; RUN gets the heads
python -m lab.training.reader.fit DATA RUN --network FOLDER  the same for weights that do not ship

The network is the one that `ship` put into the package, where no other is given.

Writes RUN/heads.json (weights) and RUN/report.json. The first head orders candidates, the second says how likely the
best one answers. Figures marked *other sources* come from heads that were fitted without the source they are taken on;
`folders` are the written folders that no network learns from, by heads fitted without them; `files` are questions
over whole files, on which nothing is fitted.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import minimize

from cragraph import create_graph, load_settings
from cragraph.answers.answered import given_in, nearest
from cragraph.answers.candidates import candidates
from cragraph.answers.ranking import (
    BY_READER,
    BY_WORDS,
    CERTAINTY,
    CHOICE,
    LIKELIEST,
    LOOKED,
    REWORDED,
    AnswerRanker,
    Ranking,
    certainty,
    reads,
)
from cragraph.language.questions import read_question
from cragraph.language.words import normalised
from cragraph.models.cache import LRU, CachedEmbeddings
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.models.weights import DATA
from cragraph.passages import as_passages
from cragraph.run import Assistant
from cragraph.types import Passage
from lab.benchmarks.blind import __main__ as blind
from lab.benchmarks.large_model import TRAPS
from lab.benchmarks.new_user import __main__ as new_user
from lab.evals.answers import AskedRow, read, with_noise
from lab.evals.metrics import auroc, calibration_error, reliability
from lab.training.reader.made_tables import table_example
from lab.training.reading import lists
from lab.training.reading.written import folders, written

Heads = dict[str, list[float]]
FOLDER_ROWS = 45
"""Questions of each written folder for which candidates are ranked; rows are looked up for all."""
FOLDS = 4
"""Groups of sources; figures on one come from heads that were fitted on the other three."""


@dataclass(frozen=True)
class Given:
    """A question with the passages that were found for it; `cell` is the answer where it is known to the letter."""

    source: str
    row: AskedRow
    passages: list[Passage]
    cell: str = ""
    ranked: bool = True
    """Whether candidates are ranked for it; else only rows are looked up."""


@dataclass
class Asked:
    """One question's candidates: their features and whether each is right; the source it is from."""

    source: str
    row: AskedRow
    features: np.ndarray
    right: np.ndarray
    ranking: Ranking
    passages: list[Passage]


def sets(data: Path, limit: int) -> dict[str, list[AskedRow]]:
    """Sources with and without answers, shaped as questions meet them: one passage, five, noise only, rows of tables."""
    dev = data / "qa" / "dev"

    def some(rows: Sequence[AskedRow]) -> list[AskedRow]:
        return Random(1).sample(list(rows), min(limit, len(rows)))

    nq, squad = read(dev / "nq_open_gold.jsonl"), read(dev / "squad1_train_du.jsonl")
    made = Random(99)
    tables = []
    for number in range(limit):
        e = table_example(made)
        answers = (e.text[e.spans[0][0] : e.spans[0][1]],) if e.spans else ()
        tables.append(AskedRow(f"table-{number}", e.question, (e.text,), answers, (), e.answerable, e.heading))
    long = [r for r in read(dev / "fairytaleqa_val.jsonl") if r.answers and len(r.answers[0].split()) < 9]
    return {
        "squad2": some(read(dev / "squad2_train_500.jsonl"))
        + some(read(dev / "squad2_train_part.jsonl"))[: limit // 2],
        "squad1 of five": some(with_noise(squad, 5, gold=True)),
        "squad1 noise": some(with_noise(squad, 5, gold=False))[: limit // 2],
        "nq of five": some(with_noise(nq, 5, gold=True)),
        "nq noise": some(with_noise(nq, 5, gold=False))[: limit // 2],
        "same document": some(read(dev / "neg_same_doc.jsonl"))[: limit // 2],
        "clapnq": some(read(dev / "clapnq_dev.jsonl")),
        "bioasq": some(read(dev / "bioasq_golden.jsonl")),
        "selqa": some(read(dev / "selqa_test.jsonl")),
        "tatqa": some(read(dev / "tatqa_dev_text.jsonl")),
        "ottqa": some(read(dev / "ottqa_hybridqa_dev.jsonl")),
        "quoref, drop": some(read(dev / "contrast_sets.jsonl")),
        "qed": some(read(dev / "qed_dev.jsonl")),
        "stories": some(long),
        "tables": tables,
        "written": some(written_rows()),
    }


def written_rows() -> list[AskedRow]:
    """Questions in other words, and such as only seem to be answered, of the texts that no network was trained on."""
    texts = [text for own in written(aside=True) for text in own]
    return [
        AskedRow(
            f"written-{n}-{m}", question, (text.text,), (text.text[slice(*span)],) if span else (), (), bool(span), ""
        )
        for n, text in enumerate(texts)
        for m, (question, span) in enumerate(text.asked)
    ]


def of_rows(rows: Sequence[AskedRow], source: str) -> list[Given]:
    """Every row with its own passages."""
    return [
        Given(source, row, as_passages([{"text": t, "metadata": {"title": row.title}} for t in row.passages]))
        for row in rows
    ]


def asked_of(ranker: AnswerRanker, given: Given) -> list[Asked]:
    """One question's candidates; nothing where the language is not read, or the answer is looked up in a table."""
    ranking = ranker(given.row.question, given.passages)
    if not ranking.scored or ranking.rows or ranking.answered is None:
        return []
    features = np.array([[s.features[name] for name in CHOICE] for s in ranking.scored])
    right = np.array([given.row.is_right(f"{s.candidate.opener} {s.candidate.text}") for s in ranking.scored])
    return [Asked(given.source, given.row, features, right, ranking, given.passages)]


def looked_of(ranker: AnswerRanker, given: Given) -> list[tuple[str, list[float], bool]]:
    """Source, features and whether it is right, of the row that is looked up; nothing where none is."""
    question = read_question(given.row.question)
    if not reads(question.text, given.passages):
        return []
    found = ranker.looked_up(question, tuple(candidates(given.passages)), given.passages)
    if found is None:
        return []
    looked, features = found
    start, end = looked.cells[0]
    right = (
        given.row.is_right(" ".join(row.text for row in looked.rows)) and given.cell in looked.rows[0].text[start:end]
    )
    return [(given.source, list(features.values()), right)]


def users() -> list[Given]:
    """The questions of new users, with the passages that a search over their files brings; those of `fourth` and
    `fifth` are not among them."""
    folders = {f"users{name}": new_user.HERE / name for name in ("", "second", "third")}
    return [a for name, home in folders.items() for a in over_files(name, home, new_user.documents)]


def of_folders() -> list[Given]:
    """The questions of the written folders that are put aside, with the passages that a search over each brings.

    Right is the sentence that was written to answer, not another that holds the same words.
    """
    found = []
    for name, folder in folders(aside=True).items():
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch) / "files"
            paths = lists.documents(folder, home, Random(name))
            rows = [r for text, path in zip(folder, paths, strict=True) for r in lists.asked_of(text, path.name)]
            rows = Random(name).sample(rows, len(rows))
            came = lists.searched(home, [question for question, _ in rows], Path(scratch))
            for number, ((question, (_, sentence, words)), passages) in enumerate(zip(rows, came, strict=True)):
                texts, sentences = tuple(p["text"] for p in passages), (sentence,) if sentence else ()
                row = AskedRow(f"{name}-{number}", question, texts, (), sentences, bool(sentence), "")
                found.append(Given(f"folder {name}", row, passages, words, number < FOLDER_ROWS))
    return found


def of_traps() -> list[Given]:
    """The questions over the folders of `lab.benchmarks.traps`, for the rows that are looked up."""
    found = []
    for home in sorted(TRAPS.glob("*/files")):
        rows = [json.loads(line) for line in (home.parent / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as scratch:
            came = lists.searched(home, [row["question"] for row in rows], Path(scratch))
            for row, passages in zip(rows, came, strict=True):
                answers = () if row["answer"] is None or row.get("sum") else tuple(row["answer"][0])
                texts, name = tuple(p["text"] for p in passages), f"{home.parent.name}-{row['id']}"
                asked = AskedRow(name, row["question"], texts, answers, (), bool(answers))
                found.append(Given(f"traps {home.parent.name}", asked, passages, ranked=False))
    return found


def aside() -> list[Given]:
    """Questions over files that no head is fitted on: two sets of new users, and the blind sets but for the latest."""
    found = []
    for name in ("fourth", "fifth"):
        found += over_files(f"users{name}", new_user.HERE / name, new_user.documents)
    for name in ("blind", "bats", "observatory", "pottery"):
        found += over_files(name, blind.FOLDERS[name], lambda home, _: home / "files")
    return found


def over_files(source: str, home: Path, files: Callable[[Path, Path], Path]) -> list[Given]:
    """The questions of a folder that stand alone and ask for more than yes or no, with the passages that are found.

    `files` gives the documents that they ask about, from the folder and one that it may fill.
    """
    lines = [json.loads(line) for line in (home / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    found: list[Given] = []
    with tempfile.TemporaryDirectory() as scratch:
        settings = load_settings(store=f"{scratch}/store", max_crag_attempts=0)
        Assistant(settings).ingest([files(home, Path(scratch) / "files")])
        graph = create_graph(settings).compile()
        for line in lines:
            answers = tuple(line.get("any") or line.get("expect", ())[:1])
            if "before" in line or {"Yes", "No"} & set(answers):
                continue
            held = [state["held"] for state in graph.stream({"question": line["question"]}, stream_mode="values")
                    if state.get("held")][-1:]  # fmt: skip
            for passages in held:
                texts = tuple(p["text"] for p in passages)
                row = AskedRow(f"{source}-{line['id']}", line["question"], texts, answers, (), bool(answers), "")
                found.append(Given(source, row, passages))
    return found


FALLING = frozenset({"short"})
"""Features that can only speak against an answer; all others, but for those that are free, can only speak for it."""
FREE = frozenset({"bias", "row", "alone"})
"""Features that may do either."""
SHOWN = 0.4
"""The probability from which on a doubtful answer is shown, where nobody chose another."""
STRENGTH = 1.0
"""How much a weight of 1 costs, in questions: what few questions show is held back."""


def logistic(names: Sequence[str], x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> list[float]:
    """Weights of a logistic regression whose signs are held to what each feature means.

    Features that say nearly the same would else take opposite signs, and a trap that one of them knows would count for
    the answer.
    """
    sign = 2.0 * y - 1.0

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (x @ w)
        value = float((weight * np.logaddexp(0, -margin)).sum() + STRENGTH * (w[1:] ** 2).sum() / 2)
        gradient = -(x * (weight * sign * sigmoid(-margin))[:, None]).sum(0)
        gradient[1:] += STRENGTH * w[1:]
        return value, gradient

    bounds = [(None, None) if n in FREE else (None, 0.0) if n in FALLING else (0.0, None) for n in names]
    found = minimize(loss, np.zeros(len(names)), jac=True, bounds=bounds, method="L-BFGS-B")
    return [round(float(w), 4) for w in found.x]


def balance(sources: Sequence[str]) -> np.ndarray:
    """Weights under which every source counts alike."""
    names, counts = np.unique(sources, return_counts=True)
    share = dict(zip(names, len(sources) / (len(names) * counts), strict=True))
    return np.array([share[s] for s in sources])


def fit_choice(asked: Sequence[Asked]) -> list[float]:
    """The head that orders candidates, from the questions of which one candidate is right."""
    useful = [a for a in asked if a.right.any() and not a.right.all()]
    x = np.concatenate([a.features for a in useful])
    y = np.concatenate([a.right for a in useful])
    per = balance([a.source for a in useful])
    weight = np.concatenate([np.full(len(a.right), w / len(a.right)) for a, w in zip(useful, per, strict=True)])
    return logistic(CHOICE, x, y, weight * len(useful) / weight.sum())


def fit_sure(certain: Sequence[tuple[str, list[float], bool]]) -> list[float]:
    """The head that says how likely the best candidate answers."""
    return logistic(
        CERTAINTY,
        np.array([f for _, f, _ in certain]),
        np.array([r for _, _, r in certain]),
        balance([s for s, _, _ in certain]),
    )


def fit_row(looked: Sequence[tuple[str, list[float], bool]]) -> list[float]:
    """The head for rows that words look up; folders that were written to mislead count as one source."""
    kinds = [source.split()[0] for source, _, _ in looked]
    x, y = np.array([f for _, f, _ in looked]), np.array([right for _, _, right in looked])
    return logistic(LOOKED, x, y, balance(kinds))


def certainties(asked: Sequence[Asked], again: Callable[[Asked], Any]) -> list[tuple[str, list[float], bool]]:
    """Source, features of the second head, and whether the best candidate is right."""
    found = []
    for a in asked:
        ranking = again(a)
        best = ranking.scored[0].candidate
        found.append((a.source, list(ranking.features.values()), a.row.is_right(f"{best.opener} {best.text}")))
    return found


def reworded_rows(ranker: AnswerRanker, rows: Sequence[AskedRow]) -> list[tuple[list[float], bool]]:
    """Features of answers in people's own words: the right one, and that of the next question on the same text."""
    found = []
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        passages = as_passages([{"text": t, "metadata": {"title": row.title}} for t in row.passages])
        ranking = ranker(row.question, passages)
        for answer, right in ((row.answers[0], True), (other.answers[0], row.is_right(other.answers[0]))):
            said = normalised(answer)
            if ranking.scored and not given_in(said, ranking)[0]:
                features = nearest(ranker, row.question, said, ranking)
                found.append((list(features.values()), right))
    return found


def fit_reworded(found: Sequence[tuple[list[float], bool]]) -> list[float]:
    """The head of answers in other words."""
    x, y = np.array([f for f, _ in found]), np.array([r for _, r in found])
    return logistic(REWORDED, x, y, np.ones(len(y)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def utility_at(p: np.ndarray, right: np.ndarray, answerable: np.ndarray, at: float) -> float:
    told = p >= at
    return float(((right & told) | (~answerable & ~told)).mean())


def summed(asked: Sequence[Asked], probability: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """What comes of questions over files, shown from `SHOWN` on: what is read there holds much beside the answer."""
    p, r, there = np.array(probability), np.array(right), np.array([a.row.answerable for a in asked])
    return {
        "n": len(p),
        "answerable": int(there.sum()),
        "a candidate right": sum(bool(a.right.any()) for a in asked),
        "right first": int(r.sum()),
        "right": int((r & (p >= SHOWN)).sum()),
        "wrong": int((~r & (p >= SHOWN)).sum()),
        "refused rightly": int((~there & (p < SHOWN)).sum()),
        "auroc": auroc(r.tolist(), p.tolist()),
        "ece": calibration_error(reliability(r.tolist(), p.tolist())),
    }


def main() -> None:
    """Fit, cross-check, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--network", type=Path, default=DATA, help="a folder with another network and its card")
    options = parser.parse_args()
    every = sets(options.data, options.limit)
    reader = Reader(remembered=200_000, folder=options.network)
    reader.heads = {
        "choice": [0.0] * len(CHOICE),
        "sure": [-9.0, *[0.0] * (len(CERTAINTY) - 1)],
        "row": [0.0, 1.0, *[0.0] * (len(LOOKED) - 2)],
    }
    # All are judged, as which are the likeliest is what is to be fitted.
    ranker = AnswerRanker(reader, CachedEmbeddings(EmbeddedEncoder(), LRU(100_000)), BY_WORDS + BY_READER, LIKELIEST)
    given = users() + of_folders() + of_traps() + [one for name, rows in every.items() for one in of_rows(rows, name)]
    looked = [one for own in given for one in looked_of(ranker, own)]
    reader.heads["row"] = fit_row(looked)
    print(f"{len(looked)} rows looked up, {sum(right for _, _, right in looked)} of them right", flush=True)
    asked = [one for own in given if own.ranked for one in asked_of(ranker, own)]
    print(f"{len(asked)} questions", flush=True)

    def rank(a: Asked) -> Any:
        """The ranking again with the heads as they are now; what was read stays."""
        head = np.array(reader.heads["choice"])
        scores = sigmoid(a.features @ head)
        scored = [replace(s, score=float(p)) for s, p in zip(a.ranking.scored, scores, strict=True)]
        ranking = replace(a.ranking, scored=tuple(sorted(scored, key=lambda s: -s.score)))
        features = certainty(ranking, ranking.scored[0])
        return replace(ranking, features=features)

    def source_of(name: str) -> str:
        return name.split()[0]

    report: dict[str, Any] = {}
    predictions: dict[int, float] = {}
    by_others: dict[int, bool] = {}  # whether the candidate is right that is the best by heads of other sources
    groups = sorted({source_of(a.source) for a in asked})
    for fold in range(FOLDS):
        left_out = set(groups[fold::FOLDS])
        rest = [a for a in asked if source_of(a.source) not in left_out]
        own = [a for a in asked if source_of(a.source) in left_out]
        reader.heads["choice"] = fit_choice(rest)
        sure = fit_sure(certainties(rest, rank))
        for a, (_, features, best) in zip(own, certainties(own, rank), strict=True):
            predictions[id(a)], by_others[id(a)] = float(sigmoid(np.dot(features, sure))), best
        print("left out", *sorted(left_out), flush=True)
    reader.heads["choice"] = fit_choice(asked)
    certain = certainties(asked, rank)
    reader.heads["sure"] = fit_sure(certain)
    within = sigmoid(np.array([f for _, f, _ in certain]) @ np.array(reader.heads["sure"]))
    outside = np.array([predictions[id(a)] for a in asked])
    right = np.array([r for _, _, r in certain])
    answerable = np.array([a.row.answerable for a in asked])
    some_right = np.array([bool(a.right.any()) for a in asked])
    names = np.array([a.source for a in asked])
    for name in dict.fromkeys(names.tolist()):
        mask = names == name
        p, q = outside[mask], within[mask]
        report[name] = {
            "n": int(mask.sum()),
            "answerable": float(answerable[mask].mean()),
            "right first": float(right[mask].mean()),
            "a candidate right": float(some_right[mask].mean()),
            "auroc others": auroc(right[mask].tolist(), p.tolist()),
            "auroc": auroc(right[mask].tolist(), q.tolist()),
            "ece others": calibration_error(reliability(right[mask].tolist(), p.tolist())),
            "utility at .5": utility_at(p, right[mask], answerable[mask], 0.5),
            "utility at .4": utility_at(p, right[mask], answerable[mask], 0.4),
        }
    public = np.array([name != "written" and not name.startswith("folder ") for name in names])
    per = balance(names.tolist()) * public  # the sums are of people's and public questions
    for at in (0.3, 0.4, 0.5, 0.6, 0.7):
        told = outside >= at
        good = (right & told) | (~answerable & ~told)
        report[f"at {at}"] = {
            "utility": float(np.average(good, weights=per)),
            "precision": float(np.average(right[told], weights=per[told])),
            "refused answerable": float(np.average(~told[answerable], weights=per[answerable])),
            "refused unanswerable": float(np.average(~told[~answerable], weights=per[~answerable])),
        }
    report["all"] = {
        "auroc others": auroc(right[public].tolist(), outside[public].tolist()),
        "ece others": calibration_error(reliability(right[public].tolist(), outside[public].tolist())),
    }
    kept = [a for a in asked if a.source.startswith("folder ")]
    report["folders"] = summed(kept, [predictions[id(a)] for a in kept], [by_others[id(a)] for a in kept])
    files = [one for own in aside() for one in asked_of(ranker, own)]
    best = [rank(a) for a in files]
    sure = [ranker.sure(ranking.features) for ranking in best]
    report["files"] = summed(files, sure, [one for _, _, one in certainties(files, rank)])
    told = [r for r in read(options.data / "qa" / "dev" / "fairytaleqa_val.jsonl") if r.answerable and r.answers]
    reader.heads["reworded"] = fit_reworded(reworded_rows(ranker, told[: 2 * options.limit]))
    heads: Heads = {name: reader.heads[name] for name in ("choice", "sure", "row", "reworded")}
    (options.run / "heads.json").write_text(json.dumps(heads, indent=1) + "\n", encoding="utf-8")
    (options.run / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for name, value in report.items():
        print(f"{name:16s}", {k: round(v, 3) if isinstance(v, float) else v for k, v in value.items()})
    print(dict(zip(CHOICE, heads["choice"], strict=True)))
    print(dict(zip(CERTAINTY, heads["sure"], strict=True)))
    print(dict(zip(LOOKED, heads["row"], strict=True)))


if __name__ == "__main__":
    main()
