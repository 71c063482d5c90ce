from pathlib import Path

import pytest

from cragraph.documents import Found, Skipped, discover
from cragraph.errors import InputError


def skipped(folder: Path, **options: int) -> dict[str, str]:
    return {
        str(item.path.relative_to(folder)): item.reason
        for item in discover(folder, **options)
        if isinstance(item, Skipped)
    }


def found(*paths: Path) -> list[str]:
    return [item.path.name for item in discover(paths) if isinstance(item, Found)]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (".secret.txt", b"words", "hidden"),
        ("old.zip", b"PK\x03\x04", "archives are not opened"),
        ("old.tar.gz", b"\x1f\x8b", "archives are not opened"),
        ("letter.doc", b"\xd0\xcf\x11\xe0", "save it as .docx"),
        ("program.exe", b"MZ", "type .exe is not read"),
        ("README", b"words", "no suffix"),
        ("photo.txt", b"\x89PNG\r\n\x1a\n\x00\x00", "binary data, although the name ends in .txt"),
        ("dump.csv", bytes(range(256)) * 3, "binary data, although the name ends in .csv"),
        ("void.md", b"", "empty"),
        ("huge.txt", b"word " * 300, "1500 bytes is over the limit of 1000 bytes"),
    ],
)
def test_what_cannot_be_read_is_passed_over_with_a_reason(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.txt").write_text("words")
    assert reason in skipped(tmp_path, max_bytes=1000)[name]
    assert found(tmp_path / "good.txt") == ["good.txt"]


def test_a_text_may_end_with_a_zero_byte(tmp_path: Path) -> None:
    (tmp_path / "pad.rtf").write_bytes(b"{\\rtf1 words}\r\n\0")
    assert found(tmp_path) == ["pad.rtf"]


def test_links_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/one.txt").write_text("words")
    (tmp_path / "a/round").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a/self").symlink_to(tmp_path / "a/self")
    (tmp_path / "a/lost.txt").symlink_to(tmp_path / "nowhere")
    reasons = skipped(tmp_path)
    assert "loop" in reasons["a/round"]
    assert "not there" in reasons["a/lost.txt"]
    assert "symbolic links" in reasons["a/self"].lower()
    assert found(tmp_path) == ["one.txt"]


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt does not exist"):
        discover([tmp_path, tmp_path / "gone.txt"])


def linked(tmp_path: Path) -> Path:
    """A folder with links out of it, into it, and to what lies beside it."""
    root, beside = tmp_path / "root", tmp_path / "beside"
    (root / "sub").mkdir(parents=True)
    beside.mkdir()
    (beside / "secret.md").write_text("secret words")
    (root / "own.md").write_text("words")
    (root / "out.md").symlink_to(beside / "secret.md")
    (root / "sub" / "out.md").symlink_to(Path("../../beside/secret.md"))
    (root / "folder").symlink_to(beside, target_is_directory=True)
    (root / "twice.md").symlink_to(root / "chain.md")
    (root / "chain.md").symlink_to(beside / "secret.md")
    (root / "gone.md").symlink_to(beside / "gone.md")
    (root / "rooted").symlink_to("/", target_is_directory=True)
    return root


def test_links_that_lead_out_of_a_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    root = linked(tmp_path)
    reasons = skipped(root)
    out = {"out.md", "sub/out.md", "folder", "twice.md", "chain.md", "gone.md", "rooted"}
    assert {name for name, reason in reasons.items() if "leads out of the folder" in reason} == out
    assert found(root) == ["own.md"]


def test_links_that_lead_out_are_followed_when_that_is_asked_for(tmp_path: Path) -> None:
    root = linked(tmp_path)
    (root / "rooted").unlink()
    items = [*discover(root, follow_links=True)]
    assert [item.path.name for item in items if isinstance(item, Found)] == ["chain.md", "own.md"]
    assert not any(isinstance(item, Skipped) and "leads out" in item.reason for item in items)
