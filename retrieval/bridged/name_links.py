"""The link that explains a hit: of all links from sources to a candidate the strongest, its name and its source."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.pool_names import PoolNames

__all__ = ["SourceLink", "find_strongest_link", "is_title_of_both", "list_mentioned"]

Ints = NDArray[np.int64]

_LEAST = 0.05  # the least source weight x link that is reported: weaker ones do not change the order


@dataclass(frozen=True, kw_only=True)
class SourceLink:
    """A link through `name` (its number in the pool) from a source: its row among the sources, and `at` in the pool."""

    source: int
    at: int
    name: int


def find_strongest_link(evidence: PoolEvidence, place: int, told: Collection[int]) -> SourceLink | None:
    """Returns the strongest link of any kind, weighted by its source, to the candidate at `place`, or None.

    A title that both have, as all chunks of a document do, is returned only if there is no other link. Only the sources
    in `told` (rows) count, and only names that the question does not have, since a shared name of the question has a
    reason of its own.
    """
    kinds = [
        (evidence.links.title, _own_title),
        (evidence.links.shared, _rarest_shared),
        (evidence.links.reverse, _title_of_source),
    ]
    alike: SourceLink | None = None
    strength = np.array([evidence.source_weight * values[:, place] for values, _ in kinds])
    for at in np.argsort(-strength, axis=None, kind="stable").tolist():
        kind, source = divmod(at, len(evidence.sources))
        if strength[kind, source] < _LEAST:
            break
        if source in told:
            source_at = int(evidence.sources[source])
            name = kinds[kind][1](evidence.names, source_at, place)
            if name is not None:
                link = SourceLink(source=source, at=source_at, name=name)
                if not is_title_of_both(evidence.names, link, place):
                    return link
                alike = alike or link
    return alike


def is_title_of_both(names: PoolNames, link: SourceLink, place: int) -> bool:
    """Returns whether the link is a title or heading that its two ends have alike."""
    return bool((names.titles[place] == link.name).any() and (names.titles[link.at] == link.name).any())


def list_mentioned(names: PoolNames, place: int) -> Ints:
    """Returns the names that one candidate mentions, ascending."""
    first, end = np.searchsorted(names.owner, [place, place + 1])
    return np.sort(names.name[first:end])


def _own_title(names: PoolNames, source: int, place: int) -> int | None:
    return _best_title(names, list_mentioned(names, source), place)


def _title_of_source(names: PoolNames, source: int, place: int) -> int | None:
    return _best_title(names, list_mentioned(names, place), source)


def _best_title(names: PoolNames, mentioned: Ints, titled: int) -> int | None:
    """Returns the title of one candidate that another mentions and the question does not, the one that fewest share."""
    worth = np.where(np.isin(names.titles[titled], mentioned), names.title_worth[titled], 0.0)
    worth = np.where(names.linked[names.titles[titled]], 0.0, worth) if names.size else worth
    return int(names.titles[titled, worth.argmax()]) if worth.any() else None


def _rarest_shared(names: PoolNames, source: int, place: int) -> int | None:
    shared = np.intersect1d(list_mentioned(names, source), list_mentioned(names, place))
    shared = shared[~names.linked[shared]]
    return int(shared[names.rarity[shared].argmax()]) if len(shared) else None
