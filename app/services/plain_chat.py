"""A conversation with the configured language model, without retrieval: for titles and follow-ups of front ends."""

from dataclasses import dataclass

from app.container import Container
from core.errors import NotFound
from core.ports.chat import ChatRequest, Completion, Message, OnToken
from core.trace import Trace

__all__ = ["PLAIN_ROLE", "PlainRequest", "complete_plain"]

PLAIN_ROLE = "plain"
"""The role of these calls in the settings of language models, and the name under which usage is counted."""


@dataclass(frozen=True, kw_only=True)
class PlainRequest:
    """The messages as the client sent them, and the parameters that the model's endpoint gets."""

    messages: tuple[Message, ...]
    temperature: float = 1.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


async def complete_plain(
    container: Container, request: PlainRequest, trace: Trace, on_token: OnToken | None = None
) -> Completion:
    """Sends the messages to the model of the role `plain`, within the budget of the trace. Nothing is cached: a client
    that asks again wants another text.

    Raises `NotFound` if no language model is configured, and what a call of a model raises.
    """
    if container.models is None:
        raise NotFound(
            "the model 'plain' is the configured language model, and none is configured: set HOPWEAVE_LLM__MODEL "
            "(and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY)"
        )
    call = ChatRequest(
        role=PLAIN_ROLE,
        messages=request.messages,
        prompt_hash=PLAIN_ROLE,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        stop=request.stop,
        cached=False,
    )
    await container.check_tokens()
    with trace.timed("total"), container.count_tokens(trace):
        return await container.models.of(PLAIN_ROLE).complete(call, trace, on_token)
