"""One call of a model as an action puts it, and what may be done where it fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.errors import ContextTooLong, HopweaveError, ModelFailed, ModelRefused, ModelUnavailable
from core.ports.chat import ChatRequest
from core.ports.retrieval import Hit
from core.prompting.prompts import Prompt

__all__ = ["Call", "fewer", "named"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a model by an action. `question` is what it is about; `passages` fill the prompt's `{{passages}}`,
    numbered from 1, and are dropped from the end where the model cannot read them all.

    `role` is what the call is counted under and what chooses the model; '' is the prompt's name.
    `chunks` are ids of chunks whose words stand in the variables (as quotes or answers); `conversation` puts the
    history before the last message. `sample` and `temperature` as in `ChatRequest`. `until` is a word without which a
    text that was cut off is no answer.
    """

    prompt: Prompt
    question: str
    role: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    passages: Sequence[Hit] = ()
    chunks: frozenset[str] = frozenset()
    step: str = ""
    conversation: bool = False
    temperature: float = 0.0
    sample: int = 0
    stop: tuple[str, ...] = ()
    until: str = ""


def fewer(shown: tuple[Hit, ...], error: ContextTooLong) -> tuple[Hit, ...]:
    """Two thirds of the passages, and at least one: where even that is too long, the error stands."""
    if len(shown) <= 1:
        raise error
    return shown[: len(shown) * 2 // 3]


@contextmanager
def named(request: ChatRequest) -> Iterator[None]:
    """What an endpoint says knows nothing of steps: the error says which one it was."""
    try:
        yield
    except (ModelUnavailable, ModelFailed) as error:
        name = f"step {request.role!r}: "
        if str(error).startswith(name):
            raise
        kinds: tuple[type[HopweaveError], ...] = (ContextTooLong, ModelRefused, ModelFailed, ModelUnavailable)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"{name}{error}") from error
