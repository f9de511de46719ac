"""From what was found in chunks to the graph's rows: mentions and facts, in a fixed order."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.graph import Extraction, Fact, Mention, Triple
from core.ids import assertion_id, entity_id, triple_id
from core.text.names import normalise

__all__ = ["Linked", "link"]


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
