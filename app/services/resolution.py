"""Who is who, as the API and the command line offer it: proposals of entities that may be one, and what users decide.

Accepting a proposal is a merge of entities (`app.services.graph`). Rejected pairs are not proposed again. Above the
threshold of its corpus, a proposal is merged without being asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.container import Container
from app.services.graph import NamedEntity, NamedMerge, name_merges, select_known
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, NotFound
from core.graph import EntityMerge, EntityRejection
from core.graph_schema import NO_SCHEMA
from core.record_policy.merges import LEAST_THRESHOLD
from retrieval.exploration import open_scope
from retrieval.resolution import Proposal, Proposals, propose


@dataclass(frozen=True, kw_only=True)
class NamedRejection:
    """A pair of entities that are two, by their names."""

    id: str
    entity: NamedEntity
    other: NamedEntity
    rejected_at: datetime


async def find_proposals(
    container: Container,
    corpus: Corpus,
    *,
    limit: int,
    above: float = 0.0,
    where: Mapping[str, Any] | None = None,
) -> Proposals:
    """Returns at most `limit` proposals of at least the probability `above`, the most probable first.

    They follow from the documents that the caller may see and that match the filter `where`, and from nothing else.
    """
    found = await _propose(container, corpus, where)
    data = tuple(proposal for proposal in found.data if proposal.probability >= above)
    return replace(found, data=data[:limit])


async def _propose(container: Container, corpus: Corpus, where: Mapping[str, Any] | None = None) -> Proposals:
    scope = await open_scope(container.searching, corpus, await container.select_documents(corpus, where))
    # the weights were fitted to derived types; types of a schema are its owner's words
    scope = replace(scope, schema=NO_SCHEMA)
    rejected = await container.record.resolution.list(corpus.id)
    return await propose(scope, [(rejection.first_id, rejection.second_id) for rejection in rejected])


async def reject(container: Container, corpus: Corpus, first_id: str, second_id: str) -> NamedRejection:
    """Keeps that two entities are two. Raises as `EntityResolution.reject` does."""
    made = await container.record.resolution.reject(corpus.id, first_id, second_id)
    return (await _name(container, corpus, [made]))[0]


async def withdraw(container: Container, corpus: Corpus, rejection_id: str) -> NamedRejection:
    """Deletes a rejection, so that the pair may be proposed again. Raises `NotFound`."""
    gone = await container.record.resolution.withdraw(corpus.id, rejection_id)
    return (await _name(container, corpus, [gone]))[0]


async def list_rejections(container: Container, corpus: Corpus) -> list[NamedRejection]:
    """Returns the rejected pairs whose entities are both mentioned in documents that the caller may see, the newest
    first.
    """
    found = await container.record.resolution.list(corpus.id)
    known = await select_known(container, corpus, {id for pair in found for id in (pair.first_id, pair.second_id)})
    return await _name(container, corpus, [pair for pair in found if {pair.first_id, pair.second_id} <= known])


async def _name(container: Container, corpus: Corpus, rejections: Sequence[EntityRejection]) -> list[NamedRejection]:
    ids = sorted({id for pair in rejections for id in (pair.first_id, pair.second_id)})
    shown = await container.record.contents.get_entities(corpus.id, ids)
    names = {id: shown[id].display if id in shown else id for id in ids}
    return [
        NamedRejection(
            id=pair.id,
            entity=NamedEntity(id=pair.first_id, name=names[pair.first_id]),
            other=NamedEntity(id=pair.second_id, name=names[pair.second_id]),
            rejected_at=pair.rejected_at,
        )
        for pair in rejections
    ]


async def get_threshold(container: Container, corpus: Corpus) -> float | None:
    """Returns the probability from which proposals are merged without being asked for; None: never."""
    return await container.record.resolution.get_threshold(corpus.id)


async def set_threshold(container: Container, corpus: Corpus, threshold: float | None) -> None:
    """Sets the threshold; None: nothing is merged by itself. Raises `InvalidInput` if it is too low, or above 1."""
    if threshold is not None and not LEAST_THRESHOLD <= threshold <= 1:
        raise InvalidInput(f"the threshold {threshold} is not between {LEAST_THRESHOLD} and 1")
    await container.record.resolution.set_threshold(corpus.id, threshold)


async def merge_by_itself(container: Container, corpus: Corpus) -> list[NamedMerge]:
    """Merges the proposals above the threshold of a corpus, and returns these merges; none without a threshold.

    An entity takes part in one merge of a call, since the next proposals follow from what the merged one is.
    """
    threshold = await container.record.resolution.get_threshold(corpus.id)
    if threshold is None:
        return []
    found = await _propose(container, corpus)
    taken: set[str] = set()
    made: list[EntityMerge] = []
    for proposal in found.data:
        if proposal.probability < threshold:
            break
        ids = {proposal.entity.id, proposal.into.id}
        if not ids & taken:
            taken |= ids
            made += await _merge(container, corpus, proposal)
    return await name_merges(container, corpus, made)


async def _merge(container: Container, corpus: Corpus, proposal: Proposal) -> list[EntityMerge]:
    """Returns the merge. Returns none if it would join a rejected pair, also through a third entity, or if another
    process has changed the entities since.
    """
    merges = container.record.merges
    try:
        return [await merges.merge(corpus.id, proposal.entity.id, proposal.into.id, automatic=True)]
    except (Conflict, NotFound):
        return []
