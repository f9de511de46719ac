"""The schema of a corpus' graph: reads and keeps it, and shows how the facts of the corpus fit it."""

from collections.abc import Mapping
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import NotFound
from core.graph_schema import GraphSchema, read_graph_schema
from retrieval.exploration import FitCounts, count_fits, open_scope

__all__ = ["check_facts", "delete_schema", "get_schema", "set_schema"]


async def get_schema(container: Container, corpus: Corpus) -> GraphSchema:
    """Returns the schema. Raises `NotFound` if the corpus has none."""
    text = await container.record.graph_schemas.get(corpus.id)
    if text is None:
        raise NotFound(
            f"corpus {corpus.name!r} has no schema: give it one with "
            f"`hopweave corpora schema {corpus.name} --schema schema.toml`"
        )
    return read_graph_schema(text)


async def set_schema(container: Container, corpus: Corpus, text: str) -> GraphSchema:
    """Keeps a schema in place of an earlier one. Raises `InvalidInput` with what is wrong; then nothing changes."""
    schema = read_graph_schema(text)
    await container.record.graph_schemas.set(corpus.id, text)
    return schema


async def delete_schema(container: Container, corpus: Corpus) -> None:
    """Deletes the schema, if there is one."""
    await container.record.graph_schemas.set(corpus.id, None)


async def check_facts(container: Container, corpus: Corpus, where: Mapping[str, Any] | None = None) -> FitCounts:
    """Returns how the facts of documents that the caller may see, and that match the filter, fit the schema."""
    return await count_fits(
        await open_scope(container.searching, corpus, await container.select_documents(corpus, where))
    )
