"""What models were called for, over the wire."""

from pydantic import Field

from api.schemas.base import Out
from core.usage import Usage

__all__ = ["UsageOut", "usage_out"]


class ActionUsageOut(Out):
    """What one action cost at one model. `seconds` add up, also of calls that ran side by side."""

    action: str
    model: str
    calls: int
    cached: int = Field(description="Answered from the cache; they cost nothing and are in no other number.")
    failed: int = Field(description="Among `calls`.")
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    estimated: bool = Field(description="The endpoint told no usage: the tokens are counted from the characters.")


class UsageOut(Out):
    """Sums over all actions, and each of them."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    actions: list[ActionUsageOut]


def usage_out(usage: Usage) -> UsageOut:
    return UsageOut(
        calls=usage.calls,
        cached=usage.cached,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=usage.seconds,
        actions=[ActionUsageOut.model_validate(row) for row in usage.actions.values()],
    )
