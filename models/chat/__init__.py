"""Language models at endpoints that speak OpenAI's chat protocol."""

from core.ports.model_cache import ModelCache
from core.ports.record import GraphSource
from core.settings import LlmSettings
from models.chat.openai_chat import OutputMode
from models.chat.stack import ConfiguredModel, ConfiguredModels
from models.chat.wrappers.cache_store import FollowingCache

__all__ = ["ConfiguredModel", "ConfiguredModels", "FollowingCache", "OutputMode", "make_chat_models"]


def make_chat_models(settings: LlmSettings, cache: ModelCache | None, graph: GraphSource | None) -> ConfiguredModels:
    """The models that the settings name; nothing is loaded or connected before it is used.

    Without a cache nothing is kept; without a record to follow, only answers that are about no corpus.
    """
    return ConfiguredModels(settings, cache, graph)
