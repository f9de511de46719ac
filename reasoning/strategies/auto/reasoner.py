"""The course of a question in `auto`: plan, carry out the plan, and conclude only if the goal's answer needs it."""

from core.ports.reasoning import Answer
from core.ports.retrieval import Searcher
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.answers.conclude_memory import conclude_memory
from reasoning.actions.planning.plan_auto import AutoPlan, plan_auto
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step, make_answer
from reasoning.engine.session import Session
from reasoning.strategies.auto.config import Config
from reasoning.strategies.auto.execution import Execution
from reasoning.strategies.auto.node import NodeSolver

__all__ = ["Auto"]


class Auto:
    """The plan is a DAG whose nodes run at the same time. If a supported step answers the question, no call concludes.

    `fine` is the searcher of the second look; None if there is none.
    """

    def __init__(self, config: Config, fine: tuple[str, Searcher] | None) -> None:
        self._config = config
        self._fine = fine

    async def solve(self, session: Session) -> Answer:
        plan = await plan_auto(session, session.question.text)
        if self._config.retrieve == "adaptive" and not plan.needs_retrieval:
            return await _answer_from_memory(session, plan)
        solver = NodeSolver(
            session=session,
            k=session.question.k or self._config.k,
            more=self._config.more,
            fine=self._fine,
            reviews=self._config.review,
            private=session.has_history,
        )
        execution = Execution(session, plan, solver, self._config.replans)
        await execution.run()
        return await _conclude(session, execution)


async def _conclude(session: Session, execution: Execution) -> Answer:
    """Returns the goal's own answer if it is supported or the only step, else the answer of a last call over all steps
    with their quotes.
    """
    chain = execution.chain()
    if not any(answer.found for answer in chain):
        return abstain(session)
    goals = [execution.answers[goal] for goal in execution.plan.goals]
    if len(goals) == 1 and (goals[0].verdict == "supported" or (len(chain) == 1 and goals[0].found)):
        return answer_from_step(session, session.steps[goals[0].node.id])
    known = [answer.known for answer in chain]
    return answer_from_conclusion(session, await conclude_steps(session, execution.plan.question, known))


async def _answer_from_memory(session: Session, plan: AutoPlan) -> Answer:
    session.trace.note("auto: the plan needs no document; answered from the model's memory, nothing is cited")
    text = await conclude_memory(session, plan.question)
    return make_answer(session, text) if text else abstain(session)
