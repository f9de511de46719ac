"""The models that the settings name, each with its wrappers around it.

From the outside in:

- the role's own parameters, so that all below sees, and the cache is keyed by, what is really asked;
- the cache, outside the books, so that an answer from it costs nothing of a budget;
- the books, so that a call that is tried again counts once, and its time holds its pauses;
- the retries, outside the limits, so that a second try queues again, and nobody waits behind a pause;
- the limits, around what goes over the wire;
- the output modes, and in them the endpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import SecretStr

from core.errors import InvalidSettings
from core.ports.chat import ChatModel
from core.ports.model_cache import ModelCache
from core.ports.record import GraphSource
from core.settings import LlmSettings, RoleSettings
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from models.chat.probing import Probe, probe
from models.chat.wrappers.cache_store import FollowingCache
from models.chat.wrappers.cached import Cached
from models.chat.wrappers.for_role import ForRole
from models.chat.wrappers.limited import Limited
from models.chat.wrappers.limits import Limits
from models.chat.wrappers.metered import Metered
from models.chat.wrappers.output_modes import OutputModes
from models.chat.wrappers.retried import Retried

__all__ = ["ConfiguredModel", "ConfiguredModels"]

_NO_ROLE = RoleSettings()


@dataclass(frozen=True, kw_only=True)
class ConfiguredModel:
    """One model at one address. `bare` is the model without retries, limits, books and cache."""

    model: str
    url: str
    whole: ChatModel
    bare: OutputModes

    async def probe(self) -> Probe:
        """Ask for a small answer of a shape, once; raises what the endpoint's refusal comes to."""
        return await probe(self.bare)


class ConfiguredModels:
    """Fills `core.ports.chat.ChatModels`. Models are made when a role first asks for them, one for each address, key
    and name; the limits are shared by all models of an address and key.
    """

    def __init__(
        self,
        settings: LlmSettings,
        cache: ModelCache | None,
        graph: GraphSource | None,
        *,
        retrying: Callable[..., Retried] = Retried,
    ) -> None:
        self._settings = settings
        self._cache = FollowingCache(cache, graph) if cache is not None and settings.cache else None
        self._retrying = retrying
        self._endpoints: dict[tuple[str, str], tuple[Endpoint, Limits]] = {}
        self._models: dict[tuple[str, str, str], ConfiguredModel] = {}

    def of(self, role: str) -> ChatModel:
        """Raises `InvalidSettings` where no model is configured for the role."""
        own = self._settings.roles.get(role, _NO_ROLE)
        max_tokens = self._settings.max_output_tokens if own.max_output_tokens is None else own.max_output_tokens
        return ForRole(self.configured(role).whole, temperature=own.temperature, max_tokens=max_tokens)

    def configured(self, role: str) -> ConfiguredModel:
        """What stands behind a role; raises `InvalidSettings` where nothing does."""
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

    async def forget(self, corpus_id: str) -> None:
        """Forget what was answered about a corpus that is dropped."""
        if self._cache is not None:
            await self._cache.forget(corpus_id)

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
        whole: ChatModel = Metered(self._retrying(Limited(bare, limits), retries=settings.retries))
        if self._cache is not None:
            whole = Cached(whole, self._cache, endpoint=endpoint.url)
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
