"""One node of a plan in `auto`: searched for, answered with quotes, and reviewed if no quote holds the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.events import ReviewEvent
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit, Searcher
from reasoning.actions.answers.answer import NO_ANSWER, CitedAnswer
from reasoning.actions.answers.answer_node import answer_node
from reasoning.actions.judging.review import Fact, Verdict, review
from reasoning.citations.quotes import is_quoted
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, replace_tags
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer

__all__ = ["NodeAnswer", "NodeSolver"]


@dataclass(frozen=True, kw_only=True)
class NodeAnswer:
    """The outcome of a node. `question` has the answers of the parents in place of the tags.

    `verdict`: `supported` (the quotes hold the answer word for word), `unsupported`, `reviewed`, `revised`,
    `asked again`, or `insufficient` (then `text` is empty).
    """

    node: PlannedNode
    question: str
    text: str
    verdict: str
    quotes: tuple[Quote, ...] = ()

    @property
    def found(self) -> bool:
        return self.verdict != "insufficient"

    @property
    def known(self) -> KnownAnswer:
        return KnownAnswer(question=self.question, answer=self.text or UNKNOWN, quotes=self.quotes)


@dataclass(frozen=True, kw_only=True)
class NodeSolver:
    """Reads `k` passages in the first call. The second look reads `more` others, and as many that `fine` finds by the
    graph; `reviews` False leaves it out.

    `private`: the call that wrote the plan had read text that comes from passages. `depths` are by node.
    """

    session: Session
    k: int
    more: int
    fine: tuple[str, Searcher] | None
    reviews: bool
    private: bool
    depths: Mapping[str, int] = field(default_factory=dict)

    async def solve(self, node: PlannedNode, parents: Sequence[NodeAnswer]) -> NodeAnswer:
        """Answers a node from its own passages and its parents' answers, and records it as a step."""
        question = replace_tags(node.question, {parent.node.id: _stand_in(parent) for parent in parents})
        depth = self.depths.get(node.id, 0)
        async with self.session.step(node.id, question, parents=node.parents, depth=depth) as step:
            answer = await self._answer(node, question, parents)
            step.answer, step.verdict, step.quotes = answer.text, answer.verdict, answer.quotes
        return answer

    async def _answer(self, node: PlannedNode, question: str, parents: Sequence[NodeAnswer]) -> NodeAnswer:
        private = bool(parents) or self.private
        hits = await self.session.search(question, self.k + self.more, step=node.id, private=private)
        known = [parent.known for parent in parents if parent.found]
        cited = NO_ANSWER
        if hits or known:
            cited = await answer_node(self.session, question, hits[: self.k], step=node.id, known=known)
        answer = NodeAnswer(node=node, question=question, text=cited.text, verdict="supported", quotes=cited.quotes)
        if cited.sufficient and is_quoted(cited.text, cited.quotes):
            return answer
        return await self._review(answer, cited, hits[self.k :], known)

    async def _review(
        self, first: NodeAnswer, cited: CitedAnswer, rest: Sequence[Hit], known: Sequence[KnownAnswer]
    ) -> NodeAnswer:
        """Reviews an answer with passages that were not read yet; if the review leaves a question, asks again once."""
        unreviewed = replace(first, verdict="unsupported") if cited.sufficient else _insufficient(first)
        if not self.reviews:
            return unreviewed
        session, step = self.session, first.node.id
        fine, facts = await self._search_graph(first.question, cited.text, step)
        evidence = _distinct([*cited.cited, *rest, *fine])
        if not evidence:
            return unreviewed
        chunks = {hit.chunk.id for hit in cited.cited}
        result = await review(session, first.question, cited.text, evidence, facts=facts, step=step, chunks=chunks)
        session.trace.emit(ReviewEvent(verdict=result.verdict, text=result.text, step=step))
        if result.verdict is Verdict.PASS and cited.text:
            return replace(first, verdict="reviewed")
        if result.verdict is Verdict.REVISED and result.quotes:
            return replace(first, text=result.text, verdict="revised", quotes=result.quotes)
        return await self._ask_again(first, result.text, [*cited.shown, *evidence], known)

    async def _ask_again(
        self, first: NodeAnswer, question: str, seen: Sequence[Hit], known: Sequence[KnownAnswer]
    ) -> NodeAnswer:
        """Asks the question that the review left, but only if its search finds passages that were not read yet."""
        session, step = self.session, first.node.id
        if not question.strip():
            return _insufficient(first)
        hits = await session.search(question, self.k + self.more, step=step)
        read = {hit.chunk.id for hit in seen}
        fresh = [hit for hit in hits if hit.chunk.id not in read][: self.k]
        if not fresh:
            return _insufficient(first)
        cited = await answer_node(session, question, fresh, step=step, known=known)
        if not cited.sufficient:
            return _insufficient(first)
        return replace(first, text=cited.text, verdict="asked again", quotes=cited.quotes)

    async def _search_graph(self, question: str, answer: str, step: str) -> tuple[tuple[Hit, ...], tuple[Fact, ...]]:
        """Returns what `fine` finds from the names in question and answer: passages, and the facts that they state."""
        if self.fine is None or not self.more:
            return (), ()
        text = f"{question} {answer}".strip()
        found = await self.session.search_fully(text, self.more, step=step, searcher=self.fine)
        return found.hits, found.facts


def _insufficient(first: NodeAnswer) -> NodeAnswer:
    return replace(first, text="", verdict="insufficient", quotes=())


def _stand_in(parent: NodeAnswer) -> str:
    """Returns a parent's answer, or, if it has none, its question, with which a search can still be made."""
    return parent.text if parent.found else f"({parent.question.rstrip('?. ')})"


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    return list({hit.chunk.id: hit for hit in hits}.values())
