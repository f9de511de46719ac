"""The findings of LevelRAG's high-level searcher: what its low-level searchers find for a query, summarized."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.ports.retrieval import Hit
from reasoning.actions.answers.contexts import Context, QuerySummary, summarize
from reasoning.engine.parallel import gather
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance
from reasoning.strategies.level.low_level import LowLevelSearcher, chunk_ids, distinct_hits, search_all

__all__ = ["ExplorationSettings", "QueryFinding", "chunks_of", "look_up_all", "passages_of"]

_NOTHING = "Nothing was found about this: {question}"
_KEYWORDS = 1
"""The calls that the low-level searchers need for a query at least: its keywords."""


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


def passages_of(findings: Sequence[QueryFinding]) -> tuple[Hit, ...]:
    """Returns the passages of all findings, one after the other, each once."""
    return distinct_hits(hit for finding in findings for hit in finding.hits)


def chunks_of(findings: Sequence[QueryFinding]) -> frozenset[str]:
    """Returns the ids of the chunks whose words the contexts may hold."""
    return frozenset[str]().union(*(finding.chunks for finding in findings))


async def look_up_all(
    session: Session,
    queries: Sequence[AtomicQuery],
    settings: ExplorationSettings,
    calls: CallAllowance,
    *,
    rounds_left: int,
) -> list[QueryFinding]:
    """Looks up the queries of a round at the same time. The low-level searchers get the calls that neither summaries
    nor `rounds_left` later rounds need, but keywords for each query if possible.
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
    """Looks up a query with all searchers. `calls` are those of the searchers; the summary is not among them."""
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
