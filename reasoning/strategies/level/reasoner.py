"""The course of a question in `level`: with the high-level searcher, or with the low-level searchers alone."""

import sys

from core.errors import InvalidStrategy
from core.ports.reasoning import Answer
from reasoning.engine.answers import Conclusion, answer_from_conclusion
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.session import Session
from reasoning.strategies.level.call_allowance import CallAllowance, CommonAllowance
from reasoning.strategies.level.conclusion import conclude_findings, conclude_searchers
from reasoning.strategies.level.config import LEAST_CALLS, Config, split_names
from reasoning.strategies.level.exploration import explore
from reasoning.strategies.level.findings import ExplorationSettings
from reasoning.strategies.level.keyword_search import KeywordRules
from reasoning.strategies.level.low_level import LowLevelSearcher
from reasoning.strategies.level.searchers import LowLevelSearchers, RewriteSettings

__all__ = ["LevelRag"]


class LevelRag:
    """The high-level searcher decides what to look up; the low-level searchers decide how to query their indexes.

    Raises `InvalidStrategy` if the request names a searcher: this reasoner has a list of its own.
    """

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        if backends.searcher_chosen:
            raise InvalidStrategy(
                f"the reasoner 'level' has searchers of its own, and cannot take {backends.searcher_name!r} as the "
                f"request's searcher: name it in their list, as in level:searchers=sparse+{backends.searcher_name}"
            )
        self._config = config
        rewriting = RewriteSettings(
            sparse=config.rewrite,
            keywords=KeywordRules(
                depth=config.sparse_depth,
                max_refined=config.max_refined,
                refine=config.refine,
                loosen=config.loosen,
                judge_all=config.judge_all,
            ),
            dense=config.dense_rewrites,
            judge_all=config.judge_all,
        )
        self._searchers = LowLevelSearchers(split_names(config.searchers), rewriting, backends)

    async def solve(self, session: Session) -> Answer:
        searchers = await self._searchers.permitted_in(session)
        limit = self._limit_calls(session)
        allowance = CommonAllowance if self._config.max_calls is None else CallAllowance
        calls = allowance(limit - 1)  # the last call has its place
        if self._config.high_level:
            conclusion = await self._explore(session, searchers, calls)
        else:
            k = session.question.k or self._config.k
            conclusion = await conclude_searchers(session, k, searchers, calls)
        if calls.refused:
            session.trace.note(
                f"level: no more than {limit} calls are made (max_calls, or the budget); answered from what was found"
            )
        return answer_from_conclusion(session, conclusion)

    def _limit_calls(self, session: Session) -> int:
        """Returns how many calls may be made: no more than the budget has, so that it is not used up before the last
        call, but as many as an answer needs.
        """
        limits = (self._config.max_calls, session.trace.budget.calls)
        return max(LEAST_CALLS, min((limit for limit in limits if limit is not None), default=sys.maxsize))

    async def _explore(
        self, session: Session, searchers: tuple[LowLevelSearcher, ...], calls: CallAllowance
    ) -> Conclusion:
        settings = ExplorationSettings(
            searchers=searchers,
            k=session.question.k or self._config.k,
            summarize=self._config.summarize,
            verify=self._config.verify,
            supplements=self._config.supplements,
            max_queries=self._config.max_queries,
            judge_all=self._config.judge_all,
        )
        findings = await explore(session, settings, calls)
        return await conclude_findings(
            session, findings, summarized=settings.summarize, always=self._config.conclude_always
        )
