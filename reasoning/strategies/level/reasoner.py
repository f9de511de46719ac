"""The course of a question in `level`: with the high-level searcher, or with the low-level searchers alone."""

from core.errors import InvalidStrategy
from core.ports.reasoning import Answer
from reasoning.engine.answers import answer_from_conclusion
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.session import Session
from reasoning.strategies.level.conclusion import conclude_findings, conclude_searchers
from reasoning.strategies.level.config import Config, split_names
from reasoning.strategies.level.exploration import ExplorationSettings, explore
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
            sparse_depth=config.sparse_depth,
            max_refined=config.max_refined,
            dense=config.dense_rewrites,
        )
        self._searchers = LowLevelSearchers(split_names(config.searchers), rewriting, backends)

    async def solve(self, session: Session) -> Answer:
        k = session.question.k or self._config.k
        searchers = self._searchers.permitted_in(session)
        if not self._config.high_level:
            return answer_from_conclusion(session, await conclude_searchers(session, k, searchers))
        settings = ExplorationSettings(
            searchers=searchers,
            k=k,
            summarize=self._config.summarize,
            verify=self._config.verify,
            supplements=self._config.supplements,
            max_queries=self._config.max_queries,
        )
        findings = await explore(session, settings)
        return answer_from_conclusion(
            session, await conclude_findings(session, findings, summarized=settings.summarize)
        )
