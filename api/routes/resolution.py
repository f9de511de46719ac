"""The routes of who is who: proposals of entities that may be one, rejected pairs, and the threshold for merging."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.access.keys import READ, WRITE
from api.deps import ContainerDep, CorpusDep, FilterDep
from api.schemas.entities import RejectionIn, ResolutionIn, convert_proposals, convert_rejections
from api.schemas.values import fill
from app.services import resolution
from hopweave.wire.entities import EntityProposals, EntityRejection, EntityRejectionList, Resolution

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["entities"])


@router.get("/proposals", dependencies=[READ], summary="Propose entities that may be one")
async def list_proposals(
    corpus: CorpusDep,
    container: ContainerDep,
    where: FilterDep,
    above: Annotated[float, Query(ge=0, le=1, description="The least probability.")] = 0.0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> EntityProposals:
    """Pairs of entities with the probability that both are one, and what speaks for and against it.

    They are computed from the documents that the caller may see, and stored nowhere. To accept one, merge `entity` into
    `into`.
    """
    found = await resolution.find_proposals(container, corpus, limit=limit, above=above, where=where)
    return convert_proposals(found)


@router.get("/rejections", dependencies=[READ], summary="List rejected pairs of entities")
async def list_rejections(corpus: CorpusDep, container: ContainerDep) -> EntityRejectionList:
    """Pairs that are not proposed any more, the newest first."""
    return convert_rejections(await resolution.list_rejections(container, corpus))


@router.post("/rejections", dependencies=[WRITE], summary="Reject a pair of entities")
async def reject_proposal(corpus: CorpusDep, body: RejectionIn, container: ContainerDep) -> EntityRejection:
    """States that two entities are two: they are not proposed as one, nor merged without being asked for."""
    return fill(EntityRejection, await resolution.reject(container, corpus, body.entity, body.other))


@router.post("/rejections/{id}/withdraw", dependencies=[WRITE], summary="Withdraw a rejection")
async def withdraw_rejection(corpus: CorpusDep, id: str, container: ContainerDep) -> EntityRejection:
    """The pair may be proposed again."""
    return fill(EntityRejection, await resolution.withdraw(container, corpus, id))


@router.get("/resolution", dependencies=[READ], summary="Show the threshold for merging")
async def get_resolution(corpus: CorpusDep, container: ContainerDep) -> Resolution:
    """From which probability on proposals are merged without being asked for; null: never."""
    return Resolution(merge_above=await resolution.get_threshold(container, corpus))


@router.patch("/resolution", dependencies=[WRITE], summary="Set the threshold for merging")
async def set_resolution(corpus: CorpusDep, body: ResolutionIn, container: ContainerDep) -> Resolution:
    """Within half a minute, the server merges proposals from this probability on; null: none.

    Each of these merges can be undone; its pair is rejected from then on.
    """
    await resolution.set_threshold(container, corpus, body.merge_above)
    return Resolution(merge_above=body.merge_above)
