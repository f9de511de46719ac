"""How the facts of a document fit the schema of its corpus; leaves out what a strict schema does not allow."""

from collections import Counter, defaultdict
from dataclasses import replace

from core.graph import Fit, FitTally
from core.graph_schema import GraphSchema, StatedFact
from core.text.entity_types import FactEnd
from indexer.pipeline.extracted_graph import ExtractedGraph


def apply_schema(graph: ExtractedGraph, schema: GraphSchema) -> tuple[ExtractedGraph, FitTally]:
    """Returns the graph of a document, and how many of its facts fit the schema in each way. A strict schema leaves out
    the facts that are outside of it; the names stay.

    The types of entities follow from their names and from the facts of this document alone, so what is left out does
    not depend on other documents.
    """
    if not schema:
        return graph, FitTally()
    named = [fact for fact in graph.facts if schema.find_relation(fact.predicate)]
    types = _find_types(graph, schema, {id for fact in named for id in (fact.subject_id, fact.object_id)})
    fits = [schema.check(fact.predicate, types.get(fact.subject_id), types.get(fact.object_id)) for fact in graph.facts]
    tally = FitTally(**{fit.value: count for fit, count in Counter(fits).items()})
    if not schema.strict or not tally.outside:
        return graph, tally
    kept = tuple(fact for fact, fit in zip(graph.facts, fits, strict=True) if fit is not Fit.OUTSIDE)
    return replace(graph, facts=kept), tally


def _find_types(graph: ExtractedGraph, schema: GraphSchema, entities: set[str]) -> dict[str, str | None]:
    if not entities:
        return {}
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
