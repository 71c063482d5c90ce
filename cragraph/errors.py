"""Every error that cragraph raises on purpose.

    CragError
    ├── SettingsError      a setting, flag or environment variable is unknown or out of range
    ├── InputError         a question, answer, passage or row has the wrong shape
    ├── DocumentError      one file cannot be read (ingest reports it and goes on)
    ├── StoreError         the store cannot be opened, read or written
    │   ├── StoreMissingError    nothing was ingested yet
    │   ├── StoreMismatchError   it was built with another embedding model, dimension or metric
    │   └── StoreLockedError     another process is writing to it
    ├── ModelError         a model cannot be loaded or does not answer
    │   ├── WeightsError         weights are missing, damaged or of another version
    │   ├── ModelNotFoundError   the server has no such model
    │   └── ModelUnavailableError  the server is not reachable, stalls or breaks off
    │       └── ModelStalledError    it went silent for longer than the timeout; trying again rarely helps
    └── DeadlineError      the run's deadline passed before there was any answer

A message says what came, what was wanted and what to do next. Those below SettingsError and InputError are
ValueErrors too, the others RuntimeErrors: LangGraph's server passes on the message of these only.
"""

import re
from typing import Final

_LOGIN: Final = re.compile(r"(?<=://)([^\s/@:]*)(:?)[^\s/]*@")
_CONTROL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # escape sequences that move the cursor, colour or clear
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # escape sequences that set the window's title
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)

_HALF: Final = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with U+FFFD for every lone surrogate, which cannot be written; offsets stay."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def mask(text: str) -> str:
    """The text with the password, or the token, of every URL in it as `***`."""
    return _LOGIN.sub(lambda login: f"{login[1]}:***@" if login[2] else "***@", text)


def printable(text: str) -> str:
    """The text without escape sequences, control characters and direction marks, which a terminal would act on."""
    return _CONTROL.sub("", text)


class CragError(Exception):
    """Base of every error that cragraph raises on purpose; its message is safe to show."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(mask(printable(encodable(part))) if isinstance(part, str) else part for part in parts))


class SettingsError(CragError, ValueError):
    """A setting is unknown, out of range or contradicts another; names the file or variable."""


class InputError(CragError, ValueError):
    """Input given to a graph, a function or a command has the wrong shape."""


class DocumentError(CragError, RuntimeError):
    """One document cannot be read."""


class StoreError(CragError, RuntimeError):
    """The store cannot be opened, read or written."""


class StoreMissingError(StoreError):
    """There is no store yet: nothing was ingested."""


class StoreMismatchError(StoreError):
    """The store holds vectors of another embedding model, dimension or metric."""


class StoreLockedError(StoreError):
    """Another process is writing to the store."""


class ModelError(CragError, RuntimeError):
    """A model cannot be loaded or does not answer."""


class WeightsError(ModelError):
    """Model weights are missing, damaged or of another version."""


class ModelNotFoundError(ModelError):
    """The model server does not have the model that was asked for."""


class ModelUnavailableError(ModelError):
    """The model server cannot be reached, stalls or breaks off."""


class ModelStalledError(ModelUnavailableError):
    """The model server sent nothing for longer than the timeout."""


class DeadlineError(CragError, RuntimeError):
    """The run's deadline passed before there was any answer to return."""
