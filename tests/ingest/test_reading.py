"""Reading in a process of its own, which may die without taking the ingest along."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from threading import Thread

import pytest

from cragraph.documents import Limits
from cragraph.store import SplitOptions
from cragraph.store.reading import Failed, Portion, messages

OPTIONS = SplitOptions(200, 20)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    made = []
    for number in range(6):
        file = tmp_path / f"{number}.txt"
        file.write_text("\n\n".join(f"Paragraph {i} of file {number}." for i in range(1 + number * 400)))
        made.append(str(file))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nonsense")
    return [*made[:3], str(tmp_path / "broken.pdf"), *made[3:]]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the process in /proc")
def test_a_file_that_takes_the_reader_down_is_reported_and_the_rest_is_read(tmp_path: Path, files: list[str]) -> None:
    trap = tmp_path / "trap.txt"
    os.mkfifo(trap)  # whoever reads it waits for ever: time enough to be killed
    killer = Thread(target=_kill_reader)
    killer.start()
    found = list(messages([*files[:2], str(trap), *files[4:]], OPTIONS, Limits()))
    killer.join()
    ends = [(Path(m.source).name, type(m)) for m in found if isinstance(m, Failed) or m.last]
    assert ends == [
        ("0.txt", Portion), ("1.txt", Portion), ("trap.txt", Failed),
        ("3.txt", Portion), ("4.txt", Portion), ("5.txt", Portion),
    ]  # fmt: skip
    (failed,) = (m for m in found if isinstance(m, Failed))
    assert "signal 9" in failed.reason


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_reported_and_the_rest_is_read(tmp_path: Path, files: list[str]) -> None:
    trap = tmp_path / "trap.txt"
    os.mkfifo(trap)
    found = list(messages([files[0], str(trap), files[1]], OPTIONS, Limits(seconds=15)))
    assert [type(message) for message in found] == [Portion, Failed, Portion]
    assert found[1] == Failed(str(trap), "reading it took more than 15 seconds; split it, or raise max_file_mb")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts what is allocated")
def test_a_file_that_takes_too_much_memory_is_reported_and_the_rest_is_read(tmp_path: Path, files: list[str]) -> None:
    large = tmp_path / "large.txt"
    large.write_text("many words " * 8_000_000)
    found = list(messages([str(large), files[0]], OPTIONS, Limits(memory_mb=150)))
    assert [type(message) for message in found] == [Failed, Portion]
    assert "memory" in found[0].reason  # type: ignore[union-attr]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the process in /proc")
def test_a_reader_that_is_left_early_is_ended(files: list[str]) -> None:
    before = set(threading.enumerate())
    stream = messages(files, OPTIONS, Limits())
    assert isinstance(next(stream), Portion)
    (reader,) = _readers()
    stream.close()
    assert set(threading.enumerate()) == before
    assert reader not in _readers()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
def test_what_a_reader_holds_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for rows in (2_000, 12_000):
        file = tmp_path / f"{rows}.jsonl"
        with file.open("w") as out:
            for row in range(rows):
                out.write(json.dumps({"text": f"row {row} " + "of many words " * 60}) + "\n")
        count, peak = 0, 0.0
        for message in messages([str(file)], SplitOptions(), Limits()):
            assert isinstance(message, Portion)
            count += len(message.passages)
            peak = max([peak, *map(_peak_mb, _readers())])
        assert count == rows
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 6, peaks  # the larger file has 10 MB


def _readers() -> list[str]:
    """Our children that read files, by id."""
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return [child for child in children if b"store.reading" in Path(f"/proc/{child}/cmdline").read_bytes()]


def _peak_mb(pid: str) -> float:
    """The most memory a process ever held; 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0]) / 1024 if found else 0.0


def _kill_reader() -> None:
    """Kill our child once it waits for the trap."""
    while True:
        time.sleep(0.05)
        for child in filter(_waits, _readers()):
            os.kill(int(child), signal.SIGKILL)
            return


def _waits(child: str) -> bool:
    try:
        return (
            "wait_for_partner" in Path(f"/proc/{child}/wchan").read_text()
            or "fifo" in Path(f"/proc/{child}/wchan").read_text()
        )
    except OSError:
        return False
