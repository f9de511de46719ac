"""Going back: a step whose answer does not lead on to the step that needs it is asked for another answer.

`find_refused` decides whether, and which parent of a step is asked. The reasoner then asks both again inside
`going_back`, which records the steps as they were before unless the new answers are accepted.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.ports.reasoning import Step, Support
from core.text.value_kinds import find_stems
from reasoning.citations.quotes import passage_text
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode
from reasoning.plans.known_answers import KnownAnswer, split_values

__all__ = ["WENT_BACK", "RefusedAnswer", "Return", "find_refused", "going_back", "leads_on"]

WENT_BACK = "went back"
"""The verdict of a step whose answer replaces an answer that did not lead on."""
_CALLS = 3
"""Calls that must be left: the step for another answer, the step that needs it, and the last call."""


@dataclass(frozen=True, kw_only=True)
class RefusedAnswer:
    """The answer of the step `id`, and the step `child_id` that was asked with it and found nothing about it."""

    id: str
    answer: KnownAnswer
    child_id: str
    child: KnownAnswer

    @property
    def values(self) -> list[str]:
        return split_values(self.answer.answer)


def leads_on(answer: KnownAnswer, child: KnownAnswer) -> bool:
    """Returns whether the step that was asked with an answer found something about it.

    It did not if it found no answer, or if its answer is inferred from passages of which none has most words of a value
    of the first answer.
    """
    if child.support is Support.NONE:
        return False
    if child.support is not Support.INFERRED or not child.quotes:
        return True
    passages = [find_stems(passage_text(quote.hit)) for quote in child.quotes]
    values = [find_stems(value) for value in split_values(answer.answer)]
    return any(2 * len(value & passage) > len(value) or not value for value in values for passage in passages)


def find_refused(
    session: Session,
    nodes: Sequence[PlannedNode],
    node: PlannedNode,
    child: KnownAnswer,
    parents: Mapping[str, KnownAnswer],
) -> RefusedAnswer | None:
    """Returns the parent of a node to ask for another answer, the least supported one; None if there is none.

    `child` is the node's own answer, `parents` are the answers of its parents by id. A parent is asked only if its
    answer does not lead on and no other node needs it, so at most once, and if the budget has room for the calls that
    follow. Nothing is refused if an answer is missing: the node was then asked with a hole in its question.
    """
    if any(answer.support is Support.NONE for answer in parents.values()):
        return None
    needed = [parent for other in nodes for parent in other.parents]
    refused = [
        RefusedAnswer(id=id, answer=answer, child_id=node.id, child=child)
        for id, answer in parents.items()
        if needed.count(id) == 1 and not leads_on(answer, child)
    ]
    if not refused:
        return None
    if not _has_room(session):
        session.trace.note(f"step {refused[0].id} was not asked for another answer: the budget has no room for it")
        return None
    return min(refused, key=lambda parent: parent.answer.support.rank)


def _has_room(session: Session) -> bool:
    """Whether the budget has room for the calls, each of which may take as many tokens as the costliest step so far."""
    calls, tokens = session.trace.calls_left, session.trace.tokens_left
    costliest = max((step.tokens for step in session.steps.values()), default=0)
    return (calls is None or calls >= _CALLS) and (tokens is None or tokens >= _CALLS * costliest)


@dataclass
class Return:
    """A step that is asked for another answer: `answer` is the new one, and `accepted` whether it leads on."""

    answer: str = ""
    accepted: bool = field(default=False, init=False)

    def accept(self, answer: KnownAnswer, child: KnownAnswer) -> bool:
        """Accepts the new answers of both steps if they lead on, and returns whether they do."""
        self.accepted = leads_on(answer, child)
        return self.accepted


@contextmanager
def going_back(session: Session, refused: RefusedAnswer) -> Iterator[Return]:
    """Records both steps again as they were unless the block accepts their new answers, also if the budget ends in it.

    A note says what came of it, unless the block ended with an error.
    """
    ids = (refused.id, refused.child_id)
    before: list[Step] = [session.steps[id] for id in ids]
    attempt = Return()
    try:
        yield attempt
        session.trace.note(_tell(refused, attempt))
    finally:
        if not attempt.accepted:
            for step in before:
                session.restore(step)


def _tell(refused: RefusedAnswer, attempt: Return) -> str:
    old, new = refused.answer.answer, attempt.answer
    why = f"step {refused.child_id} found nothing about {old!r}"
    if attempt.accepted:
        return f"step {refused.id} went back: {new!r} instead of {old!r}, since {why}"
    if new:
        return f"step {refused.id} went back, since {why}: {new!r} does not lead on either, and {old!r} was kept"
    return f"step {refused.id} went back, since {why}: the passages give no other answer, and {old!r} was kept"
