"""The bodies of the routes of entities, and the lists that they show."""

from collections.abc import Iterable

from pydantic import Field

from api.schemas.base import In, Text
from api.schemas.values import fill, fill_all
from hopweave.wire import entities as wire

__all__ = [
    "MergeIn",
    "RejectionIn",
    "ResolutionIn",
    "convert_found",
    "convert_merges",
    "convert_proposals",
    "convert_rejections",
]


class MergeIn(In):
    into: Text = Field(description="The id of the entity that this one is.", max_length=64)


class RejectionIn(In):
    entity: Text = Field(description="The id of an entity.", max_length=64)
    other: Text = Field(description="The id of the entity that it is not.", max_length=64)


class ResolutionIn(In):
    merge_above: float | None = Field(
        description="Proposals of at least this probability are merged without being asked for; null: never.",
        ge=0.5,
        le=1,
    )


def convert_found(found: Iterable[object]) -> wire.EntityList:
    return wire.EntityList(data=fill_all(wire.FoundEntity, found))


def convert_merges(found: Iterable[object], next_cursor: str | None = None) -> wire.MergeList:
    return wire.MergeList(data=fill_all(wire.EntityMerge, found), next_cursor=next_cursor)


def convert_proposals(found: object) -> wire.EntityProposals:
    return fill(wire.EntityProposals, found, next_cursor=None)


def convert_rejections(found: Iterable[object]) -> wire.EntityRejectionList:
    return wire.EntityRejectionList(data=fill_all(wire.EntityRejection, found))
