"""The ports of language models: requests, completions, models by role, and the cache of answers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from core.trace import Trace

OnToken = Callable[[str], None]
"""Called with each piece of the text as it arrives. Pieces are provisional: the completion is final."""


class Speaker(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class ReplyForm(StrEnum):
    """What a reply looks like.

    `json` is JSON of the schema that is sent along. `free_json` is JSON without a schema, its names in any case; a list
    may stand without an object around it. The others are plain text.
    """

    JSON = "json"
    FREE_JSON = "free_json"
    LIST = "list"
    YES_NO = "yes_no"
    TEXT = "text"
    QUERY = "query"


@dataclass(frozen=True, kw_only=True)
class Message:
    speaker: Speaker
    content: str


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One call. `role` names the action that makes it, such as `plan` or `review`: it chooses the model, and usage is
    counted under it.

    With `schema` (JSON schema) the text is expected to be JSON of that schema; the caller validates it. `reply` is the
    form that the prompt asks for. `corpus_id` and `chunk_ids` name the chunks whose text is in the messages, so that a
    cache can delete the answer with their document. `question` and `labels` are sent as metadata if the settings say
    so, and have no other effect. `sample` distinguishes several drafts of one prompt. Without `cached`, the answer is
    neither read from a cache nor kept. An answer of more than `max_characters` fails; None: the model's bound.

    `given` makes the answer if no cache has it, and the model is not asked: part of the answer to another request is
    kept so, or only the cache is asked, if `given` raises.
    """

    role: str
    messages: tuple[Message, ...]
    prompt_hash: str
    reply: ReplyForm = ReplyForm.JSON
    schema: Mapping[str, Any] | None = None
    corpus_id: str = ""
    chunk_ids: frozenset[str] = frozenset()
    question: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    temperature: float = 0.0
    max_tokens: int | None = None
    max_characters: int | None = None
    stop: tuple[str, ...] = ()
    sample: int = 0
    cacheable: bool = True
    cached: bool = True
    given: "Callable[[], Completion] | None" = None


@dataclass(frozen=True, kw_only=True)
class Completion:
    """The result of a call. `cut`: the model reached its token limit. `estimated`: the endpoint returned no usage, so
    tokens are counted from characters. `reasoned`: the model wrote reasoning apart from its text.
    """

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False
    estimated: bool = False
    reasoned: bool = False


class ChatModel(Protocol):
    """A language model."""

    @property
    def model(self) -> str: ...

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        """Returns one answer. Cancelling the task ends the call at the endpoint too.

        Raises `ModelUnavailable` if the endpoint cannot be reached or is overloaded, `ContextTooLong` if the messages
        do not fit, `ModelFailed` if it refuses (a wrong key, an unknown model) or answers with nothing, and
        `BudgetExhausted` before a call that the trace's budget does not allow.
        """
        ...


class ChatModels(Protocol):
    """The configured models, by role."""

    def of(self, role: str) -> ChatModel:
        """Returns the model of a role: its own model if set, else the model of all roles."""
        ...

    def is_small(self, role: str) -> bool:
        """Returns whether the model of a role is so small that it is asked for less, and believed less."""
        ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes every cached answer about a corpus."""
        ...

    async def close(self) -> None:
        """Closes connections; no call may follow."""
        ...


@dataclass(frozen=True, kw_only=True)
class CachedAnswer:
    """An answer with the chunks whose text its question contained; without a corpus there are none."""

    key: str
    answer: str
    corpus_id: str = ""
    chunk_ids: frozenset[str] = frozenset()


class ModelCache(Protocol):
    """Answers by key.

    For each corpus the cache knows the generation of the record that it has followed. A reader brings it up to date
    first, so that answers are deleted with the documents that they were made from.
    """

    async def get(self, key: str) -> str | None: ...

    async def put(self, entry: CachedAnswer, generation: int) -> bool:
        """Stores an answer whose chunks all existed at this generation of its corpus (0 without a corpus).

        Returns False, and stores nothing, if the cache has followed the record further or does not know the corpus; the
        caller then reads the record again. An answer with the same key is replaced.
        """
        ...

    async def followed(self, corpus_id: str) -> int | None:
        """Returns the generation up to which removed chunks are handled; None for an unknown corpus."""
        ...

    async def follow(self, corpus_id: str, generation: int, removed: Collection[str] | None) -> None:
        """Deletes the answers that name a removed chunk (None: all of the corpus), and stores the generation.

        Removals may be repeated or out of order; only None sets the generation back.
        """
        ...

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes the corpus and all its answers."""
        ...

    async def close(self) -> None: ...
