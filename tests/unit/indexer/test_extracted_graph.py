"""Mentions and facts of extracted chunks."""

import pytest

from core.graph import Extraction, Surface, Triple
from core.ids import assertion_id, entity_id, triple_id
from indexer.pipeline.extracted_graph import make_graph


def found(*forms: tuple[str, int], triples: tuple[tuple[str, str, str], ...] = (), malformed: int = 0) -> Extraction:
    return Extraction(
        entities=tuple(Surface(form=form, count=count) for form, count in forms),
        triples=tuple(Triple(subject=s, predicate=p, object=o) for s, p, o in triples),
        malformed=malformed,
    )


def test_one_mention_per_form_and_one_entity_per_normalised_name() -> None:
    linked = make_graph(["c"], [found(("Straße", 2), ("STRASSE", 1), ("Straße", 1), (" \u3000", 4), ("New \nYork", 1))])
    forms = [(m.name, m.form, m.count) for m in linked.mentions]
    assert forms == [("new york", "New York", 1), ("strasse", "STRASSE", 1), ("strasse", "Straße", 3)]
    assert {m.entity_id for m in linked.mentions} == {entity_id("new york"), entity_id("strasse")}
    assert {m.chunk_id for m in linked.mentions} == {"c"}


def test_names_of_triples_are_mentions_too() -> None:
    linked = make_graph(["c"], [found(("北京", 5), triples=(("北京", "是", "首都"), ("ÉCOLE", "near", "École")))])
    assert [(m.form, m.count) for m in linked.mentions] == [("ÉCOLE", 1), ("École", 1), ("北京", 5), ("首都", 1)]


def test_facts_are_there_once_per_triple_and_chunk() -> None:
    triples = (("Ada", "wrote  to", "Bob"), ("ADA", "wrote\nto", "bob"), ("Ada", "Wrote to", "Bob"))
    linked = make_graph(["c", "d"], [found(triples=triples), found(triples=triples[:1])])
    ada, bob = entity_id("ada"), entity_id("bob")
    facts = [(f.chunk_id, f.subject_id, f.predicate, f.object_id) for f in linked.facts]
    assert facts == [("c", ada, "Wrote to", bob), ("c", ada, "wrote to", bob), ("d", ada, "wrote to", bob)]
    last = linked.facts[2]
    assert last.triple_id == triple_id(ada, "wrote to", bob) == linked.facts[1].triple_id
    assert last.id == assertion_id(last.triple_id, "d") != linked.facts[1].id


def test_a_fact_about_itself_is_kept_and_one_about_nothing_is_malformed() -> None:
    triples = (("Ada", "is", "ada"), ("Ada", " ", "Bob"), (" ", "is", "Bob"))
    linked = make_graph(["c"], [found(triples=triples, malformed=2)])
    assert [(f.subject_id, f.object_id) for f in linked.facts] == [(entity_id("ada"), entity_id("ada"))]
    assert {m.form for m in linked.mentions} == {"Ada", "ada"}
    assert linked.malformed == 4


def test_the_order_of_what_was_found_does_not_matter() -> None:
    triples = (("a", "b", "c"), ("d", "e", "f"))
    one = make_graph(["c"], [found(("X", 1), ("Y", 2), triples=triples)])
    assert one == make_graph(["c"], [found(("Y", 2), ("X", 1), triples=triples[::-1])])


def test_each_chunk_needs_its_extraction() -> None:
    with pytest.raises(ValueError, match="zip"):
        make_graph(["c", "d"], [found()])
