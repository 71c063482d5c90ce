"""Choose on dev how network, words and facts are joined, fit the small layers, and write numbers and report.

    python -m lab.training.reading.fit RUN DEV.npz --data ROWS      RUN gets head.json and report.json

The layers of words and of contradictions come from prepared claims that the network did not get to see. Dev decides how
much the network counts beside words, how much what speaks against a claim, and what an objection by facts costs. What
the sum of these means as a probability is fitted by `training.confidence`.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from cragraph.models.grounding import Network, blended, class_logit, missing
from cragraph.models.weights import open_session
from lab.training.judge.metrics import auroc, f1
from lab.training.judge.prepare import UNKNOWN, minilm, reader
from lab.training.judge.rows import CONTRADICTED, SUPPORTED, UNSUPPORTED
from lab.training.reading.table import Table
from lab.training.reading.train import SEED, Both

Array = NDArray[Any]
RowsByFile = dict[str, tuple[Array, Array]]
MADE = ("asked_dev", "turned_dev", "written_dev", "probes")
"""Claims made of passages put aside (`aside.py`), of texts put aside (`written.py`), and about six small texts."""
ENTAIL = ("evidence_inference", "impli_figurative", "onestop_english")
"""Sources of `entail`, whose claims are in other words or in the same ones otherwise."""
APART = ("financebench_dev", "xnli_ko_dev")
SPAN_FILES = ("wice_dev_subclaim_spans", "defacto_val", "summedits_set_scitldr")
AGAINST_FILES = ("fever_symmetric_dev", "covidfact_dev", "healthver_dev", "defacto_val")
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0)
COSTS = (0.0, 0.5, 1.0, 1.5, 2.0)
BOUNDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
WORDS = 0.3
"""The least bound of the support by words, whatever dev would have: what they are worth there costs more on claims in
other words, which dev has few of (`lab.benchmarks.rules`)."""
AGAINST = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = 0.5
"""Of the joined logit: what is summed is surer than it should be. The order stays; the curve is fitted on it."""
ASIDE = 0.4
"""Weight of the claims of `MADE` and `ENTAIL` beside people's labels of answers that others wrote."""
Settings = tuple[float, float, float, float]


def aside(name: str) -> bool:
    """Whether a file holds claims that say little of the answers that people check."""
    return name in MADE or name.startswith(ENTAIL)


def auroc_by_file(rows: RowsByFile) -> dict[str, float]:
    """AUROC of *supported* of each file that has both sides."""
    each = {name: auroc(scores, labels == SUPPORTED) for name, (scores, labels) in rows.items() if name not in APART}
    return {name: round(value, 4) for name, value in each.items() if not np.isnan(value)}


def macro(each: dict[str, float], *, of_aside: bool = False) -> float:
    """The mean over people's files, or over those aside."""
    own = [value for name, value in each.items() if aside(name) is of_aside]
    return float(np.mean(own)) if own else float("nan")


def joined(table: Table, share: float, cost: float, bound: float, against: float) -> Array:
    """What the encoder judge goes by: support by words and network joined, less the cost where facts object."""
    objected = table["lacking"] | table["opposed"] | table["unmatched"]
    return np.asarray(blended(table["opinion"], network(table, against), share, bound) - cost * objected)


def network(table: Table, against: float) -> Array:
    """(n,): what the network says for each claim, less so much of what it says against it."""
    sides = np.array([[class_logit(scores, side) for side in (0, 2)] for scores in table["logits"]], np.float32)
    return sides @ np.array([1.0, -against], np.float32)


def choose_blend(dev: Table) -> tuple[dict[str, Any], Array]:
    """How much network, words and contradiction count, and what an objection costs, by AUROC.

    `left out` is the macro AUROC where each of people's files is scored by what the other files would have chosen.
    """
    tried = {own: auroc_by_file(dev.rows(joined(dev, *own))) for own in product(SHARES, COSTS, BOUNDS, AGAINST)}
    files = [name for name in next(iter(tried.values())) if not aside(name)]

    def value(own: Settings, without: str = "") -> float:
        each = {name: one for name, one in tried[own].items() if name != without}
        others = macro(each, of_aside=True)
        return macro(each) if np.isnan(others) else (1 - ASIDE) * macro(each) + ASIDE * others

    def chosen(without: str = "") -> Settings:
        share, cost, bound, against = max(tried, key=lambda own: value(own, without))
        return share, cost, max(bound, WORDS), against

    best = chosen()
    names = ("share", "cost", "bound", "against")
    return {
        **dict(zip(names, best, strict=True)),
        "dev": macro(tried[best]),
        "aside": macro(tried[best], of_aside=True),
        "each": tried[best],
        "left out": float(np.mean([tried[chosen(n)][n] for n in files])),
        "weakest": macro(auroc_by_file(dev.rows(joined(dev, *best), weakest=True))),
        "words alone": auroc_by_file(dev.rows(dev["opinion"])),
        "network alone": auroc_by_file(dev.rows(network(dev, best[3]))),
        "coverage": auroc_by_file(dev.rows(dev["coverage"])),
        "tried": {" ".join(f"{x:g}" for x in own): round(value(own), 4) for own in tried},
    }, joined(dev, *best)


def against_figures(dev: Table, scores: Array, contradiction: tuple[float, float]) -> dict[str, float]:
    """AUROC of *contradicted* against the rest, of the files that mark it."""
    doubt = 1 / (1 + np.exp(-(contradiction[0] * (dev["logits"][:, 2] - dev["logits"][:, 1]) + contradiction[1])))
    rows = dev.rows(-(1 - 1 / (1 + np.exp(-scores))) * doubt, weakest=True)
    return {n: auroc(-rows[n][0], rows[n][1] == CONTRADICTED) for n in AGAINST_FILES if n in rows}


def unseen(run: Path, rows: Path, most: int, seed: int, threads: int) -> Table:
    """At most so many prepared claims that the network did not see, read: their labels, and the tags of their words."""
    claims, reads = Both(rows).claims, Network(open_session(run / "int8.onnx"))
    chosen = Both(rows).unseen(run, most, seed)
    read = reader(minilm() / "tokenizer.json", np.load(run / "idf.npy"))
    glued = np.array([(read.tokenizer.id_to_token(i) or "").startswith("##") for i in range(read.size)])
    pairs = []
    for row in chosen:
        text = claims.ids[claims.starts[row] : claims.starts[row + 1]].astype(np.int32)
        pairs.append((text[: claims.sizes[row, 0]], text[claims.sizes[row, 0] :]))
    logits = reads.many(pairs, threads)
    tags = [claims.tags[claims.tag_starts[row] : claims.tag_starts[row + 1]] for row in chosen]
    return Table({
        "label": claims.labels[chosen],
        "marked": np.array([bool(len(own)) and bool((own != UNKNOWN).all()) for own in tags]),
        "logits": np.array([scores for scores, _ in logits]),
        "pieces": np.array([len(claim) for claim, _ in pairs]),
        "words": np.concatenate([words for _, words in logits]),
        "missing": np.concatenate([missing(read, claim, text) for claim, text in pairs]),
        "glued": np.concatenate([glued[claim] for claim, _ in pairs]),
        "tags": np.concatenate(tags),
    })  # fmt: skip


def fit_logistic(x: Array, y: Array, weight: Array, penalty: float) -> tuple[Array, float]:
    """Logistic weights, none below 0, and the bias; `weight` (n,) sums to 1, `penalty` is on the squares."""

    def loss(w: Array) -> tuple[float, Array]:
        z = x @ w[:-1] + w[-1]
        value = float((weight * (np.logaddexp(0, z) - y * z)).sum() + penalty * (w[:-1] ** 2).sum())
        error = weight * (1 / (1 + np.exp(-z)) - y)
        return value, np.append(x.T @ error + 2 * penalty * w[:-1], error.sum())

    bounds = [(0.0, None)] * x.shape[1] + [(None, None)]
    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:-1], float(found.x[-1])


def fit_words(claims: Table) -> tuple[float, float, float]:
    """The word layer: from the network's logit and the missing idf to a probability, on claims with marked words."""
    words = claims.words(np.flatnonzero(claims["marked"]))
    x = np.stack([words.logits, words.missing], 1).astype(np.float64)
    weights, bias = fit_logistic(x, words.tags, np.full(len(x), 1 / len(x)), 1e-5)
    return float(weights[0]), float(weights[1]), bias


def fit_contradiction(claims: Table) -> tuple[float, float]:
    """Scale and bias from the network's logits to *contradicted, given not supported*; both sides count alike."""
    own = np.flatnonzero(np.isin(claims["label"], (UNSUPPORTED, CONTRADICTED)))
    x = (claims["logits"][own, 2] - claims["logits"][own, 1])[:, None].astype(np.float64)
    y = claims["label"][own] == CONTRADICTED
    weights, bias = fit_logistic(x, y, np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum()), 1e-4)
    return float(weights[0]), bias


def word_figures(dev: Table, word: Sequence[float]) -> tuple[float, dict[str, Any]]:
    """The word threshold with the best mean F1 on dev, and by file its figures beside *words that do not occur*."""
    found = {}
    for name in SPAN_FILES:
        readings = np.flatnonzero(dev.sources == name)
        if readings.size:
            words = dev.words(readings)
            found[name] = (1 / (1 + np.exp(-(word[0] * words.logits + word[1] * words.missing + word[2]))), words)

    def mean(at: float) -> float:
        return float(np.mean([f1(c >= at, w.tags)[2] for c, w in found.values()]))

    at = max(np.arange(0.05, 0.8, 0.01).round(2).tolist(), key=mean)
    return at, {
        n: {"model": f1(c >= at, w.tags), "words that do not occur": f1(w.missing > 0, w.tags)}
        for n, (c, w) in found.items()
    }


def main() -> None:
    """Choose, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="what `training.reading.prepare` wrote")
    parser.add_argument("--claims", type=int, default=3000, help="claims to fit the small layers on")
    parser.add_argument("--seed", type=int, default=SEED, help="the seed that the network was trained with")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    dev = Table.load(options.dev)
    claims = unseen(options.run, options.data, options.claims, options.seed, options.threads)
    blend, scores = choose_blend(dev)
    contradiction, word = fit_contradiction(claims), fit_words(claims)
    word_at, words = word_figures(dev, word)
    card = {
        "blend": {name: blend[name] for name in ("share", "cost", "bound", "against")} | {"scale": SCALE},
        "contradiction": contradiction,
        "word": word,
        "thresholds": {"word": {"at": word_at}},
    }
    report = {"judge": blend, "contradicted": against_figures(dev, scores, contradiction), "words": words}
    (options.run / "head.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    (options.run / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({**report, "judge": {k: v for k, v in blend.items() if k != "tried"}}, indent=1))


if __name__ == "__main__":
    main()
