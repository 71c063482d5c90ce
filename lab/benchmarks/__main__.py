"""Every speed figure with its aim, in one table.

python -m lab.benchmarks
"""

import os
import platform
import sys

from lab.benchmarks import asking, encoder_speed, overhead, startup, verification_speed

SUITES = (overhead, startup, asking, verification_speed, encoder_speed)


def main() -> int:
    """Print the table; 0 whatever it says, because a busy machine is no error."""
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f} at the start\n")
    for suite in SUITES:
        for figure in suite.measure():
            print(figure.row(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
