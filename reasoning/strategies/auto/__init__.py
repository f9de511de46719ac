"""Our own: one call to plan, one a step over the best passages, a second look only where an answer is unsure."""

from typing import Literal

from pydantic import Field

from core.ports.reasoning import Answer, Question, Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.answers.conclude_memory import conclude_memory
from reasoning.actions.planning.plan_auto import AutoPlan, plan_auto
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.plans.step_answers import answer_of_step
from reasoning.strategies.auto.execution import Execution
from reasoning.strategies.auto.node import NodeSolver

__all__ = ["NEEDS_MODEL", "Auto", "Config", "build"]

NEEDS_MODEL = True


class Config(StrategyConfig):
    """How much is read, and how much is spent on what is unsure."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a step; the request's `k` goes before it.")
    more: int = Field(
        default=5, ge=0, le=100, description="Further passages, and as many by the graph, where those do not do."
    )
    fine: str = Field(default="fine", description="The searcher for a second look; empty: none by the graph.")
    review: bool = Field(default=True, description="Look again at answers that no cited passage holds word for word.")
    replans: int = Field(default=1, ge=0, le=3, description="How often a plan is mended whose step found nothing.")
    retrieve: Literal["always", "adaptive"] = Field(
        default="always", description="`adaptive`: the planner may decide that no document is needed."
    )


class Auto:
    """The plan is a DAG whose nodes run side by side. No call concludes what a supported step has answered already."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat("auto")
        self._searcher = backends.named_searcher(config.searcher)
        self._fine = backends.named_searcher(config.fine) if config.fine and config.review else None

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run("auto", question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        plan = await plan_auto(session, session.question.text)
        if self._config.retrieve == "adaptive" and not plan.needs_retrieval:
            return await self._from_memory(session, plan)
        solver = NodeSolver(
            session=session,
            k=session.question.k or self._config.k,
            more=self._config.more,
            fine=self._fine,
            reviews=self._config.review,
            private=session.planned_in_private,
        )
        execution = Execution(session, plan, solver, self._config.replans)
        await execution.run()
        return await self._made_of(session, execution)

    async def _made_of(self, session: Session, execution: Execution) -> Answer:
        """The goal's own answer where it needs no more, else a last call over all steps with their quotes."""
        chain = execution.chain()
        found = [answer for answer in chain if answer.found]
        if not found:
            return abstention("auto", session)
        goals = [execution.answers[goal] for goal in execution.plan.goals]
        if len(goals) == 1 and (goals[0].verdict == "supported" or (len(chain) == 1 and goals[0].found)):
            return answer_of_step("auto", session, session.steps[goals[0].node.id])
        said = await conclude_steps(session, execution.plan.question, [answer.known for answer in chain])
        if not said.text:
            return abstention("auto", session, shown=said.shown)
        return finished("auto", session, said.text, said.citations, said.shown)

    async def _from_memory(self, session: Session, plan: AutoPlan) -> Answer:
        session.trace.note("auto: the plan needs no document; answered from the model's memory, nothing is cited")
        text = await conclude_memory(session, plan.question)
        return finished("auto", session, text) if text else abstention("auto", session)


def build(config: Config, backends: Backends) -> Reasoner:
    return Auto(config, backends)
