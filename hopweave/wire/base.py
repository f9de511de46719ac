"""`doc`, which describes a field, and the values that several others hold: places in texts, and the usage of models."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ActionUsage", "Span", "Usage", "doc"]


def doc(description: str) -> Mapping[str, str]:
    """Returns the metadata of a dataclass' field from which pydantic takes the field's description."""
    return {"description": description}


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A half-open range in Unicode code points."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionUsage:
    """The usage of one model by one action. `seconds` are a sum, also over calls that ran at the same time."""

    action: str
    model: str
    calls: int
    cached: int = field(metadata=doc("Calls answered from the cache; they cost nothing and are in no other number."))
    failed: int = field(metadata=doc("Calls that failed; `calls` includes them."))
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    estimated: bool = field(
        metadata=doc("The endpoint reported no usage, and the tokens are estimated from the characters.")
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The sums over all actions, and each action."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    actions: tuple[ActionUsage, ...]
