"""The course of a question in `auto`: look, settle or plan, carry out the plan, and conclude only over gaps.

A small model has a course of its own (`small_model`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Support
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.answers.answer import fill_step as fill_with_answer
from reasoning.actions.answers.conclude import conclude_findings, conclude_memory
from reasoning.actions.judging.judgements import need_retrieval
from reasoning.actions.planning.plan import FirstLook, settle_or_plan
from reasoning.actions.planning.split import denoise
from reasoning.citations.markers import cite_passages
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step, fill_step, make_answer
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.engine.session import Session
from reasoning.parties import reword_parties
from reasoning.plans.dag import find_sinks, replace_tags
from reasoning.plans.known_answers import KnownAnswer
from reasoning.reading import are_sentences_asked
from reasoning.respelling import respell
from reasoning.strategies.auto.execution import LOOK, Execution, NodeAnswer, NodeSolver
from reasoning.strategies.auto.small_model import SHORT_LOOK, answer_shortly, look_for_series
from reasoning.strategies.auto.table_rows import compute_rows, conclude_rows
from reasoning.strategies.extractive.over_rows import RowsAnswer
from reasoning.strategies.extractive.quoting.reading import choose_depth


class Config(StrategyConfig):
    """How many passages are read, and how often."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    look: int = Field(
        default=6,
        ge=1,
        le=MAX_K,
        description="Passages of the first look, with the question; the request's `k` takes precedence.",
    )
    wide: int = Field(
        default=12,
        ge=1,
        le=MAX_K,
        description="The same for a question that sentences answer: an explanation, a list, a trend.",
    )
    k: int = Field(default=3, ge=1, le=MAX_K, description="Passages a step; the request's `k` takes precedence.")
    more: int = Field(
        default=3,
        ge=0,
        le=100,
        description="Further passages for a step whose answer is not stated; 0: none, and no second call.",
    )
    values: int = Field(
        default=3,
        ge=1,
        le=10,
        description="A step that needs an answer of several values is asked for each of them, at most for this many.",
    )
    backtrack: bool = Field(
        default=True,
        description="A step is asked for another answer, once, if no passage answers what the next step asks about the "
        "first.",
    )
    judge: bool = Field(
        default=False,
        description="A small model says yes or no about one thing; else passages are quoted that tell it.",
    )
    write: bool = Field(
        default=False,
        description="A small model writes explanations; else the sentences are quoted that it would write them from.",
    )
    retrieve: Literal["always", "adaptive"] = Field(
        default="always", description="`adaptive`: the model may decide that no document is needed."
    )


_LAST = "answer"
_REWORDED = 4
"""Passages that are added for the question in the words of an agreement."""


class Auto:
    """One search and one call settle a question, or plan it with what the passages state already.

    Only the missing steps are asked, and a last call is made only if something on the way is not stated.
    """

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        self._config = config
        self._backends = backends

    async def solve(self, session: Session) -> Answer:
        question = session.question.text
        if session.has_history:
            question = await denoise(session, question)
        if self._config.retrieve == "adaptive" and not await need_retrieval(session, question):
            return await _answer_from_memory(session, question)
        if session.has_small_model:
            return await self._answer_by_small_model(session, question)
        look, hits, rows = await self._look(session, question)
        if rows is not None:
            return conclude_rows(session, rows)
        if not hits:
            return await _answer_from_memory(session, question) if session.permits_memory else abstain(session)
        if look.settled is not None:
            return _answer_settled(session, look, look.settled)
        solver = self._make_solver(session, question, look, hits)
        execution = Execution(session, look, solver, backtrack=self._config.backtrack)
        await execution.run()
        return await _conclude(session, question, execution, hits)

    async def _answer_by_small_model(self, session: Session, question: str) -> Answer:
        respelled, _ = await respell(self._backends, replace(session.question, text=question), session.trace)
        question = respelled.text
        k = session.question.k or max(self._config.look, SHORT_LOOK, choose_depth(question))
        answer = await answer_shortly(
            session, self._backends, question, k, judge=self._config.judge, write=self._config.write
        )
        if answer is None:
            return await _answer_from_memory(session, question) if session.permits_memory else abstain(session)
        return answer

    async def _look(self, session: Session, question: str) -> tuple[FirstLook, tuple[Hit, ...], RowsAnswer | None]:
        """Searches with the whole question, and settles or plans it. Without a hit, no model is called, nor if code
        answers from the rows of a table.
        """
        async with session.step(LOOK, question) as step:
            session.plan([PlannedStep(id=LOOK, question=question)])
            private = session.has_history
            wanted = self._config.wide if are_sentences_asked(question) else self._config.look
            k = session.question.k or wanted
            found = await session.search_fully(question, k, step=LOOK, private=private)
            hits, look = found.hits, FirstLook()
            series = await look_for_series(session, question, hits, LOOK)
            rows = None
            if series is not None:
                hits = tuple({hit.chunk.id: hit for hit in (*series.hits, *hits)}.values())
            elif hits:
                rows = await compute_rows(session, self._backends, question, hits, step)
            if hits and rows is None:
                hits = await _add_reworded(session, question, hits)
                look = await settle_or_plan(session, question, hits, step=LOOK, facts=found.facts)
            if look.settled is not None:
                fill_with_answer(step, look.settled)
            step.verdict = "settled" if look.settled is not None else "planned" if look.nodes else ""
        return look, hits, rows

    def _make_solver(self, session: Session, question: str, look: FirstLook, hits: Sequence[Hit]) -> NodeSolver:
        config, sinks = self._config, find_sinks(look.nodes)
        return NodeSolver(
            session=session,
            purpose=question,
            k=session.question.k or config.k,
            more=config.more,
            values=config.values,
            read=hits,
            goal=sinks[0].id if len(sinks) == 1 else "",
        )


async def _add_reworded(session: Session, question: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Returns the hits, and behind them as many as `_REWORDED` for the question in the words of the agreement that
    defines its names; the hits alone without such an agreement.
    """
    reworded = next(iter(reword_parties(question, hits)), None)
    if reworded is None:
        return hits
    session.trace.note(reworded.note)
    found = await session.search(reworded.text, len(hits), step=LOOK, private=True)
    known = {hit.chunk.id for hit in hits}
    return hits + tuple(hit for hit in found if hit.chunk.id not in known)[:_REWORDED]


def _answer_settled(session: Session, look: FirstLook, settled: CitedAnswer) -> Answer:
    """Returns the answer of the first look. Its own markers, if it has any, say which words stand on which passage."""
    if look.marked == settled.text:
        return answer_from_step(session, session.steps[LOOK])
    quotes = {quote.hit.chunk.id: quote for quote in reversed(settled.quotes)}
    text, citations = cite_passages(look.marked, look.shown, session.trace, session.question.text, quotes)
    if not citations:
        return answer_from_step(session, session.steps[LOOK])
    shown = tuple(passage_text(hit) for hit in look.shown)
    return make_answer(session, text, settled.support, unstated=settled.unstated, citations=citations, shown=shown)


async def _conclude(session: Session, question: str, execution: Execution, hits: Sequence[Hit]) -> Answer:
    """Returns the answer of the last step if every step is stated, else makes a last call over all findings.

    The last call reads the passages that the steps cite. Unless all steps are stated by passages, it also reads the
    passages of the first look, and the passages that a second look would have read. If it finds no answer, the answer
    of the last step counts, with its support; if that has none either, the plan goes back.
    """
    chain, goal = execution.chain, execution.goal
    stated = len(chain) == len(execution.nodes) and all(step.answer.support is Support.STATED for step in chain)
    stated = stated and not session.question.instructions
    if goal is not None and stated:
        return answer_from_step(session, session.steps[goal.node.id])
    cited = [quote.hit for step in chain for quote in step.answer.quotes]
    unread = [hit for step in chain for hit in step.unread]
    suffice = bool(chain) and stated and all(step.answer.quotes for step in chain)
    passages = tuple({hit.chunk.id: hit for hit in (cited if suffice else (*cited, *hits, *unread))}.values())
    known = [known for step in chain for known in step.known]
    parents = tuple(session.steps) if not chain else tuple(step.node.id for step in chain)
    async with session.step(_LAST, question, parents=parents, depth=execution.last_depth + 1) as step:
        step.hits = passages
        conclusion = await conclude_findings(session, question, passages, _with_unasked(known, execution), step=_LAST)
        fill_step(step, conclusion)
    if not conclusion.text and goal is not None:
        other = goal if goal.found else await execution.go_back_from_goal()
        if other is not None:
            return _answer_from_goal(session, other)
    return answer_from_conclusion(session, conclusion)


def _answer_from_goal(session: Session, goal: NodeAnswer) -> Answer:
    """Returns the answer of the last step. An answer that joins several steps is less supported than each of them."""
    answer, step = goal.answer, session.steps[goal.node.id]
    hits = tuple({hit.chunk.id: hit for hit in (*step.hits, *(quote.hit for quote in answer.quotes))}.values())
    whole = replace(
        step, hits=hits, answer=answer.text, support=answer.support, unstated=answer.unstated, quotes=answer.quotes
    )
    return answer_from_step(session, whole)


def _with_unasked(known: list[KnownAnswer], execution: Execution) -> list[KnownAnswer]:
    """Returns the findings and the questions that could not be asked, so that the last call knows what is missing."""
    described = {id: step.answer.text or f"(unknown: {step.question})" for id, step in execution.answers.items()}
    for node in execution.nodes:
        if node.id not in execution.answers:
            question = replace_tags(node.question, described)
            described[node.id] = f"(unknown: {question})"
            known.append(CitedAnswer().known(f"{question} (not asked)"))
    return known


async def _answer_from_memory(session: Session, question: str) -> Answer:
    session.trace.note("auto: no document was read; answered from the model's memory, nothing is cited")
    text = await conclude_memory(session, question)
    return make_answer(session, text, Support.MEMORY) if text else abstain(session)
