"""The routes of the schema of a corpus' graph: set, show and delete it."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from api.access.keys import ADMIN, READ
from api.deps import ContainerDep, CorpusDep
from api.schemas.entities import GraphSchemaIn, convert_schema
from app.services import graph
from hopweave.wire.entities import GraphSchema

router = APIRouter(prefix="/v1/corpora/{corpus}/schema", tags=["entities"])


@router.get("", dependencies=[READ], summary="Show the schema of the graph")
async def get_schema(
    corpus: CorpusDep,
    container: ContainerDep,
    check: Annotated[bool, Query(description="Whether facts are compared with it.")] = True,
) -> GraphSchema:
    """404 without a schema. Facts are compared in the first 2,000 passages that have any, of documents that the caller
    may see.
    """
    schema = await graph.get_schema(container, corpus)
    return convert_schema(schema, await graph.check_facts(container, corpus) if check else None)


@router.put("", dependencies=[ADMIN], summary="Set the schema of the graph")
async def set_schema(corpus: CorpusDep, body: GraphSchemaIn, container: ContainerDep) -> GraphSchema:
    """It holds at once, and nothing is indexed again: types and relations are named when the graph is read.

    With `strict`, documents that are indexed from now on lose their facts outside it; reindex for the others. 422 with
    the line of what is wrong.
    """
    return convert_schema(await graph.set_schema(container, corpus, body.text), None)


@router.delete("", dependencies=[ADMIN], summary="Delete the schema of the graph", status_code=HTTPStatus.NO_CONTENT)
async def delete_schema(corpus: CorpusDep, container: ContainerDep) -> None:
    """Types and facts are shown as without one, at once."""
    await graph.delete_schema(container, corpus)
