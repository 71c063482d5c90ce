"""Every error that cragraph raises on purpose.

    CragError
    ├── SettingsError      a setting, flag or environment variable is unknown or out of range
    ├── InputError         a question, answer, passage or row has the wrong shape
    ├── DocumentError      one file cannot be read (ingest reports it and goes on)
    ├── StoreError         the store cannot be opened, read or written
    │   ├── StoreMismatchError   it was built with another embedding model, dimension or metric
    │   └── StoreLockedError     another process is writing to it
    ├── ModelError         a model cannot be loaded or does not answer
    │   ├── WeightsError         weights are missing, damaged or of another version
    │   ├── ModelNotFoundError   the server has no such model
    │   └── ModelUnavailableError  the server is not reachable, stalls or breaks off
    │       └── ModelStalledError    it went silent for longer than the timeout; trying again rarely helps
    └── DeadlineError      the run's deadline passed before there was any answer

A message says what came, what was wanted and what to do next.
"""


class CragError(Exception):
    """Base of every error that cragraph raises on purpose."""


class SettingsError(CragError):
    """A setting is unknown, out of range or contradicts another; names the file or variable."""


class InputError(CragError):
    """Input given to a graph, a function or a command has the wrong shape."""


class DocumentError(CragError):
    """One document cannot be read."""


class StoreError(CragError):
    """The store cannot be opened, read or written."""


class StoreMismatchError(StoreError):
    """The store holds vectors of another embedding model, dimension or metric."""


class StoreLockedError(StoreError):
    """Another process is writing to the store."""


class ModelError(CragError):
    """A model cannot be loaded or does not answer."""


class WeightsError(ModelError):
    """Model weights are missing, damaged or of another version."""


class ModelNotFoundError(ModelError):
    """The model server does not have the model that was asked for."""


class ModelUnavailableError(ModelError):
    """The model server cannot be reached, stalls or breaks off."""


class ModelStalledError(ModelUnavailableError):
    """The model server sent nothing for longer than the timeout."""


class DeadlineError(CragError):
    """The run's deadline passed before there was any answer to return."""
