"""Web search with the API of Tavily."""

from pydantic import SecretStr

from core.errors import InvalidSettings
from core.ports.retrieval import WebResult
from stores.web_endpoint import WebEndpoint, read_results

_PUBLIC = "https://api.tavily.com"
_MAX_RESULTS = 20
"""The maximum of one call."""

_NO_KEY = SecretStr("")


class TavilyWebSearch:
    """Fills `core.ports.retrieval.WebSearch`. A search costs one credit: basic depth, snippets only, at most 20
    results.
    """

    def __init__(self, *, url: str = "", api_key: SecretStr = _NO_KEY, timeout: float = 10.0) -> None:
        if not api_key.get_secret_value():
            raise InvalidSettings("web.kind 'tavily' needs a key: set HOPWEAVE_WEB__API_KEY")
        address = (url or _PUBLIC).rstrip("/").removesuffix("/search") + "/search"
        self._endpoint = WebEndpoint(engine="Tavily", url=address, api_key=api_key, timeout=timeout)

    async def search(self, query: str, count: int) -> list[WebResult]:
        if not query.strip() or count < 1:
            return []
        answer = await self._endpoint.post(
            {
                "query": query,
                "max_results": min(count, _MAX_RESULTS),
                "search_depth": "basic",
                "include_answer": False,
                "include_raw_content": False,
                "include_images": False,
            }
        )
        return read_results(answer.get("results"), count, self._endpoint.name)

    async def close(self) -> None:
        await self._endpoint.close()
