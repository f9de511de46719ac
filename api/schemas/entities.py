"""The bodies of the routes of entities, and the lists that they show."""

from collections.abc import Iterable

from pydantic import Field

from api.schemas.base import In, Text
from api.schemas.values import fill, fill_all
from core.graph_schema import MAX_BYTES, GraphSchema
from hopweave.wire import entities as wire


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


class GraphSchemaIn(In):
    text: Text = Field(description="A schema.toml of at most 100,000 bytes.", max_length=MAX_BYTES)


def convert_found(found: Iterable[object]) -> wire.EntityList:
    return wire.EntityList(data=fill_all(wire.FoundEntity, found))


def convert_merges(found: Iterable[object], next_cursor: str | None = None) -> wire.MergeList:
    return wire.MergeList(data=fill_all(wire.EntityMerge, found), next_cursor=next_cursor)


def convert_proposals(found: object) -> wire.EntityProposals:
    return fill(wire.EntityProposals, found, next_cursor=None)


def convert_rejections(found: Iterable[object]) -> wire.EntityRejectionList:
    return wire.EntityRejectionList(data=fill_all(wire.EntityRejection, found))


def convert_schema(schema: GraphSchema, check: object | None) -> wire.GraphSchema:
    return wire.GraphSchema(
        text=schema.text,
        strict=schema.strict,
        types=fill_all(wire.SchemaType, schema.types.values()),
        relations=fill_all(wire.SchemaRelation, schema.relations.values()),
        check=None if check is None else fill(wire.SchemaCheck, check),
    )
