"""The cost of model calls: calls, tokens and seconds."""

from dataclasses import dataclass

__all__ = ["ActionUsage", "Usage"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionUsage:
    """The calls of one action to one model. `seconds` add up, also of calls that ran side by side.

    `cached` calls cost nothing and are in no other number; `failed` ones are among `calls`. With `estimated`, the
    tokens are counted from the characters, since the endpoint reported none.
    """

    action: str
    model: str
    calls: int
    cached: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    estimated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Sums over all actions, and each of them."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    actions: tuple[ActionUsage, ...]
