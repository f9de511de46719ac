"""Web search with SearXNG, a metasearch engine that users can host themselves."""

from stores.searxng.web_search import SearxngWebSearch

__all__ = ["SearxngWebSearch"]
