"""OpenAI's protocol: chat completions, models and embeddings."""

from api.protocols.openai import chat, models

__all__ = ["ROUTERS"]

ROUTERS = (chat.router, models.router, models.embedding_router)
