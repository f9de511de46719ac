"""The usage of models in responses: calls, tokens and seconds, in total and by action."""

from typing import Self

from pydantic import Field

from api.schemas.base import Out
from core.usage import Usage

__all__ = ["UsageOut"]


class ActionUsageOut(Out):
    """The usage of one model by one action. `seconds` are a sum, also over calls that ran at the same time."""

    action: str
    model: str
    calls: int
    cached: int = Field(description="Calls answered from the cache; they cost nothing and are in no other number.")
    failed: int = Field(description="Calls that failed; `calls` includes them.")
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    estimated: bool = Field(
        description="The endpoint reported no usage, and the tokens are estimated from the characters."
    )


class UsageOut(Out):
    """The sums over all actions, and each action."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    actions: list[ActionUsageOut]

    @classmethod
    def from_usage(cls, usage: Usage) -> Self:
        return cls(
            calls=usage.calls,
            cached=usage.cached,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=usage.seconds,
            actions=[ActionUsageOut.model_validate(row) for row in usage.actions.values()],
        )
