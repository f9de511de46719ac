"""The mentions and facts of extracted chunks, in a fixed order."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern

from core.graph import Extraction, Fact, Mention, Triple
from core.ids import assertion_id, entity_id, triple_id
from core.text.names import normalise

__all__ = ["ExtractedGraph", "make_graph"]


@dataclass(frozen=True, kw_only=True)
class ExtractedGraph:
    """The mentions and facts of some chunks. `malformed` counts the triples left out because they name nothing.

    It includes those that the extractor has left out already.
    """

    mentions: tuple[Mention, ...]
    facts: tuple[Fact, ...]
    malformed: int


def make_graph(chunk_ids: Sequence[str], extractions: Sequence[Extraction]) -> ExtractedGraph:
    """Returns mentions and facts ordered by chunk (as given), then by name and form, or by the names of the triple.

    A fact whose subject is its object is kept: the text states it, an export contains it, and the support of the entity
    counts it. The graph snapshot decides what such a loop means for ranking.
    """
    mentions: list[Mention] = []
    facts: list[Fact] = []
    malformed = 0
    for chunk_id, extraction in zip(chunk_ids, extractions, strict=True):
        triples = [triple for triple in extraction.triples if _is_complete(triple)]
        malformed += extraction.malformed + len(extraction.triples) - len(triples)
        mentions += _mentions(chunk_id, extraction, triples)
        facts += _facts(chunk_id, triples)
    return ExtractedGraph(mentions=tuple(mentions), facts=tuple(facts), malformed=malformed)


def _is_complete(triple: Triple) -> bool:
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
        Mention(chunk_id=chunk_id, entity_id=_entity_id(name), name=intern(name), form=intern(form), count=count)
        for (name, form), count in sorted(counts.items())
        if name
    ]


@lru_cache(maxsize=1 << 14)
def _entity_id(name: str) -> str:
    """The ids of a long text's mentions are few, and are the same objects then."""
    return entity_id(name)


def _facts(chunk_id: str, triples: Iterable[Triple]) -> list[Fact]:
    """Makes one fact for each triple. Triples with equal names and predicate are one."""
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
