"""What somebody sees who waits for the installation."""

from pathlib import Path

from lab.tools.install import megabytes, state


def test_it_says_what_is_fetched_and_then_what_is_in_place(tmp_path: Path) -> None:
    printed = "Obtaining file:///x\nCollecting numpy>=2 (from cragraph==0.1.0)\n  Downloading numpy-2.whl\n"
    assert state(printed, tmp_path) == "1 libraries found and fetched"
    printed += "Collecting rich\nCollecting numpy\n"
    assert state(printed, tmp_path) == "2 libraries found and fetched"
    (tmp_path / "a").write_bytes(bytes(3 << 20))
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    printed += "Installing collected packages: numpy, rich, cragraph\n"
    assert state(printed, tmp_path) == "installing 3 libraries, 3 MB are in place"
    assert megabytes(tmp_path / "nowhere") == 0
