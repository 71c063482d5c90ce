"""Average the weights of several trained networks into one.

python -m training.judge.average OUT RUN...

Each RUN holds net.pt, idf.npy and checkpoint.pt, or what this module wrote; OUT gets net.pt, idf.npy and seen.json.

Networks that grew from the same weights lie in one valley: their mean is better than each of them, and costs no time
when it reads (model soups, Wortsman et al. 2022).
"""

import argparse
import json
import shutil
from pathlib import Path

import torch


def seen(run: Path) -> list[int]:
    """The rows that each of the networks behind a run was trained on."""
    joined = run / "seen.json"
    if joined.exists():
        return [int(rows) for rows in json.loads(joined.read_text(encoding="utf-8"))]
    return [int(torch.load(run / "checkpoint.pt", map_location="cpu")["state"]["seen"])]


def main() -> None:
    """Read, average, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    options = parser.parse_args()
    nets = [torch.load(run / "net.pt", map_location="cpu") for run in options.runs]
    mean = {
        name: torch.stack([net[name] for net in nets]).mean(0) if first.is_floating_point() else first
        for name, first in nets[0].items()
    }
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(mean, options.out / "net.pt")
    shutil.copyfile(options.runs[0] / "idf.npy", options.out / "idf.npy")
    rows = [count for run in options.runs for count in seen(run)]
    (options.out / "seen.json").write_text(json.dumps(rows) + "\n", encoding="utf-8")
    print(f"{options.out / 'net.pt'}: the mean of {len(nets)} networks")


if __name__ == "__main__":
    main()
