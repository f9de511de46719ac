"""OpenAI's protocol: chat completions, responses, models and embeddings."""

from api.protocols.openai import chat, models, responses

__all__ = ["ROUTERS"]

ROUTERS = (chat.router, responses.router, models.router, models.embedding_router)
