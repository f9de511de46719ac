"""The error responses of Ollama's routes, for the OpenAPI description."""

from typing import Any

from api.protocols.errors import OLLAMA_ERROR

__all__ = ["RESPONSES"]

RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": "An error in Ollama's form", "content": {"application/json": {"schema": OLLAMA_ERROR}}}
    for status in ("4XX", "5XX")
}
