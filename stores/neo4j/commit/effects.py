"""What a transaction adds and removes, summed up before entities are judged: support is counted, never guessed."""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Effects"]


@dataclass
class Effects:
    """`ends` are the entities of removed facts; `names` the normalised names of the entities that are mentioned; `born`
    those that nothing mentioned before, which are unsettled from `unsettled_at` on, unless that is None.
    """

    corpus_id: str
    unsettled_at: float | None = None
    born: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    ends: set[str] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)
    old_views: set[str] = field(default_factory=set)
    contents: set[str] = field(default_factory=set)
    put: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)

    @property
    def unsettled(self) -> tuple[str, ...]:
        return () if self.unsettled_at is None else tuple(sorted(self.born))
