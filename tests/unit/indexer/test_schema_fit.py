"""How the facts of a document fit a schema, and which of them a strict schema leaves out."""

from core.graph import Extraction, FitTally, Surface, Triple
from core.graph_schema import NO_SCHEMA, read_graph_schema
from indexer.pipeline.extracted_graph import ExtractedGraph, apply_schema, make_graph

SCHEMA = read_graph_schema("""
strict = true
[types.company]
words = ["supplier"]
[types.product]
words = ["pump"]
[relations.supplies]
from = ["company"]
to = ["product"]
inverse = ["supplied by"]
""")


def _graph(*triples: tuple[str, str, str]) -> ExtractedGraph:
    made = tuple(Triple(subject=subject, predicate=phrase, object=object_) for subject, phrase, object_ in triples)
    names = tuple(Surface(form=name) for triple in made for name in (triple.subject, triple.object))
    return make_graph(["a" * 32], [Extraction(entities=names, triples=made)])


def _phrases(graph: ExtractedGraph) -> list[str]:
    return sorted(fact.predicate for fact in graph.facts)


def test_facts_with_a_wrong_end_are_left_out() -> None:
    graph = _graph(
        ("Kestrel", "is a", "supplier"),
        ("Kestrel", "supplies", "Halden Pump"),
        ("Halden Pump", "is supplied by", "Kestrel"),
        ("Halden Pump", "supplied", "Kestrel"),
        ("Dr. Ada Lund", "supplies", "Halden Pump"),
        ("Kestrel", "buys", "Dr. Ada Lund"),
        ("Umber", "supplies", "Orlo"),
    )
    kept, tally = apply_schema(graph, SCHEMA)
    assert tally == FitTally(within=3, outside=2, unnamed=2)
    assert _phrases(kept) == ["buys", "is a", "is supplied by", "supplies", "supplies"]
    assert kept.mentions == graph.mentions, "names stay"


def test_a_schema_that_is_not_strict_counts_facts_and_leaves_none_out() -> None:
    graph = _graph(("Kestrel", "supplies", "Halden Pump"), ("Halden Pump", "supplied", "Kestrel"))
    kept, tally = apply_schema(graph, read_graph_schema(SCHEMA.text.replace("strict = true", "")))
    assert kept is graph
    assert tally.outside + tally.within == 2


def test_a_document_without_relations_of_the_schema_stays_as_it_is() -> None:
    graph = _graph(("Kestrel", "buys", "Umber"))
    assert apply_schema(graph, SCHEMA) == (graph, FitTally(unnamed=1))
    assert apply_schema(graph, NO_SCHEMA) == (graph, FitTally())
    assert apply_schema(_graph(), SCHEMA) == (_graph(), FitTally())
