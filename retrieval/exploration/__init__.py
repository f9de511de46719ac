"""Exploration of a corpus' graph: entities, their passages and facts, their neighbourhood, and ways between two.

Structure comes from the snapshot in memory, names and facts from the record. `values` has what the functions return.
"""

from core.ports.retrieval import NodeKind
from retrieval.exploration.finding import find_entities, show_entity
from retrieval.exploration.fitting import FitCounts, PhraseCount, count_fits
from retrieval.exploration.neighbourhood import draw_neighbourhood, find_ways
from retrieval.exploration.values import (
    EdgeKind,
    EntityDetails,
    EntityFact,
    EntityRef,
    EntitySynonym,
    FoundEntity,
    Match,
    Mentioning,
    Scope,
    Subgraph,
    SubgraphEdge,
    SubgraphNode,
    Way,
    Ways,
    open_scope,
)

__all__ = [
    "EdgeKind",
    "EntityDetails",
    "EntityFact",
    "EntityRef",
    "EntitySynonym",
    "FitCounts",
    "FoundEntity",
    "Match",
    "Mentioning",
    "NodeKind",
    "PhraseCount",
    "Scope",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "Way",
    "Ways",
    "count_fits",
    "draw_neighbourhood",
    "find_entities",
    "find_ways",
    "open_scope",
    "show_entity",
]
