"""HippoRAG (arXiv 2405.14831, section 2.3): the names of a question, and exact PageRank over entities alone.

A model finds the names. Passages are ranked by their entities.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from core.errors import InvalidInput
from core.execution.graph_library import import_igraph
from core.ports.chat import ChatModels, ChatRequest
from core.ports.retrieval import Query
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.arrays import sort_unique
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.graph.terms import make_offsets
from retrieval.pagerank.personalized import GraphRanking

MAX_ENTITIES = 100
"""Each name is embedded and searched for. A model that was led astray may name thousands."""

_ROLE = "question_entities"


class _Named(BaseModel):
    named_entities: list[str]


async def find_entities(query: Query, models: ChatModels, trace: Trace) -> tuple[str, ...]:
    """Returns at most `MAX_ENTITIES` names that the model finds in the text of the query, each once. For a text without
    letters, returns no names, without a call.

    Raises what `complete_structured` raises.
    """
    if not any(map(str.isalpha, query.text)):
        return ()
    prompt = load_prompt("retrieval.hippo", _ROLE)
    request = ChatRequest(
        role=_ROLE,
        messages=prompt.messages({"question": fenced("question", query.text)}),
        prompt_hash=prompt.hash,
        corpus_id=query.corpus.id,
        question=query.text,
    )
    answer = await complete_structured(models.of(_ROLE), request, _Named, trace)
    names = dict.fromkeys(name.strip() for name in answer.named_entities if name.strip())
    return tuple(names)[:MAX_ENTITIES]


MAX_EDGES = 2_000_000
"""The greatest number of edges between entities. igraph computes all of them for each question, about 0.7 seconds for
so many, and no other thread runs meanwhile.
"""


def without_passages(graph: RetrievalGraph) -> RetrievalGraph:
    """Returns the graph without the edges of its passages; numbers of nodes and `df` stay."""
    adjacency = graph.adjacency
    owner, others, weights = adjacency.rows(np.arange(graph.chunks, adjacency.size))
    between = others >= graph.chunks
    owner, others, weights = owner[between] + graph.chunks, others[between], weights[between]
    return replace(
        graph,
        adjacency=Adjacency(
            indptr=make_offsets(np.bincount(owner, minlength=adjacency.size)),
            indices=others,
            weights=weights,
            degree=np.bincount(owner, weights=weights, minlength=adjacency.size).astype(np.float64),
        ),
    )


def rank_by_entities(
    snapshot: GraphSnapshot, graph: RetrievalGraph, between: RetrievalGraph, linked: Collection[int], *, damping: float
) -> GraphRanking:
    """Returns the masses of the entities, and of the passages whose facts name them.

    `between` is `graph` without passages, `linked` are the entities that the question names. The walk restarts at them,
    each in proportion to its specificity: 1 divided by the number of passages that mention it. The mass of a passage is
    the sum of the masses of its entities, each as often as facts of the passage name it.

    Raises `InvalidInput` if there are more than `MAX_EDGES` edges.
    """
    entities = np.array(sorted(linked), np.int64)
    specificity = 1.0 / np.maximum(graph.df[entities], 1)
    reset = np.zeros(graph.adjacency.size - graph.chunks)
    reset[entities] = specificity
    mass = _walk(between, reset, damping)
    reached = np.flatnonzero(mass > 0)
    chunks, scores = _score_passages(snapshot, graph, mass, reached)
    return GraphRanking(
        links=(),
        entities=entities,
        weights=specificity / specificity.sum(),
        chunks=chunks,
        mass=scores,
        reached=reached,
        reached_mass=mass[reached],
        over_passages=False,
    )


def _walk(between: RetrievalGraph, reset: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """Returns the exact PageRank of the entities, which sums to 1."""
    igraph = import_igraph("the exact PageRank of hippo1")
    adjacency, chunks = between.adjacency, between.chunks
    nodes = np.repeat(np.arange(adjacency.size), np.diff(adjacency.indptr))
    once = nodes < adjacency.indices
    edges = np.stack([nodes[once], adjacency.indices[once].astype(np.int64)], axis=1) - chunks
    if len(edges) > MAX_EDGES:
        raise InvalidInput(
            f"hippo1: the graph has {len(edges):,} edges between entities, and exact PageRank is limited to "
            f"{MAX_EDGES:,}: use the searcher hippo or graph, or a filter of fewer documents"
        )
    graph = igraph.Graph(n=len(reset), edges=edges)
    mass = graph.personalized_pagerank(
        directed=False,
        damping=damping,
        reset=reset.tolist(),
        weights=adjacency.weights[once].tolist(),
        implementation="prpack",
    )
    return np.array(mass)


def _score_passages(
    snapshot: GraphSnapshot, graph: RetrievalGraph, mass: NDArray[np.float64], reached: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns the passages that assert a fact about an entity with mass, ascending, and their scores."""
    _, others, _ = graph.adjacency.rows(reached + graph.chunks)
    mentioning = sort_unique(others[others < graph.chunks].astype(np.int64))
    facts = snapshot.facts_of(mentioning).astype(np.int64)
    subjects, objects = facts[:, 1], facts[:, 2]
    told = mass[subjects] + np.where(subjects == objects, 0.0, mass[objects])
    chunks, place = np.unique(facts[:, 0], return_inverse=True)
    scores = np.bincount(place, weights=told, minlength=len(chunks)).astype(np.float64)
    return chunks[scores > 0], scores[scores > 0]
