from threading import Thread

import pytest

from cragraph.errors import ModelError
from cragraph.models.cache import LRU, CachedEmbeddings, digest
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import FakeJudge, HashEmbeddings, quoted, verdict
from cragraph.types import Claim, Passage
from cragraph.verification.fallback import JudgeChain, relocated

PASSAGES = as_passages(["Gold shines.", "Lead is heavy."])


def claim(text: str, start: int = 0) -> Claim:
    return Claim(text=text, start=start, end=start + len(text), type="factual")


def test_the_least_recently_used_value_leaves_first() -> None:
    cache: LRU[str, int] = LRU(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert len(cache) == 2


def test_a_cache_of_size_zero_keeps_nothing() -> None:
    cache: LRU[str, int] = LRU(0)
    cache.put("a", 1)
    assert cache.get("a") is None


def test_many_threads_share_a_cache_within_its_bound() -> None:
    cache: LRU[int, int] = LRU(50)

    def work(offset: int) -> None:
        for number in range(500):
            cache.put(offset + number % 70, number)
            found = cache.get(number % 70)
            assert found is None or isinstance(found, int)

    threads = [Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 50


def test_a_border_moved_between_texts_changes_their_digest() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"]) != digest(["abc"])
    assert digest(["\ud800"]) == digest(["\ud800"])


def test_a_claim_is_judged_once_for_the_same_passages() -> None:
    judge = FakeJudge({"Gold": 1.0})
    again = JudgeChain([judge], cache=LRU(10))
    first = again([claim("Gold shines.")], PASSAGES, Notes())
    second = again([claim("Gold shines.", 20), claim("Lead floats.", 40)], PASSAGES, Notes())
    assert judge.asked == ["Gold shines.", "Lead floats."]
    assert (second[0]["start"], second[0]["end"]) == (20, 32)
    assert first[0]["start"] == 0
    assert [v["verdict"] for v in second] == ["supported", "unsupported"]


@pytest.mark.parametrize(
    ("passages", "question", "type"),
    [
        (["Gold shines."], "", "factual"),
        (["Gold shines.", "Lead is heavy."], "Why?", "factual"),
        (None, "", "conditional"),
    ],
)
def test_other_passages_another_question_or_another_type_are_judged_anew(passages, question: str, type) -> None:
    judge = FakeJudge({"Gold": 1.0})
    again = JudgeChain([judge], cache=LRU(10))
    again([claim("Gold shines.")], PASSAGES, Notes())
    other = claim("Gold shines.")
    other["type"] = type
    again([other], as_passages(passages) if passages else PASSAGES, Notes(), question=question)
    assert len(judge.asked) == 2


def test_two_judges_of_one_name_do_not_share_verdicts() -> None:
    cache = LRU(10)
    yes, no = JudgeChain([FakeJudge({"Gold": 1.0})], cache=cache), JudgeChain([FakeJudge({})], cache=cache)
    assert yes([claim("Gold shines.")], PASSAGES, Notes())[0]["verdict"] == "supported"
    assert no([claim("Gold shines.")], PASSAGES, Notes())[0]["verdict"] == "unsupported"


class Declining(FakeJudge):
    def __call__(self, claims, passages, notes, *, question=""):
        self.asked += [c["text"] for c in claims]
        return [verdict("unjudged", c["text"]) for c in claims]


def test_what_was_not_judged_is_not_kept() -> None:
    judge = Declining({})
    again = JudgeChain([judge], cache=LRU(10))
    for _ in range(2):
        again([claim("Gold shines.")], PASSAGES, Notes())
    assert len(judge.asked) == 2


class Short(FakeJudge):
    def __call__(self, claims, passages, notes, *, question=""):
        return super().__call__(claims, passages, notes)[1:]


def test_a_wrong_number_of_verdicts_is_an_error_and_leaves_nothing_behind() -> None:
    again, notes = JudgeChain([Short({"Gold": 1.0})], cache=LRU(10)), Notes()
    verdicts = again([claim("Gold shines."), claim("Lead floats.")], PASSAGES, notes)
    assert [v["verdict"] for v in verdicts] == ["unjudged"] * 2
    assert "1 verdicts for 2 claims" in notes.sentences[0]
    assert len(again.cache) == 0


def test_a_cached_verdict_points_at_the_chunk_by_its_present_id_and_moves_its_spans() -> None:
    old = verdict("unsupported", "Gold shines.", start=3, evidence=quoted(PASSAGES, 0))
    old["unsupported_spans"] = [(3, 7)]
    renamed: list[Passage] = [Passage(**(p | {"chunk_id": f"new-{n}"})) for n, p in enumerate(PASSAGES)]
    fresh = relocated(old, claim("Gold shines.", 10), renamed)
    assert fresh["evidence"] is not None
    assert fresh["evidence"]["chunk_id"] == "new-0"
    assert fresh["unsupported_spans"] == [(10, 14)]
    assert old["unsupported_spans"] == [(3, 7)]
    assert old["evidence"] is not None
    assert old["evidence"]["chunk_id"] == PASSAGES[0]["chunk_id"]


def test_a_text_is_embedded_once_and_a_query_apart_from_a_document() -> None:
    inner = HashEmbeddings()
    embeddings = CachedEmbeddings(inner)
    first = embeddings.embed_documents(["gold", "lead", "gold"])
    second = embeddings.embed_documents(["lead", "tin"])
    query = embeddings.embed_query("gold")
    embeddings.embed_query("gold")
    assert inner.asked == ["gold", "lead", "tin", "gold"]
    assert first[0] == first[2] == query
    assert second[0] == first[1]
    assert embeddings.name == inner.name


class Lossy(HashEmbeddings):
    def embed_documents(self, texts):
        return super().embed_documents(texts)[1:]


def test_a_model_that_loses_vectors_is_an_error() -> None:
    with pytest.raises(ModelError, match="1 vectors for 2 texts"):
        CachedEmbeddings(Lossy()).embed_documents(["gold", "lead"])
