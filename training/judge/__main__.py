"""Make the grounding judge from the data and the MiniLM weights, start to end.

    python -m training.judge DATA [--run training/runs/judge]

A long run and a short one with fewer kinds of made errors start from MiniLM; two more go on from the mean of their
weights, with errors in people's own claims and less charged for what a claim alone gives away; the last goes on from
the mean of these two with what words mean together: answers to questions, roles, plans, causes. Steps whose result is
there already are left out, and training goes on from its checkpoint: stop it when you like. A quick trial of every
step, which leaves the shipped weights alone:

    python -m training.judge DATA --run /tmp/t --share 0.005 --limit 20 --out /tmp/t --docs /tmp/t --card /tmp/t/card.md
"""

import argparse
import subprocess
import sys
from pathlib import Path

FIRST = {"long": (86_000, 22_000, ("--made", 30_000)), "short": (29_000, 6_000, ("--made", 20_000, "--plain"))}
"""Networks from MiniLM: the rows that each sees, over how many of these the learning rate falls, what is prepared."""
SECOND = {"wide": (79_000, 25_000, 13), "again": (50_000, 17_000, 14)}
"""Networks from the mean of the first two: the rows, those over which the rate falls, and the seed of their order."""
LAST = (56_000, 28_000)
"""The rows that the last network sees, and those over which its rate falls."""
WIDE = ("--made", 13_000, "--derived", 24_000)
"""How the rows of the second two are prepared."""
PRIOR_ROWS = 100_000
"""Claims that each prior learns from at most: all of its half."""
PEAK = 1e-4
"""The highest learning rate of the second two."""
FIT_ROWS = 250
"""Claims of each training source to fit the head on."""


def step(name: str, *arguments: object, unless: Path | None = None) -> None:
    """Run one module of this folder in a process of its own, unless its result exists."""
    if unless is not None and unless.exists():
        print(f"{name}: {unless} is there", flush=True)
        return
    print(f"{name}:", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", f"training.judge.{name}", *map(str, arguments)], check=True)


def spans(rows: int, decay: int, share: float) -> tuple[object, ...]:
    """The options that say how long a network is trained, for a share of its rows."""
    return "--rows", round(rows * share), "--decay", round(decay * share)


def main() -> None:
    """Run the steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, default=Path("training/runs/judge"))
    parser.add_argument("--share", type=float, default=1.0, help="share of the training rows, for a quick trial")
    parser.add_argument("--limit", type=int, default=0, help="answers of each file to fit and measure on; 0: all")
    parser.add_argument("--out", type=Path, default=Path("models/data"), help="where the weights go")
    parser.add_argument("--docs", type=Path, default=Path("docs/lab/results"), help="where the reliability plot goes")
    parser.add_argument("--card", type=Path, default=Path("training/MODEL_CARD.md"))
    options = parser.parse_args()
    run = options.run
    train, dev = (sorted((options.data / "grounding" / part).glob("*.jsonl")) for part in ("train", "dev"))
    if not train or not dev:
        raise SystemExit(f"{options.data}/grounding holds no train/*.jsonl and dev/*.jsonl; give the data folder.")
    for name, (rows, decay, prepared) in FIRST.items():
        own = run / name
        step("prepare", options.data / "grounding", own, *prepared, unless=own / "train.npz")
        step("train", own, *spans(rows, decay, options.share), unless=own / "net.pt")
    base, wide = run / "base", run / "wide"
    step("average", base, *(run / name for name in FIRST), unless=base / "net.pt")
    step("prepare", options.data / "grounding", wide, *WIDE, unless=wide / "train.npz")
    step("prior", wide, "--rows", round(PRIOR_ROWS * options.share), unless=wide / "prior.npy")
    for name, (rows, decay, seed) in SECOND.items():
        own = run / name
        learning = ("--data", wide, "--start", base, "--peak", PEAK, "--seed", seed)
        step("train", own, *learning, *spans(rows, decay, options.share), unless=own / "net.pt")
    second, last = run / "second", run / "meaning"
    step("average", second, *(run / name for name in SECOND), unless=second / "net.pt")
    step("prepare", options.data, last, "--meaning", unless=last / "train.npz")
    step("train", last, "--start", second, "--peak", PEAK, *spans(*LAST, options.share), unless=last / "net.pt")
    step("export", run, "--net", last, "--rows", run / "long", unless=run / "int8.onnx")
    model = run / "int8.onnx"
    unseen = ("--unseen", options.data)
    fitted = ("--limit", options.limit or FIT_ROWS)
    step("featurise", run / "long", model, run / "fit.npz", *unseen, *fitted, unless=run / "fit.npz")
    readable = [path for path in dev if not path.name.startswith("xnli_ko")]
    step("aside", options.data / "qa" / "dev", run, unless=run / "turned_dev.jsonl")
    readable += [run / "asked_dev.jsonl", run / "turned_dev.jsonl", Path(__file__).with_name("probes.jsonl")]
    limit = ("--limit", options.limit)
    step("featurise", run / "long", model, run / "dev.npz", *limit, "--files", *readable, unless=run / "dev.npz")
    step("fit", run, run / "fit.npz", run / "dev.npz")
    step("plot", run, run / "dev.npz", "--out", options.docs)
    step("ship", run, "--out", options.out, "--card", options.card)


if __name__ == "__main__":
    main()
