"""Leaves out the facts of a document that a strict schema of the corpus does not allow."""

from collections import Counter, defaultdict
from dataclasses import replace

from core.graph import Fact
from core.graph_schema import Fit, GraphSchema, StatedFact
from core.text.entity_types import FactEnd
from indexer.pipeline.extracted_graph import ExtractedGraph

__all__ = ["select_allowed"]


def select_allowed(graph: ExtractedGraph, schema: GraphSchema) -> ExtractedGraph:
    """Returns the graph of a document without the facts that are outside the schema; the names stay.

    The types of entities follow from their names and from the facts of this document alone, so what is left out does
    not depend on other documents.
    """
    named = [fact for fact in graph.facts if schema.find_relation(fact.predicate)]
    if not named:
        return graph
    types = _find_types(graph, schema, {id for fact in named for id in (fact.subject_id, fact.object_id)})

    def is_allowed(fact: Fact) -> bool:
        fit = schema.check(fact.predicate, types.get(fact.subject_id), types.get(fact.object_id))
        return fit is not Fit.OUTSIDE

    return replace(graph, facts=tuple(filter(is_allowed, graph.facts)))


def _find_types(graph: ExtractedGraph, schema: GraphSchema, entities: set[str]) -> dict[str, str | None]:
    ends = {id for fact in graph.facts for id in (fact.subject_id, fact.object_id)}
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mention in graph.mentions:
        if mention.entity_id in ends:
            forms[mention.entity_id][mention.form] += mention.count
    names = {id: max(counts, key=lambda form: (counts[form], form)) for id, counts in forms.items()}
    stated: defaultdict[str, list[StatedFact]] = defaultdict(list)
    for fact in graph.facts:
        for end, id, other in (
            (FactEnd.SUBJECT, fact.subject_id, fact.object_id),
            (FactEnd.OBJECT, fact.object_id, fact.subject_id),
        ):
            if id in entities:
                stated[id].append(StatedFact(end=end, phrase=fact.predicate, other=names.get(other, "")))
    return {id: schema.choose_type(names[id], stated[id]) for id in entities if id in names}
