"""The training mix: how many examples of each file and class, and how many made ones."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from cragraph.models.grounding import sentences
from lab.training.judge.compress import compress, frame, retell
from lab.training.judge.edits import EDITS, WIDE_EDITS, Edit, Material, apply, details, make_edit, names
from lab.training.judge.rows import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNSUPPORTED,
    Example,
    read_examples,
    without_overlap,
)

QUOTA = {
    "fever_dev_train": 8000, "breaking_nli_set": 2000, "med_monotonicity_set": 1600, "conjnli_dev": 1200,
    "fool_me_twice_dev_gold": 2300, "fool_me_twice_dev_retrieved": 2300, "scifact_rte_train": 1600,
    "attributionbench_dev": 3000, "begin_set_wow": 3400, "faithdial_audit_audit_cmu": 500,
    "faithdial_audit_audit_topical": 600, "faithdial_audit_audit_wow": 1000, "q2_wow_set": 1400,
    "dialfact_small_set": 500, "defacto_set": 2200, "defacto_train": 2200, "summedits_set_news": 1600,
    "summedits_set_podcast": 1300, "summedits_set_qmsumm": 1300, "summedits_set_sales_email": 1700,
    "summedits_set_samsum": 1700, "wice_train_subclaim_spans": 800,
}  # fmt: skip
"""Examples of each file in one epoch; small files are repeated, large ones sampled."""

MOST_SHARE = 0.6
"""The largest share of one side (supported or not) within a file, where the file has both."""


def real_examples(files: Sequence[Path], held_out: Sequence[Path], rng: Random) -> list[Example]:
    """Draw each file's quota, balanced between supported and not supported."""
    drawn: list[Example] = []
    for path in files:
        examples = without_overlap(read_examples(path), held_out)
        sides = [[e for e in examples if (e.label == SUPPORTED) is want] for want in (True, False)]
        quota = QUOTA.get(path.stem, 0)
        both = all(sides)
        share = min(MOST_SHARE, max(1 - MOST_SHARE, len(sides[0]) / max(1, len(examples))))
        for side, part in zip(sides, (share, 1 - share), strict=True):
            if side:
                drawn.extend(_repeat(side, round(quota * (part if both else 1)), rng))
    return drawn


def _repeat(examples: Sequence[Example], count: int, rng: Random) -> list[Example]:
    whole, rest = divmod(count, len(examples))
    whole, rest = (3, 0) if whole >= 3 else (whole, rest)
    return list(examples) * whole + rng.sample(list(examples), rest)


def documents(files: Sequence[Path]) -> dict[str, list[tuple[str, ...]]]:
    """The distinct passage lists of each file, from which examples are made."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in files:
        if path.stem.startswith(("med", "breaking", "conjnli")):
            continue
        found[path.stem] = list(dict.fromkeys(e.passages for e in read_examples(path)))
    return found


def made_examples(
    files: Sequence[Path], count: int, rng: Random, near: Mapping[str, Sequence[str]] | None, *, wide: bool = False
) -> list[Example]:
    """`count` examples made from the passages: compressed claims, their edits, merged facts, missing sources.

    With `near` None no error is a related word or a detail that nobody gave. `wide` draws on the whole lexicon of words
    that mean the same and the opposite.
    """
    pools = documents(files)
    everyone = material(pools, rng, near)
    weights = [min(len(docs), 900) ** 0.5 for docs in pools.values()]
    made: list[Example] = []
    while len(made) < count:
        source = rng.choices(list(pools), weights)[0]
        made.extend(_from_document(rng.choice(pools[source]), source, everyone, rng, wide=wide))
    return made[:count]


def material(
    pools: Mapping[str, Sequence[tuple[str, ...]]], rng: Random, near: Mapping[str, Sequence[str]] | None
) -> Material:
    """Names and details out of up to 200 documents of each file, and the words near each word."""
    texts = [" ".join(p) for docs in pools.values() for p in rng.sample(docs, min(200, len(docs)))]
    phrases = [d for t in texts for d in details(t)] if near is not None else []
    return Material([n for t in texts for n in names(t)], phrases, near or {})


def _from_document(
    passages: tuple[str, ...], source: str, everyone: Material, rng: Random, *, wide: bool
) -> Iterator[Example]:
    number = rng.randrange(len(passages))
    text = re.sub(r"-[LR]RB-", lambda m: "(" if "L" in m.group() else ")", passages[number])
    usable = [(a, b) for a, b in sentences(text) if 6 <= len(text[a:b].split()) <= 45 and "http" not in text[a:b]]
    if not usable:
        return
    start, end = rng.choice(usable)
    original = text[start:end]

    def example(claim: str, sentence: str, label: int, spans: tuple[tuple[int, int], ...] | None, kind: str) -> Example:
        there = text[:start] + sentence + text[end:]
        whole = (*passages[:number], there, *passages[number + 1 :])
        return Example(claim, whole, label, spans, f"made/{kind}/{source}")

    claim = retell(compress(original, rng), rng) if wide else compress(original, rng)
    pool = names(" ".join(passages))
    if len(pool) <= 3 or rng.random() >= 0.7:
        pool = [*pool, *rng.sample(everyone.names, min(40, len(everyone.names)))]
    far = rng.sample(everyone.details, min(40, len(everyone.details)))
    phrases = details(" ".join(passages)) if far and rng.random() < 0.5 else far
    phrases = [d for d in phrases if d.split()[-1] not in original]
    edit = make_edit(claim, rng, Material(pool, phrases, everyone.near), WIDE_EDITS if wide else EDITS)
    yield example(frame(claim, rng), original, SUPPORTED, (), "true")
    if edit:
        false, spans = apply(claim, edit)
        framed = frame(false, rng)
        shift = len(framed) - len(false)
        yield example(framed, original, edit[1], tuple((a + shift, b + shift) for a, b in spans), "edited")
        changed = _edited_alike(original, claim, edit)
        if changed and rng.random() < 0.6:
            yield example(false, changed, SUPPORTED, (), "both edited")
            first, last, _ = edit[0][0]
            if first < last:
                yield example(claim, changed, edit[1], ((first, last),), "passage edited")
    if len(usable) > 3 and rng.random() < 0.25:
        yield example(claim, "", UNSUPPORTED, None, "missing")
    if len(usable) > 1 and rng.random() < 0.3:
        yield from _merged(original, [text[a:b] for a, b in usable if a != start], example, rng)


CONTEXT = 12
"""Characters before an insertion by which its place is found in the original sentence."""


def _edited_alike(original: str, claim: str, edit: Edit) -> str | None:
    """The sentence that a claim was made from with the claim's edit made in it; None where the place is not clear."""
    if len(edit[0]) != 1:
        return None
    [(start, end, new)] = edit[0]
    old = claim[start:end] or claim[max(0, start - CONTEXT) : start]
    if original.count(old) != 1:
        return None
    place = original.index(old)
    return original[:place] + new + original[place + len(old) :] if start < end else original.replace(old, old + new)


_VERB = re.compile(r"\s(?:is|are|was|were|has|have|had|will|can|would|said|says|became|\w{3,}ed)\s")


def _merged(sentence: str, others: Sequence[str], example: object, rng: Random) -> Iterator[Example]:
    """The subject of one sentence with what another says of its own subject."""
    second = rng.choice(others)
    one, two = _VERB.search(sentence), _VERB.search(second)
    if not one or not two or one.start() > 60 or two.start() > 60 or sentence[: one.start()] == second[: two.start()]:
        return
    if second[: two.start()].split()[0].lower() in ("he", "she", "it", "they", "this", "these", "we", "i", "who"):
        return
    claim = sentence[: one.start()] + second[two.start() :]
    spans = ((one.start() + 1, len(claim)),)
    yield example(claim, sentence, NOT_SUPPORTED, spans, "merged")  # type: ignore[operator]


def count_by_source(examples: Sequence[Example]) -> dict[str, list[int]]:
    """How many examples of each class each source gives."""
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for e in examples:
        table["/".join(e.source.split("/")[:2])][e.label] += 1
    return dict(sorted(table.items()))
