"""What reading one file may cost at most, so that no file can stop the others."""

from dataclasses import dataclass

from cragraph.errors import DocumentError, InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per file; a file that goes over one is reported, and the rest goes in.

    `seconds` and `memory_mb` hold for the process that reads the file, the others while it is read: `fields` counts the
    columns of a table, the values of a record and the keys of front matter, `characters` the text of one document.
    """

    seconds: float = 120.0
    memory_mb: int = 1024
    fields: int = 1000
    characters: int = 50_000_000
    pages: int = 20_000

    def __post_init__(self) -> None:
        """Raises InputError where a limit is not positive."""
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise InputError(f"the limit {name} is {getattr(self, name)}; wanted a number above 0.")

    def check(self, limit: str, count: int, what: str) -> None:
        """Raises DocumentError, to which `load` adds the name of the file, where there is more than a limit allows."""
        most = getattr(self, limit)
        if count > most:
            raise DocumentError(
                f"has {count:,} {what}, over the limit of {most:,} ({limit}); split it, or raise the limit."
            )


DEFAULT = Limits()
