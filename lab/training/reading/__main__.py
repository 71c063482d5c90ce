"""Make the network behind judge and reader from the data and the weights of its trunk, start to end.

    python -m lab.training.reading DATA --trunk FOLDER [--run lab/training/runs/reading]

FOLDER holds all-mpnet-base-v2. Steps whose result is there already are left out, and training goes on from its
checkpoint: stop it when you like. A quick trial of every step, which leaves the shipped weights alone:

    python -m lab.training.reading DATA --trunk FOLDER --run /tmp/t --rows 200 --limit 5 --out /tmp/t \
        --card /tmp/t/card.md
"""

import argparse
import subprocess
import sys
from pathlib import Path

from cragraph.models.weights import DATA
from lab.training.reading.train import DECAY, ROWS

LIMIT = 150
"""Answers of each file that the settings are chosen on."""


def step(name: str, *arguments: object, unless: Path | None = None) -> None:
    """Run one module of this folder in a process of its own, unless its result exists."""
    if unless is not None and unless.exists():
        print(f"{name}: {unless} is there", flush=True)
        return
    print(f"{name}:", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", f"lab.training.reading.{name}", *map(str, arguments)], check=True)


def main() -> None:
    """Run the steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--trunk", type=Path, required=True)
    parser.add_argument("--run", type=Path, default=Path("lab/training/runs/reading"))
    parser.add_argument("--rows", type=int, default=ROWS, help="rows that the network learns from")
    parser.add_argument("--limit", type=int, default=LIMIT, help="answers of each file to choose on")
    parser.add_argument("--out", type=Path, default=Path("cragraph/models/data"), help="where the weights go")
    parser.add_argument("--card", type=Path, default=Path("lab/training/MODEL_CARD.md"))
    options = parser.parse_args()
    run, qa = options.run, options.data / "qa" / "dev"
    dev = [path for part in ("grounding", "entail") for path in sorted((options.data / part / "dev").glob("*.jsonl"))]
    if not dev or not qa.is_dir():
        raise SystemExit(f"{options.data} holds no grounding/dev, entail/dev and qa/dev; give the data folder.")
    step("prepare", options.data, run, unless=run / "reader.npz")
    step("lists", options.data, run, unless=run / "lists.npz")
    rows = ("--rows", options.rows, "--decay", min(DECAY, options.rows // 2))
    step("train", run, "--trunk", options.trunk, "--data", run, *rows, unless=run / "net.pt")
    step("export", run, "--data", run, unless=run / "int8.onnx")
    step("aside", qa, run, unless=run / "turned_dev.jsonl")
    step("written", "--aside", run / "written_dev.jsonl", unless=run / "written_dev.jsonl")
    files = [path for path in dev if not path.name.startswith("xnli_ko")]
    files += [run / f"{name}_dev.jsonl" for name in ("asked", "turned", "written")]
    files.append(Path(__file__).parents[1] / "judge" / "probes.jsonl")
    step("featurise", run, run / "dev.npz", *files, "--limit", options.limit, unless=run / "dev.npz")
    step("fit", run, run / "dev.npz", "--data", run)
    step("ship", run, "--out", options.out, "--card", options.card)
    if options.out.resolve() == DATA.resolve():  # the heads are fitted on the network that ships
        fit = [sys.executable, "-m", "lab.training.reader.fit", options.data, run, "--limit", options.limit]
        subprocess.run([*map(str, fit)], check=True)
        step("ship", run, "--heads", run)


if __name__ == "__main__":
    main()
