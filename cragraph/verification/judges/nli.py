"""The judge with an entailment model: any sequence-classification ONNX model with its tokenizer."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cragraph.errors import WeightsError
from cragraph.models.weights import open_session, read_tokenizer, whole
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.reading import ON_TOPIC, Readings
from cragraph.verification.judges.verdicts import Standard, decide
from cragraph.verification.windows import Space

MODELS: Final = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
"""Where the model may lie in its folder, in order of preference."""
BATCH: Final = 16
LONGEST: Final = 512

_ENTAILS: Final = re.compile(r"^(?:entail(?:ment|s|ed)?|support(?:s|ed)?|consistent|grounded|factual|true|yes)$")
_CONTRADICTS: Final = re.compile(
    r"^(?:contradict(?:ion|s|ed|ory)?|refut(?:es|ed)?|not_?support(?:ed)?_?by_?contradiction)$"
)
_NEITHER: Final = re.compile(
    r"^(?:neutral|not_?entail(?:ment|ed)?|non_?entail(?:ment|ed)?|unsupported|not_?support(?:ed|s)?|inconsistent|"
    r"hallucinat(?:ed|ion)|not_?enough_?info|nei|unknown|false|no|not_?grounded)$"
)
_UNNAMED: Final = re.compile(r"^(?:label[_ ]?)?\d+$", re.IGNORECASE)  # A label that says nothing: ``LABEL_0``
STANDARD: Final = Standard(supported=0.5, partial=0.3, contradicted=0.6, by_words=False)
WINDOWS: Final = 4
OBVIOUS: Final = (
    ("The shop is closed on Sundays.", "On Sundays the shop is closed.", "The shop is open on Sundays."),
    ("Anna sold the red car to her brother.", "Anna sold a car.", "Anna did not sell any car."),
    ("Water boils at 100 degrees Celsius at sea level.", "Water boils at 100 °C.", "Water never boils."),
    ("The bridge was built in 1932 and is 410 metres long.", "The bridge dates from 1932.", "There is no bridge."),
)
"""A premise, what follows from it and what it contradicts, each as plain as can be."""
CLEAR: Final = 0.3  # how much likelier a label must be where the claim follows than where it is contradicted
INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""What a model may want, by the names that the tokenizer has for it."""

Scores = NDArray[np.float32]
Pairs = Sequence[tuple[str, str]]


class NLIJudge:
    """Judges by entailment: does the window entail the claim, contradict it, or neither?

    `model` is a folder with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and ``config.json``, the name
    of an installed package that holds them, or a loaded `NLIModel`. Which output means what is read from ``id2label``
    of the config. A path is checked at once and loaded at the first call. Raises WeightsError where files are missing
    or the labels do not say which is entailment.
    """

    name = "nli"

    def __init__(self, model: "str | Path | NLIModel") -> None:
        self.model = model if isinstance(model, NLIModel) else load_nli(model)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim; all pairs of claim and window go through the model in batches of like length."""
        measures = Readings(claims, passages)
        chosen = [measures.space.best(number, WINDOWS) for number in range(len(claims))]
        pairs = [
            (measures.space.windows[place].text, measures.texts[n]) for n, own in enumerate(chosen) for place in own
        ]
        scores = iter(np.split(self.model(pairs), np.cumsum([len(own) for own in chosen])[:-1]))
        notes.ran("nli model", self.model.name)
        notes.ran("nli labels", f"by {self.model.roles.said}")
        verdicts = []
        for number, (claim, places) in enumerate(zip(claims, chosen, strict=True)):
            place, support, against = _clearest(next(scores), places, number, measures.space)
            reading = measures.read(number, place) if place is not None else None
            verdicts.append(decide(claim, reading, (support, against), STANDARD, passages, self.name))
        return verdicts


def _clearest(scores: Scores, places: Sequence[int], claim: int, space: Space) -> tuple[int | None, float, float]:
    """The clearest window, its support, and its contradiction as far as it is on the claim's matter."""
    if not len(places):
        return None, 0.0, 0.0
    against = scores[:, 1] * np.minimum(1.0, space.coverage[list(places), claim] / ON_TOPIC)
    support, contradiction = float(scores[:, 0].max()), float(against.max())
    best = int(scores[:, 0].argmax() if support >= contradiction else against.argmax())
    return places[best], support, contradiction * (1 - support)


class Roles(NamedTuple):
    """Which output says that a claim is entailed, which (if any) that it is contradicted, and by what that is known."""

    entailment: int
    contradiction: int | None
    said: str


@dataclass(frozen=True)
class NLIModel:
    """A model's files and its labels; loaded by the first call, safe to share between threads."""

    file: Path
    config: dict[str, Any]
    threads: int = 0
    _loading: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def folder(self) -> Path:
        """Where the tokenizer and the config lie."""
        return self.file.parent.parent if self.file.parent.name == "onnx" else self.file.parent

    @property
    def name(self) -> str:
        """The name of the model's folder."""
        return self.folder.name

    def __call__(self, pairs: Pairs) -> Scores:
        """Probabilities of entailment and contradiction for (premise, claim) pairs: float32, shape (len(pairs), 2)."""
        scores = np.zeros((len(pairs), 2), dtype=np.float32)
        entailment, against, _ = self.roles
        # Like lengths together, so that little of a batch is padding.
        order = sorted(range(len(pairs)), key=lambda number: len(pairs[number][0]) + len(pairs[number][1]))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            shares = self.outputs([pairs[row] for row in rows])
            if shares.shape[1] <= max(entailment, against or 0):
                wanted = "wanted a logit for each label of its config"
                raise WeightsError(f"{self.file} returned an output of shape {shares.shape}; {wanted}.")
            scores[rows, 0] = shares[:, entailment]
            scores[rows, 1] = 0.0 if against is None else shares[:, against]
        return scores

    @cached_property
    def roles(self) -> Roles:
        """What the outputs mean, by the config or, where that names nothing, by obvious pairs; raises WeightsError."""
        if named := named_roles(self.config, self.folder):
            return named
        follows = self.outputs([(premise, claim) for premise, claim, _ in OBVIOUS]).mean(axis=0)
        gain = follows - self.outputs([(premise, claim) for premise, _, claim in OBVIOUS]).mean(axis=0)
        if gain.max() < CLEAR:
            raise WeightsError(
                f"{self.folder / 'config.json'} does not name its outputs, and obvious pairs do not tell them apart; "
                'wanted id2label, such as {"0": "entailment", "1": "neutral", "2": "contradiction"}.'
            )
        return Roles(int(gain.argmax()), int(gain.argmin()) if len(gain) > 2 else None, "obvious pairs")

    def outputs(self, pairs: Pairs) -> Scores:
        """The probability of each label: (pairs, labels), of a token classifier for the claim's worst token."""
        session, tokenizer = self._loaded
        size = session.get_inputs()[0].shape[0]
        if isinstance(size, int) and size != len(pairs):
            # A model that was exported for so many pairs at once gets one pair in every place.
            return np.array([self.outputs([pair] * size)[0] for pair in pairs], dtype=np.float32)
        encoded = tokenizer.encode_batch([(whole(premise), whole(claim)) for premise, claim in pairs])
        wanted = {entry.name for entry in session.get_inputs()}
        if not wanted <= INPUTS.keys():
            raise WeightsError(
                f"{self.file} wants the inputs {', '.join(sorted(wanted))}; wanted at most {', '.join(INPUTS)}: "
                "export it as a sequence classification model."
            )
        inputs = {key: np.array([getattr(one, INPUTS[key]) for one in encoded], dtype=np.int64) for key in wanted}
        logits = np.asarray(session.run(None, inputs)[0], np.float32)
        raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares = raised / raised.sum(axis=-1, keepdims=True) if logits.shape[-1] > 1 else 1 / (1 + np.exp(-logits))
        if logits.ndim == 3:
            # A token classifier marks what is not supported with its last label; a claim is as good as its worst token.
            own = np.array([[place == 1 for place in one.sequence_ids] for one in encoded])
            worst = np.where(own, shares[:, :, -1], 0.0).max(axis=1)
            return np.stack([1 - worst, worst], axis=1).astype(np.float32)
        if logits.ndim != 2:
            raise WeightsError(f"{self.file} returned an output of shape {logits.shape}; wanted logits of labels.")
        return np.asarray(shares, dtype=np.float32)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        with self._loading:
            return vars(self).get("_loaded") or self._opened()

    def _opened(self) -> tuple[Any, Any]:
        session = open_session(self.file, self.threads)
        tokenizer = read_tokenizer(self.folder / "tokenizer.json")
        own, fixed = self.config.get("max_position_embeddings"), session.get_inputs()[0].shape[-1]
        length = fixed if isinstance(fixed, int) else None
        longest = min(limit for limit in (LONGEST, own, length or None) if isinstance(limit, int))
        # The claim must stay whole: only the premise is cut. Room for special tokens is the tokenizer's to keep.
        tokenizer.enable_truncation(longest, strategy="only_first")
        tokens = ((tokenizer.padding or {}).get("pad_token"), "[PAD]", "<pad>")
        pad = next((t for t in tokens if t and tokenizer.token_to_id(t) is not None), None)
        marked = {"pad_id": tokenizer.token_to_id(pad), "pad_token": pad} if pad else {}
        tokenizer.enable_padding(length=length, **marked)
        return session, tokenizer


def load_nli(where: str | Path) -> NLIModel:
    """The model in a folder or an installed package of that name; raises WeightsError saying what is missing."""
    folder = _folder(where)
    files = [folder / name for name in MODELS if (folder / name).is_file()] or sorted(folder.glob("*.onnx"))
    if not files or (len(files) > 1 and files[0].relative_to(folder).as_posix() not in MODELS):
        raise WeightsError(f"{folder} holds no ONNX model; wanted one of {', '.join(MODELS)}.")
    for name in ("tokenizer.json", "config.json"):
        if not (folder / name).is_file():
            raise WeightsError(
                f"{folder} holds {files[0].name} but no {name}; wanted both: copy it from the model's export."
            )
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read ({error}); wanted the model's config as JSON.") from error
    if not isinstance(config, dict):
        raise WeightsError(f"{path} holds a {type(config).__name__}; wanted an object with id2label.")
    named_roles(config, folder)  # says at once what is wrong with them
    return NLIModel(files[0], config)


def named_roles(config: dict[str, Any], folder: Path) -> Roles | None:
    """What the outputs mean by ``id2label``, None where it names nothing; raises WeightsError where it is unclear."""
    labels = config.get("id2label")
    if not isinstance(labels, dict) or all(_UNNAMED.match(str(label)) for label in labels.values()):
        return None
    names = {int(number): re.sub(r"[\s-]+", "_", str(label).strip().lower()) for number, label in labels.items()}
    entails = [number for number, label in names.items() if _ENTAILS.match(label)]
    against = [number for number, label in names.items() if _CONTRADICTS.match(label)]
    strange = [label for label in names.values() if not any(p.match(label) for p in (_ENTAILS, _CONTRADICTS, _NEITHER))]
    if len(entails) != 1 or len(against) > 1 or strange:
        raise WeightsError(
            f"{folder / 'config.json'} labels its outputs {', '.join(names[key] for key in sorted(names))}; wanted one "
            "entailment, at most one contradiction, and neutral: name them in id2label."
        )
    return Roles(entails[0], against[0] if against else None, "id2label")


def _folder(where: str | Path) -> Path:
    folder, package = Path(where).expanduser(), None
    if folder.is_dir():
        return folder
    if isinstance(where, str) and re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", where):
        with suppress(ModuleNotFoundError):
            package = find_spec(where)
    if package is None:
        raise WeightsError(
            f"{str(where)!r} is neither a folder nor an installed package; wanted one that holds model.onnx, "
            "tokenizer.json and config.json."
        )
    tokenizers = [
        path for place in package.submodule_search_locations or [] for path in Path(place).rglob("tokenizer.json")
    ]
    if not tokenizers:
        raise WeightsError(f"the package {where!r} holds no tokenizer.json; wanted one with an ONNX model beside it.")
    return min(tokenizers, key=lambda path: (len(path.parts), path)).parent
