"""The web by Tavily, a search engine made for language models."""

from stores.tavily.web_search import TavilyWebSearch

__all__ = ["TavilyWebSearch"]
