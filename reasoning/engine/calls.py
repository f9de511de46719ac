"""`ModelCall`: one call of a model as an action describes it, and how the call is retried or its error named."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.errors import ContextTooLong, HopweaveError, ModelFailed, ModelRefused, ModelUnavailable
from core.ports.chat import ChatRequest
from core.ports.retrieval import Fact, Hit
from core.prompting.prompts import Prompt

__all__ = ["ModelCall", "drop_last_passages", "name_step_in_errors"]


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One call of a model by an action. `question` is the question that the call is about.

    `passages` fill the prompt's `{{passages}}`, numbered from 1; the last ones are dropped if the model cannot read
    them all. `facts` fill its `{{facts}}`: those of the passages that are shown. `role` selects the model and is the
    name that usage is counted under; '' is the prompt's name. `chunks` are ids of chunks whose words are in the
    variables, as quotes or answers. `conversation` puts the history before the last message. `sample` and `temperature`
    are those of `ChatRequest`.
    """

    prompt: Prompt
    question: str
    role: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    passages: Sequence[Hit] = ()
    facts: Sequence[Fact] = ()
    chunks: frozenset[str] = frozenset()
    step: str = ""
    conversation: bool = False
    temperature: float = 0.0
    sample: int = 0


def drop_last_passages(shown: tuple[Hit, ...], error: ContextTooLong) -> tuple[Hit, ...]:
    """Returns the first two thirds of the passages, at least one; raises `error` if there is only one left."""
    if len(shown) <= 1:
        raise error
    return shown[: len(shown) * 2 // 3]


@contextmanager
def name_step_in_errors(request: ChatRequest) -> Iterator[None]:
    """Prefixes errors of the model with the request's role: the endpoint's own message does not name it."""
    try:
        yield
    except (ModelUnavailable, ModelFailed) as error:
        name = f"step {request.role!r}: "
        if str(error).startswith(name):
            raise
        kinds: tuple[type[HopweaveError], ...] = (ContextTooLong, ModelRefused, ModelFailed, ModelUnavailable)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"{name}{error}") from error
