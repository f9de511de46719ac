"""Mentions, facts and synonyms from what was found."""

import numpy as np
import pytest

from core.graph import Extraction, Surface, Synonym, Triple
from core.ids import assertion_id, entity_id, triple_id
from core.ports.embedding import Vectors
from indexer import linking
from indexer.linking import find_synonyms, link


def found(*forms: tuple[str, int], triples: tuple[tuple[str, str, str], ...] = (), malformed: int = 0) -> Extraction:
    return Extraction(
        entities=tuple(Surface(form=form, count=count) for form, count in forms),
        triples=tuple(Triple(subject=s, predicate=p, object=o) for s, p, o in triples),
        malformed=malformed,
    )


def test_one_mention_per_form_and_one_entity_per_normalised_name() -> None:
    linked = link(["c"], [found(("Straße", 2), ("STRASSE", 1), ("Straße", 1), (" \u3000", 4), ("New \nYork", 1))])
    assert [(m.name, m.form, m.count) for m in linked.mentions] == [
        ("new york", "New York", 1),
        ("strasse", "STRASSE", 1),
        ("strasse", "Straße", 3),
    ]
    assert {m.entity_id for m in linked.mentions} == {entity_id("new york"), entity_id("strasse")}
    assert {m.chunk_id for m in linked.mentions} == {"c"}


def test_names_of_triples_are_mentions_too() -> None:
    linked = link(["c"], [found(("北京", 5), triples=(("北京", "是", "首都"), ("ÉCOLE", "near", "École")))])
    assert [(m.form, m.count) for m in linked.mentions] == [("ÉCOLE", 1), ("École", 1), ("北京", 5), ("首都", 1)]


def test_facts_are_there_once_per_triple_and_chunk() -> None:
    triples = (("Ada", "wrote  to", "Bob"), ("ADA", "wrote\nto", "bob"), ("Ada", "Wrote to", "Bob"))
    linked = link(["c", "d"], [found(triples=triples), found(triples=triples[:1])])
    ada, bob = entity_id("ada"), entity_id("bob")
    assert [(f.chunk_id, f.subject_id, f.predicate, f.object_id) for f in linked.facts] == [
        ("c", ada, "Wrote to", bob),
        ("c", ada, "wrote to", bob),
        ("d", ada, "wrote to", bob),
    ]
    last = linked.facts[2]
    assert last.triple_id == triple_id(ada, "wrote to", bob) == linked.facts[1].triple_id
    assert last.id == assertion_id(last.triple_id, "d") != linked.facts[1].id


def test_a_fact_about_itself_is_kept_and_one_about_nothing_is_malformed() -> None:
    linked = link(["c"], [found(triples=(("Ada", "is", "ada"), ("Ada", " ", "Bob"), (" ", "is", "Bob")), malformed=2)])
    assert [(f.subject_id, f.object_id) for f in linked.facts] == [(entity_id("ada"), entity_id("ada"))]
    assert {m.form for m in linked.mentions} == {"Ada", "ada"}
    assert linked.malformed == 4


def test_the_order_of_what_was_found_does_not_matter() -> None:
    triples = (("a", "b", "c"), ("d", "e", "f"))
    one = link(["c"], [found(("X", 1), ("Y", 2), triples=triples)])
    assert one == link(["c"], [found(("Y", 2), ("X", 1), triples=triples[::-1])])


def test_each_chunk_needs_its_extraction() -> None:
    with pytest.raises(ValueError, match="zip"):
        link(["c", "d"], [found()])


def unit(*rows: tuple[float, ...]) -> Vectors:
    matrix = np.array(rows, dtype=np.float32)
    unit_rows: Vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit_rows


def test_synonyms_are_new_pairs_at_or_above_the_threshold_once() -> None:
    vectors = unit((1, 0), (1, 0.1), (0, 1), (0.1, 1), (1, 0))
    ids = ["e", "b", "c", "d", "a"]
    synonyms = find_synonyms(["b", "e"], vectors[[1, 0]], ids, vectors)
    assert [(s.first_id, s.second_id) for s in synonyms] == [("a", "b"), ("a", "e"), ("b", "e")]
    assert synonyms[1].score == pytest.approx(1.0)
    assert synonyms[0].score == pytest.approx(1 / np.sqrt(1.01))
    assert all(s.score <= 1.0 for s in synonyms)


def test_synonyms_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(60, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{n:02}" for n in rng.permutation(60)]
    whole = find_synonyms(ids[:40], vectors[:40], ids, vectors, 0.9)
    expected = {
        (min(a, b), max(a, b))
        for i, a in enumerate(ids[:40])
        for j, b in enumerate(ids)
        if i != j and vectors[i] @ vectors[j] >= 0.9
    }
    assert {(s.first_id, s.second_id) for s in whole} == expected
    monkeypatch.setattr(linking, "_ROWS", 7)
    monkeypatch.setattr(linking, "_COLUMNS", 11)
    blocked = find_synonyms(ids[:40], vectors[:40], ids, vectors, 0.9)
    assert [_pair(s) for s in blocked] == [_pair(s) for s in whole]
    assert len(whole) > 20


def _pair(synonym: Synonym) -> tuple[str, str]:
    return synonym.first_id, synonym.second_id


def test_no_entity_has_no_synonym() -> None:
    none = np.zeros((0, 4), dtype=np.float32)
    assert find_synonyms([], none, [], none) == []
    assert find_synonyms([], none, ["a"], unit((1, 0, 0, 0))) == []
