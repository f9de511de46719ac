"""HippoRAG 2: linking of a question to the nearest facts, their selection by a model, and the reset vector.

The model call is HippoRAG 2's recognition memory; its prompt is `filter_facts.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from core.ports.chat import ChatModels, ChatRequest
from core.ports.embedding import Vectors
from core.ports.record import TripleRow
from core.ports.retrieval import Query
from core.ports.views import Scored, VectorKind
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.explanations import read_triples
from retrieval.graph.arrays import Patched
from retrieval.graph.snapshot import GraphSnapshot

_SPARE = 8
_FURTHEST = 8192
"""Nearest facts that are requested at most, until enough of them are asserted by the documents of the search."""


@dataclass(frozen=True, kw_only=True)
class LinkedFact:
    """A triple, its subject and object as entities of the snapshot, and its score.

    The score is the cosine scaled between the least (0) and the greatest (1) of the corpus.
    """

    triple: TripleRow
    subject: int
    object: int
    score: float


async def link_facts(
    vector: Vectors, count: int, backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot
) -> list[LinkedFact]:
    """Returns the `count` nearest facts that the documents of the search assert, best first."""
    corpus_id = query.corpus.id
    asked = count + _SPARE
    while True:
        scored = await backends.vectors.search(corpus_id, VectorKind.FACT, vector, asked)
        facts = await _read_asserted(scored, backends, query, snapshot)
        if len(facts) >= count or len(scored) < asked or asked >= _FURTHEST:
            break
        asked *= 4
    if not facts:
        return []
    worst = await backends.vectors.search(corpus_id, VectorKind.FACT, -vector, 1)
    least, most = -worst[0].score if worst else 0.0, scored[0].score
    return [
        LinkedFact(triple=triple, subject=subject, object=object_, score=_scale(cosine, least, most))
        for triple, subject, object_, cosine in facts[:count]
    ]


async def _read_asserted(
    scored: Sequence[Scored], backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot
) -> list[tuple[TripleRow, int, int, float]]:
    triples = await read_triples([hit.id for hit in scored], snapshot, query.corpus.id, backends.contents)
    found = [(triples[hit.id], hit.score) for hit in scored if hit.id in triples]
    subjects = snapshot.entities_with([triple.subject_id for triple, _ in found]).tolist()
    objects = snapshot.entities_with([triple.object_id for triple, _ in found]).tolist()
    facts: dict[tuple[int, str, int], tuple[TripleRow, int, int, float]] = {}  # merged entities may have one twice
    for (triple, cosine), subject, object_ in zip(found, subjects, objects, strict=True):
        if subject >= 0 and object_ >= 0 and _is_asserted(triple, query.documents, snapshot):
            facts.setdefault((subject, triple.predicate, object_), (triple, subject, object_, cosine))
    return list(facts.values())


def _is_asserted(triple: TripleRow, documents: frozenset[str] | None, snapshot: GraphSnapshot) -> bool:
    """Returns whether a chunk of these documents, and of this snapshot, asserts the triple."""
    chunks = snapshot.chunks_with(triple.chunk_ids)
    known = chunks[chunks >= 0].tolist()
    return bool(known) if documents is None else not documents.isdisjoint(snapshot.document_ids(known))


def _scale(value: float, least: float, most: float) -> float:
    """Returns the scaled value; 1 where no two facts differ, as in HippoRAG's code."""
    return (value - least) / (most - least) if most > least else 1.0


def entity_weights(
    facts: Sequence[LinkedFact], df: NDArray[np.int64] | Patched[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns the seed entities, ascending, and their weights.

    A weight is the mean score of the facts that name the entity, divided by the number of chunks that mention it. Only
    the `most` heaviest are kept, ties by number. A fact of weight 0 (the farthest of the corpus) adds no entity.
    """
    ends = np.array([end for fact in facts for end in (fact.subject, fact.object)], np.int64)
    scores = np.repeat(np.array([fact.score for fact in facts]), 2)
    entities, place = np.unique(ends, return_inverse=True)
    weights = np.bincount(place, scores, len(entities)) / np.bincount(place, minlength=len(entities))
    weights /= np.maximum(df[entities], 1)
    heaviest = np.sort(np.lexsort((entities, -weights))[:most])
    heaviest = heaviest[weights[heaviest] > 0]
    return entities[heaviest], weights[heaviest]


def passage_weights(cosines: NDArray[np.float64], least: float, weight: float) -> NDArray[np.float64]:
    """Returns `weight` for the nearest passage, 0 for a passage at the corpus' `least` cosine, and linear weights in
    between.
    """
    most = float(cosines.max(initial=least))
    scaled = (cosines - least) / (most - least) if most > least else np.ones_like(cosines)
    return weight * np.clip(scaled, 0.0, 1.0)


_ROLE = "filter_facts"


class _KeptFacts(BaseModel):
    keep: list[int]


async def filter_facts(facts: Sequence[LinkedFact], query: Query, models: ChatModels, trace: Trace) -> list[LinkedFact]:
    """Returns the facts that the model keeps, in the order given. Numbers that name no fact are ignored.

    Raises what `complete_structured` raises.
    """
    prompt = load_prompt("retrieval.hippo", _ROLE)
    lines = "\n".join(f"{number}. {_format_triple(fact.triple)}" for number, fact in enumerate(facts, start=1))
    request = ChatRequest(
        role=_ROLE,
        messages=prompt.messages({"question": fenced("question", query.text), "facts": fenced("facts", lines)}),
        prompt_hash=prompt.hash,
        reply=prompt.reply,
        corpus_id=query.corpus.id,
        chunk_ids=frozenset(chunk_id for fact in facts for chunk_id in fact.triple.chunk_ids),
        question=query.text,
    )
    answer = await complete_structured(models.of(_ROLE), request, _KeptFacts, trace)
    kept = set(answer.keep)
    return [fact for number, fact in enumerate(facts, start=1) if number in kept]


def _format_triple(triple: TripleRow) -> str:
    parts = (" ".join(part.split()) for part in (triple.subject, triple.predicate, triple.object))
    return " | ".join(parts)
