"""Makes the web search that the settings name."""

from core.ports.retrieval import WebSearch
from core.settings import WebSettings


def make_web_search(settings: WebSettings) -> WebSearch | None:
    """Returns None if no web search is configured. Raises `InvalidSettings`. Connects at the first use.

    Only the chosen adapter is imported, because HTTP clients are slow to import.
    """
    if settings.kind == "searxng":
        from stores.searxng import SearxngWebSearch

        return SearxngWebSearch(url=settings.url, api_key=settings.api_key, timeout=settings.timeout)
    if settings.kind == "tavily":
        from stores.tavily import TavilyWebSearch

        return TavilyWebSearch(url=settings.url, api_key=settings.api_key, timeout=settings.timeout)
    return None
