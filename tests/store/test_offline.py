"""What importing costs, and that nothing leaves the machine."""

import subprocess
import textwrap
from pathlib import Path

import pytest


def run(python: str, code: str, *arguments: str, cwd: Path | None = None) -> str:
    command = [python, "-c", textwrap.dedent(code), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_importing_the_store_imports_neither_chromadb_nor_langchain(python: str) -> None:
    code = """
        import sys
        import cragraph.store
        print(sorted({"chromadb", "langchain_chroma", "langchain_core", "onnxruntime"} & set(sys.modules)))
    """
    assert run(python, code) == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="needs Linux's table of sockets")
def test_nothing_leaves_the_machine(python: str, tmp_path: Path) -> None:
    code = """
        import os, sys
        calls = []
        sys.addaudithook(lambda name, args: calls.append((name, str(args)[:99])) if name in (
            "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg",
            "urllib.Request", "http.client.connect") else None)
        from cragraph.passages import as_passages
        from cragraph.store import open_store
        from cragraph.testing import HashEmbeddings
        for target in (None, sys.argv[1]):
            with open_store(target, HashEmbeddings(16)) as store:
                store.add(as_passages(["some text", "more text"]))
                store.dense("text", 2), store.lexical("text", 2)
        # The audit hook sees Python; what native code opened would show among this process's network sockets.
        here = "/proc/self/fd"
        links = {os.readlink(f"{here}/{n}") for n in os.listdir(here) if os.path.islink(f"{here}/{n}")}
        inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
        tables = [open(f"/proc/self/net/{kind}").read().split() for kind in ("tcp", "tcp6", "udp", "udp6")]
        print(calls, sorted(inodes & {word for table in tables for word in table}))
    """
    assert run(python, code, str(tmp_path)) == "[] []"


@pytest.mark.slow
def test_telemetry_is_off_and_the_program_s_own_env_file_is_not_read(python: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ANONYMIZED_TELEMETRY=true\nPERSIST_DIRECTORY=/nowhere\nALLOW_RESET=true\n")
    code = """
        from cragraph.store.chroma import open_chroma
        from cragraph.testing import HashEmbeddings
        settings = open_chroma("chroma:kept", HashEmbeddings(8)).source._client.get_settings()
        print(settings.anonymized_telemetry, settings.allow_reset)
    """
    assert run(python, code, cwd=tmp_path) == "False False"
