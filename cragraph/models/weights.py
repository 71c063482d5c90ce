"""Finds the weights inside the package and checks them against their checksums.

A set of weights is a card, `cragraph/models/data/<name>.json`: its files with their SHA-256 sums, and fitted numbers.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from os import cpu_count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from cragraph.errors import WeightsError
from cragraph.private import disable_telemetry

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Item = TypeVar("Item")
Result = TypeVar("Result")

DATA: Final = Path(__file__).parent / "data"
CLS: Final = 101  # the word piece at the start of a network's input
SEP: Final = 102  # the word piece at the end of each text
MAX_THREADS: Final = 4  # threads by default at most: beyond, a laptop's other work suffers more than a model gains
_REMEDY: Final = "reinstall cragraph (pip install --force-reinstall cragraph)"


@dataclass(frozen=True)
class Weights:
    """A card and the folder of its files; `path` returns a file only after checking it."""

    card: Mapping[str, Any]
    folder: Path

    @property
    def name(self) -> str:
        """The model's name, unique to these weights."""
        return str(self.card["name"])

    def path(self, filename: str) -> Path:
        """One of the card's files, present and undamaged (checked once a process); raises WeightsError otherwise."""
        wanted = self.card["files"].get(filename)
        if wanted is None:
            listed = ", ".join(self.card["files"])
            raise WeightsError(f"weights {self.name} list no file {filename!r}; wanted one of {listed}: {_REMEDY}.")
        path = self.folder / filename
        _check(path, str(wanted))
        return path


@contextmanager
def _readable(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise WeightsError(f"weights {what} {path} is missing; it ships with the package: {_REMEDY}.") from error
    except (OSError, ValueError) as error:
        raise WeightsError(f"weights {what} {path} cannot be read ({error}): {_REMEDY}.") from error


@cache
def weights(card: str, folder: Path = DATA) -> Weights:
    """Read the card with this name (without `.json`). Raises WeightsError if it is missing or unreadable."""
    path = folder / f"{card}.json"
    with _readable("card", path):
        content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not {"name", "version", "files"} <= content.keys():
        raise WeightsError(f"weights card {path} lacks name, version or files: {_REMEDY}.")
    return Weights(content, folder)


class Shipped:
    """A network of the package; loads on first use, safe to share between threads.

    `threads` is the number of texts read at once (default: the machine's cores, at most 4).
    """

    network: ClassVar[str]

    def __init__(self, *, threads: int | None = None, folder: Path = DATA) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; wanted 1 or more, or None for one per core.")
        self.threads = threads or min(cpu_count() or 1, MAX_THREADS)
        self._folder = folder

    @property
    def _weights(self) -> Weights:
        return weights(self.network, self._folder)

    @property
    def name(self) -> str:
        """The name of the weights: figures of networks with different names must not be compared."""
        return f"{self._weights.name}@{self._weights.card['version']}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(threads={self.threads})"


@cache
def _check(path: Path, wanted: str) -> None:
    with _readable("file", path), path.open("rb") as file:
        came = file_digest(file, "sha256").hexdigest()
    if came != wanted:
        raise WeightsError(
            f"weights file {path} is damaged or of another version: its SHA-256 is {came[:12]}…, wanted "
            f"{wanted[:12]}…: {_REMEDY}."
        )


_sessions: Final[dict[tuple[str, Path], Any]] = {}  # a network's session, or its future while that is being opened
_OPENING: Final = Lock()


def open_ahead(cards: Sequence[str], folder: Path = DATA) -> None:
    """Start opening networks in a thread, so that a command can go on importing meanwhile."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="cragraph-ahead")
    for card in cards:
        if (card, folder) not in _sessions:
            _sessions[card, folder] = pool.submit(_open, card, folder)
    pool.shutdown(wait=False)


def opened(card: str, folder: Path = DATA) -> Any:
    """The session of a card's network, opened by the first caller; one per process."""
    with _OPENING:
        session = _sessions[card, folder] if (card, folder) in _sessions else _open(card, folder)
        _sessions[card, folder] = session.result() if isinstance(session, Future) else session
        return _sessions[card, folder]


def _open(card: str, folder: Path) -> Any:
    own = weights(card, folder)
    for filename in own.card["files"]:
        own.path(filename)  # a network may take its weights out of another one's file
    return open_session(own.path(f"{card}.onnx"))


def open_session(path: Path, threads: int = 1) -> Any:
    """An onnxruntime session on the processor; one thread per call keeps the order of sums, so that results repeat."""
    # Imported here because onnxruntime takes longer to import than a command line may take to print its help.
    disable_telemetry()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises bare Exceptions of its own
        raise WeightsError(
            f"onnxruntime {onnxruntime.__version__} cannot load {path} ({error}); wanted 1.20 or newer: "
            "pip install --upgrade onnxruntime."
        ) from error


def read_tokenizer(path: Path) -> "Tokenizer":
    """The tokenizer from a file. Raises WeightsError if it cannot be read."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exceptions of its own
        raise WeightsError(f"tokenizers cannot load {path} ({error}): pip install --upgrade tokenizers.") from error


@cache
def open_tokenizer(folder: Path = DATA) -> "Tokenizer":
    """The shared tokenizer of the networks, which neither pads nor truncates."""
    tokenizer = read_tokenizer(weights("encoder", folder).path("encoder-tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def whole(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced one for one, so that offsets stay."""
    return text.encode("utf-8", "replace").decode("utf-8")


def side_by_side(
    call: Callable[[Item], Result], items: Sequence[Item], threads: int, size: Callable[[Item], int] = lambda item: 0
) -> list[Result]:
    """The results of calls, in order; the largest items begin first, so that threads end together."""
    if min(threads, len(items)) < 2:
        return [call(item) for item in items]
    order = sorted(range(len(items)), key=lambda place: -size(items[place]))
    contexts = [copy_context() for _ in order]
    with ThreadPoolExecutor(min(threads, len(items)), thread_name_prefix="cragraph-model") as pool:
        results = dict(zip(order, pool.map(lambda n, own: own.run(call, items[n]), order, contexts), strict=True))
    return [results[place] for place in range(len(items))]
