"""The address of a Neo4j server, as it is set and as it may be shown."""

from urllib.parse import urlsplit

from core.errors import InvalidSettings

__all__ = ["refuse_wrong_uri", "shown"]

_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})


def shown(uri: str) -> str:
    """Without a user or password that somebody wrote into it."""
    scheme, separator, rest = uri.rpartition("//")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def refuse_wrong_uri(uri: str) -> None:
    """Raises `InvalidSettings`."""
    if shown(uri) != uri:
        raise InvalidSettings(
            "HOPWEAVE_NEO4J__URI holds a user or a password: give these as HOPWEAVE_NEO4J__USER and "
            f"HOPWEAVE_NEO4J__PASSWORD, and the address as {shown(uri)}"
        )
    try:
        parts = urlsplit(uri)
        right = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        right = False
    if not right:
        raise InvalidSettings(
            f"HOPWEAVE_NEO4J__URI is {uri!r}; it must be the address of a Neo4j server, such as bolt://127.0.0.1:7687"
        )
