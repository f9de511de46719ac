"""Rules of merges of entities: which merges are refused, and which entity another entity is after them."""

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence

from core.errors import Conflict, InvalidInput, NotFound
from core.ids import merge_id
from core.ports.record import GraphMerge

MAX_MERGES = 10_000
"""Merges of a corpus. Each snapshot reads them all."""


def find_end(into: Mapping[str, str], entity_id: str, found: MutableMapping[str, str] | None = None) -> str:
    """Returns the entity that a given entity is after all merges. `into` are the merges, by the merged entity.

    `found` keeps results for further calls, between which merges may be added: long chains are then followed once.
    """
    passed: list[str] = []
    while entity_id in into:
        passed.append(entity_id)
        entity_id = into[entity_id] if found is None else found.get(entity_id, into[entity_id])
    if found is not None:
        found.update(dict.fromkeys(passed, entity_id))
    return entity_id


def check_merge(
    into: Mapping[str, str], from_id: str, into_id: str, found: MutableMapping[str, str] | None = None
) -> None:
    """Raises `InvalidInput` and `Conflict` as `EntityMerges.merge` does. `into` are the present merges.

    `found` is the result of `find_end`.
    """
    if from_id == into_id:
        raise InvalidInput(f"an entity cannot be merged into itself: both are {from_id!r}; name two entities")
    if from_id in into:
        raise Conflict(
            f"the entity {from_id!r} is merged into {into[from_id]!r} already; undo the merge "
            f"{merge_id(from_id, into[from_id])!r} first"
        )
    if find_end(into, into_id, found) == from_id:
        raise Conflict(f"the entities {from_id!r} and {into_id!r} are one already: the second is merged into the first")
    if len(into) >= MAX_MERGES:
        raise Conflict(f"this corpus has {len(into):,} merges, the most that are possible; undo some")


def check_apart(into: Mapping[str, str], rejected: Iterable[tuple[str, str]], from_id: str, into_id: str) -> None:
    """Raises `Conflict` if this merge, which `check_merge` allows, would make one of the two entities of a rejected
    pair, also through other merges.
    """
    ends = {find_end(into, from_id), find_end(into, into_id)}
    found: dict[str, str] = {}
    for pair in rejected:
        if {find_end(into, id, found) for id in pair} == ends:
            raise Conflict(f"the entities {pair[0]!r} and {pair[1]!r} are two, as a user stated")


MAX_REJECTIONS = 10_000
"""Rejected pairs of entities of a corpus. Each reading of proposals reads them all."""

LEAST_THRESHOLD = 0.5
"""The lowest threshold for merging without being asked for."""


def check_rejection(present: int, first_id: str, second_id: str) -> tuple[str, str]:
    """Returns the two ids in ascending order. Raises as `EntityResolution.reject` does; `present` rejections exist."""
    if first_id == second_id:
        raise Conflict(f"both are the entity {first_id!r}; name two entities")
    if present >= MAX_REJECTIONS:
        raise Conflict(f"this corpus has {present:,} rejected pairs, the most that are possible; withdraw some")
    return (first_id, second_id) if first_id < second_id else (second_id, first_id)


def select_rejections(
    present: Collection[tuple[str, str]], pairs: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], int]:
    """Returns the new pairs that can be added to the `present` pairs, and how many are too many."""
    new = sorted(set(pairs) - set(present))
    room = max(MAX_REJECTIONS - len(present), 0)
    return new[:room], len(new[room:])


def rejection_missing(rejection: str) -> NotFound:
    return NotFound(
        f"there is no rejected pair with the id {rejection!r}; the list of rejections shows those there are"
    )


def entity_missing(entity_id: str) -> NotFound:
    return NotFound(f"no passage of this corpus mentions an entity with the id {entity_id!r}")


def merge_missing(merge: str) -> NotFound:
    return NotFound(
        f"there is no merge with the id {merge!r}; it may be undone already; the list of merges shows those there are"
    )


def select_adoptable(
    present: Mapping[str, str], merges: Sequence[GraphMerge]
) -> tuple[list[GraphMerge], list[GraphMerge]]:
    """Returns the new merges that can be added to the present merges, and the merges that cannot be added."""
    into = dict(present)
    found: dict[str, str] = {}
    added: list[GraphMerge] = []
    refused: list[GraphMerge] = []
    for merge in merges:
        if into.get(merge.from_id) == merge.into_id:
            continue
        try:
            check_merge(into, merge.from_id, merge.into_id, found)
        except (Conflict, InvalidInput):
            refused.append(merge)
            continue
        into[merge.from_id] = merge.into_id
        added.append(merge)
    return added, refused
