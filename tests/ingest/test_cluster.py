"""Bulk ingest with two worker processes that write to a real Chroma server."""

import json
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the cluster extra")

# Two workers of a cluster are started.
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.timeout(300)]

SCRIPT = textwrap.dedent(
    """
    import json, sys
    from functools import partial
    from distributed import Client, LocalCluster
    from cragraph.store import ingest
    from cragraph.store.cluster import ingest_on
    from cragraph.store.chroma import open_chroma
    from cragraph.testing import HashEmbeddings

    def main(url, docs):
        own = HashEmbeddings(48)
        make = partial(open_chroma, url, HashEmbeddings(48))
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
            open_chroma(url, own) as store,
        ):
            first = ingest_on(client, docs, make)
            pids = len(set(client.run(lambda: __import__("os").getpid()).values()))
            again = ingest_on(client, docs, make)
            alone = ingest(docs, store)
            found = store.lexical("file7", 1) + store.dense("Words of file7, part 0.", 1)
            print(json.dumps({
                "workers": pids, "added": len(first.added), "failed": first.failed, "count": store.count(),
                "chunks": first.chunks, "again": [len(again.unchanged), again.chunks], "alone": len(alone.unchanged),
                "found": [p["filename"] for p in found], "embedded_here": len(own.asked),
            }))

    if __name__ == "__main__":
        main(*sys.argv[1:])
    """
)


def test_two_workers_read_embed_and_write(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(20):
        parts = "\n\n".join(f"Words of file{number}, part {part}. " * 20 for part in range(10))
        (docs / f"{number}.md").write_text(parts)
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 nonsense")
    (tmp_path / "script.py").write_text(SCRIPT)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chroma = str(Path(sys.executable).with_name("chroma"))
    server = subprocess.Popen(
        [chroma, "run", "--path", str(tmp_path / "chroma"), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        arguments = [str(tmp_path / "script.py"), f"http://127.0.0.1:{port}", str(docs)]
        result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    finally:
        server.kill()
        server.wait()
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout.splitlines()[-1])
    assert said["workers"] == 2
    assert said["added"] == 20
    assert [Path(path).name for path, _ in said["failed"]] == ["broken.pdf"]
    assert said["count"] == said["chunks"] > 20
    assert said["again"] == [20, 0]
    assert said["alone"] == 20
    assert said["found"] == ["7.md", "7.md"]
    assert said["embedded_here"] <= 4  # the queries, and not one passage


def _wait_for(port: int) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
