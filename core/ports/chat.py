"""Messages to a language model and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from core.trace import Trace

__all__ = ["ChatModel", "ChatModels", "ChatRequest", "Completion", "Message", "OnToken", "Speaker"]

OnToken = Callable[[str], None]
"""Is told each piece of the text as it comes. Pieces are provisional: the completion has the last word."""


class Speaker(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, kw_only=True)
class Message:
    speaker: Speaker
    content: str


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One call. `role` names the action that asks, such as `plan` or `review`: it chooses the model and is what usage
    is counted under.

    With `schema` (JSON schema) the text that comes back is meant to be JSON of that shape; who asked checks it.
    `corpus_id` and `chunk_ids` say whose text the messages hold, so that a cache can forget it with its document.
    `question` is what the call is about, and `labels` say more: they are sent along as metadata where the settings ask
    for it, and change nothing else. `sample` tells several drafts of one prompt apart.
    """

    role: str
    messages: tuple[Message, ...]
    prompt_hash: str
    schema: Mapping[str, Any] | None = None
    corpus_id: str = ""
    chunk_ids: frozenset[str] = frozenset()
    question: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    temperature: float = 0.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    sample: int = 0


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What came back. `cut`: the model ran into its limit of tokens. `estimated`: the endpoint told no usage, so the
    tokens are counted from the characters. `reasoned`: it wrote reasoning apart from its text.
    """

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False
    estimated: bool = False
    reasoned: bool = False


class ChatModel(Protocol):
    """A language model behind one name."""

    @property
    def model(self) -> str: ...

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        """One answer. Cancelling the task ends the call at the endpoint too.

        Raises `ModelUnavailable` where the endpoint cannot be reached or has no time, `ContextTooLong` where the
        messages do not fit, `ModelFailed` where it refuses (a wrong key, an unknown model) or answers with nothing, and
        `BudgetExhausted` before a call that the trace's budget does not allow.
        """
        ...


class ChatModels(Protocol):
    """The models that are configured, by role."""

    def of(self, role: str) -> ChatModel:
        """The model of a role: its own where one is set, else the one of all."""
        ...

    async def forget(self, corpus_id: str) -> None:
        """Forget every answer that is kept about a corpus."""
        ...

    async def close(self) -> None:
        """Give back connections; nothing is asked afterwards."""
        ...
