"""The models that the settings name, each with its wrappers.

From the outside in:

- role parameters, so that the wrappers below, and the cache key, see what is really sent;
- cache, outside accounting, so that a cached answer costs nothing of a budget;
- accounting, so that a retried call counts once, and its time includes the pauses;
- retry, outside the rate limit, so that a second attempt queues again and no other call waits behind a pause;
- rate limit, around the requests;
- output modes, and inside them the endpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import SecretStr

from core.errors import InvalidSettings
from core.ports.chat import ChatModel, ModelCache
from core.ports.record import GraphSource
from core.settings import LlmSettings, RoleSettings
from core.text.model_size import find_size
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from models.chat.probe import Probe, probe
from models.chat.wrappers.accounting import ChatAccounting
from models.chat.wrappers.cache import ChatCache
from models.chat.wrappers.limits import Limits
from models.chat.wrappers.output_modes import OutputModes
from models.chat.wrappers.rate_limit import ChatRateLimit
from models.chat.wrappers.record_cache import RecordCache
from models.chat.wrappers.retry import ChatRetry
from models.chat.wrappers.role_parameters import RoleParameters

__all__ = ["SMALL_BILLIONS", "ConfiguredModel", "ConfiguredModels"]

SMALL_BILLIONS = 4.0
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
        return RoleParameters(
            self.configured(role).whole,
            temperature=own.temperature,
            max_tokens=max_tokens,
            max_characters=own.max_answer_characters or self._settings.max_answer_characters,
        )

    def configured(self, role: str) -> ConfiguredModel:
        """The model of a role; raises `InvalidSettings` where nothing does."""
        general, own = self._settings, self._settings.roles.get(role, _NO_ROLE)
        model = own.model or general.model
        if not model:
            raise InvalidSettings(f"no language model is configured for {role!r}: set HOPWEAVE_LLM__MODEL")
        url = own.base_url or general.base_url
        # a key is not shown to another address than the one that it was given for
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
        return size is not None and size <= SMALL_BILLIONS

    async def delete_corpus(self, corpus_id: str) -> None:
        """Forget what was answered about a corpus that is dropped."""
        if self._cache is not None:
            await self._cache.delete_corpus(corpus_id)

    async def close(self) -> None:
        """Close this event loop's connections, and the cache; a later call opens them again."""
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
