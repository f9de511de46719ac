"""The error responses of OpenAI's routes, for the OpenAPI description."""

from typing import Any

from api.protocols.errors import OPENAI_ERROR

__all__ = ["RESPONSES"]

RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": "An error in OpenAI's form", "content": {"application/json": {"schema": OPENAI_ERROR}}}
    for status in ("4XX", "5XX")
}
