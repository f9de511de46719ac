"""The web by SearXNG, a search engine over others that one can run oneself."""

from stores.searxng.web_search import SearxngWebSearch

__all__ = ["SearxngWebSearch"]
