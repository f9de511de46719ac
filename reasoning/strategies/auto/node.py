"""One node of a plan: searched for, answered with quotes, and looked at again only where the answer does not hold."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.events import ReviewEvent
from core.ports.reasoning import Quote, Step
from core.ports.retrieval import Hit, Searcher
from reasoning.actions.answers.answer import Cited, KnownAnswer
from reasoning.actions.answers.answer_node import answer_node
from reasoning.actions.judging.review import Fact, Verdict, review
from reasoning.citations.quoting import supported_by
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, filled

__all__ = ["NodeAnswer", "NodeSolver"]

_NOTHING = Cited(text="", sufficient=False, cited=(), shown=())


@dataclass(frozen=True, kw_only=True)
class NodeAnswer:
    """What came of a node. `question` is as it was asked, with the answers of its parents in place of the tags.

    `verdict`: `supported` (what is quoted holds the answer word for word), `reviewed`, `revised`, `asked again`, or
    `insufficient` (then `text` is empty).
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
        return KnownAnswer(question=self.question, answer=self.text or "(not found)", quotes=self.quotes)


@dataclass(frozen=True, kw_only=True)
class NodeSolver:
    """`k` passages are read at once; `more` others, and `fine` ones that the graph leads to, where these do not do.

    `private`: what wrote the plan had been shown something that is drawn from passages.
    """

    session: Session
    k: int
    more: int
    fine: tuple[str, Searcher] | None
    reviews: bool
    private: bool
    depths: Mapping[str, int] = field(default_factory=dict)

    async def solve(self, node: PlannedNode, parents: Sequence[NodeAnswer]) -> NodeAnswer:
        """Answer a node from its own passages and its parents' answers, and record it as a step."""
        began = time.monotonic()
        question = filled(node.question, {one.node.id: _stand_in(one) for one in parents})
        private = bool(parents) or self.private
        hits = await self.session.search(question, self.k + self.more, step=node.id, private=private)
        known = [one.known for one in parents if one.found]
        said = _NOTHING
        if hits or known:
            said = await answer_node(self.session, question, hits[: self.k], step=node.id, known=known)
        result = NodeAnswer(node=node, question=question, text=said.text, verdict="supported", quotes=said.quotes)
        if not (said.sufficient and supported_by(said.text, said.quotes)):
            result = await self._looked_at_again(result, said, hits[self.k :], known)
        self.session.answered(self._step(result, time.monotonic() - began))
        return result

    async def _looked_at_again(
        self, first: NodeAnswer, said: Cited, rest: Sequence[Hit], known: Sequence[KnownAnswer]
    ) -> NodeAnswer:
        """Reviewed with what was not read yet, and asked again once if the review only leaves a question."""
        unread = replace(first, verdict="unsupported") if said.sufficient else _insufficient(first)
        if not self.reviews:
            return unread
        session, step = self.session, first.node.id
        fine, facts = await self._fine(first.question, said.text, step)
        evidence = _distinct([*said.cited, *rest, *fine])
        if not evidence:
            return unread
        chunks = {hit.chunk.id for hit in said.cited}
        judged = await review(session, first.question, said.text, evidence, facts=facts, step=step, chunks=chunks)
        session.trace.emit(ReviewEvent(verdict=judged.verdict, text=judged.text, step=step))
        if judged.verdict is Verdict.PASS and said.text:
            return replace(first, verdict="reviewed")
        if judged.verdict is Verdict.REVISED and judged.quotes:
            return replace(first, text=judged.text, verdict="revised", quotes=judged.quotes)
        return await self._asked_again(first, judged.text, [*said.shown, *evidence], known)

    async def _asked_again(
        self, first: NodeAnswer, question: str, seen: Sequence[Hit], known: Sequence[KnownAnswer]
    ) -> NodeAnswer:
        """With the question that the review left; only if it brings passages that nobody has read."""
        session, step = self.session, first.node.id
        if not question.strip():
            return _insufficient(first)
        hits = await session.search(question, self.k + self.more, step=step)
        read = {hit.chunk.id for hit in seen}
        fresh = [hit for hit in hits if hit.chunk.id not in read][: self.k]
        if not fresh:
            return _insufficient(first)
        said = await answer_node(session, question, fresh, step=step, known=known)
        if not said.sufficient:
            return _insufficient(first)
        return replace(first, text=said.text, verdict="asked again", quotes=said.quotes)

    async def _fine(self, question: str, answer: str, step: str) -> tuple[tuple[Hit, ...], tuple[Fact, ...]]:
        """What the graph leads to from the names in question and answer: passages, and statements that they make."""
        if self.fine is None or not self.more:
            return (), ()
        text = f"{question} {answer}".strip()
        found = await self.session.search_fully(text, self.more, step=step, searcher=self.fine)
        return found.hits, found.facts

    def _step(self, result: NodeAnswer, seconds: float) -> Step:
        node = result.node
        return Step(
            id=node.id,
            question=result.question,
            hits=self.session.found(node.id),
            answer=result.text,
            parents=node.parents,
            depth=self.depths.get(node.id, 0),
            verdict=result.verdict,
            quotes=result.quotes,
            seconds=seconds,
            tokens=self.session.tokens_of(node.id),
        )


def _insufficient(first: NodeAnswer) -> NodeAnswer:
    return replace(first, text="", verdict="insufficient", quotes=())


def _stand_in(parent: NodeAnswer) -> str:
    """A parent's answer; where there is none, its question, which a search can still go by."""
    return parent.text if parent.found else f"({parent.question.rstrip('?. ')})"


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    return list({hit.chunk.id: hit for hit in hits}.values())
