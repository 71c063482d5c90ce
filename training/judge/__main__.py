"""Make the grounding judge from the data and the MiniLM weights, start to end.

    python -m training.judge DATA [--run training/runs/judge] [--rows N] [--decay N]

Steps whose result is there already are left out, and training goes on from its checkpoint: stop it when you like.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FIT_ROWS = 250
"""Claims of each training source to fit the head on."""


def step(name: str, *arguments: object, unless: Path | None = None) -> None:
    """Run one module of this folder in a process of its own, unless its result exists."""
    if unless is not None and unless.exists():
        print(f"{name}: {unless} is there", flush=True)
        return
    print(f"{name}:", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", f"training.judge.{name}", *map(str, arguments)], check=True)


def main() -> None:
    """Run the steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, default=Path("training/runs/judge"))
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--decay", type=int, default=15_000)
    options = parser.parse_args()
    run = options.run
    train, dev = (sorted((options.data / "grounding" / part).glob("*.jsonl")) for part in ("train", "dev"))
    if not train or not dev:
        raise SystemExit(f"{options.data}/grounding holds no train/*.jsonl and dev/*.jsonl; give the data folder.")
    step("prepare", options.data / "grounding", run, unless=run / "train.npz")
    step("train", run, "--rows", options.rows, "--decay", options.decay, unless=run / "net.pt")
    step("export", run, unless=run / "int8.onnx")
    model = run / "int8.onnx"
    unseen = ("--unseen", options.data / "grounding", "--rows", options.rows, "--limit", FIT_ROWS)
    step("featurise", run, model, run / "fit.npz", *unseen, unless=run / "fit.npz")
    readable = [path for path in dev if not path.name.startswith("xnli_ko")]
    step("featurise", run, model, run / "dev.npz", "--files", *readable, unless=run / "dev.npz")
    step("fit", run, run / "fit.npz", run / "dev.npz")
    step("plot", run, run / "dev.npz")
    step("ship", run)


if __name__ == "__main__":
    main()
