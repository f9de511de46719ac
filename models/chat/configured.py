"""The models that the settings name, each with its wrappers and the parameters of its role.

The parameters of roles are a wrapper at the end, which also has the size of a model, as its name says it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import SecretStr

from core.errors import InvalidSettings
from core.ports.chat import ChatModel, ChatRequest, Completion, ModelCache, OnToken
from core.ports.record import GraphSource
from core.settings import LlmSettings, RoleSettings
from core.trace import Trace
from models.chat.endpoint import Endpoint, Limits
from models.chat.openai_chat import OpenAIChat
from models.chat.probe import Probe, probe
from models.chat.wrappers.accounting import ChatAccounting
from models.chat.wrappers.cache import ChatCache, RecordCache
from models.chat.wrappers.output_modes import OutputModes
from models.chat.wrappers.retry import ChatRateLimit, ChatRetry

_SMALL_BILLIONS = 4.0
"""Parameters up to which a model counts as small, in billions. Measured was 1.5 (docs/models.md)."""

_NO_ROLE = RoleSettings()


@dataclass(frozen=True, kw_only=True)
class ConfiguredModel:
    """One model at one address. `bare` is the model without cache, accounting, retry and rate limit."""

    model: str
    url: str
    whole: ChatModel
    bare: OutputModes

    async def probe(self) -> Probe:
        """Requests a small structured answer once. Raises the error that a refusal converts to."""
        return await probe(self.bare)

    async def find_kind(self) -> str:
        """Returns what serves the model, such as `ollama`, as far as its endpoint tells it without an answer."""
        return await self.bare.endpoint_model.context.find_kind()


class ConfiguredModels:
    """Implements `core.ports.chat.ChatModels`. A model is created when a role first asks for it, one for each address,
    key and name. All models of an address and key share the rate limit.
    """

    def __init__(
        self,
        settings: LlmSettings,
        cache: ModelCache | None,
        graph: GraphSource | None,
        *,
        retrying: Callable[..., ChatRetry] = ChatRetry,
    ) -> None:
        self._settings = settings
        self._cache = RecordCache(cache, graph) if cache is not None and settings.cache else None
        self._retrying = retrying
        self._endpoints: dict[tuple[str, str], tuple[Endpoint, Limits]] = {}
        self._models: dict[tuple[str, str, str], ConfiguredModel] = {}

    def of(self, role: str) -> ChatModel:
        """Raises `InvalidSettings` if no model is configured for the role."""
        own = self._settings.roles.get(role, _NO_ROLE)
        max_tokens = self._settings.max_output_tokens if own.max_output_tokens is None else own.max_output_tokens
        return _RoleParameters(
            self.configured(role).whole,
            temperature=own.temperature,
            max_tokens=max_tokens,
            max_characters=own.max_answer_characters or self._settings.max_answer_characters,
        )

    def configured(self, role: str) -> ConfiguredModel:
        """The model of a role. Raises `InvalidSettings` if there is none."""
        general, own = self._settings, self._settings.roles.get(role, _NO_ROLE)
        model = own.model or general.model
        if not model:
            raise InvalidSettings(f"no language model is configured for {role!r}: set HOPWEAVE_LLM__MODEL")
        url = own.base_url or general.base_url
        # a key is not shown to an address that it was not given for
        key = own.api_key if own.base_url or own.api_key.get_secret_value() else general.api_key
        name = (url, key.get_secret_value(), model)
        if name not in self._models:
            self._models[name] = self._make(model, url, key)
        return self._models[name]

    def is_small(self, role: str) -> bool:
        """Whether the settings say so, or else the model's name. Raises `InvalidSettings` as `of` does."""
        if self._settings.profile != "auto":
            return self._settings.profile == "small"
        size = find_size(self.configured(role).model)
        return size is not None and size <= _SMALL_BILLIONS

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes the cached answers about a deleted corpus."""
        if self._cache is not None:
            await self._cache.delete_corpus(corpus_id)

    async def close(self) -> None:
        """Closes this event loop's connections, and the cache; a later call opens them again."""
        for endpoint, _ in self._endpoints.values():
            await endpoint.close()
        if self._cache is not None:
            await self._cache.close()

    def _make(self, model: str, url: str, key: SecretStr) -> ConfiguredModel:
        settings = self._settings
        endpoint, limits = self._endpoint(url, key)
        bare = OutputModes(OpenAIChat(model, endpoint, send_metadata=settings.send_metadata))
        whole: ChatModel = ChatAccounting(self._retrying(ChatRateLimit(bare, limits), retries=settings.retries))
        if self._cache is not None:
            whole = ChatCache(whole, self._cache, endpoint=endpoint.url)
        return ConfiguredModel(model=model, url=endpoint.url, whole=whole, bare=bare)

    def _endpoint(self, url: str, key: SecretStr) -> tuple[Endpoint, Limits]:
        name = (url, key.get_secret_value())
        if name not in self._endpoints:
            endpoint = Endpoint(base_url=url, api_key=key, timeout=self._settings.timeout)
            limits = Limits(
                concurrency=self._settings.concurrency,
                requests_per_minute=self._settings.requests_per_minute,
                tokens_per_minute=self._settings.tokens_per_minute,
            )
            self._endpoints[name] = endpoint, limits
        return self._endpoints[name]


class _RoleParameters:
    """Replaces the request's temperature by the role's, and sets the role's limits if the request has none."""

    def __init__(
        self, inner: ChatModel, *, temperature: float | None, max_tokens: int | None, max_characters: int | None = None
    ) -> None:
        self._inner = inner
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._max_characters = max_characters

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        request = replace(
            request,
            temperature=request.temperature if self._temperature is None else self._temperature,
            max_tokens=self._max_tokens if request.max_tokens is None else request.max_tokens,
            max_characters=self._max_characters if request.max_characters is None else request.max_characters,
        )
        return await self._inner.complete(request, trace, on_token)


_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d{1,2})x)?e?(\d{1,4}(?:[.]\d{1,3})?)(b|m)(?![a-z0-9])", re.IGNORECASE)
_BILLIONS = {"b": 1.0, "m": 0.001}


def find_size(name: str) -> float | None:
    """Returns the parameters of a model in billions, by a name such as `qwen2.5:1.5b-instruct` or `gemma3-270m`.

    Of several sizes the greatest counts: `qwen3-30b-a3b` has 30, of which 3 are active. None if the name tells nothing.
    """
    sizes = [int(times or 1) * float(count) * _BILLIONS[unit.lower()] for times, count, unit in _SIZE.findall(name)]
    return max(sizes, default=None)
