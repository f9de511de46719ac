"""igraph, imported here alone and when a command first needs it: the import takes a tenth of a second.

Three computations use igraph: exact Personalized PageRank over entities (`hippo1`), the ways between two entities, and
the communities of an export. igraph is a separate work under GPL-2.0-or-later; everything else works without it.
"""

from types import ModuleType

from core.errors import InvalidSettings


def import_igraph(what: str) -> ModuleType:
    """Returns igraph. Raises `InvalidSettings`, which begins with `what` that is to be computed, if it is missing."""
    try:
        import igraph
    except ModuleNotFoundError as error:
        raise InvalidSettings(f"{what} cannot be computed without igraph: pip install igraph") from error
    module: ModuleType = igraph
    return module
