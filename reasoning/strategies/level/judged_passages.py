"""`JudgedPassages`: the sets of passages that did not suffice for a query, so that none is judged twice."""

from collections.abc import Sequence

from core.ports.retrieval import Hit

__all__ = ["MIN_NEW", "JudgedPassages"]

MIN_NEW = 0.2
"""The share of new passages below which a set has barely changed: fewer than two of ten."""


class JudgedPassages:
    """A model that did not find enough in ten passages will not find it in nine of them and another one."""

    def __init__(self) -> None:
        self._sets: list[frozenset[str]] = []

    def add(self, hits: Sequence[Hit]) -> None:
        """Records a set that did not suffice."""
        self._sets.append(_ids(hits))

    def barely_changed(self, hits: Sequence[Hit]) -> bool:
        """Whether nearly all of the passages are in one set that did not suffice."""
        ids = _ids(hits)
        return any(ids == judged or len(ids - judged) < MIN_NEW * len(ids) for judged in self._sets)


def _ids(hits: Sequence[Hit]) -> frozenset[str]:
    return frozenset(hit.chunk.id for hit in hits)
