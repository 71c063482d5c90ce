"""Rebuild the reader from the public rows: prepare, train, export, fit, ship.

python -m training.reader DATA [--run training/runs/reader]     DATA holds qa/train and qa/dev
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROWS, DECAY = "66000", "28000"


def main() -> None:
    """Run every step; training goes on from its last checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, default=Path("training/runs/reader"))
    options = parser.parse_args()
    run = str(options.run)
    steps = (
        [] if (options.run / "train.npz").exists() else ["prepare", str(options.data / "qa"), run],
        [] if (options.run / "net.pt").exists() else ["train", run, "--rows", ROWS, "--decay", DECAY],
        ["export", run, "--rows", run, "--out", run],
        ["ship", run],
        ["fit", str(options.data), run, "--limit", "110"],
        ["ship", run],
    )
    for name, *arguments in filter(None, steps):
        subprocess.run([sys.executable, "-m", f"training.reader.{name}", *arguments], check=True)


if __name__ == "__main__":
    main()
