"""The schema of a corpus' graph: types of entities and relations between them, which its owner gives as `schema.toml`.

A schema changes no row of the record. It names types and relations when the graph is read, so another schema holds at
once. Only `strict` acts on documents: facts outside the schema are left out when a document is indexed.
"""

from core.graph_schema.reading import MAX_BYTES, NO_SCHEMA, read_graph_schema
from core.graph_schema.values import GraphSchema, SchemaRelation, SchemaType, StatedFact

__all__ = [
    "MAX_BYTES",
    "NO_SCHEMA",
    "GraphSchema",
    "SchemaRelation",
    "SchemaType",
    "StatedFact",
    "read_graph_schema",
]
