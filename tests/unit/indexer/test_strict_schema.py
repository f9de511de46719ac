"""The facts that a strict schema leaves out of a document."""

from core.graph import Extraction, Surface, Triple
from core.graph_schema import read_graph_schema
from indexer.pipeline.extracted_graph import ExtractedGraph, make_graph
from indexer.pipeline.strict_schema import select_allowed

SCHEMA = read_graph_schema(
    """
    strict = true
    [types.company]
    words = ["supplier"]
    [types.product]
    words = ["pump"]
    [relations.supplies]
    from = ["company"]
    to = ["product"]
    inverse = ["supplied by"]
    """
)


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
    kept = select_allowed(graph, SCHEMA)
    assert _phrases(kept) == ["buys", "is a", "is supplied by", "supplies", "supplies"]
    assert kept.mentions == graph.mentions, "names stay"


def test_a_document_without_relations_of_the_schema_stays_as_it_is() -> None:
    graph = _graph(("Kestrel", "buys", "Umber"))
    assert select_allowed(graph, SCHEMA) is graph
    assert select_allowed(_graph(), SCHEMA).facts == ()
