"""OpenAI's protocol: chat completions, models and embeddings."""

from api.protocols.openai import chat, embeddings, models

__all__ = ["ROUTERS"]

ROUTERS = (chat.router, models.router, embeddings.router)
