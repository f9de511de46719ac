"""Carries out the plan of `auto`: each node runs as soon as its parents are answered.

`NodeSolver` searches for one node and answers it, with a second look at other passages unless the answer is stated.
`Execution` asks a parent for another answer if a node finds nothing about the first (`reasoning.plans.backtracking`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from core.events import PlannedStep
from core.ports.reasoning import Support, weakest_support
from core.ports.retrieval import Fact, Hit, SearchResult
from core.text.lead_in import split_lead_in
from core.text.names import normalise
from reasoning.actions.answers.answer import CitedAnswer, StepAnswer, answer_otherwise, answer_step, fill_step
from reasoning.actions.planning.plan import FirstLook
from reasoning.engine.session import OpenStep, Session, gather
from reasoning.plans.backtracking import WENT_BACK, RefusedAnswer, find_refused, going_back
from reasoning.plans.dag import PlannedNode, compute_depths, find_sinks, replace_tags, run_when_ready
from reasoning.plans.known_answers import KnownAnswer

LOOK = "Q0.1"
"""The id of the step of the first look. The nodes of depth 1 depend on it."""


@dataclass(frozen=True, kw_only=True)
class NodeAnswer:
    """The outcome of a node. `question` has the answers of the parents in place of the tags.

    `values` are the parts of the answer, mostly one. `unread` are passages that were found for a second look and that
    the last call reads. `parts` are the answers to several questions, if the node was asked for several values.
    """

    node: PlannedNode
    question: str
    answer: CitedAnswer
    values: tuple[str, ...] = ()
    unread: tuple[Hit, ...] = ()
    parts: tuple[KnownAnswer, ...] = ()

    @property
    def found(self) -> bool:
        return self.answer.found

    @property
    def known(self) -> tuple[KnownAnswer, ...]:
        """The answers as later calls read them: one for each value that the node was asked for."""
        return self.parts or (self.answer.known(self.question),)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """The state of a step: its answer, and the passages of the second look, which no call has read yet."""

    reply: StepAnswer = field(default_factory=StepAnswer)
    fresh: tuple[Hit, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NodeSolver:
    """Reads `k` passages in the first call of a node, and `more` further passages in the second call.

    Unless the answer of the `goal` is stated, the last call follows. It reads what the second look of the goal would
    read, so that the goal has no second call.

    `purpose` is the question that the plan is for, and `read` are the passages of the first look at it. A node whose
    parents have several values is asked for at most `values` of them.
    """

    session: Session
    purpose: str
    k: int
    more: int
    values: int
    read: Sequence[Hit]
    goal: str = ""

    async def solve(self, node: PlannedNode, parents: Sequence[NodeAnswer], depth: int) -> NodeAnswer:
        """Answers a node from its own passages and its parents' answers, and records it as a step.

        With several questions, because a parent has several values, each is a step, and the answers are joined.
        """
        questions = _fill_tags(node, parents, self.values)
        known = [known for parent in parents for known in parent.known]
        ids = [node.id, *(f"{node.id}/{number}" for number in range(2, len(questions) + 1))]
        found = await gather(
            self._take_step(id, question, known, node, depth) for id, question in zip(ids, questions, strict=True)
        )
        unread = _distinct([hit for look in found for hit in look.fresh])
        if len(found) > 1:
            return _join(node, questions, [look.reply for look in found], unread)
        reply = found[0].reply
        return NodeAnswer(node=node, question=questions[0], answer=reply.answer, values=reply.values, unread=unread)

    async def solve_otherwise(
        self, refused: RefusedAnswer, parent: NodeAnswer, known: Sequence[KnownAnswer], depth: int
    ) -> NodeAnswer:
        """Asks an answered node for another answer than the refused one, and records it as its step.

        The call reads the passages of both looks at the node, and `known` are the answers of the node's own parents.
        """
        node, question = parent.node, parent.question
        async with self.session.step(node.id, question, parents=_parents_of(node), depth=depth) as step:
            found = await self._search(question, step)
            hits = found.hits[: self.k + self.more]
            reply = await answer_otherwise(
                self.session,
                question,
                hits,
                purpose=self.purpose,
                step=step.id,
                refused=refused,
                known=known,
                facts=found.facts,
            )
            fill_step(step, reply.answer)
            step.verdict = WENT_BACK
        return NodeAnswer(node=node, question=question, answer=reply.answer, values=reply.values)

    async def _take_step(
        self, id: str, question: str, known: Sequence[KnownAnswer], node: PlannedNode, depth: int
    ) -> _Look:
        async with self.session.step(id, question, parents=_parents_of(node), depth=depth) as step:
            look = await self._look(step, question, known)
            if node.id == self.goal or not look.fresh:
                return look
            self.session.record(step)  # so that the answer is there if the budget ends in the second look
            return _Look(reply=await self._look_again(step, question, look, known))

    async def _look(self, step: OpenStep, question: str, known: Sequence[KnownAnswer]) -> _Look:
        """Asks the step over its own passages. Unless the answer is stated, searches for what a second look reads."""
        found = await self._search(question, step)
        hits = found.hits
        if normalise(question) == normalise(self.purpose):  # the plan is the question itself, whose passages were read
            hits = _unread(hits, self.read)
        read = hits[: self.k]
        first = StepAnswer()
        if read or known:
            first = await self._ask(question, read, step, known, found.facts)
        if first.answer.support is Support.STATED or not self.more:
            return _Look(reply=first)
        query = first.query or question
        asked = SearchResult(hits=(), generation=0)
        if query != question:
            asked = await self._search(query, step)
        fresh = _unread((*asked.hits, *hits[self.k :], *self.read), read)[: self.more]
        return _Look(reply=first, fresh=fresh, facts=(*asked.facts, *found.facts))

    async def _search(self, query: str, step: OpenStep) -> SearchResult:
        return await self.session.search_fully(_keep_lead_in(query, self.purpose), self.k + self.more, step=step.id)

    async def _look_again(self, step: OpenStep, question: str, look: _Look, known: Sequence[KnownAnswer]) -> StepAnswer:
        """Asks the step over the fresh passages and the two best of the first look. The better support wins."""
        first = look.reply
        best = _distinct((*first.answer.cited, *first.answer.shown))[:2]
        second = await self._ask(question, (*look.fresh, *best), step, known, look.facts, earlier=first)
        if second.answer.support.rank < first.answer.support.rank:
            fill_step(step, first.answer)
            return first
        return second

    async def _ask(
        self,
        question: str,
        passages: Sequence[Hit],
        step: OpenStep,
        known: Sequence[KnownAnswer],
        facts: Sequence[Fact],
        earlier: StepAnswer | None = None,
    ) -> StepAnswer:
        reply = await answer_step(
            self.session,
            question,
            passages,
            purpose=self.purpose,
            step=step.id,
            known=known,
            earlier=earlier,
            facts=facts,
        )
        fill_step(step, reply.answer)
        return reply


def _keep_lead_in(query: str, question: str) -> str:
    """Returns the query of a step with the lead-in of the question that it serves: the document that this names holds
    the answers of all steps.
    """
    lead_in, _ = split_lead_in(question)
    return query if not lead_in or split_lead_in(query)[0] else f"Consider {lead_in.strip()}; {query}"


def _parents_of(node: PlannedNode) -> tuple[str, ...]:
    """Returns the ids of the steps that a node depends on."""
    return node.parents or (LOOK,)


def _fill_tags(node: PlannedNode, parents: Sequence[NodeAnswer], most: int) -> list[str]:
    """Returns the question with the values of the parents' answers in place of the tags, once for each combination."""
    values = [parent.values or (parent.answer.text,) for parent in parents]
    filled: dict[str, None] = {}
    for combination in product(*values):  # lazily: a model decides how many there are
        answers = {parent.node.id: value for parent, value in zip(parents, combination, strict=True)}
        filled.setdefault(replace_tags(node.question, answers))
        if len(filled) == most:
            break
    return list(filled)


def _join(
    node: PlannedNode, questions: Sequence[str], answers: Sequence[StepAnswer], unread: tuple[Hit, ...]
) -> NodeAnswer:
    """Joins the answers to the questions. The result is never `stated`: which of the values is meant is open."""
    parts = tuple(part.answer.known(question) for question, part in zip(questions, answers, strict=True))
    answered = [part for part in answers if part.answer.found]
    if not answered:
        return NodeAnswer(node=node, question=questions[0], answer=answers[0].answer, unread=unread, parts=parts)
    values = tuple(dict.fromkeys(value for part in answered for value in part.values))
    support = weakest_support([*(part.answer.support for part in answered), Support.INFERRED])
    quotes = [quote for part in answered for quote in part.answer.quotes]
    answer = CitedAnswer(
        text="; ".join(values),
        support=support,
        unstated="which of several values is meant",
        quotes=() if support is Support.MEMORY else tuple(quotes),
    )
    return NodeAnswer(node=node, question=questions[0], answer=answer, values=values, unread=unread, parts=parts)


def _unread(hits: Sequence[Hit], read: Sequence[Hit]) -> tuple[Hit, ...]:
    ids = {hit.chunk.id for hit in read}
    return _distinct([hit for hit in hits if hit.chunk.id not in ids])


def _distinct(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple({hit.chunk.id: hit for hit in hits}.values())


class Execution:
    """Carries out the plan of a first look. `answers` are by node.

    A node whose parent has no answer is not asked: its question would have a hole in it.
    """

    def __init__(self, session: Session, look: FirstLook, solver: NodeSolver, *, backtrack: bool) -> None:
        self.nodes = look.nodes
        self.answers: dict[str, NodeAnswer] = {}
        self._known: Mapping[str, CitedAnswer] = look.known
        self._taken: set[str] = set()
        self._session = session
        self._solver = solver
        self._backtrack = backtrack
        self._depths = {id: 1 + depth for id, depth in compute_depths(look.nodes).items()}

    async def run(self) -> None:
        """Answers every node that can be asked. Raises `BudgetExhausted` after the calls that are under way."""
        self._session.plan(
            [
                PlannedStep(id=node.id, question=node.question, parents=_parents_of(node), depth=self._depths[node.id])
                for node in self.nodes
            ]
        )
        await run_when_ready(self.nodes, self._answer)

    @property
    def chain(self) -> list[NodeAnswer]:
        """The answers of the nodes that were asked, parents before children."""
        return [self.answers[node.id] for node in self.nodes if node.id in self.answers]

    @property
    def goal(self) -> NodeAnswer | None:
        """The answer of the plan's only sink; None if there are several, or if it was not asked."""
        sinks = find_sinks(self.nodes)
        return self.answers.get(sinks[0].id) if len(sinks) == 1 else None

    @property
    def last_depth(self) -> int:
        return max(self._depths.values(), default=0)

    async def _answer(self, node: PlannedNode) -> None:
        if not all(parent in self.answers and self.answers[parent].found for parent in node.parents):
            return
        parents = [self.answers[parent] for parent in node.parents]
        known = self._known.get(node.id)
        if known is not None and self._taken.issuperset(node.parents):
            self._taken.add(node.id)
            self.answers[node.id] = await self._take_known(node, known, parents)
        else:
            answer = await self._solver.solve(node, parents, self._depths[node.id])
            is_goal = node.id == self._solver.goal  # the last call comes first: it reads more
            self.answers[node.id] = answer if is_goal else await self._go_back(node, parents, answer)

    async def go_back_from_goal(self) -> NodeAnswer | None:
        """Returns the stated answer of the goal after another answer of a parent, with the support of both; None if
        there is none. It is for a question to which the last call found no answer.
        """
        goal = self.goal
        if goal is None:
            return None
        answer = await self._go_back(goal.node, [self.answers[id] for id in goal.node.parents], goal)
        if answer is goal:
            return None
        parents = [self.answers[id].answer for id in goal.node.parents]
        support = weakest_support([answer.answer.support, *(parent.support for parent in parents)])
        unstated = "; ".join(parent.unstated for parent in parents if parent.unstated)
        return replace(answer, answer=replace(answer.answer, support=support, unstated=unstated))

    async def _go_back(self, node: PlannedNode, parents: Sequence[NodeAnswer], answer: NodeAnswer) -> NodeAnswer:
        """Returns the answer of a node, or, if it is not stated, the stated answer after another answer of a parent.

        Nothing is refused where several values were asked for: which of them is meant is open.
        """
        if answer.parts or not self._backtrack:
            return answer
        known = {parent.node.id: parent.answer.known(parent.question) for parent in parents if not parent.parts}
        refused = find_refused(self._session, self.nodes, node, answer.answer.known(answer.question), known)
        if refused is None:
            return answer
        with going_back(self._session, refused) as attempt:
            first = self.answers[refused.id]
            before = [known for id in first.node.parents for known in self.answers[id].known]
            parent = await self._solver.solve_otherwise(refused, first, before, self._depths[refused.id])
            attempt.answer = parent.answer.text
            if parent.found:
                others = [parent if other.node.id == refused.id else other for other in parents]
                child = await self._solver.solve(node, others, self._depths[node.id])
                if attempt.accept(child.answer.support):
                    self.answers[refused.id] = parent
                    return child
        return answer

    async def _take_known(self, node: PlannedNode, known: CitedAnswer, parents: Sequence[NodeAnswer]) -> NodeAnswer:
        """Records a node that the first look found stated as a step without a call."""
        question = replace_tags(node.question, {parent.node.id: parent.answer.text for parent in parents})
        depth = self._depths[node.id]
        async with self._session.step(node.id, question, parents=_parents_of(node), depth=depth) as step:
            step.hits = tuple({quote.hit.chunk.id: quote.hit for quote in known.quotes}.values())
            fill_step(step, known)
        return NodeAnswer(node=node, question=question, answer=known)
