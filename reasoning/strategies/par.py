"""PAR RAG: plans once, answers step by step, and reviews the answer of each step with finer evidence.

This follows algorithm 1 of the paper, and adds to it by default: a review is queried with the question, too, reads the
cited passages and may be repeated, missing answers are looked for once more, and so on. Each addition is an option, and
the preset `paper` turns all of them off. `docs/strategies/par-rag.md` lists what differs from the paper even so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner, Support
from core.ports.retrieval import MAX_K, Hit, Searcher, SearchResult
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.answer import AnswerWithStatement, answer_with_statement, fill_step
from reasoning.actions.answers.conclude import conclude_findings
from reasoning.actions.planning.plan import PlanItem, plan, refine
from reasoning.citations.quotes import is_supported
from reasoning.engine.answers import abstain, answer_from_conclusion
from reasoning.engine.reasoner import (
    ReasoningBackends,
    SessionReasoner,
    memory_field,
    passages_are_enough,
    require_triples,
)
from reasoning.engine.session import OpenStep, Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, known_answer
from reasoning.shared.review_loop import Merge, ReviewSettings, interleave, review_answer

NEEDS_MODEL = True
SOURCE = "arXiv 2504.16787"


class Config(StrategyConfig):
    """The paper's parameters, its two ablations, and options that it does not have, as their descriptions say."""

    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    evidence: int = Field(
        default=6,
        ge=1,
        le=MAX_K,
        description="Passages that the review of an answer reads, of both searches together: at most so many, and at "
        "most `k`. A missing answer is looked for in `k` of them. The paper does not say how many it keeps.",
    )
    plan: bool = Field(default=True, description="false: the question is the only step (the paper's ablation).")
    review: bool = Field(
        default=True, description="false: preliminary answers are kept as they are (the paper's ablation)."
    )
    review_rounds: int = Field(
        default=1,
        ge=0,
        le=10,
        description="How often an UNCONFIDENT review is repeated with the passages that its question finds. The paper "
        "does not say what follows such a review; 0: the answer is kept.",
    )
    fill_gaps: bool = Field(
        default=True,
        description="If a step has no answer, its best passages are read again with the cited ones for the final "
        "answer, at most `k` in all; false: only those that steps cite, as published.",
    )
    skip_answer_retrieval: bool = Field(
        default=False, description="Answer a step whose planned action is Answer from the steps before it alone."
    )
    skip_supported: bool = Field(
        default=False, description="Do not review an answer that a cited passage holds word for word."
    )
    review_query: Literal["both", "answer"] = Field(
        default="both",
        description="What the evidence of a review is searched for with: the question and the answer together, or the "
        "answer alone, as in the paper.",
    )
    review_cited: bool = Field(
        default=True,
        description="The review reads the passages that the answer cites before the evidence; false: the evidence "
        "alone, as in the paper.",
    )
    merge: Merge = Field(
        default="rank",
        description="How the results of both searches of a review become one: `rank`: in turn; `score`: sorted by "
        "their scores, each search's scaled from 0 to 1, as in the paper, which does not say how it scales them.",
    )
    refine_from: Literal["chain", "last"] = Field(
        default="chain",
        description="The answers that the next step's question is written with: all so far, or that of the step "
        "before it, as in the paper.",
    )
    combine: bool = Field(
        default=True,
        description="A step whose planned action is Answer reads the earlier answers beside its passages; false: all "
        "steps are treated alike, as in the paper.",
    )
    show_purpose: bool = Field(
        default=True,
        description="The calls that answer and review a step are shown the question that the step serves; false: the "
        "step's own alone, as in the paper.",
    )
    guide: bool = Field(
        default=True,
        description="The last call is told to think link by link and to look for missing links; false: it answers "
        "from the trajectory without further instructions, as in the paper.",
    )
    max_steps: int = Field(default=10, ge=1, le=50, description="A longer plan is cut, and a note says so.")
    fine: str = Field(default="fine", description="NAME[:key=value] of the searcher that starts from entities.")
    searcher: str = Field(
        default="", description="NAME[:key=value] of the coarse searcher; empty: the request's searcher."
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "fine": "fine",
            "k": 10,
            "plan": True,
            "review": True,
            "review_rounds": 0,
            "evidence": 10,
            "fill_gaps": False,
            "skip_answer_retrieval": False,
            "skip_supported": False,
            "review_query": "answer",
            "review_cited": False,
            "merge": "score",
            "refine_from": "last",
            "combine": False,
            "show_purpose": False,
            "guide": False,
            "max_steps": 50,
            "memory": False,
        }
    )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A step whose question holds no references any more.

    `known` are the answers that it combines. `private` has the meaning that it has in `Session.search`.
    """

    id: str
    question: str
    needs_passages: bool
    known: Sequence[KnownAnswer] = ()
    private: bool | None = None


class PlanActReview:
    """Uses two searchers: a coarse one for questions and answers, and a fine one for the review."""

    def __init__(self, config: Config, fine: tuple[str, Searcher]) -> None:
        self._config = config
        self._fine = fine

    async def solve(self, session: Session) -> Answer:
        chain: list[KnownAnswer] = []
        for number, item in enumerate(await self._plan(session), start=1):
            id, earlier = str(number), tuple(session.steps)
            async with session.step(id, item.question, parents=earlier, depth=len(earlier)) as step:
                task = await self._refine(session, id, item, chain)
                step.question = task.question
                await self._take_step(session, step, task, chain)
            chain.append(known_answer(session.steps[id]))
        found = any(step.hits or step.answer for step in session.steps.values())
        if not found and not session.permits_memory:
            return abstain(session)
        passages = self._trajectory_passages(session)
        guided = self._config.guide
        conclusion = await conclude_findings(session, session.question.text, passages, chain, guided=guided)
        return answer_from_conclusion(session, conclusion)

    async def _plan(self, session: Session) -> Sequence[PlanItem]:
        question = session.question.text
        items: Sequence[PlanItem] = (PlanItem.model_construct(question=question, action="Retrieve"),)
        if self._config.plan:
            items = await plan(session, question)
        most = self._config.max_steps
        if len(items) > most:
            session.trace.note(f"plan: {len(items)} steps were planned; those after the first {most} were left out")
        ids = [str(number) for number in range(1, len(items) + 1)][:most]
        session.plan(
            [
                PlannedStep(id=id, question=item.question, parents=tuple(ids[:place]), depth=place)
                for place, (id, item) in enumerate(zip(ids, items, strict=False))
            ]
        )
        return items[:most]

    async def _refine(self, session: Session, id: str, item: PlanItem, chain: Sequence[KnownAnswer]) -> _Task:
        config = self._config
        answers = item.action == "Answer" and bool(chain)
        question = item.question
        if chain:
            told = chain[-1:] if config.refine_from == "last" else chain
            question = await refine(session, session.question.text, question, told, step=id)
        return _Task(
            id=id,
            question=question,
            needs_passages=not (answers and config.skip_answer_retrieval),
            known=chain if answers and (config.combine or config.skip_answer_retrieval) else (),
            private=None if self._config.plan else False,
        )

    async def _take_step(self, session: Session, step: OpenStep, task: _Task, chain: Sequence[KnownAnswer]) -> None:
        """Acts and reviews. The preliminary answer is recorded too, so that it is there if the budget ends in the
        review.
        """
        preliminary = await self._act(session, task)
        answer = preliminary.answer
        fill_step(step, answer)
        if not (self._config.review and task.needs_passages):
            return
        session.record(step)
        stated = answer.support is Support.STATED
        if self._config.skip_supported and stated and is_supported(answer.text, answer.cited):
            return
        settings = ReviewSettings(
            k=self._k(session),
            evidence=min(self._config.evidence, self._k(session)),
            fine=self._fine,
            rounds=self._config.review_rounds,
            purpose=self._purpose(session, task),
            query=self._config.review_query,
            merge=self._config.merge,
            cited=self._config.review_cited,
        )
        reviewed, step.verdict = await review_answer(
            session, task.question, preliminary, settings, step=task.id, known=task.known, chunks=chunk_ids_of(chain)
        )
        fill_step(step, reviewed)

    async def _act(self, session: Session, task: _Task) -> AnswerWithStatement:
        """Returns the preliminary answer: from the step's passages, and from the chain if it combines its answers."""
        found = SearchResult(hits=(), generation=0)
        if task.needs_passages:
            found = await session.search_fully(task.question, self._k(session), step=task.id, private=task.private)
        if not (found.hits or task.known or session.permits_memory):
            return AnswerWithStatement()
        return await answer_with_statement(
            session,
            task.question,
            found.hits,
            purpose=self._purpose(session, task),
            step=task.id,
            facts=found.facts,
            known=task.known,
        )

    def _trajectory_passages(self, session: Session) -> tuple[Hit, ...]:
        """Returns the passages that the steps cite, as wholes, then the passages of steps without an answer."""
        steps = session.steps.values()
        cited = {quote.hit.chunk.id: quote.hit for step in steps for quote in step.quotes}
        if not self._config.fill_gaps:
            return tuple(cited.values())
        gaps = [step.hits for step in steps if not step.answer]
        most = max(len(cited), self._k(session))
        read = interleave(gaps, sum(map(len, gaps)))
        return tuple({**cited, **{hit.chunk.id: hit for hit in read}}.values())[:most]

    def _purpose(self, session: Session, task: _Task) -> str:
        """Returns the question to show beside the step's question; the step's question itself means none."""
        return session.question.text if self._config.show_purpose else task.question

    def _k(self, session: Session) -> int:
        return session.question.k or self._config.k


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    fine = backends.named_searcher(config.fine)
    return SessionReasoner(
        "par",
        backends,
        config.searcher,
        PlanActReview(config, fine).solve,
        memory=config.memory,
        check=require_triples("par", backends) if config.preset == "paper" else passages_are_enough,
        uses=(backends.named_searcher(config.searcher)[1], *([fine[1]] if config.review else [])),
    )
