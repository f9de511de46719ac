"""The high-level searcher: what to look up, what was found, whether that is enough, what to look up next."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from core.events import PlannedStep, ReviewEvent
from core.ports.reasoning import Quote, Step
from core.ports.retrieval import Hit
from reasoning.actions.answers.summarize import Summary, summarize
from reasoning.actions.judging.verify import verify, verify_contexts
from reasoning.actions.planning.atomic_queries import atomic_queries
from reasoning.actions.planning.supplement import supplement, supplement_from_passages
from reasoning.engine.parallel import together
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic, asked_key
from reasoning.strategies.level.low_level import LowLevel, chunk_ids, distinct, searched

__all__ = ["LAST", "Exploring", "Finding", "explored", "passages_of"]

LAST = "answer"
"""The id of the step that comes after all rounds."""

_NOTHING = "Nothing was found about this: {question}"


@dataclass(frozen=True, kw_only=True)
class Exploring:
    """How the high-level searcher goes about it; without `summarize` the passages are what is verified and added to."""

    searchers: Sequence[LowLevel]
    k: int
    summarize: bool
    memory: bool
    verify: Literal["separate", "merged"]
    supplements: int
    max_queries: int


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an atomic query came to. `context` is handed on without the query; `chunks` are those it may be words of."""

    query: Atomic
    hits: tuple[Hit, ...]
    context: str
    found: bool
    quotes: tuple[Quote, ...]
    chunks: frozenset[str]


async def explored(session: Session, how: Exploring) -> list[Finding]:
    """All findings, in the order of the queries. No query is asked twice, and the rounds are bounded."""
    asked = session.question.text
    queries = await atomic_queries(session, asked, how.max_queries)
    findings: list[Finding] = []
    for depth in count():
        fresh = _planned(session, queries, findings, depth)
        findings += await together(_looked_up(session, query, how) for query in fresh)
        if depth == how.supplements:
            if depth:
                session.trace.note(f"level: {depth} supplements were made, the most that are allowed")
            return findings
        queries = await _missing(session, findings, how)
        known = {asked_key(finding.query.text) for finding in findings}
        if all(asked_key(query) in known for query in queries):
            if queries:
                session.trace.note("level: only what had been asked before was asked again; nothing more was looked up")
            return findings
    return findings


def passages_of(findings: Sequence[Finding]) -> tuple[Hit, ...]:
    """The passages of all findings, one after the other, each once."""
    return distinct(hit for finding in findings for hit in finding.hits)


def _planned(session: Session, queries: Sequence[str], findings: Sequence[Finding], depth: int) -> list[Atomic]:
    """Those that were not asked yet, as steps that build on all earlier ones."""
    asked = session.question.text
    parents = tuple(finding.query.id for finding in findings)
    chunks = frozenset[str]().union(*(finding.chunks for finding in findings))
    known = {asked_key(finding.query.text) for finding in findings}
    fresh: dict[str, str] = {}
    for query in queries:
        if asked_key(query) not in known:
            fresh.setdefault(asked_key(query), query)
    atoms = [
        Atomic(
            id=str(number),
            text=query,
            private=bool(depth) or (session.planned_in_private and query != asked),
            chunks=chunks,
            parents=parents,
            depth=depth,
        )
        for number, query in enumerate(fresh.values(), start=len(findings) + 1)
    ]
    steps = [PlannedStep(id=one.id, question=one.text, parents=parents, depth=depth) for one in atoms]
    before = (*parents, *(one.id for one in atoms))
    session.plan([*steps, PlannedStep(id=LAST, question=asked, parents=before, depth=depth + 1)])
    return atoms


async def _looked_up(session: Session, query: Atomic, how: Exploring) -> Finding:
    began = time.perf_counter()
    hits = await searched(session, query, how.k, how.searchers)
    summary = Summary(text="", sufficient=False, quotes=(), shown=())
    if how.summarize and (hits or how.memory):
        summary = await summarize(session, query.text, hits, memory=how.memory, step=query.id, chunks=query.chunks)
    session.answered(
        Step(
            id=query.id,
            question=query.text,
            hits=distinct((*hits, *session.found(query.id))),
            answer=summary.text if summary.sufficient else "",
            parents=query.parents,
            depth=query.depth,
            verdict=_verdict(session, query, summary, how) if how.summarize else "",
            quotes=summary.quotes,
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(query.id),
        )
    )
    return Finding(
        query=query,
        hits=hits,
        context=summary.text or _NOTHING.format(question=query.text),
        found=summary.sufficient or (bool(hits) and not how.summarize),
        quotes=summary.quotes,
        chunks=query.chunks | chunk_ids(summary.shown if how.summarize else hits),
    )


def _verdict(session: Session, query: Atomic, summary: Summary, how: Exploring) -> str:
    """A summary that no passage holds says so."""
    if not summary.sufficient:
        return "insufficient"
    if summary.quotes:
        return "summarized"
    session.trace.note(f"level (step {query.id}): the summary cites no passage" + " (memory)" * how.memory)
    return "memory" if how.memory else "uncited"


async def _missing(session: Session, findings: Sequence[Finding], how: Exploring) -> tuple[str, ...]:
    """What else to look up; nothing where what was found is enough."""
    asked = session.question.text
    contexts = [finding.context for finding in findings]
    passages = passages_of(findings)
    chunks = frozenset[str]().union(*(finding.chunks for finding in findings))
    if how.verify == "separate" and any(finding.found for finding in findings):
        if how.summarize:
            enough = await verify_contexts(session, asked, contexts, chunks=chunks)
        else:
            enough = await verify(session, asked, passages, chunks=chunks)
        session.trace.emit(ReviewEvent(verdict="sufficient" if enough else "insufficient", step=LAST))
        if enough:
            return ()
    earlier = [finding.query.text for finding in findings]
    if how.summarize:
        return await supplement(session, asked, contexts, asked=earlier, limit=how.max_queries, chunks=chunks)
    return await supplement_from_passages(session, asked, passages, asked=earlier, limit=how.max_queries, chunks=chunks)
