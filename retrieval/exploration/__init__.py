"""Exploration of a corpus' graph: entities, their passages and facts, their neighbourhood, and ways between two.

Structure comes from the snapshot in memory, names and facts from the record. `values` has what the functions return.
"""

from retrieval.exploration.details import show_entity
from retrieval.exploration.finding import find_entities
from retrieval.exploration.neighbourhood import draw_neighbourhood
from retrieval.exploration.scope import Scope, open_scope
from retrieval.exploration.values import (
    EdgeKind,
    EntityDetails,
    EntityFact,
    EntityRef,
    EntitySynonym,
    FoundEntity,
    Match,
    Mentioning,
    NodeKind,
    Subgraph,
    SubgraphEdge,
    SubgraphNode,
    Way,
    Ways,
)
from retrieval.exploration.ways import find_ways

__all__ = [
    "EdgeKind",
    "EntityDetails",
    "EntityFact",
    "EntityRef",
    "EntitySynonym",
    "FoundEntity",
    "Match",
    "Mentioning",
    "NodeKind",
    "Scope",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "Way",
    "Ways",
    "draw_neighbourhood",
    "find_entities",
    "find_ways",
    "open_scope",
    "show_entity",
]
