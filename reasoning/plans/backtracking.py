"""Going back: a step is asked for another answer if no passage answers what the next step asks about the first.

`find_refused` decides whether, and which parent of a step is asked. The reasoner then asks both again inside
`going_back`, which records the steps as they were before unless the new answers are accepted.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.ports.reasoning import Step, Support
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode
from reasoning.plans.known_answers import KnownAnswer, split_values

WENT_BACK = "went back"
"""The verdict of a step whose answer replaces its first one."""
_CALLS = 3
"""Calls that must be left: the step for another answer, the step that needs it, and the last call."""


@dataclass(frozen=True, kw_only=True)
class RefusedAnswer:
    """The answer of the step `id`, and the step `child_id` that was asked with it and has no answer."""

    id: str
    answer: KnownAnswer
    child_id: str
    child: KnownAnswer

    @property
    def values(self) -> list[str]:
        return split_values(self.answer.answer)


def find_refused(
    session: Session,
    nodes: Sequence[PlannedNode],
    node: PlannedNode,
    child: KnownAnswer,
    parents: Mapping[str, KnownAnswer],
) -> RefusedAnswer | None:
    """Returns the parent of a node to ask for another answer, the least supported one; None if there is none.

    `child` is the node's own answer, `parents` are the answers of its parents by id. Nothing is refused if the node has
    an answer, be it a guess, or if a parent has none, so that the node was asked with a hole in its question. A parent
    is asked only if no other node needs its answer, so at most once, and if the budget has room for the calls that
    follow.
    """
    if child.support is not Support.NONE or any(answer.support is Support.NONE for answer in parents.values()):
        return None
    needed = [parent for other in nodes for parent in other.parents]
    refused = [
        RefusedAnswer(id=id, answer=answer, child_id=node.id, child=child)
        for id, answer in parents.items()
        if needed.count(id) == 1
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
    """A step that is asked for another answer: `answer` is the new one, `accepted` whether it replaces the first."""

    answer: str = ""
    accepted: bool = field(default=False, init=False)

    def accept(self, child: Support) -> bool:
        """Accepts the new answers of both steps if the next step's answer is stated, and returns whether it is."""
        self.accepted = child is Support.STATED
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
    why = f"no passage answers what step {refused.child_id} asks about {old!r}"
    if attempt.accepted:
        return f"step {refused.id} went back: {new!r} instead of {old!r}, since {why}"
    kept = f"nor about {new!r}" if new else "and the passages give no other answer"
    return f"step {refused.id} went back, since {why}, {kept}; {old!r} was kept"
