"""Changes laid over a snapshot: after each step of a history, all that searchers read is as in one built anew."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import entity_id
from core.ports.record.graph import GraphChanges, GraphMerge, graph_rows
from core.text.terms import hash_stem
from retrieval.graph.layered import LayeredSnapshot, follow
from retrieval.graph.names import fold_name
from retrieval.graph.snapshot import FlatSnapshot, GraphSnapshot, build_snapshot
from retrieval.pagerank.forward_push import forward_push, push_in_sweeps, warm
from tests.unit.retrieval.test_snapshot import (
    CORPUS,
    NAMES,
    Content,
    Corpus,
    Synonyms,
    changes,
    chunk,
    corpora,
    document,
    edges,
    parts,
    rows,
    supports,
    synonym_sets,
    view,
)

SPARE = 16
STEMS = np.array([hash_stem(stem) for stem in ("river", "bread", "stone", "nothing")], np.uint32)
histories = st.lists(st.tuples(corpora, synonym_sets), min_size=2, max_size=5)


def laid_over(snapshot: GraphSnapshot, given_changes: GraphChanges) -> LayeredSnapshot:
    found = follow(snapshot, given_changes, least=0)
    assert isinstance(found, LayeredSnapshot)
    return found


def described(snapshot: GraphSnapshot) -> dict[str, Any]:
    """What searchers read, with ids and names in place of numbers."""
    numbers = snapshot.chunks_with([chunk(n) for n in range(8)])
    there = numbers[numbers >= 0]
    ids = snapshot.chunk_ids(there.tolist())
    entities = _entities(snapshot)
    known = [entity for entity in entities if entity >= 0]
    rows_of, owner = snapshot.terms_of(there)
    titles = snapshot.titles_of(there)

    def name(entity: int) -> str | None:
        return None if entity < 0 else snapshot.name_of(entity)

    def facts(found: np.ndarray) -> list[tuple[str, ...]]:
        names = (snapshot.chunk_ids, snapshot.entity_ids, snapshot.entity_ids)
        return sorted((*(of([int(n)])[0] for of, n in zip(names, row, strict=True)),) for row in found.tolist())

    return {
        "chunks": ids,
        "views": [
            snapshot.chunks_of_views([view(n, v)]).tolist() == [at] for n, at in enumerate(numbers) for v in (0, 1)
        ],
        "view ids": snapshot.view_ids(there.tolist()),
        "positions": snapshot.positions_of(there).tolist(),
        "document ids": snapshot.document_ids(there.tolist()),
        "documents": (snapshot.documents, snapshot.document_count),
        "any": [snapshot.has_any_document([document(n)]) for n in range(4)],
        "of documents": sorted(snapshot.chunk_ids(snapshot.chunks_of_documents([document(0), document(2)]).tolist())),
        "all chunks": sorted(snapshot.chunk_ids(snapshot.all_chunks().tolist())),
        "of one document": (snapshot.documents_of(there)[:, None] == snapshot.documents_of(there)).tolist(),
        "names": {one: [name(e) for e in snapshot.names.entities(fold_name(one))] for one in NAMES},
        "exact": {one: [name(e) for e in snapshot.names.find_exact(fold_name(one), one)] for one in NAMES},
        "listed": sorted(pair[1] for pair in snapshot.names.list_names()),
        "ids": [name(entity) for entity in entities],
        "terms": [(ids[i], row.tolist()) for i, row in zip(owner.tolist(), rows_of, strict=True)],
        "statistics": (snapshot.statistics.chunks, snapshot.statistics.length),
        "df": snapshot.statistics.document_frequency(STEMS).tolist(),
        "casing": [part.tolist() for part in snapshot.statistics.casing(STEMS)],
        "titles": [[name(e) for e in row] for row in titles.tolist()],
        "titled": {name(e): int(snapshot.count_titled(np.array([e]))[0]) for e in known},
        "has facts": snapshot.has_facts,
        "facts": facts(snapshot.facts_of(there)),
        "about": facts(snapshot.facts_about(np.array(known[:2], np.int64))),
        "synonyms": {name(e): {name(o): s for o, s in snapshot.synonyms_of(e).items()} for e in known},
        "passages": snapshot.whole.passages,
    }


def graph_of(snapshot: GraphSnapshot, documents: frozenset[str] | None) -> dict[str, Any]:
    """What the graph of some documents, or of all, has."""
    graph = snapshot.graph(documents)
    known = {name: entity for name, entity in zip(NAMES, _entities(snapshot), strict=True) if entity >= 0}
    return {
        "edges": edges(snapshot, documents),
        "degree": {name: float(graph.adjacency.degree[graph.chunks + entity]) for name, entity in known.items()},
        "supports": supports(snapshot, documents),
    }


def _entities(snapshot: GraphSnapshot) -> list[int]:
    return [int(entity) for entity in snapshot.entities_with([entity_id(name) for name in NAMES])]


@given(history=histories, kept=st.frozensets(st.integers(0, 3).map(document)))
@settings(max_examples=settings.default.max_examples * 2)
def test_after_each_step_all_is_as_in_a_snapshot_built_anew(
    history: list[tuple[Corpus, Synonyms]], kept: frozenset[str]
) -> None:
    corpus, synonyms = history[0]
    snapshot: GraphSnapshot = build_snapshot(1, rows(corpus, synonyms), spare=SPARE)
    for new, new_synonyms in history[1:]:
        snapshot = follow(snapshot, changes(corpus, new, synonyms, new_synonyms), least=0)
        corpus, synonyms = new, new_synonyms
        built = build_snapshot(2, rows(corpus, synonyms))
        assert described(snapshot) == described(built)
        assert all(graph_of(snapshot, few) == graph_of(built, few) for few in (None, kept))
        spared = build_snapshot(2, rows(corpus, synonyms), spare=snapshot.flat().whole.chunks - len(corpus))
        assert parts(snapshot.flat()) == parts(replace(spared, generation=snapshot.generation))


@given(old=corpora, new=corpora, old_synonyms=synonym_sets, synonyms=synonym_sets)
def test_mass_is_that_of_a_snapshot_built_anew(
    old: Corpus, new: Corpus, old_synonyms: Synonyms, synonyms: Synonyms
) -> None:
    warm()
    snapshot = follow(
        build_snapshot(1, rows(old, old_synonyms), spare=SPARE), changes(old, new, old_synonyms, synonyms), least=0
    )
    built = build_snapshot(2, rows(new, synonyms))
    for name in NAMES:
        found = [_masses(one, name) for one in (snapshot, built)]
        assert found[0].keys() == found[1].keys()
        assert found[0] == pytest.approx(found[1], abs=1e-7)


def _masses(snapshot: GraphSnapshot, name: str) -> dict[str, float]:
    """By the compiled kernel, which must agree with numpy."""
    entities = snapshot.entities_with([entity_id(name)])
    if entities[0] < 0:
        return {}
    graph, seeds = snapshot.whole.adjacency, entities + snapshot.whole.chunks
    found = forward_push(graph, seeds, np.ones(1), damping=0.85, epsilon=1e-10)
    swept = push_in_sweeps(graph, seeds, np.ones(1), damping=0.85, epsilon=1e-10, hubs=99, max_steps=10**6)
    assert found.nodes.tolist() == swept.nodes.tolist()
    expected = swept.mass + 0.15 * swept.rest
    assert found.mass == pytest.approx(expected / expected.sum(), abs=1e-7)
    chunks = snapshot.whole.chunks
    labels = [snapshot.chunk_ids([n])[0] if n < chunks else snapshot.name_of(n - chunks) for n in found.nodes.tolist()]
    return dict(zip(labels, found.mass.tolist(), strict=True))


def test_the_base_is_shared_and_does_not_change() -> None:
    base = build_snapshot(1, rows(CORPUS, {}), spare=SPARE)
    before = parts(base)
    new = {**CORPUS, 5: Content(3, 0, ("zeta", "alpha"), ())}
    later = laid_over(base, changes(CORPUS, new, {}, {}))
    assert later.whole.adjacency.indices is base.whole.adjacency.indices
    assert later.base is base
    assert parts(base) == before
    assert described(later)["chunks"] == [chunk(0), chunk(1), chunk(5)]


def test_positions_are_those_in_the_documents_after_replacements_and_deletions() -> None:
    """Document 1 goes, document 2 is cut anew into the same chunks at other places, and document 3 is new."""
    old = {n: Content(n // 2, 0, ("alpha",), (), position=n % 2) for n in range(6)}
    new = {
        **{n: old[n] for n in (0, 1)},
        4: replace(old[4], position=1),
        5: replace(old[5], position=0, version=1),
        6: Content(3, 0, ("beta",), (), position=0),
        7: Content(3, 0, ("alpha",), (), position=1),
    }
    expected = {0: 0, 1: 1, 4: 1, 5: 0, 6: 0, 7: 1}
    base = build_snapshot(1, rows(old, {}), spare=SPARE)
    later = laid_over(base, changes(old, new, {}, {}))
    for snapshot in (later, later.flat(), build_snapshot(2, rows(new, {}))):
        for order in (sorted(expected), sorted(expected, reverse=True), [7, 0, 5]):
            numbers = snapshot.chunks_with([chunk(n) for n in order])
            assert (numbers >= 0).all()
            found = snapshot.positions_of(numbers)
            assert found.dtype == np.int64
            assert found.tolist() == [expected[n] for n in order]
        assert snapshot.positions_of(np.zeros(0, np.int64)).tolist() == []
    assert base.positions_of(base.chunks_with([chunk(4), chunk(5)])).tolist() == [0, 1]


def test_rows_are_copied_where_nothing_can_be_laid_over() -> None:
    new = {**CORPUS, 5: Content(3, 0, ("zeta", "alpha"), ())}
    step = changes(CORPUS, new, {}, {})
    merge = GraphMerge(entity_id("alpha"), "alpha", entity_id("beta"), "beta")
    full = build_snapshot(1, rows(CORPUS, {}), spare=0)
    merged = build_snapshot(1, replace(rows(CORPUS, {}), merges=(merge,)), spare=SPARE)
    free = build_snapshot(1, rows(CORPUS, {}), spare=SPARE)
    with_merge = replace(step, added=replace(step.added, merges=(merge,)))
    expected = build_snapshot(2, replace(rows(new, {}), merges=(merge,)))
    only_merge = GraphChanges(generation=2, removed=(), added=replace(graph_rows(), merges=(merge,)))
    for snapshot, given_step, wanted in [
        (full, step, build_snapshot(2, rows(new, {}))),
        (merged, with_merge, expected),
        (laid_over(free, replace(step, generation=1)), only_merge, expected),
    ]:
        found = follow(snapshot, given_step, least=0)
        assert isinstance(found, FlatSnapshot)
        assert parts(found) == parts(wanted)
    assert isinstance(follow(free, step), FlatSnapshot), "a small corpus"


def test_a_generation_without_rows_keeps_the_layers() -> None:
    base = build_snapshot(1, rows(CORPUS, {}), spare=SPARE)
    later = laid_over(base, changes(CORPUS, {0: CORPUS[0]}, {}, {}))
    empty = GraphChanges(generation=7, removed=(), added=graph_rows())
    again = laid_over(later, empty)
    assert (described(again), graph_of(again, None)) == (described(later), graph_of(later, None))
    assert laid_over(later, empty).generation == 7
    assert isinstance(follow(base, empty, least=0), FlatSnapshot)
