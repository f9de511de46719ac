"""The usage of language models, by action and model."""

from dataclasses import dataclass, field

__all__ = ["ActionUsage", "Usage"]


@dataclass(kw_only=True)
class ActionUsage:
    """What one action spent at one model.

    `seconds` are the sum over calls, also of concurrent calls. `cached` calls were answered from the cache; they are in
    no other number. `failed` calls are included in `calls`. `estimated` says that tokens were counted from characters.
    """

    action: str
    model: str
    calls: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    estimated: bool = False


@dataclass
class Usage:
    """The rows of all actions, in the order of their first call."""

    actions: dict[tuple[str, str], ActionUsage] = field(default_factory=dict)

    def row(self, action: str, model: str) -> ActionUsage:
        """Returns the row of an action and model, to which a call is added."""
        return self.actions.setdefault((action, model), ActionUsage(action=action, model=model))

    @property
    def calls(self) -> int:
        return sum(row.calls for row in self.actions.values())

    @property
    def cached(self) -> int:
        return sum(row.cached for row in self.actions.values())

    @property
    def prompt_tokens(self) -> int:
        return sum(row.prompt_tokens for row in self.actions.values())

    @property
    def completion_tokens(self) -> int:
        return sum(row.completion_tokens for row in self.actions.values())

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def seconds(self) -> float:
        return sum(row.seconds for row in self.actions.values())
