"""Parts that other packages bring: entry points of the groups `cragraph.embeddings` and `cragraph.rerankers`.

Each names a function or a class that is called with the model's name, or with nothing where none was given, and returns
the part. In that package's `pyproject.toml`:

    [project.entry-points."cragraph.embeddings"]
    acme = "acme_search:AcmeEmbeddings"

`CRAG_EMBEDDINGS=acme:large` is then `AcmeEmbeddings("large")`, and `CRAG_EMBEDDINGS=acme` is `AcmeEmbeddings()`.
"""

from typing import TYPE_CHECKING, Any, Final, Literal

from cragraph.errors import SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["embeddings", "rerankers"]
PREFIX: Final = "cragraph."


def brought(group: Group) -> "dict[str, EntryPoint]":
    """What installed packages bring to a group, by name; of two with one name the first that is found."""
    from importlib.metadata import entry_points

    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"{PREFIX}{group}"):
        points.setdefault(point.name, point)
    return points


def made(group: Group, spec: str) -> Any:
    """The part that a package brings under the name before the colon; None where none does.

    Raises SettingsError where the package cannot be imported, or does not make it.
    """
    name, _, model = spec.partition(":")
    if (point := brought(group).get(name)) is None:
        return None
    package = point.dist.name if point.dist else point.value.partition(":")[0]
    try:
        make = point.load()
        return make(model) if model else make()
    except Exception as error:  # whatever another's package raises
        raise SettingsError(
            f"{spec!r} of the package {package} cannot be made ({type(error).__name__}: {error}); wanted a part for "
            f"{group}: install what it needs, or choose another name."
        ) from error
