"""Average the weights of several trained networks into one.

python -m training.judge.average OUT RUN...     each RUN holds net.pt, checkpoint.pt, idf.npy; OUT gets net.pt, idf.npy

Networks that grew from the same weights lie in one valley: their mean is better than each of them, and costs no time
when it reads (model soups, Wortsman et al. 2022).
"""

import argparse
import json
import shutil
from pathlib import Path

import torch


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
    seen = [int(torch.load(run / "checkpoint.pt", map_location="cpu")["state"]["seen"]) for run in options.runs]
    (options.out / "seen.json").write_text(json.dumps(seen) + "\n", encoding="utf-8")
    print(f"{options.out / 'net.pt'}: the mean of {len(nets)} networks")


if __name__ == "__main__":
    main()
