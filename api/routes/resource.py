"""The description of this server for clients without a token (RFC 9728), as the authorization of MCP asks for it."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request

from api.access.keys import METADATA_PATH, OPEN
from api.access.tokens import describe_resource, own_address
from core.errors import NotFound
from core.settings import Settings

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get(METADATA_PATH, dependencies=[OPEN])
async def describe_server(request: Request) -> Mapping[str, Any]:
    return _describe(request, "")


@router.get(f"{METADATA_PATH}/mcp", dependencies=[OPEN])
async def describe_mcp(request: Request) -> Mapping[str, Any]:
    return _describe(request, "/mcp")


def _describe(request: Request, path: str) -> Mapping[str, Any]:
    settings: Settings = request.app.state.settings
    if not settings.oidc.issuer:
        raise NotFound("this server accepts no tokens: HOPWEAVE_OIDC__ISSUER is not set")
    return describe_resource(settings.oidc, own_address(request, settings.api) + path)
