"""Install this project into the environment that runs this, and say every few seconds how far it is.

    python lab/tools/install.py WHAT [PIP OPTION...]

What pip and the builders print goes into a file, which is shown where the installation fails.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import monotonic

EVERY = 3.0  # seconds between two lines
SHOWN = 40  # lines of what was printed that are shown of an installation that failed


def megabytes(folder: Path) -> int:
    """How much lies in a folder; files that come and go meanwhile count for nothing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(path, name).lstat().st_size
            except OSError:
                continue
    return total >> 20


def state(printed: str, folder: Path) -> str:
    """How far pip is, by what it has printed."""
    wanted = re.findall(r"^Installing collected packages: (.*)$", printed, re.MULTILINE)
    if wanted:
        return f"installing {wanted[-1].count(',') + 1} libraries, {megabytes(folder)} MB are in place"
    return f"{len(set(re.findall(r'^ *Collecting ([^ <>=!~;(]+)', printed, re.MULTILINE)))} libraries found and fetched"


def main() -> int:
    """Install, and say so."""
    folder, log = Path(sys.prefix), Path(sys.prefix) / "install.log"
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *sys.argv[1:]]
    place = os.path.relpath(folder)
    print(
        f"installing into {place}: libraries are fetched, then installed; this takes minutes the first time", flush=True
    )
    began = monotonic()
    with log.open("w", encoding="utf-8") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT)
        waiting = Thread(target=process.wait, daemon=True)
        waiting.start()
        while waiting.join(EVERY) or waiting.is_alive():
            printed = log.read_text(encoding="utf-8", errors="replace")
            print(f"  {monotonic() - began:.0f} s: {state(printed, folder)}", flush=True)
    if process.returncode:
        print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]))
        print(f"the installation failed; all that was printed is in {log}")
    else:
        print(f"installed in {monotonic() - began:.0f} s", flush=True)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
