"""Ollama's protocol: chat, and what its clients ask for before it."""

from api.protocols.ollama import chat, models

__all__ = ["ROUTERS"]

ROUTERS = (chat.router, models.router)
