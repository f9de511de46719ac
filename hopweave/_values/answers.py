"""Questions and answers: limits and history, cited answers and their verification, events on the way, stored questions.

The last event of `ask_events` is the `Answer`. The `step` of an event is the id of its step, empty for the question as
a whole.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Unsupported: TypeAlias = Literal["infer", "abstain", "memory"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """Limits of one question: calls of models, tokens (prompt and completion together), seconds.

    Each may be at most the server's own limit, which holds where none is given.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A turn of the conversation before the question."""

    role: Literal["user", "assistant"]
    content: str
