"""The tools of the graph: `find_entities` and `show_entity` read it, and the others say who is who.

- `list_proposals`: pairs of entities that may be one, with what speaks for and against each.
- `merge_entities`, `reject_proposal`, `undo_decision`: what the user decides about a pair. These write.
"""

from typing import Annotated, Literal

from pydantic import Field

from api.mcp.tool import CorpusName, Filter, Hints, Tool, ToolCall, choose_corpus
from api.schemas.base import In, Out, Text
from app.services import graph, resolution
from core.corpora import Corpus
from core.errors import NotFound
from core.keys import Scope
from retrieval.exploration import EntityRef
from retrieval.resolution import Evidence, Proposal

_Named = Annotated[Text, Field(min_length=1, max_length=graph.MAX_NAME)]
_NAMED = "The entity's name in any spelling, or its id."


class EntityOut(Out):
    id: str
    name: str
    type: str | None = Field(
        description="What its name, its facts and the schema show it to be; null without a sure sign."
    )
    passages: int = Field(description="How many passages mention it.")


def _show(ref: EntityRef) -> EntityOut:
    return EntityOut(id=ref.id, name=ref.name, type=ref.type, passages=ref.passages)


async def _corpus(call: ToolCall, name: str) -> Corpus:
    return await call.container.record.corpora.get(await choose_corpus(call, name))


class FindArguments(In):
    name: Text = Field(
        default="",
        max_length=graph.MAX_NAME,
        description="A name, or a part of one. Leave it out for the entities that most passages mention.",
    )
    type: Text | None = Field(
        default=None,
        max_length=40,
        description="Only entities of this type: person, organisation, place, work, date, amount, law, product, other, "
        "or a type of the schema of the corpus.",
    )
    limit: int = Field(default=20, ge=1, le=200, description="The largest number of entities.")
    corpus: CorpusName = ""
    filter: Filter = Field(default_factory=dict)


class FindResult(Out):
    entities: list[EntityOut] = Field(description="The best matches first.")


async def _find(call: ToolCall, given: FindArguments) -> FindResult:
    corpus = await _corpus(call, given.corpus)
    where = given.filter or None
    found = await graph.find(call.container, corpus, given.name, limit=given.limit, type=given.type, where=where)
    return FindResult(entities=[_show(match.entity) for match in found])


FIND_ENTITIES = Tool(
    name="find_entities",
    title="Find entities",
    description="Finds the persons, places, organisations and other things that documents name, by name and type.",
    arguments=FindArguments,
    result=FindResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_find,
)


class ShowArguments(In):
    entity: _Named = Field(description=_NAMED)
    facts: int = Field(default=50, ge=0, le=1000, description="The largest number of facts.")
    corpus: CorpusName = ""
    filter: Filter = Field(default_factory=dict)


class FactOut(Out):
    subject: EntityOut
    predicate: str = Field(description="The relation of the schema of the corpus, or the phrase of the text.")
    object: EntityOut
    phrases: list[str] = Field(description="The phrases of the texts.")
    passages: list[str] = Field(description="Passages that state it; `fetch` reads one as 'CORPUS/chunks/ID'.")


class ShowResult(Out):
    entity: EntityOut
    facts: list[FactOut] = Field(description="Facts that most passages state come first.")
    fact_count: int = Field(description="How many facts there are of it.")
    other_names: list[str] = Field(description="Entities that are merged into it.")


async def _show_one(call: ToolCall, given: ShowArguments) -> ShowResult:
    corpus, where = await _corpus(call, given.corpus), given.filter or None
    id = await graph.resolve(call.container, corpus, given.entity, where=where)
    found = await graph.show(call.container, corpus, id, facts=given.facts, passages=0, where=where)
    return ShowResult(
        entity=_show(found.entity),
        facts=[
            FactOut(
                subject=_show(fact.subject),
                predicate=fact.predicate,
                object=_show(fact.object),
                phrases=list(fact.phrases),
                passages=[f"{corpus.name}/chunks/{id}" for id in fact.chunk_ids],
            )
            for fact in found.facts
        ],
        fact_count=found.fact_count,
        other_names=[merged.name for merged in found.merged],
    )


SHOW_ENTITY = Tool(
    name="show_entity",
    title="Show an entity",
    description="Shows what documents state of a person, a place, an organisation or another thing: facts, each with "
    "the passages that state it.",
    arguments=ShowArguments,
    result=ShowResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_show_one,
)


class ProposalsArguments(In):
    above: float = Field(default=0.5, ge=0, le=1, description="The least probability that both are one.")
    limit: int = Field(default=20, ge=1, le=200, description="The largest number of pairs.")
    corpus: CorpusName = ""
    filter: Filter = Field(default_factory=dict)


class ProposalOut(Out):
    entity: EntityOut
    into: EntityOut = Field(description="The more mentioned one, whose name both have when they are merged.")
    probability: float = Field(description="How probable it is that both are one.")
    speaks_for: list[str] = Field(description="The strongest first.")
    speaks_against: list[str]


class ProposalsResult(Out):
    proposals: list[ProposalOut] = Field(description="The most probable first.")
    complete: bool = Field(description="Whether all entities of the corpus were compared.")


async def _list_proposals(call: ToolCall, given: ProposalsArguments) -> ProposalsResult:
    corpus, where = await _corpus(call, given.corpus), given.filter or None
    found = await resolution.find_proposals(call.container, corpus, limit=given.limit, above=given.above, where=where)
    return ProposalsResult(proposals=[_show_proposal(proposal) for proposal in found.data], complete=found.complete)


def _show_proposal(proposal: Proposal) -> ProposalOut:
    def say(*, wanted: bool) -> list[str]:
        return [_explain(evidence) for evidence in proposal.evidence if (evidence.effect > 0) is wanted]

    return ProposalOut(
        entity=_show(proposal.entity),
        into=_show(proposal.into),
        probability=proposal.probability,
        speaks_for=say(wanted=True),
        speaks_against=say(wanted=False),
    )


def _explain(evidence: Evidence) -> str:
    return evidence.explanation if evidence.value == 1 else f"{evidence.explanation}: {evidence.value:.2f}"


LIST_PROPOSALS = Tool(
    name="list_proposals",
    title="List entities that may be one",
    description="Lists pairs of entities that may be one under two names, with the probability and what speaks for and "
    "against it. Show them to the user, who decides; passages that `search` finds help to decide.",
    arguments=ProposalsArguments,
    result=ProposalsResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_list_proposals,
)


class MergeArguments(In):
    entity: _Named = Field(description=_NAMED)
    into: _Named = Field(description="The name or id of the entity that it is, whose name both have from then on.")
    corpus: CorpusName = ""


class RejectArguments(In):
    entity: _Named = Field(description=_NAMED)
    other: _Named = Field(description="The name or id of the entity that it is not.")
    corpus: CorpusName = ""


class NamedOut(Out):
    id: str
    name: str


class DecisionResult(Out):
    """`one` and `other` are the two entities, in the order of the arguments or of the decision."""

    id: str = Field(description="Give it to `undo_decision` to take the decision back.")
    one: NamedOut
    other: NamedOut
    decision: Literal["merged", "rejected"]


def _tell_merge(made: graph.NamedMerge) -> DecisionResult:
    return DecisionResult(id=made.id, one=_name(made.entity), other=_name(made.into), decision="merged")


def _tell_rejection(made: resolution.NamedRejection) -> DecisionResult:
    return DecisionResult(id=made.id, one=_name(made.entity), other=_name(made.other), decision="rejected")


def _name(entity: graph.NamedEntity) -> NamedOut:
    return NamedOut(id=entity.id, name=entity.name)


async def _merge(call: ToolCall, given: MergeArguments) -> DecisionResult:
    corpus = await _corpus(call, given.corpus)
    ids = [await graph.resolve(call.container, corpus, name) for name in (given.entity, given.into)]
    return _tell_merge(await graph.merge(call.container, corpus, *ids))


MERGE_ENTITIES = Tool(
    name="merge_entities",
    title="State that two entities are one",
    description="States that an entity is another one, so that both are one from then on; this accepts a proposal. "
    "`undo_decision` takes it back. Do it only if the user decided so.",
    arguments=MergeArguments,
    result=DecisionResult,
    hints=Hints(read_only=False, idempotent=False),
    scope=Scope.WRITE,
    run=_merge,
)


async def _reject(call: ToolCall, given: RejectArguments) -> DecisionResult:
    corpus = await _corpus(call, given.corpus)
    ids = [await graph.resolve(call.container, corpus, name) for name in (given.entity, given.other)]
    return _tell_rejection(await resolution.reject(call.container, corpus, *ids))


REJECT_PROPOSAL = Tool(
    name="reject_proposal",
    title="State that two entities are two",
    description="States that two entities are two: they are not proposed as one any more. `undo_decision` takes it "
    "back. Do it only if the user decided so.",
    arguments=RejectArguments,
    result=DecisionResult,
    hints=Hints(read_only=False),
    scope=Scope.WRITE,
    run=_reject,
)


class UndoArguments(In):
    id: Text = Field(
        min_length=1, max_length=64, description="The `id` that `merge_entities` or `reject_proposal` returned."
    )
    corpus: CorpusName = ""


async def _undo(call: ToolCall, given: UndoArguments) -> DecisionResult:
    corpus = await _corpus(call, given.corpus)
    try:
        return _tell_merge(await graph.undo(call.container, corpus, given.id))
    except NotFound:  # no merge has this id: ids of rejected pairs are others
        pass
    try:
        return _tell_rejection(await resolution.withdraw(call.container, corpus, given.id))
    except NotFound as error:
        raise NotFound(
            f"there is no decision {given.id!r} in corpus {corpus.name!r}; give the `id` of `merge_entities` or "
            "`reject_proposal`"
        ) from error


UNDO_DECISION = Tool(
    name="undo_decision",
    title="Undo a decision on two entities",
    description="Undoes a merge of entities, or takes back that two are two; returns what the decision was. "
    "Do it only if the user asked for it.",
    arguments=UndoArguments,
    result=DecisionResult,
    hints=Hints(read_only=False, idempotent=False),
    scope=Scope.WRITE,
    run=_undo,
)
