"""`Access`: what a caller may do, with which corpora and which documents.

Language models come last, as the holder of a key calls them, and what the holder may still use in this minute. `api`
implements the `Meter` over all processes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from core.errors import Forbidden
from core.filters import DocumentFilter, parse_filter
from core.keys import ApiKey, Scope
from core.ports.chat import ChatModel, ChatModels, ChatRequest, Completion, OnToken
from core.principals import DocumentAccess, may_see, visible_to
from core.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Access:
    """The rights of a caller. `corpora` are names (None: all); `where` says which documents it sees (None: all), by the
    filter of a key and its `principals` (None: it has none, and sees what everyone may see and what only some may).

    `key` is the id of a key of the record; None without a key. `own_key` is the id of a key of the settings, whose
    holder has all rights and yet questions of its own.
    """

    scopes: frozenset[Scope]
    key: str | None = None
    own_key: str | None = None
    corpora: frozenset[str] | None = None
    filter: DocumentFilter | None = None
    principals: frozenset[str] | None = None

    @classmethod
    def of_key(cls, key: ApiKey) -> "Access":
        return cls(
            scopes=key.scopes,
            key=key.id,
            corpora=key.corpora,
            filter=None if key.filter is None else parse_filter(key.filter),
            principals=key.principals,
        )

    @cached_property
    def where(self) -> DocumentFilter | None:
        if self.principals is None:
            return self.filter
        visible = visible_to(self.principals)
        return visible if self.filter is None else visible.join(self.filter)

    @property
    def asker(self) -> str:
        """Who asks questions: the id of a key of the record or the settings, '' without a key."""
        return self.key or self.own_key or ""

    @property
    def is_restricted(self) -> bool:
        return self.corpora is not None or self.where is not None

    def has(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def sees(self, corpus_name: str) -> bool:
        return self.corpora is None or corpus_name in self.corpora

    def check_name(self, corpus_name: str) -> None:
        """Raises `Forbidden` for the name of a corpus that the caller may not make."""
        if not self.sees(corpus_name):
            raise Forbidden(f"this key may not make a corpus {corpus_name!r}; use one of the names that it is for")

    def check_whole(self, what: str) -> None:
        """Raises `Forbidden` if the caller sees only some documents, and `what` concerns all of a corpus."""
        if self.where is not None:
            raise Forbidden(
                f"this key has a filter or principals, and {what} all documents of the corpus; use a key without both"
            )

    def check_access(self, access: DocumentAccess) -> None:
        """Raises `Forbidden` for an access that would hide a document from the caller that gives it."""
        if self.principals is not None and not may_see(self.principals, access):
            raise Forbidden(
                "this key would not see the document any more: name one of the principals of the key in `access`, too"
            )

    def show(self, access: DocumentAccess) -> DocumentAccess:
        """Returns what the caller is shown of the access of a document: of other principals, nobody is told."""
        if access is None or self.principals is None:
            return access
        return tuple(principal for principal in access if principal in self.principals)


EVERYTHING = Access(scopes=frozenset(Scope))
"""The rights of a caller without a key on this machine, and of the keys in the settings."""


class Meter(Protocol):
    """Counts what one request uses. A method raises `RateLimited` before the limit of its kind is exceeded."""

    async def admit_bytes(self, count: int) -> None:
        """Counts bytes of documents that are about to be submitted."""
        ...

    async def check_tokens(self) -> None:
        """Raises if no tokens are left. What a question takes is known only afterwards."""
        ...

    def add_tokens(self, count: int) -> None:
        """Counts tokens that models have read and written."""
        ...


class _NoMeter:
    """Of callers without limits."""

    async def admit_bytes(self, count: int) -> None: ...

    async def check_tokens(self) -> None: ...

    def add_tokens(self, count: int) -> None: ...


NO_METER: Meter = _NoMeter()


class MeteredModels:
    """Implements `core.ports.chat.ChatModels` for one request.

    Its first call, also by a searcher, raises `RateLimited` if the key may use no more tokens in this minute. A request
    that has begun is finished.
    """

    def __init__(self, models: ChatModels, meter: Meter) -> None:
        self._models = models
        self._meter = meter
        self._is_admitted = False

    def of(self, role: str) -> ChatModel:
        return _MeteredModel(self._models.of(role), self)

    def is_small(self, role: str) -> bool:
        return self._models.is_small(role)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self._models.delete_corpus(corpus_id)

    async def close(self) -> None:
        """Does nothing: the models belong to the process, not to one request."""

    async def admit(self) -> None:
        if not self._is_admitted:
            await self._meter.check_tokens()
            self._is_admitted = True


class _MeteredModel:
    def __init__(self, model: ChatModel, models: MeteredModels) -> None:
        self._model = model
        self._models = models

    @property
    def model(self) -> str:
        return self._model.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        await self._models.admit()
        return await self._model.complete(request, trace, on_token)
