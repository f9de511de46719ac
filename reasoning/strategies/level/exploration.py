"""The rounds of LevelRAG's high-level searcher: atomic queries, their findings, and supplements until these suffice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from core.events import PlannedStep, ReviewEvent
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from reasoning.actions.answers.summarize import QuerySummary, summarize
from reasoning.actions.judging.verify import verify, verify_contexts
from reasoning.actions.planning.atomic_queries import atomic_queries
from reasoning.actions.planning.supplement import supplement, supplement_from_passages
from reasoning.engine.parallel import gather
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery, query_key
from reasoning.strategies.level.low_level import LowLevelSearcher, chunk_ids, distinct_hits, search_all

__all__ = ["LAST", "ExplorationSettings", "QueryFinding", "explore", "passages_of"]

LAST = "answer"
"""The id of the step after all rounds."""

_NOTHING = "Nothing was found about this: {question}"


@dataclass(frozen=True, kw_only=True)
class ExplorationSettings:
    """The options of `level` that concern the rounds. Without `summarize`, passages are verified and supplemented."""

    searchers: Sequence[LowLevelSearcher]
    k: int
    summarize: bool
    verify: Literal["separate", "merged"]
    supplements: int
    max_queries: int


@dataclass(frozen=True, kw_only=True)
class QueryFinding:
    """The outcome of an atomic query. `context` is shown to later calls without the query.

    `chunks` are ids of the chunks whose words the context may hold.
    """

    query: AtomicQuery
    hits: tuple[Hit, ...]
    context: str
    found: bool
    quotes: tuple[Quote, ...]
    chunks: frozenset[str]


async def explore(session: Session, settings: ExplorationSettings) -> list[QueryFinding]:
    """Returns all findings in the order of their queries. No query is looked up twice, and the rounds are bounded."""
    question = session.question.text
    queries = await atomic_queries(session, question, settings.max_queries)
    findings: list[QueryFinding] = []
    for depth in count():
        fresh = _plan_round(session, queries, findings, depth)
        findings += await gather(_look_up(session, query, settings) for query in fresh)
        if depth == settings.supplements:
            if depth:
                session.trace.note(f"level: {depth} supplements were made, the most that are allowed")
            return findings
        queries = await _find_missing(session, findings, settings)
        known = {query_key(finding.query.text) for finding in findings}
        if all(query_key(query) in known for query in queries):
            if queries:
                session.trace.note("level: only what had been asked before was asked again; nothing more was looked up")
            return findings
    return findings


def passages_of(findings: Sequence[QueryFinding]) -> tuple[Hit, ...]:
    """Returns the passages of all findings, one after the other, each once."""
    return distinct_hits(hit for finding in findings for hit in finding.hits)


def _plan_round(
    session: Session, queries: Sequence[str], findings: Sequence[QueryFinding], depth: int
) -> list[AtomicQuery]:
    """Returns the queries that were not looked up yet, announced as steps that depend on all earlier ones."""
    question = session.question.text
    parents = tuple(finding.query.id for finding in findings)
    chunks = frozenset[str]().union(*(finding.chunks for finding in findings))
    known = {query_key(finding.query.text) for finding in findings}
    fresh: dict[str, str] = {}
    for query in queries:
        if query_key(query) not in known:
            fresh.setdefault(query_key(query), query)
    atoms = [
        AtomicQuery(
            id=str(number),
            text=query,
            private=bool(depth) or (session.has_history and query != question),
            chunks=chunks,
            parents=parents,
            depth=depth,
        )
        for number, query in enumerate(fresh.values(), start=len(findings) + 1)
    ]
    steps = [PlannedStep(id=one.id, question=one.text, parents=parents, depth=depth) for one in atoms]
    before = (*parents, *(one.id for one in atoms))
    session.plan([*steps, PlannedStep(id=LAST, question=question, parents=before, depth=depth + 1)])
    return atoms


async def _look_up(session: Session, query: AtomicQuery, settings: ExplorationSettings) -> QueryFinding:
    async with session.step(query.id, query.text, parents=query.parents, depth=query.depth) as step:
        hits = await search_all(session, query, settings.k, settings.searchers)
        summary = QuerySummary()
        if settings.summarize and (hits or session.permits_memory):
            summary = await summarize(session, query.text, hits, step=query.id, chunks=query.chunks)
        step.hits = distinct_hits((*hits, *session.found(query.id)))
        step.answer = summary.text if summary.found else ""
        step.quotes = summary.quotes
        step.support, step.unstated = summary.support, summary.unstated
    return QueryFinding(
        query=query,
        hits=hits,
        context=summary.text or _NOTHING.format(question=query.text),
        found=summary.found or (bool(hits) and not settings.summarize),
        quotes=summary.quotes,
        chunks=query.chunks | chunk_ids(summary.shown if settings.summarize else hits),
    )


async def _find_missing(
    session: Session, findings: Sequence[QueryFinding], settings: ExplorationSettings
) -> tuple[str, ...]:
    """Returns further queries, or none if the findings are enough."""
    question = session.question.text
    contexts = [finding.context for finding in findings]
    passages = passages_of(findings)
    chunks = frozenset[str]().union(*(finding.chunks for finding in findings))
    if settings.verify == "separate" and any(finding.found for finding in findings):
        if settings.summarize:
            enough = await verify_contexts(session, question, contexts, chunks=chunks)
        else:
            enough = await verify(session, question, passages, chunks=chunks)
        session.trace.emit(ReviewEvent(verdict="sufficient" if enough else "insufficient", step=LAST))
        if enough:
            return ()
    earlier = [finding.query.text for finding in findings]
    if settings.summarize:
        return await supplement(session, question, contexts, asked=earlier, limit=settings.max_queries, chunks=chunks)
    return await supplement_from_passages(
        session, question, passages, asked=earlier, limit=settings.max_queries, chunks=chunks
    )
