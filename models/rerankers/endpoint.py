"""Reranks with an HTTP endpoint, of cross-encoders or of models with late interaction.

Two APIs are in use. Cohere's API, which Jina, Infinity, vLLM and llama-server share, takes `documents` and answers
`{"results": [{"index", "relevance_score"}]}`. The API of text-embeddings-inference takes `texts` and answers
`[{"index", "score"}]`.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

import httpx
from pydantic import SecretStr

from core.errors import HopweaveError, InvalidSettings, ModelFailed, Unavailable
from core.execution.bounded_answers import AnswerBounds, AnswerRefused, bounding_hooks
from core.telemetry.spans import add_headers
from models.endpoint_errors import mask_secrets
from models.rerankers.local import check_scores

_MAY_PASS = {408, 409, 425, 429}  # timeout, lock, too early, too many requests; and everything from 500 on
_NO_KEY = SecretStr("")
_ADDRESS = "HOPWEAVE_RERANKER__URL, the whole address of reranking"
_REFUSED = {400, 413, 422}
_TOO_MANY = re.compile(r"batch size|too many (documents|texts|inputs)", re.IGNORECASE)
_ALLOWED = re.compile(r"maximum allowed batch size (\d{1,9})\b|at most (\d{1,9})\b", re.IGNORECASE)
_WANTS_TEXTS = re.compile(r"\btexts\b")

Api = Literal["auto", "cohere", "tei"]


class HttpReranker:
    """Sends all texts in one call, or in as many as the endpoint needs: the score of a text depends on no other.

    Endpoints return the index of each text with its score, in any order. With the API `auto`, Cohere's is tried first,
    and the API of text-embeddings-inference if the endpoint asks for `texts`.
    """

    def __init__(
        self, *, url: str, model: str = "", api_key: SecretStr = _NO_KEY, timeout: float = 30.0, api: Api = "auto"
    ) -> None:
        if not url:
            raise InvalidSettings("reranker.kind 'http' needs the endpoint's address: set HOPWEAVE_RERANKER__URL")
        try:
            self._url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise InvalidSettings(f"HOPWEAVE_RERANKER__URL cannot be read as an address: {error}") from error
        if self._url.scheme not in {"http", "https"} or not self._url.host:
            raise InvalidSettings("HOPWEAVE_RERANKER__URL is not an address of http or https")
        self._model = model
        self._key = api_key
        self._timeout = timeout
        self._api: Api = api
        self._most: int | None = None
        where = f"{self._url.scheme}://{self._url.netloc.decode('ascii')}{self._url.path}"
        self._name = f"the reranker {model + ' ' if model else ''}at {where}"
        # A connection belongs to the event loop that opened it.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        scores: list[float] = []
        while len(scores) < len(texts):
            part = texts[len(scores) :][: self._most]
            private, api = (question, *part), self._api
            response = await self._post(self._body(question, part), private)
            if response.status_code != httpx.codes.OK:
                if self._adapt(response, api, len(part)):
                    continue
                raise self._refusal(response, private)
            scores += self._scores(self._read(response, private), len(part))
        return scores

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        if self._api == "tei":
            return {"query": question, "texts": list(texts), "truncate": True}
        body: dict[str, Any] = {"query": question, "documents": list(texts), "top_n": len(texts)}
        if not self._url.path.endswith("/v2/rerank"):  # which Cohere took out of its second version
            body["return_documents"] = False
        return body | ({"model": self._model} if self._model else {})

    def _adapt(self, response: httpx.Response, api: Api, texts: int) -> bool:
        """Returns whether the next call differs, because the endpoint refused this call in the form `api` with so many
        texts.
        """
        if response.status_code not in _REFUSED:
            return False
        if api == "auto" and _WANTS_TEXTS.search(response.text):
            self._api = "tei"
            return True
        if texts == 1 or (response.status_code != 413 and not _TOO_MANY.search(response.text)):
            return False
        stated = _ALLOWED.search(response.text)
        allowed = int(stated[1] or stated[2]) if stated else 0
        fewer = allowed if 0 < allowed < texts else texts // 2
        self._most = min(fewer, self._most or fewer)
        return True

    async def close(self) -> None:
        """Closes this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def _post(self, body: dict[str, Any], private: Sequence[str]) -> httpx.Response:
        key = self._key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client().post(self._url, json=body, headers=headers)
        except AnswerRefused as error:
            raise ModelFailed(f"{self._name} {error}") from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Unavailable(
                f"{self._name} did not answer within {self._timeout:g} seconds (HOPWEAVE_RERANKER__TIMEOUT)"
            ) from error
        except httpx.HTTPError as error:
            raise Unavailable(
                f"{self._name} cannot be reached ({self._words(str(error), private)}): start it, or correct "
                "HOPWEAVE_RERANKER__URL"
            ) from error
        return response

    def _refusal(self, response: httpx.Response, private: Sequence[str]) -> HopweaveError:
        passes = response.status_code in _MAY_PASS or response.status_code >= 500
        said = f"{self._name} answered {response.status_code}: {self._words(response.text, private) or 'nothing'}"
        said += f"; check {_ADDRESS}" if response.status_code == httpx.codes.NOT_FOUND else ""
        return (Unavailable if passes else ModelFailed)(said)

    def _read(self, response: httpx.Response, private: Sequence[str]) -> Any:
        try:
            return json.loads(response.content)
        except RecursionError as error:
            raise ModelFailed(f"{self._name} answered with JSON that is nested too deeply") from error
        except ValueError as error:
            shown = self._words(response.text, private) or "nothing"
            raise ModelFailed(f"{self._name} answered with what is no JSON: {shown}; check {_ADDRESS}") from error

    def _scores(self, answer: Any, count: int) -> list[float]:
        rows = _rows_of(answer)
        if rows is None:
            raise ModelFailed(f"{self._name} answered without a list of results: check {_ADDRESS}")
        places: list[Any] = [row.get("index") for row in rows]
        if not all(isinstance(place, int) for place in places) or sorted(places) != list(range(count)):
            raise ModelFailed(f"{self._name} answered with {len(rows)} results, not with one for each of {count} texts")
        scores = dict(zip(places, (row.get("relevance_score", row.get("score")) for row in rows), strict=True))
        return check_scores((scores[place] for place in range(count)), count, self._name)

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            hooks = bounding_hooks(AnswerBounds(seconds=self._timeout))
            hooks["request"].append(add_headers)
            self._clients[loop] = httpx.AsyncClient(timeout=self._timeout, event_hooks=hooks)
        return self._clients[loop]

    def _words(self, text: str, private: Sequence[str]) -> str:
        """Returns the endpoint's message without the key; '' if it repeats the request."""
        return " ".join(mask_secrets(text, self._key, private).split())


def _rows_of(answer: Any) -> list[Mapping[str, Any]] | None:
    """Returns the rows of an answer of any API (Voyage calls them `data`), or None if it has none."""
    rows = answer
    if isinstance(answer, dict):
        rows = answer.get("results", answer.get("data"))
    elif not answer:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return rows
