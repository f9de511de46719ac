"""Snapshots: equal content is equal numbers, and a change is as good as a rebuild."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import chunk_id, document_id, entity_id, view_id
from core.ports.record.graph import GraphChanges, GraphChunk, GraphMerge, GraphRows, graph_rows
from core.text.terms import extract_terms, hash_stem
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]


@dataclass(frozen=True)
class Content:
    """What one chunk says, and the names that its title and heading are; synonyms are between entities."""

    document: int
    version: int
    names: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    position: int = 0
    titles: tuple[str, ...] = ()
    text: str = ""


Corpus = dict[int, Content]
Synonyms = dict[tuple[str, str], float]

contents = st.builds(
    Content,
    document=st.integers(0, 3),
    version=st.integers(0, 1),
    names=st.lists(st.sampled_from(NAMES), max_size=4).map(tuple),
    facts=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=3).map(tuple),
    position=st.integers(0, 2),
    titles=st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
    text=st.lists(st.sampled_from(["river", "Rivers", "Bread", "bread", "stone"]), max_size=4).map(" ".join),
)
corpora = st.dictionaries(st.integers(0, 7), contents, max_size=8)
synonym_sets = st.dictionaries(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: entity_id(p[0]) < entity_id(p[1])),
    st.sampled_from([0.8, 0.9, 1.0]),
    max_size=4,
)


def chunk(number: int) -> str:
    return chunk_id("k", str(number), 0)


def document(number: int) -> str:
    return document_id(str(number))


def view(number: int, version: int) -> str:
    return view_id(chunk(number), str(version))


def graph_chunk(number: int, content: Content) -> GraphChunk:
    return GraphChunk(
        id=chunk(number),
        document_id=document(content.document),
        view_id=view(number, content.version),
        position=content.position,
        title_names=" ".join(map(entity_id, content.titles)),
        terms=extract_terms(content.titles, content.text).tobytes(),
    )


def rows(corpus: Corpus, synonyms: Synonyms, *, only: Iterable[int] | None = None, turned: bool = False) -> GraphRows:
    """The rows as a record gives them: synonyms of entities that exist in the whole corpus only."""
    chosen = sorted(corpus if only is None else set(only) & set(corpus))
    there = {name for one in corpus.values() for name in (*one.names, *(n for fact in one.facts for n in fact))}
    linked = {pair: score for pair, score in synonyms.items() if there.issuperset(pair)}
    named = {n for i in chosen for n in (*corpus[i].names, *(x for f in corpus[i].facts for x in f))}
    named |= {name for pair in linked for name in pair}
    order = -1 if turned else 1
    return graph_rows(
        chunks=[graph_chunk(i, corpus[i]) for i in chosen][::order],
        entities=[(entity_id(name), name) for name in sorted(named)][::order],
        mentions=[(chunk(i), entity_id(name)) for i in chosen for name in corpus[i].names][::order],
        facts=[(chunk(i), entity_id(a), entity_id(b)) for i in chosen for a, b in corpus[i].facts][::order],
        synonyms=[(entity_id(a), entity_id(b), score) for (a, b), score in linked.items()][::order],
    )


def changes(old: Corpus, new: Corpus, old_synonyms: Synonyms, synonyms: Synonyms) -> GraphChanges:
    changed = {i for i in {*old, *new} if old.get(i) != new.get(i)}
    touched = {name for pair in {*old_synonyms, *synonyms} for name in pair}
    return GraphChanges(
        generation=2,
        removed=[chunk(i) for i in changed],
        added=rows(new, synonyms, only=changed),
        synonyms_of={entity_id(name) for name in touched},
    )


def parts(value: Any, path: str = "") -> dict[str, Any]:
    """Every array of a snapshot, by where it stands."""
    if isinstance(value, np.ndarray):
        return {path: (value.dtype, value.shape, value.tolist())}
    if not hasattr(value, "__dataclass_fields__"):
        return {path: value} if not path.endswith(("_masks", "_kept", "_merged")) else {}
    return {
        k: v for field in fields(value) for k, v in parts(getattr(value, field.name), f"{path}.{field.name}").items()
    }


@given(old=corpora, new=corpora, old_synonyms=synonym_sets, synonyms=synonym_sets)
@settings(max_examples=settings.default.max_examples * 3 // 2)
def test_changes_lead_to_what_a_rebuild_gives(
    old: Corpus, new: Corpus, old_synonyms: Synonyms, synonyms: Synonyms
) -> None:
    changed = build_snapshot(1, rows(old, old_synonyms)).apply(changes(old, new, old_synonyms, synonyms))
    assert parts(changed) == parts(build_snapshot(2, rows(new, synonyms)))


@given(corpus=corpora, synonyms=synonym_sets, kept=st.frozensets(st.integers(0, 3).map(document)))
def test_a_mask_leaves_the_graph_that_its_documents_alone_make(
    corpus: Corpus, synonyms: Synonyms, kept: frozenset[str]
) -> None:
    snapshot = build_snapshot(1, rows(corpus, synonyms))
    alone = build_snapshot(1, rows({i: c for i, c in corpus.items() if document(c.document) in kept}, synonyms))
    assert edges(snapshot, kept) == edges(alone, None)
    assert supports(snapshot, kept) == supports(alone, None)


def label(snapshot: GraphSnapshot, node: int) -> str:
    chunks = snapshot.whole.chunks
    return snapshot.chunk_ids([node])[0] if node < chunks else snapshot.name_of(node - chunks)


def edges(snapshot: GraphSnapshot, documents: frozenset[str] | None) -> dict[tuple[str, str], float]:
    graph = snapshot.graph(documents).adjacency
    return {
        (label(snapshot, node), label(snapshot, int(other))): round(float(weight), 5)
        for node in range(graph.size)
        for other, weight in zip(*graph.neighbours(node), strict=True)
    }


def supports(snapshot: GraphSnapshot, documents: frozenset[str] | None) -> dict[str, int]:
    df = snapshot.graph(documents).df
    return {snapshot.name_of(entity): int(n) for entity, n in enumerate(df[np.arange(len(df))]) if n}


CORPUS = {
    0: Content(0, 0, ("alpha", "beta"), (("alpha", "beta"), ("beta", "alpha"), ("alpha", "alpha"))),
    1: Content(1, 0, ("alpha", "gamma"), (("alpha", "beta"),)),
}


def test_edges_weigh_mentions_assertions_and_cosines() -> None:
    found = edges(build_snapshot(1, rows(CORPUS, {("beta", "gamma"): 0.9, ("gamma", "beta"): 0.9})), None)
    assert found[chunk(0), "alpha"] == found["alpha", chunk(0)] == 1
    assert found["alpha", "beta"] == found["beta", "alpha"] == 3
    assert found["beta", "gamma"] == found["gamma", "beta"] == 0.9
    assert ("alpha", "alpha") not in found


def test_the_order_of_rows_does_not_show() -> None:
    synonyms = {("alpha", "gamma"): 0.8}
    turned = rows(CORPUS, synonyms, turned=True)
    assert parts(build_snapshot(1, rows(CORPUS, synonyms))) == parts(build_snapshot(1, turned))


def test_view_entries_that_no_chunk_names_are_minus_one() -> None:
    snapshot = build_snapshot(1, rows(CORPUS, {}))
    found = snapshot.chunks_of_views([view(1, 0), "nothing", view(0, 0)])
    assert snapshot.chunk_ids([found[0], found[2]]) == [chunk(1), chunk(0)]
    assert found[1] == -1


def test_a_generation_without_rows_keeps_everything() -> None:
    snapshot = build_snapshot(1, rows(CORPUS, {}))
    later = snapshot.apply(GraphChanges(generation=9, removed=(), added=rows({}, {})))
    assert later.generation == 9
    assert later.columns is snapshot.columns


def test_the_empty_corpus_is_a_snapshot() -> None:
    snapshot = build_snapshot(0, rows({}, {}))
    assert snapshot.whole.adjacency.size == 0
    assert snapshot.chunks_of_views(["v"]).tolist() == [-1]
    assert snapshot.graph(frozenset(["d"])).df.tolist() == []
    assert snapshot.titles.shape == (0, 2)
    assert (snapshot.statistics.chunks, snapshot.statistics.length) == (0, 0)


def test_titles_are_entities_where_a_chunk_names_them() -> None:
    corpus = {
        0: Content(0, 0, ("alpha", "beta"), (), titles=("alpha", "nobody")),
        1: Content(0, 0, ("beta",), (), titles=("beta", "alpha")),
        2: Content(1, 0, ("gamma",), ()),
    }
    snapshot = build_snapshot(1, rows(corpus, {}))

    def titles(number: int) -> list[str | None]:
        [at] = snapshot.chunks_with([chunk(number)])
        return [snapshot.columns.names[e] if e >= 0 else None for e in snapshot.titles[at].tolist()]

    assert [titles(number) for number in corpus] == [["alpha", None], ["beta", "alpha"], [None, None]]
    shares = dict(zip(snapshot.columns.names, snapshot.title_shares.tolist(), strict=True))
    assert shares == {"alpha": 2, "beta": 1, "gamma": 0}


def test_a_title_becomes_an_entity_when_another_chunk_names_it() -> None:
    alone = {0: Content(0, 0, (), (), titles=("alpha",))}
    both = {**alone, 1: Content(1, 0, ("alpha",), ())}
    snapshot = build_snapshot(1, rows(alone, {}))
    assert snapshot.titles.tolist() == [[-1, -1]]
    named = snapshot.apply(changes(alone, both, {}, {}))
    assert sorted(named.titles[:, 0].tolist()) == [-1, 0]
    assert named.apply(changes(both, alone, {}, {})).titles.tolist() == [[-1, -1]]


def test_a_moved_chunk_keeps_its_terms_and_the_statistics() -> None:
    corpus = {0: Content(0, 0, ("alpha",), (), text="the river"), 1: Content(0, 0, (), (), text="a stone", position=1)}
    moved = {0: replace(corpus[0], position=1), 1: replace(corpus[1], position=0)}
    before = build_snapshot(1, rows(corpus, {}))
    after = before.apply(changes(corpus, moved, {}, {}))
    assert after.columns.position.tolist() == [1 - n for n in before.columns.position.tolist()]
    assert after.statistics.document_frequency(np.array([hash_stem("river")], np.uint32)).tolist() == [1]
    assert parts(after.statistics) == parts(before.statistics)


def test_merges_count_among_the_names_of_some_documents() -> None:
    names = enumerate((("alpha", "beta"), ("gamma", "alpha")))
    corpus = {number: Content(document=number, version=0, names=own, facts=()) for number, own in names}
    seen, hidden = (GraphMerge(entity_id(name), name, entity_id("alpha"), "alpha") for name in ("beta", "gamma"))
    whole = build_snapshot(1, replace(rows(corpus, {}), merges=(seen, hidden)))
    some = whole.restrict_merges(frozenset({document(0)}))
    assert parts(some) == parts(build_snapshot(1, replace(rows(corpus, {}), merges=(seen,))))
    assert whole.restrict_merges(frozenset({document(0), document(1)})) is whole
    same = GraphChanges(generation=2, removed=[], added=replace(rows({}, {}), merges=(seen, hidden)), synonyms_of=set())
    assert whole.apply(same).restrict_merges(frozenset({document(0)})).generation == 2
