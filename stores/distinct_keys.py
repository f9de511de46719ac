"""The one rule of a call that hands in documents which no database can judge: a key stands in it once."""

from collections import Counter
from collections.abc import Sequence

from core.errors import InvalidInput
from core.ports.record import NewRevision

__all__ = ["refuse_twice"]


def refuse_twice(revisions: Sequence[NewRevision]) -> None:
    """Raises `InvalidInput`, naming the keys that are given more than once."""
    twice = [key for key, n in Counter(revision.key for revision in revisions).items() if n > 1]
    if twice:
        shown = ", ".join(repr(key) for key in twice[:5])
        raise InvalidInput(
            f"the key {shown} was given more than once in one call; keys name documents, so give each its own"
        )
