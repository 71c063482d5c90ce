"""How long the command line takes to start, beside the interpreter alone.

python -m lab.benchmarks.startup
"""

import statistics
import subprocess
import sys

from lab.benchmarks.measure import Figure, below, milliseconds


def measure() -> list[Figure]:
    """Seconds until `cragraph --help` has ended."""
    bare = milliseconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), runs=5, warm_up=1)
    command = [sys.executable, "-m", "cragraph", "--help"]
    taken = milliseconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), runs=7, warm_up=1)
    figure = below("cragraph --help", [ms / 1000 for ms in taken], 0.4, "s")
    return [Figure(**vars(figure) | {"note": f"{figure.note}; python alone {statistics.median(bare) / 1000:.2f}"})]


if __name__ == "__main__":
    for figure in measure():
        print(figure.row())
