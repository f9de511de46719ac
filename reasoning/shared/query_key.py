"""`query_key`: recognises a query that was made before. Reasoners that search several times use it."""

import re

__all__ = ["query_key"]

_END = re.compile(r"(?<![\s.?!。？！])[\s.?!。？！]++$")


def query_key(text: str) -> str:
    """Returns a key that is equal for queries that differ only in case, spaces and the punctuation at their end."""
    return _END.sub("", " ".join(text.casefold().split()))
