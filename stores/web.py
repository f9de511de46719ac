"""The search engine that the settings ask for."""

from core.ports.web import WebSearch
from core.settings import WebSettings

__all__ = ["make_web_search"]


def make_web_search(settings: WebSettings) -> WebSearch | None:
    """None where none is configured; nothing is connected before it is used. Raises `InvalidSettings`.

    An adapter is imported when it is chosen: HTTP clients take a while.
    """
    if settings.kind == "searxng":
        from stores.searxng import SearxngWebSearch

        return SearxngWebSearch(url=settings.url, api_key=settings.api_key, timeout=settings.timeout)
    if settings.kind == "tavily":
        from stores.tavily import TavilyWebSearch

        return TavilyWebSearch(url=settings.url, api_key=settings.api_key, timeout=settings.timeout)
    return None
