"""Adapters to models: what makes vectors of texts, and what answers."""

import importlib

from core.ports.embedding import Embedder
from core.settings import EmbeddingSettings
from models.chat import ConfiguredModel, ConfiguredModels, FollowingCache, OutputMode, make_chat_models
from models.embedding.local_embedder import SentenceTransformersEmbedder
from models.embedding.openai_embedder import OpenAIEmbedder

__all__ = [
    "ConfiguredModel",
    "ConfiguredModels",
    "FollowingCache",
    "OpenAIEmbedder",
    "OutputMode",
    "SentenceTransformersEmbedder",
    "make_chat_models",
    "make_embedder",
    "warm_chat",
]


def warm_chat() -> None:
    """Import the client, which takes a second: beside answering, not in the first question."""
    importlib.import_module("openai")


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that the settings ask for; nothing is loaded or connected before it is used."""
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
