"""Adapters to models: embedding models, rerankers and language models. Holds the functions that choose them."""

import importlib

from core.ports.embedding import Embedder
from core.settings import EmbeddingSettings
from models.chat import ConfiguredModel, ConfiguredModels, OutputMode, RecordCache, make_chat_models
from models.embedding.local_embedder import SentenceTransformersEmbedder
from models.embedding.openai_embedder import OpenAIEmbedder
from models.embedding.weights import BUILT_IN

__all__ = [
    "BUILT_IN",
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
    """Imports the OpenAI client, which takes a second, so that the first question does not wait for it."""
    importlib.import_module("openai")


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
