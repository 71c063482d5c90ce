"""What the network learns claims from: people's rows, entailment, answers to yes-or-no questions, unrelated pairs.

In most rows of `entail` the share of a claim's words that the passage holds does not tell true from false; they are
nearly half of all claims here. `SHARES` says how many claims of an epoch come from where.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from cragraph.language.sentences import sentence_spans
from lab.training.judge.asked import FILES, asked_examples, rows_of
from lab.training.judge.derive import derived_examples
from lab.training.judge.mix import documents, made_examples, material, real_examples
from lab.training.judge.near import near_words, without_same
from lab.training.judge.prepare import minilm
from lab.training.judge.rows import NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example, read_examples, without_overlap
from lab.training.judge.scenes import scene_examples
from lab.training.judge.turned import turned_examples
from lab.training.reading import everyday, written

ENTAIL = {
    "paws_wiki": 8.0, "onestop_english": 7.0, "impli_figurative": 7.0, "cad_nli": 6.0, "taxinli_mnli": 6.0,
    "snli_via_esnli": 5.0, "evidence_inference": 5.0, "e2e_restaurants": 4.0, "ambient_readings": 4.0,
    "semeval2010_task8": 4.0, "fewrel_val": 4.0, "infotabs": 3.5, "scone_negation": 3.0, "hans_generated": 2.5,
    "entailmentbank": 2.0, "causal_news": 1.5, "folio": 1.5, "help_monotonicity": 1.0, "pubmedqa_conclusions": 0.8,
    "propsegment_wiki": 0.7, "megaveridicality": 0.5,
}  # fmt: skip
"""How often each source of `entail` is drawn from, relative to the others; those that reward overlap are held down."""
MIXED = ("paws_wiki", "impli_figurative", "propsegment_wiki", "ambient_readings", "scone_negation")
"""Sources whose *unsupported* also holds contradictions."""
SHARES = {
    "written": 0.38, "entail": 0.17, "people": 0.18, "asked": 0.05, "everyday": 0.02, "yes or no": 0.03,
    "derived": 0.03, "turned": 0.04, "scenes": 0.01, "made": 0.01, "unrelated": 0.08,
}  # fmt: skip
"""Of the claims of an epoch, the share of each kind."""
ONE_SENTENCE = 0.5
"""Share of the unrelated passages of which one sentence is read."""
AMONG = 0.4
"""Share of one-sentence passages that are put among sentences of other passages of their source."""
YES_NO = ("boolq_dev", "boolq_train_part", "strategyqa_train", "strategyqa_dev", "pubmedqa_l")


def claim_examples(data: Path, count: int, seed: int) -> list[Example]:
    """`count` claims with their passages, in a mixed order; `data` holds grounding, entail and qa."""
    rng = Random(seed)
    files, held_out = (sorted((data / "grounding" / part).glob("*.jsonl")) for part in ("train", "dev"))
    held_out += sorted((data / "entail" / "dev").glob("*.jsonl"))
    qa = data / "qa" / "train"
    near = without_same(near_words(minilm()))
    pools = documents(files)
    known = [e for path in files for e in without_overlap(read_examples(path), held_out)]
    texts = [tuple(row["passages"]) for name in (*FILES, "neg_same_doc") for row in rows_of(qa, name)]
    texts += [passages for pool in pools.values() for passages in pool]
    wanted = {name: round(count * share) for name, share in SHARES.items()}
    drawn = {
        "entail": entailed(data / "entail" / "train", held_out, wanted["entail"], rng),
        "people": real_examples(files, held_out, rng),
        "asked": list(asked_examples(qa, rng)),
        "yes or no": yes_or_no(qa, rng),
        "derived": derived_examples(known, wanted["derived"], material(pools, rng, near), rng),
        "turned": turned_examples(list(dict.fromkeys(texts)), wanted["turned"], rng),
        "scenes": scene_examples(wanted["scenes"], rng),
        "everyday": list(everyday.claims(wanted["everyday"], rng)),
        "written": written.enough(written.claims, wanted["written"], rng),
        "made": made_examples(files, wanted["made"], rng, near, wide=True),
    }
    told = [*drawn["entail"], *drawn["people"], *drawn["written"]]
    drawn["unrelated"] = unrelated(told, texts, wanted["unrelated"], rng)
    examples = [e for name, own in drawn.items() for e in rng.sample(own, min(wanted[name], len(own)))]
    rng.shuffle(examples)
    return examples


def entailed(folder: Path, held_out: Sequence[Path], count: int, rng: Random) -> list[Example]:
    """`count` rows of the sources in `ENTAIL`, each source as often as it says; no row is drawn twice."""
    total = sum(ENTAIL.values())
    examples: list[Example] = []
    for name, weight in ENTAIL.items():
        own = without_overlap(read_examples(folder / f"{name}.jsonl"), held_out)
        if name in MIXED:
            own = [replace(e, label=NOT_SUPPORTED) if e.label == UNSUPPORTED else e for e in own]
        sides = [[e for e in own if (e.label == SUPPORTED) is want] for want in (True, False)]
        half = round(count * weight / total / 2)
        chosen = [e for side in sides for e in rng.sample(side, min(half, len(side)))]
        pool = [e.passages[0] for e in own]
        examples += [among(e, pool, rng) if rng.random() < AMONG else e for e in chosen]
    return examples


def among(example: Example, pool: Sequence[str], rng: Random) -> Example:
    """The example with its passage between one to three short ones of other examples."""
    others = [text for text in rng.sample(pool, min(6, len(pool))) if len(text) < 250 and text not in example.passages]
    if not others or len(example.passages) > 1 or len(example.passages[0]) > 300:
        return example
    parts = others[: rng.randint(1, 3)]
    parts.insert(rng.randint(0, len(parts)), example.passages[0])
    ended = (part if part.rstrip()[-1:] in ".!?" else f"{part.rstrip()}." for part in parts if part.strip())
    return replace(example, passages=(" ".join(ended),))


def yes_or_no(folder: Path, rng: Random) -> list[Example]:
    """Yes-or-no questions with their answer, and with the opposite one: what an answer says to its question."""
    examples = []
    for name in YES_NO:
        for row in rows_of(folder, name):
            answer = str(row["answers"][0]).casefold() if row["answers"] else ""
            if answer not in ("yes", "no"):
                continue
            question = str(row["question"]).strip().rstrip("?")
            question = question[:1].upper() + question[1:]
            given = rng.choice(("yes", "no"))
            label = SUPPORTED if given == answer else NOT_SUPPORTED
            passages = tuple(row["passages"])
            examples.append(Example(f"{question}? {given.capitalize()}.", passages, label, None, f"yesno/{name}"))
    return examples


def unrelated(examples: Sequence[Example], texts: Sequence[tuple[str, ...]], count: int, rng: Random) -> list[Example]:
    """Claims before a passage about something else, every second one before a sentence of it."""
    places = [e.passages for e in rng.sample(list(examples), min(count, len(examples)))] + list(
        rng.sample(list(texts), min(count, len(texts)))
    )
    places = [a_sentence(passages, rng) if rng.random() < ONE_SENTENCE else passages for passages in places]
    rng.shuffle(places)
    claims = rng.sample([e for e in examples if len(e.claim) < 200], count)
    return [
        replace(e, passages=passages, label=UNSUPPORTED, spans=None, source="unrelated")
        for e, passages in zip(claims, places, strict=False)
        if passages != e.passages
    ]


def a_sentence(passages: tuple[str, ...], rng: Random) -> tuple[str, ...]:
    """One sentence of one of them."""
    text = rng.choice(passages)
    spans = sentence_spans(text)
    return (text[slice(*rng.choice(spans))],) if spans else (text,)
