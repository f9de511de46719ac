"""Normalisation of entity names: which spellings are one entity."""

import re
import unicodedata

_SPACE = re.compile(r"\s+")


def normalise(name: str) -> str:
    """Returns the name in NFKC, case folded, with single spaces: the identity of an entity, in any script.

    Nothing else is stripped, so `C++`, `C#` and `C` stay apart, and `Søren` is not `Soren`. '' means that it is not a
    name.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", folded)).strip()
