"""Dify's protocol: the external knowledge API."""

from api.protocols.dify import retrieval

__all__ = ["ROUTERS"]

ROUTERS = (retrieval.router,)
