"""How the facts of a corpus fit its schema: how many are within and outside, and which phrases no relation has."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph import Fit
from core.ports.record import FactRow
from retrieval.candidates.explanations import read_facts_of
from retrieval.exploration.values import EntityFact, EntityRef, Scope

MOST_CHECKED = 2_000
"""Passages whose facts are compared with the schema."""
_CHECKED_AT_ONCE = 200
_BLOCK = 20_000
"""Passages that are searched for facts at once."""
_EXAMPLES = 5
_PHRASES = 10


@dataclass(frozen=True, kw_only=True)
class PhraseCount:
    """A phrase that states no relation of the schema, and in how many assertions it occurs."""

    phrase: str
    facts: int


@dataclass(frozen=True, kw_only=True)
class FitCounts:
    """How many assertions fit a schema in each way, the first that are outside, and the most frequent phrases that
    state no relation. `complete` is False if the corpus has more passages with facts than are compared.
    """

    within: int
    outside: int
    unnamed: int
    examples: tuple[EntityFact, ...]
    phrases: tuple[PhraseCount, ...]
    complete: bool


async def count_fits(scope: Scope) -> FitCounts:
    """Compares the facts of the first `MOST_CHECKED` passages that have any with the schema of the scope."""
    chunks, complete = _find_asserting(scope)
    counts, phrases = Counter[Fit](), Counter[str]()
    examples: list[EntityFact] = []
    for start in range(0, len(chunks), _CHECKED_AT_ONCE):
        ids = scope.snapshot.chunk_ids(chunks[start : start + _CHECKED_AT_ONCE])
        rows = await read_facts_of(ids, scope.snapshot, scope.corpus.id, scope.backends.contents)
        refs = await _refer_to_ends(scope, rows)
        for row in rows:
            subject, object_ = refs.get(row.subject_id), refs.get(row.object_id)
            if subject is None or object_ is None:
                continue  # the record is newer than the snapshot
            fit = scope.schema.check(row.predicate, subject.type, object_.type)
            counts[fit] += 1
            if fit is Fit.UNNAMED:
                phrases[row.predicate] += 1
            elif fit is Fit.OUTSIDE and len(examples) < _EXAMPLES:
                examples.append(_make_example(scope, row, subject, object_))
    ranked = sorted(phrases.items(), key=lambda counted: (-counted[1], counted[0]))[:_PHRASES]
    return FitCounts(
        within=counts[Fit.WITHIN],
        outside=counts[Fit.OUTSIDE],
        unnamed=counts[Fit.UNNAMED],
        examples=tuple(examples),
        phrases=tuple(PhraseCount(phrase=phrase, facts=count) for phrase, count in ranked),
        complete=complete,
    )


def _find_asserting(scope: Scope) -> tuple[list[int], bool]:
    """Returns the first passages of the scope that have facts, and whether these are all."""
    found: list[int] = []
    for start in range(0, scope.graph.chunks, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, scope.graph.chunks))
        found += scope.may_read(np.unique(scope.snapshot.facts_of(block)[:, 0]).tolist())
        if len(found) > MOST_CHECKED:
            return found[:MOST_CHECKED], False
    return found, True


async def _refer_to_ends(scope: Scope, rows: Sequence[FactRow]) -> dict[str, EntityRef]:
    ids = sorted({id for row in rows for id in (row.subject_id, row.object_id)})
    numbers = scope.snapshot.entities_with(ids).tolist()
    there = {id: number for id, number in zip(ids, numbers, strict=True) if number >= 0 and scope.is_there(number)}
    refs = await scope.refs_of(there.values())
    return {id: refs[number] for id, number in there.items()}


def _make_example(scope: Scope, row: FactRow, subject: EntityRef, object_: EntityRef) -> EntityFact:
    name, is_inverse = scope.schema.name_fact(row.predicate)
    first, last = (object_, subject) if is_inverse else (subject, object_)
    return EntityFact(
        subject=first,
        predicate=name,
        object=last,
        chunk_ids=(row.chunk_id,),
        phrases=(row.predicate,),
        fit=Fit.OUTSIDE,
    )
