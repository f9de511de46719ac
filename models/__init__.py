"""Adapters to models: embedding models, rerankers and language models. Holds the functions that choose them."""

import importlib

from core.ports.embedding import Embedder
from core.settings import EmbeddingSettings
from models.chat import ConfiguredModel, ConfiguredModels, OutputMode, RecordCache, make_chat_models
from models.chat.endpoint import make_ssl_context
from models.embedding.local_embedder import SentenceTransformersEmbedder
from models.embedding.openai_embedder import OpenAIEmbedder

__all__ = [
    "ConfiguredModel",
    "ConfiguredModels",
    "OpenAIEmbedder",
    "OutputMode",
    "RecordCache",
    "SentenceTransformersEmbedder",
    "import_chat_client",
    "make_chat_models",
    "make_embedder",
]


def import_chat_client() -> None:
    """Imports the OpenAI client and makes its TLS context, so that the first question does not wait for them.

    The import takes a second, and the context a tenth, in which an event loop would stand still.
    """
    importlib.import_module("openai.resources.chat")  # which `openai` itself imports with the first call
    make_ssl_context()


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Returns the embedder that the settings choose. Loads and connects nothing before it is used."""
    if settings.kind == "openai":
        return OpenAIEmbedder(
            model=settings.model,
            base_url=settings.base_url,
            api_key=settings.api_key,
            max_tokens=settings.max_tokens,
            timeout_seconds=settings.timeout_seconds,
        )
    return SentenceTransformersEmbedder(
        model=settings.model, precision=settings.precision, batch_size=settings.batch_size
    )
