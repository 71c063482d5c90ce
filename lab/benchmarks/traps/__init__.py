"""Questions that set traps, and talks, on the files of four small organisations: written without sight of the product.

`NAME/questions.jsonl` asks about `NAME/files`. `answer` lists texts: of each inner list one must stand in the reply;
null where the files do not answer, although their words come near. `wrong` are texts of a reply that fell into the
trap: the other year, the other person, the old price, the plan in place of what was done. `where` names the files that
hold the answer, `sum` the calculation (left to right) where the answer must be computed, and `absent` texts that an
answer would need and no file has. `talks.jsonl` has talks of four turns on these folders: a turn's `good` says what a
good reply is, and `answer` is null where a turn asks nothing of the files or they do not answer. Nothing is fitted on
any of them.
"""

import re


def plain(text: str) -> str:
    """The text in lower case, on one line, and without the comma that parts thousands."""
    return re.sub(r"\b(\d{1,3}),(\d{3})\b", r"\1\2", " ".join(text.casefold().split()))


def stands_in(text: str, wanted: str) -> bool:
    """Whether `wanted` begins a word of `text`, whatever the case; a figure must be the whole figure."""
    pattern = re.escape(plain(wanted) + " " * wanted.endswith(" "))
    if wanted[0].isalnum():
        pattern = r"(?<!\w)(?<!\d[.,])" + pattern
    if wanted[-1].isdigit():
        pattern += r"(?!\d|[.,]\d*[1-9])"
    return re.search(pattern, f" {plain(text)} ") is not None


def is_right(reply: str, answer: list[list[str]]) -> bool:
    """Whether the reply has one text of each list."""
    return all(any(stands_in(reply, one) for one in alternatives) for alternatives in answer)
