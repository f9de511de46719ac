"""Web search with Tavily, a search engine for language models."""

from stores.tavily.web_search import TavilyWebSearch

__all__ = ["TavilyWebSearch"]
