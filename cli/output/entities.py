"""Prints entities, facts, subgraphs and ways for people."""

from collections.abc import Sequence

from app.services.graph import NamedMerge
from app.services.resolution import NamedRejection
from cli.output.console import counted, print_result, table
from cli.output.results import name_node, print_snippet
from core.graph import Fit, FitTally
from core.graph_schema import GraphSchema
from core.ports.retrieval import PathStep
from core.text.terms import split_words
from retrieval.exploration import EdgeKind, EntityDetails, FitCounts, FoundEntity, Match, Subgraph, Ways
from retrieval.presentation import make_snippet
from retrieval.resolution import Evidence, Proposal, Proposals

_RELATIONS = {EdgeKind.MENTION: "mentions", EdgeKind.SYNONYM: "synonym"}


def show_found(found: Sequence[FoundEntity]) -> None:
    rows = [(hit.entity.name, hit.entity.type or "", hit.entity.passages, hit.match, hit.entity.id) for hit in found]
    table(("name", "type", "passages", "match", "id"), rows)
    if any(candidate.match is Match.CLOSE for candidate in found):
        print_result("note: no entity has this name, or a name that holds it; these are spelt alike")


def show_details(details: EntityDetails) -> None:
    entity = details.entity
    type = f", {entity.type}" if entity.type else ""
    print_result(f"{entity.name}  ({entity.id}){type}, in {counted(entity.passages, 'passage')}")
    if details.synonyms:
        others = ", ".join(f"{synonym.entity.name} ({synonym.score:.2f})" for synonym in details.synonyms)
        print_result(f"likely other names: {others}")
    if details.merged:
        print_result(f"merged into it: {', '.join(merged.name for merged in details.merged)}")
    if details.fact_count:
        print_result(f"\n{counted(details.fact_count, 'fact')}{_shown(len(details.facts), details.fact_count)}")
    for fact in details.facts:
        stated = counted(len(fact.chunk_ids), "passage")
        said = "" if fact.phrases == (fact.predicate,) else f", as “{'”, “'.join(fact.phrases)}”"
        outside = ", outside the schema" if fact.fit is Fit.OUTSIDE else ""
        print_result(f"  {fact.subject.name} — {fact.predicate} → {fact.object.name}  ({stated}{said}{outside})")
    print_result(f"\n{counted(entity.passages, 'passage')}{_shown(len(details.passages), entity.passages)}")
    names = (entity.name, *(merged.name for merged in details.merged))
    weights = {word.stem: 1.0 for name in names for word in split_words(name)}
    for passage in details.passages:
        heading = f" › {passage.chunk.heading}" if passage.chunk.heading else ""
        print_result(
            f"  {passage.document.title or passage.document.key}{heading}  ({passage.document.key}, {passage.chunk.id})"
        )
        snippet = make_snippet(passage.chunk.text, weights)
        print_snippet(snippet.text, [(mark.start, mark.end) for mark in snippet.marks], indent=6)


def show_subgraph(subgraph: Subgraph) -> None:
    labels = {node.id: name_node(node.label, node.kind) for node in subgraph.nodes}
    rows = [
        (labels[edge.source], edge.label or _RELATIONS[edge.kind], labels[edge.target], f"{edge.weight:.2f}")
        for edge in subgraph.edges
    ]
    table(("from", "relation", "to", "weight"), rows)
    if subgraph.truncated:
        print_result("there are more nodes: raise --limit, or lower --depth")


def show_ways(ways: Ways) -> None:
    for number, way in enumerate(ways.ways, start=1):
        print_result(f"{number}. {counted(len(way.steps), 'step')}")
        for step in way.steps:
            print_result(f"   {_format_step(step)}")
    if not ways.ways:
        print_result("no way was found")
    if not ways.complete:
        print_result("the graph was not searched as a whole; there may be other ways")


def show_merge(merge: NamedMerge) -> None:
    print_result(f"{merge.entity.name!r} is now {merge.into.name!r}; `hopweave entities unmerge {merge.id}` undoes it")


def show_merges(merges: Sequence[NamedMerge]) -> None:
    rows = [(merge.entity.name, merge.into.name, merge.merged_at, merge.id) for merge in merges]
    table(("entity", "merged into", "at", "id"), rows)


def show_undone(merge: NamedMerge) -> None:
    print_result(f"{merge.entity.name!r} and {merge.into.name!r} are two entities again")


def show_proposals(found: Proposals) -> None:
    for proposal in found.data:
        show_proposal(proposal)
    if not found.data:
        print_result("no entities are proposed as one")
    if not found.complete:
        print_result("note: the corpus has more entities or pairs than are compared")


def show_proposal(proposal: Proposal) -> None:
    ends = " = ".join(
        f"{ref.name} ({counted(ref.passages, 'passage')}{f', {ref.type}' if ref.type else ''}, {ref.id})"
        for ref in (proposal.entity, proposal.into)
    )
    print_result(f"{proposal.probability:.2f}  {ends}")
    for evidence in proposal.evidence:
        side = "for" if evidence.effect > 0 else "against"
        print_result(f"      {side} ({evidence.effect:+.1f}): {evidence.explanation}{_format_value(evidence)}")


def _format_value(evidence: Evidence) -> str:
    return "" if evidence.value == 1 else f" ({evidence.value:.2f})"


def show_rejection(rejection: NamedRejection) -> None:
    pair = f"{rejection.entity.name!r} and {rejection.other.name!r}"
    print_result(f"{pair} are two; `hopweave entities unreject {rejection.id}` withdraws it")


def show_rejections(rejections: Sequence[NamedRejection]) -> None:
    rows = [(pair.entity.name, pair.other.name, pair.rejected_at, pair.id) for pair in rejections]
    table(("entity", "is not", "at", "id"), rows)


def show_withdrawn(rejection: NamedRejection) -> None:
    print_result(f"{rejection.entity.name!r} and {rejection.other.name!r} may be proposed again")


def _format_step(step: PathStep) -> str:
    stated = f"  ({step.chunk_id})" if step.chunk_id else ""
    source, target = name_node(step.source, step.source_kind), name_node(step.target, step.target_kind)
    return f"{source} — {step.relation} → {target}{stated}"


def _shown(shown: int, total: int) -> str:
    return "" if shown == total else f", the first {shown:,}:" if shown else ""


def show_schema(schema: GraphSchema, check: FitCounts) -> None:
    rows = [("type", type.name, type.colour, type.description) for type in schema.types.values()]
    for relation in schema.relations.values():
        ends = f"{' | '.join(relation.subjects) or 'any'} → {' | '.join(relation.objects) or 'any'}"
        rows.append(("relation", relation.name, ends, relation.description))
    table(("", "name", "colour or ends", "description"), rows)
    strict = "; strict: facts outside it are left out when documents are indexed" if schema.strict else ""
    part = "" if check.complete else ", in the first passages with facts"
    fits = FitTally(within=check.within, outside=check.outside, unnamed=check.unnamed)
    print_result(f"\n{fits.describe()}{part}{strict}")
    for fact in check.examples:
        ends = " → ".join(f"{end.name} ({end.type or 'no type'})" for end in (fact.subject, fact.object))
        print_result(f"  outside: {fact.predicate}: {ends}")
    if check.phrases:
        phrases = ", ".join(f"{phrase.phrase} ({phrase.facts:,})" for phrase in check.phrases)
        print_result(f"  frequent phrases without a relation: {phrases}")
