"""Adapters to models: embedding models, rerankers and language models. Holds the functions that choose them."""

import importlib

from core.ports.embedding import Embedder
from core.settings import EmbeddingSettings
from models.chat import ConfiguredModel, ConfiguredModels, OutputMode, Probe, RecordCache, make_chat_models
from models.chat.endpoint import make_ssl_context
from models.embedding.local_embedder import SentenceTransformersEmbedder
from models.embedding.no_embedder import NoEmbedder
from models.embedding.openai_embedder import OpenAIEmbedder
from models.embedding.weights import BUILT_IN

__all__ = [
    "BUILT_IN",
    "ConfiguredModel",
    "ConfiguredModels",
    "NoEmbedder",
    "OpenAIEmbedder",
    "OutputMode",
    "Probe",
    "RecordCache",
    "SentenceTransformersEmbedder",
    "import_chat_client",
    "make_chat_models",
    "make_embedder",
]


_LATE_IMPORTS = (
    "openai.resources.chat.completions.completions",
    "openai.resources.chat.completions.messages",
    "openai.resources.chat.chat",
    "anyio._backends._asyncio",
    "anyio.streams.tls",
    "h11",
    "jiter",
)
"""Modules that the OpenAI client imports only at its first call."""


def import_chat_client() -> None:
    """Imports the OpenAI client and makes its TLS context, so that the first question does not wait for them.

    The import takes a second, and the context a tenth, in which an event loop would stand still.
    """
    for module in _LATE_IMPORTS:
        importlib.import_module(module)
    import openai

    openai.DefaultAsyncHttpxClient(verify=make_ssl_context())  # imports its transport


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Returns the embedder that the settings choose. Loads and connects nothing before it is used."""
    if settings.kind == "openai":
        return OpenAIEmbedder(
            model=settings.model,
            base_url=settings.base_url,
            api_key=settings.api_key,
            max_tokens=settings.max_tokens,
            timeout_seconds=settings.timeout_seconds,
            form=settings.form,
        )
    return SentenceTransformersEmbedder(
        model=settings.model, precision=settings.precision, batch_size=settings.batch_size, form=settings.form
    )
