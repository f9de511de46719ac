"""The address of a Neo4j server: checking the setting, and the form that may be shown."""

from urllib.parse import urlsplit

from core.errors import InvalidSettings

__all__ = ["check_uri", "without_password"]

_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})


def without_password(uri: str) -> str:
    """Returns the URI without a user or password that was written into it."""
    scheme, separator, rest = uri.rpartition("//")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def check_uri(uri: str) -> None:
    """Raises `InvalidSettings` if the URI is no address of a Neo4j server, or holds a user or a password."""
    if without_password(uri) != uri:
        raise InvalidSettings(
            "HOPWEAVE_NEO4J__URI holds a user or a password: give these as HOPWEAVE_NEO4J__USER and "
            f"HOPWEAVE_NEO4J__PASSWORD, and the address as {without_password(uri)}"
        )
    try:
        parts = urlsplit(uri)
        is_valid = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        is_valid = False
    if not is_valid:
        raise InvalidSettings(
            f"HOPWEAVE_NEO4J__URI is {uri!r}; it must be the address of a Neo4j server, such as bolt://127.0.0.1:7687"
        )
