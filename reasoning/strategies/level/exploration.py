"""The rounds of LevelRAG's high-level searcher: atomic queries, their findings, and supplements until these suffice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from core.events import PlannedStep, ReviewEvent
from core.ports.retrieval import Hit
from reasoning.actions.answers.contexts import Context, QuerySummary, summarize
from reasoning.actions.judging.judgements import verify, verify_contexts
from reasoning.actions.planning.split import atomic_queries, supplement, supplement_from_passages
from reasoning.engine.session import Session, gather
from reasoning.shared.wording import query_key
from reasoning.strategies.level.low_level import (
    AtomicQuery,
    CallAllowance,
    JudgedPassages,
    LowLevelSearcher,
    chunk_ids,
    distinct_hits,
    search_all,
)

LAST = "answer"
"""The id of the step after all rounds."""


@dataclass(frozen=True, kw_only=True)
class ExplorationSettings:
    """The options of `level` that concern the rounds. Without `summarize`, passages are verified and supplemented.

    `supplements` and `max_queries` are None if only the budget bounds them.
    """

    searchers: Sequence[LowLevelSearcher]
    k: int
    summarize: bool
    verify: Literal["separate", "merged"]
    supplements: int | None
    max_queries: int | None
    judge_all: bool

    @property
    def calls_to_go_on(self) -> int:
        """The calls that lead to another round with one query: a verdict, a supplement, a summary."""
        return (self.verify == "separate") + 1 + self.summarize


@dataclass(frozen=True, kw_only=True)
class QueryFinding:
    """The outcome of an atomic query. `context` is shown to later calls without the query.

    `chunks` are ids of the chunks whose words the context may hold.
    """

    query: AtomicQuery
    hits: tuple[Hit, ...]
    context: Context
    found: bool
    chunks: frozenset[str]


async def explore(session: Session, settings: ExplorationSettings, calls: CallAllowance) -> list[QueryFinding]:
    """Returns all findings in the order of their queries. No query is looked up twice.

    No more than the given calls are made. If they do not suffice for another round, the exploration ends.
    """
    calls.take()
    queries = await atomic_queries(session, session.question.text, settings.max_queries)
    findings: list[QueryFinding] = []
    judged = JudgedPassages()
    for depth in count():
        fresh = _plan_round(session, _affordable(queries, findings, settings, calls), findings, depth)
        # Calls are not kept for rounds without a bound: how many there will be is not known.
        rounds_left = 0 if settings.supplements is None else settings.supplements - depth
        latest = await _look_up_all(session, fresh, settings, calls, rounds_left=rounds_left)
        findings += latest
        if depth == settings.supplements:
            if depth:
                session.trace.note(f"level: {depth} supplements were made, the most that are allowed")
            return findings
        queries = await _find_missing(session, findings, latest, settings, calls, judged)
        known = {query_key(finding.query.text) for finding in findings}
        if all(query_key(query) in known for query in queries):
            if queries:
                session.trace.note("level: only what had been asked before was asked again; nothing more was looked up")
            return findings
    return findings


def _affordable(
    queries: Sequence[str], findings: Sequence[QueryFinding], settings: ExplorationSettings, calls: CallAllowance
) -> list[str]:
    """Returns the queries that were not looked up yet, each once, and no more than there are calls to summarize."""
    known = {query_key(finding.query.text) for finding in findings}
    fresh: dict[str, str] = {}
    for query in queries:
        if query_key(query) not in known:
            fresh.setdefault(query_key(query), query)
    kept = list(fresh.values())
    if settings.summarize and len(kept) > calls.left:
        calls.refused = True
        return kept[: calls.left]
    return kept


def _plan_round(
    session: Session, queries: Sequence[str], findings: Sequence[QueryFinding], depth: int
) -> list[AtomicQuery]:
    """Returns the queries of a round, announced as steps that depend on all earlier steps.

    The user's question is not private. Before anything was found, other queries are not private, either, unless they
    were written from a conversation.
    """
    question = session.question.text
    parents = tuple(finding.query.id for finding in findings)
    after_others = bool(depth) or session.has_history
    atoms = [
        AtomicQuery(
            id=str(number),
            text=query,
            private=None if after_others and query != question else False,
            chunks=chunks_of(findings),
            parents=parents,
            depth=depth,
        )
        for number, query in enumerate(queries, start=len(findings) + 1)
    ]
    steps = [PlannedStep(id=atom.id, question=atom.text, parents=parents, depth=depth) for atom in atoms]
    before = (*parents, *(atom.id for atom in atoms))
    session.plan([*steps, PlannedStep(id=LAST, question=question, parents=before, depth=depth + 1)])
    return atoms


async def _find_missing(
    session: Session,
    findings: Sequence[QueryFinding],
    latest: Sequence[QueryFinding],
    settings: ExplorationSettings,
    calls: CallAllowance,
    judged: JudgedPassages,
) -> tuple[str, ...]:
    """Returns further queries, or none if the findings are enough or no calls are left for another round."""
    if calls.left < settings.calls_to_go_on:
        calls.refused = True
        return ()
    if settings.verify == "separate" and _is_to_be_judged(findings, latest, settings, judged):
        calls.take()
        if await _is_enough(session, findings, settings):
            return ()
        judged.add(passages_of(findings))
    calls.take()
    question, limit, chunks = session.question.text, settings.max_queries, chunks_of(findings)
    asked = [finding.query.text for finding in findings]
    if settings.summarize:
        contexts = [finding.context for finding in findings]
        return await supplement(session, question, contexts, asked=asked, limit=limit, chunks=chunks)
    return await supplement_from_passages(
        session, question, passages_of(findings), asked=asked, limit=limit, chunks=chunks
    )


def _is_to_be_judged(
    findings: Sequence[QueryFinding],
    latest: Sequence[QueryFinding],
    settings: ExplorationSettings,
    judged: JudgedPassages,
) -> bool:
    """Whether the last round found something that was not judged before; with `judge_all`, whether or not."""
    if settings.judge_all:
        return True
    if settings.summarize:
        return any(finding.found for finding in latest)
    passages = passages_of(findings)
    return bool(passages) and not judged.barely_changed(passages)


async def _is_enough(session: Session, findings: Sequence[QueryFinding], settings: ExplorationSettings) -> bool:
    question, chunks = session.question.text, chunks_of(findings)
    if settings.summarize:
        contexts = [finding.context for finding in findings]
        enough = await verify_contexts(session, question, contexts, chunks=chunks)
    else:
        enough = await verify(session, question, passages_of(findings), chunks=chunks)
    session.trace.emit(ReviewEvent(verdict="sufficient" if enough else "insufficient", step=LAST))
    return enough


_NOTHING = "Nothing was found about this: {question}"
_KEYWORDS = 1
"""The calls that the low-level searchers need for a query at least: its keywords."""


def passages_of(findings: Sequence[QueryFinding]) -> tuple[Hit, ...]:
    """Returns the passages of all findings, one after the other, each once."""
    return distinct_hits(hit for finding in findings for hit in finding.hits)


def chunks_of(findings: Sequence[QueryFinding]) -> frozenset[str]:
    """Returns the ids of the chunks whose words the contexts may hold."""
    return frozenset[str]().union(*(finding.chunks for finding in findings))


async def _look_up_all(
    session: Session,
    queries: Sequence[AtomicQuery],
    settings: ExplorationSettings,
    calls: CallAllowance,
    *,
    rounds_left: int,
) -> list[QueryFinding]:
    """Looks up the queries of a round at the same time. The low-level searchers get the calls that neither summaries
    nor `rounds_left` later rounds need; if possible, at least the calls for the keywords of each query.
    """
    summaries = len(queries) if settings.summarize else 0
    later = rounds_left * (settings.calls_to_go_on + _KEYWORDS)
    spare = calls.left - summaries
    given = min(spare, max(spare - later, len(queries) * _KEYWORDS))
    calls.take(summaries)
    shares = calls.share_out(given, len(queries))
    found = await gather(
        _look_up(session, query, settings, share) for query, share in zip(queries, shares, strict=True)
    )
    calls.collect(shares)
    return found


async def _look_up(
    session: Session, query: AtomicQuery, settings: ExplorationSettings, calls: CallAllowance
) -> QueryFinding:
    """Looks up a query with all searchers. `calls` are for the searchers; they do not include the summary."""
    async with session.step(query.id, query.text, parents=query.parents, depth=query.depth) as step:
        hits = await search_all(session, query, settings.k, settings.searchers, calls)
        summary = QuerySummary()
        if settings.summarize and (hits or session.permits_memory):
            summary = await summarize(session, query.text, hits, step=query.id, chunks=query.chunks)
        elif settings.summarize:
            calls.give_back()
        step.hits = distinct_hits((*hits, *session.found(query.id)))
        step.answer = summary.text if summary.found else ""
        step.quotes = summary.quotes
        step.support, step.unstated = summary.support, summary.unstated
    return QueryFinding(
        query=query,
        hits=hits,
        context=Context(
            text=summary.text or _NOTHING.format(question=" ".join(query.text.split())),
            support=summary.support,
            unstated=summary.unstated,
            quotes=summary.quotes,
        ),
        found=summary.found or (bool(hits) and not settings.summarize),
        chunks=query.chunks | chunk_ids(summary.shown if settings.summarize else hits),
    )
