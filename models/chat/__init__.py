"""Language models at endpoints that speak OpenAI's chat protocol."""

from core.ports.chat import ModelCache
from core.ports.record import GraphSource
from core.settings import LlmSettings
from models.chat.configured import ConfiguredModel, ConfiguredModels
from models.chat.openai_chat import OutputMode
from models.chat.probe import Probe
from models.chat.wrappers.cache import RecordCache

__all__ = ["ConfiguredModel", "ConfiguredModels", "OutputMode", "Probe", "RecordCache", "make_chat_models"]


def make_chat_models(settings: LlmSettings, cache: ModelCache | None, graph: GraphSource | None) -> ConfiguredModels:
    """Returns the models that the settings name. Loads and connects nothing before it is used.

    Without `cache` no answer is cached. Without `graph` only answers that concern no corpus are cached.
    """
    return ConfiguredModels(settings, cache, graph)
