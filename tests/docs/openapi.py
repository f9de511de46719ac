"""The HTTP interface as `docs/openapi.json` has it: what the server answers to `GET /openapi.json`."""

import json

__all__ = ["openapi_text"]


def openapi_text() -> str:
    from api.main import create_app
    from core.settings import Settings

    return json.dumps(create_app(Settings()).openapi(), ensure_ascii=False, indent=1) + "\n"
