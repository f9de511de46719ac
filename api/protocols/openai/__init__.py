"""OpenAI's protocol: chat completions, responses, models and embeddings."""

from api.protocols.openai import chat, models, responses

ROUTERS = (chat.router, responses.router, models.router, models.embedding_router)
