"""One file, one question on it, and how to tell a right answer from a wrong one."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["right", "doubtful", "wrong"]


@dataclass(frozen=True)
class Case:
    """A file of a kind of fault; its name is `kind: variant`.

    Args:
        write: writes the file into a folder, and gives its path.
        question: what is asked of a store with this file alone.
        right: a pattern of what a right answer holds, its case ignored.
        wrong: a pattern of what no accepted answer may hold; empty is none.
        doubt: the file cannot be read for certain: an accepted answer is wrong, and one that is not accepted is right
            where ingest said so.
    """

    name: str
    write: Callable[[Path], Path]
    question: str
    right: str
    wrong: str = ""
    doubt: bool = False

    @property
    def kind(self) -> str:
        """The kind of fault."""
        return self.name.split(":")[0]

    def outcome(self, answer: str, *, accepted: bool, said: bool = False) -> Outcome:
        """What an answer is: an accepted one is right or wrong, another is doubtful at most; `said` by ingest."""
        if self.doubt or not accepted:
            return "wrong" if accepted else "right" if self.doubt and said else "doubtful"
        fits = re.search(self.right, answer, re.IGNORECASE)
        misread = self.wrong and re.search(self.wrong, answer, re.IGNORECASE)
        return "right" if fits and not misread else "wrong"


def text_file(name: str, text: str) -> Callable[[Path], Path]:
    """A writer of a file of this text in UTF-8."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
