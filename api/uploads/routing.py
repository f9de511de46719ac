"""`UploadRoute`: a route that only takes `multipart/form-data`, beside a route of the same path that takes JSON."""

from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from api.schemas.uploads import ManifestFileIn

__all__ = ["UploadRoute", "describe_upload"]


class UploadRoute(APIRoute):
    """Matches only requests whose body is multipart. It has to come before the route of the JSON body."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        return super().matches(scope) if kind == "multipart/form-data" else (Match.NONE, {})


def describe_upload() -> dict[str, object]:
    """Returns the multipart body, for the OpenAPI description of the route that takes JSON."""
    text = {"type": "string"}
    schema = {
        "type": "object",
        "required": ["file"],
        "additionalProperties": False,
        "properties": {
            "file": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "format": "binary"},
                "description": "Files, each a part of its own. The default key is the name of the file.",
            },
            "manifest": {
                "type": "object",
                "additionalProperties": ManifestFileIn.model_json_schema(),
                "description": "What is known of the files, by their names.",
            },
            "on_conflict": {**text, "enum": ["replace", "skip", "error"], "default": "replace"},
            "budget_tokens": {"type": "integer", "minimum": 1},
        },
    }
    example = {"manifest": {"reports/q3.pdf": {"title": "Third quarter", "metadata": {"year": 2024}}}}
    return {"requestBody": {"content": {"multipart/form-data": {"schema": schema, "example": example}}}}
