"""The judge with an entailment model: any sequence-classification ONNX model with its tokenizer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph.errors import WeightsError
from cragraph.models.weights import open_session, read_tokenizer
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.reading import ON_TOPIC, Readings
from cragraph.verification.judges.verdicts import Thresholds, decide
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


THRESHOLDS: Final = Thresholds(supported=0.5, partial=0.3, contradicted=0.6)
WINDOWS: Final = 4
"""Windows that each claim is compared with."""


class NLIJudge:
    """Judges by entailment: does the window entail the claim, contradict it, or neither?

    `model` is a folder with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and ``config.json``, the name
    of an installed package that holds them, or a loaded `NLIModel`. Which output means what is read from
    ``id2label`` of the config. A path is checked at once and loaded at the first call. Raises WeightsError where
    files are missing or the labels do not say which is entailment.
    """

    def __init__(
        self,
        model: "str | Path | NLIModel",
        *,
        thresholds: Thresholds = THRESHOLDS,
        windows: int = WINDOWS,
        strict_facts: bool = True,
        name: str = "nli",
    ) -> None:
        self.name = name
        self.thresholds = thresholds
        self.windows = windows
        self.strict_facts = strict_facts
        self.model = model if isinstance(model, NLIModel) else load_nli(model)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim; all pairs of claim and window go through the model in batches of like length."""
        found = Readings(claims, passages)
        chosen = [found.space.best(number, self.windows) for number in range(len(claims))]
        pairs = [(found.space.windows[place].text, found.texts[n]) for n, own in enumerate(chosen) for place in own]
        scores = iter(np.split(self.model(pairs), np.cumsum([len(own) for own in chosen])[:-1]))
        notes.ran("nli model", self.model.name)
        notes.ran("nli labels", f"by {self.model.roles.said}")
        verdicts = []
        for number, (claim, places) in enumerate(zip(claims, chosen, strict=True)):
            place, support, against = _clearest(next(scores), places, number, found.space)
            reading = found.read(number, place) if place is not None else None
            given = (claim, reading, support, against, self.thresholds, passages, self.name)
            verdicts.append(decide(*given, strict=self.strict_facts, by_words=False))
        return verdicts


def _clearest(
    scores: NDArray[np.float32], places: Sequence[int], claim: int, found: Space
) -> tuple[int | None, float, float]:
    """The window that speaks most clearly, with its support and contradiction.

    A contradiction counts as far as its window is on the claim's matter.
    """
    if not len(places):
        return None, 0.0, 0.0
    against = scores[:, 1] * np.minimum(1.0, found.coverage[list(places), claim] / ON_TOPIC)
    support, contradiction = float(scores[:, 0].max()), float(against.max())
    best = int(scores[:, 0].argmax() if support >= contradiction else against.argmax())
    return places[best], support, contradiction * (1 - support)


@dataclass(frozen=True)
class Roles:
    """Which output says that the claim is entailed and which that it is contradicted (None where none does).

    `said` tells how that is known: by the config, by a setting, or by obvious pairs.
    """

    entailment: int
    contradiction: int | None
    said: str = "id2label"


OBVIOUS: Final = (
    ("The shop is closed on Sundays.", "On Sundays the shop is closed.", "The shop is open on Sundays."),
    ("Anna sold the red car to her brother.", "Anna sold a car.", "Anna did not sell any car."),
    ("Water boils at 100 degrees Celsius at sea level.", "Water boils at 100 °C.", "Water never boils."),
    ("The bridge was built in 1932 and is 410 metres long.", "The bridge dates from 1932.", "There is no bridge."),
)
"""A premise, what follows from it and what it contradicts, each as plain as can be."""


@dataclass(frozen=True)
class NLIModel:
    """A model's files and roles; loaded by the first call, safe to share between threads."""

    folder: Path
    file: Path
    known: Roles | None
    longest: int = LONGEST
    threads: int = 0

    @property
    def name(self) -> str:
        """The name of the model's folder."""
        return self.folder.name

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Probabilities of entailment and contradiction for (premise, claim) pairs: float32, shape (len(pairs), 2)."""
        scores = np.zeros((len(pairs), 2), dtype=np.float32)
        # Like lengths together, so that little of a batch is padding.
        order = sorted(range(len(pairs)), key=lambda number: len(pairs[number][0]) + len(pairs[number][1]))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            scores[rows] = self._batch([pairs[row] for row in rows])
        return scores

    def _batch(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self._scored(pairs, self.roles)

    @cached_property
    def roles(self) -> Roles:
        """What the outputs mean; where nobody said, the one that obvious pairs tell. Raises WeightsError for none."""
        return self.known or _probed(self)

    def outputs(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """The probability of each label: (pairs, labels), of a token classifier for the claim's worst token."""
        session, tokenizer = self._loaded
        sizes = session.get_inputs()[0].shape
        if isinstance(sizes[0], int) and sizes[0] != len(pairs):
            # A model that was exported for so many pairs at once gets one pair in every place.
            rows = [self.outputs([pair] * sizes[0])[0] for pair in pairs]
            return np.array(rows, dtype=np.float32)
        encoded = tokenizer.encode_batch([(_clean(premise), _clean(claim)) for premise, claim in pairs])
        inputs = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in encoded], dtype=np.int64),
        }
        wanted = {entry.name for entry in session.get_inputs()}
        if not wanted <= inputs.keys():
            raise WeightsError(
                f"{self.file} wants the inputs {', '.join(sorted(wanted))}; wanted at most {', '.join(inputs)}: "
                "export it as a sequence classification model."
            )
        logits = np.asarray(session.run(None, {key: inputs[key] for key in inputs if key in wanted})[0], np.float32)
        shares = _softmax(logits) if logits.shape[-1] > 1 else 1 / (1 + np.exp(-logits))
        if logits.ndim == 3:
            # A token classifier marks what is not supported with its last label; a claim is as good as its worst token.
            own = np.array([[place == 1 for place in one.sequence_ids] for one in encoded])
            worst = np.where(own, shares[:, :, -1], 0.0).max(axis=1)
            return np.stack([1 - worst, worst], axis=1).astype(np.float32)
        if logits.ndim != 2:
            raise WeightsError(f"{self.file} returned an output of shape {logits.shape}; wanted logits of labels.")
        return np.asarray(shares, dtype=np.float32)

    def _scored(self, pairs: Sequence[tuple[str, str]], roles: Roles) -> NDArray[np.float32]:
        shares = self.outputs(pairs)
        against = roles.contradiction
        if shares.shape[1] <= max(roles.entailment, against or 0):
            raise WeightsError(
                f"{self.file} returned an output of shape {shares.shape}; wanted a logit for each label of its config."
            )
        columns = [shares[:, roles.entailment], shares[:, against] if against is not None else 0 * shares[:, 0]]
        return np.stack(columns, axis=1).astype(np.float32)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        with _loading:
            return _open(self)


_loading: Final = Lock()


def load_nli(where: str | Path) -> NLIModel:
    """The model in a folder, or in an installed package of that name; raises WeightsError saying what is missing.

    Where its ``id2label`` does not say what the outputs mean, obvious pairs do.
    """
    folder = _folder(where)
    file = next((folder / name for name in MODELS if (folder / name).is_file()), None)
    if file is None:
        others = sorted(folder.glob("*.onnx"))
        if len(others) != 1:
            raise WeightsError(f"{folder} holds no ONNX model; wanted one of {', '.join(MODELS)}.")
        file = others[0]
    for name in ("tokenizer.json", "config.json"):
        if not (folder / name).is_file():
            raise WeightsError(
                f"{folder} holds {file.name} but no {name}; wanted both: copy it from the model's export."
            )
    config = _config(folder / "config.json")
    longest = config.get("max_position_embeddings")
    unnamed = all(_UNNAMED.match(str(label)) for label in (config.get("id2label") or {"": "0"}).values())
    known = None if unnamed else roles(config, folder)
    return NLIModel(folder, file, known, min(LONGEST, longest) if isinstance(longest, int) else LONGEST)


_UNNAMED: Final = re.compile(r"^(?:label[_ ]?)?\d+$", re.IGNORECASE)
"""A label that says nothing: ``LABEL_0``."""


def _probed(model: NLIModel) -> Roles:
    """The labels that tell what follows from what does not, on pairs that are obvious; raises WeightsError."""
    follows = model.outputs([(premise, claim) for premise, claim, _ in OBVIOUS]).mean(axis=0)
    against = model.outputs([(premise, claim) for premise, _, claim in OBVIOUS]).mean(axis=0)
    gain = follows - against
    entailment, contradiction = int(gain.argmax()), int(gain.argmin())
    if gain[entailment] < CLEAR:
        raise WeightsError(
            f"{model.folder / 'config.json'} does not name its outputs, and obvious pairs do not tell them apart; "
            'wanted id2label, such as {"0": "entailment", "1": "neutral", "2": "contradiction"}.'
        )
    return Roles(entailment, contradiction if len(gain) > 2 else None, "obvious pairs")


CLEAR: Final = 0.3
"""How much likelier a label must be where the claim follows than where it is contradicted."""


def roles(config: dict[str, Any], folder: Path) -> Roles:
    """What the outputs mean, by ``id2label``; raises WeightsError when no label, or more than one, is entailment."""
    labels = config.get("id2label")
    if not isinstance(labels, dict) or not labels:
        raise WeightsError(
            f"{folder / 'config.json'} has no id2label; wanted the name of each output, such as entailment."
        )
    said = {int(number): re.sub(r"[\s-]+", "_", str(label).strip().lower()) for number, label in labels.items()}
    entails = [number for number, label in said.items() if _ENTAILS.match(label)]
    against = [number for number, label in said.items() if _CONTRADICTS.match(label)]
    strange = [label for label in said.values() if not any(p.match(label) for p in (_ENTAILS, _CONTRADICTS, _NEITHER))]
    if len(entails) != 1 or len(against) > 1 or strange:
        raise WeightsError(
            f"{folder / 'config.json'} labels its outputs {', '.join(said[key] for key in sorted(said))}; wanted one "
            "entailment, at most one contradiction, and neutral: name them in id2label."
        )
    return Roles(entails[0], against[0] if against else None, "id2label")


def _folder(where: str | Path) -> Path:
    folder = Path(where).expanduser()
    if folder.is_dir():
        return folder
    if isinstance(where, str) and re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", where):
        try:
            spec = find_spec(where)
        except ModuleNotFoundError:
            spec = None
        for place in (spec.submodule_search_locations or []) if spec else []:
            found = sorted(Path(place).rglob("tokenizer.json"), key=lambda path: (len(path.parts), path))
            if found:
                return found[0].parent
        if spec:
            raise WeightsError(
                f"the package {where!r} holds no tokenizer.json; wanted one with an ONNX model beside it."
            )
    raise WeightsError(
        f"{str(where)!r} is neither a folder nor an installed package; wanted one that holds model.onnx, "
        "tokenizer.json and config.json."
    )


def _config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read ({error}); wanted the model's config as JSON.") from error
    if not isinstance(config, dict):
        raise WeightsError(f"{path} holds a {type(config).__name__}; wanted an object with id2label.")
    return config


def _open(model: NLIModel) -> tuple[Any, Any]:
    session = open_session(model.file, model.threads)
    tokenizer = read_tokenizer(model.folder / "tokenizer.json")
    # The claim must stay whole: only the premise is cut. Room for special tokens is the tokenizer's to keep.
    fixed = session.get_inputs()[0].shape[-1]
    length = fixed if isinstance(fixed, int) else None
    tokenizer.enable_truncation(min(model.longest, length or model.longest), strategy="only_first")
    own = (tokenizer.padding or {}).get("pad_token")
    pad = next((t for t in (own, "[PAD]", "<pad>") if t and tokenizer.token_to_id(t) is not None), None)
    if pad is None:
        tokenizer.enable_padding(length=length)
    else:
        tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad, length=length)
    return session, tokenizer


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


def _clean(text: str) -> str:
    """The text without lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
