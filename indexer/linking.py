"""From what was found in chunks to the graph's rows: mentions, facts and synonyms, in a fixed order."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.graph import Extraction, Fact, Mention, Synonym, Triple
from core.ids import assertion_id, entity_id, triple_id
from core.names import normalise
from core.ports.embedding import Vectors

__all__ = ["SYNONYM_THRESHOLD", "Linked", "find_synonyms", "link"]

SYNONYM_THRESHOLD = 0.8

_ROWS = 512
_COLUMNS = 16_384


@dataclass(frozen=True, kw_only=True)
class Linked:
    """The rows of some chunks. `malformed` counts triples that name nothing, besides those the extractor skipped."""

    mentions: tuple[Mention, ...]
    facts: tuple[Fact, ...]
    malformed: int


def link(chunk_ids: Sequence[str], extractions: Sequence[Extraction]) -> Linked:
    """Mentions and facts by chunk (in the order given), then by name and form, and by the triple's names.

    A fact about an entity and itself is kept: the text says so, the export has to bring it back, and its entity's
    support counts it; what a loop means for ranking is the snapshot's to decide.
    """
    mentions: list[Mention] = []
    facts: list[Fact] = []
    malformed = 0
    for chunk_id, extraction in zip(chunk_ids, extractions, strict=True):
        triples = [triple for triple in extraction.triples if _names_all(triple)]
        malformed += extraction.malformed + len(extraction.triples) - len(triples)
        mentions += _mentions(chunk_id, extraction, triples)
        facts += _facts(chunk_id, triples)
    return Linked(mentions=tuple(mentions), facts=tuple(facts), malformed=malformed)


def _names_all(triple: Triple) -> bool:
    return bool(normalise(triple.subject) and triple.predicate.strip() and normalise(triple.object))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _mentions(chunk_id: str, extraction: Extraction, triples: Iterable[Triple]) -> list[Mention]:
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for surface in extraction.entities:
        counts[normalise(surface.form), _one_line(surface.form)] += surface.count
    for form in (_one_line(form) for triple in triples for form in (triple.subject, triple.object)):
        counts.setdefault((normalise(form), form), 1)
    return [
        Mention(chunk_id=chunk_id, entity_id=entity_id(name), name=name, form=form, count=count)
        for (name, form), count in sorted(counts.items())
        if name
    ]


def _facts(chunk_id: str, triples: Iterable[Triple]) -> list[Fact]:
    """One fact a triple; triples whose names and predicate are equal are one."""
    named = {(normalise(t.subject), _one_line(t.predicate), normalise(t.object)) for t in triples}
    facts = []
    for subject, predicate, object_ in sorted(named):
        subject_id, object_id = entity_id(subject), entity_id(object_)
        triple = triple_id(subject_id, predicate, object_id)
        facts.append(
            Fact(
                id=assertion_id(triple, chunk_id),
                triple_id=triple,
                chunk_id=chunk_id,
                subject_id=subject_id,
                predicate=predicate,
                object_id=object_id,
            )
        )
    return facts


def find_synonyms(
    new_ids: Sequence[str],
    new_vectors: Vectors,
    ids: Sequence[str],
    vectors: Vectors,
    threshold: float = SYNONYM_THRESHOLD,
) -> list[Synonym]:
    """Pairs of a new entity with any of all (`ids`, the new among them) whose unit vectors have a cosine ≥ `threshold`.

    Sorted by their ids; each pair once. Works block by block, so it never holds new × all.
    """
    scores: dict[tuple[str, str], float] = {}
    for row in range(0, len(new_ids), _ROWS):
        for column in range(0, len(ids), _COLUMNS):
            cosines = new_vectors[row : row + _ROWS] @ vectors[column : column + _COLUMNS].T
            for i, j in np.argwhere(cosines >= threshold):
                one, other = new_ids[row + i], ids[column + j]
                if one != other:
                    scores.setdefault((min(one, other), max(one, other)), min(1.0, float(cosines[i, j])))
    return [Synonym(first_id=first, second_id=second, score=score) for (first, second), score in sorted(scores.items())]
