"""Write the trained network as ONNX, in full precision and int8.

python -m training.judge.export RUN [--rows FOLDER]     RUN holds net.pt (or checkpoint.pt); gets fp32.onnx, int8.onnx

FOLDER (else RUN) holds train.npz, from whose rows the ranges of the int8 layers are taken.
"""

import argparse
from pathlib import Path

from training.judge.graph import MAX_TOKENS, draw
from training.judge.train import Rows
from training.learning import export, tensors_of


def main() -> None:
    """Export both precisions of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--net", type=Path, help="folder with net.pt; default: the run's own")
    parser.add_argument("--rows", type=Path, help="folder with train.npz; default: the run's own")
    given = parser.parse_args()
    rows = Rows((given.rows or given.run) / "train.npz")
    export(draw, tensors_of([given.net or given.run]), [rows], MAX_TOKENS, given.run)


if __name__ == "__main__":
    main()
