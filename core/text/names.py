"""Names of entities: when two spellings are one entity."""

import re
import unicodedata

__all__ = ["normalise"]

_SPACE = re.compile(r"\s+")


def normalise(name: str) -> str:
    """NFKC, case folded, white space collapsed: the identity of an entity, in any script.

    Nothing is stripped besides, so `C++`, `C#` and `C` stay apart, and `Søren` is not `Soren`. An empty result means
    that the name is no name.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", folded)).strip()
