"""How many tokens a model takes at its endpoint, whether it was shown less than what was sent, and what serves it.

Ollama truncates a prompt that is longer than its context, and answers from the rest as if nothing were missing. Its
count of the prompt then equals its context, which `/api/ps` shows for each loaded model.
"""

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from core.ports.chat import ChatRequest, Completion
from models.chat.request_timing import outside_calls
from models.endpoint_remedies import read_list_later, read_names

if TYPE_CHECKING:
    from models.chat.endpoint import Endpoint

__all__ = ["OLLAMA", "ServedContext"]

OLLAMA = "fp_ollama"
"""The `system_fingerprint` of all answers of Ollama."""
_OPENAI = "api.openai.com"
_KINDS = {"library": "ollama", "llamacpp": "llama.cpp", "vllm": "vllm"}
_OTHER_KIND = "openai-compatible"
_MOST_CHARACTERS, _FEWEST_BYTES = 6, 3
"""Averages of a token over a text without long runs. In English a token has about four characters."""
_SHARE_OF_A_PROMPT = 3
"""The prompt filled the context if it is this many times as long as the answer; an endless answer fills any context."""
_OF_A_TEMPLATE = 1000
"""Tokens that a server may add to what is sent."""
_NEAR = 2
"""Servers stop a token or two before the context is full."""
_RUN = re.compile(r"(\W)\1+")


class ServedContext:
    """The context of one model at one endpoint. It is asked for when an answer gives cause, and by the doctor."""

    def __init__(self, endpoint: "Endpoint", model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._tokens: int | None = None
        self._silent: set[str] = set()
        self.truncates = False
        """Whether the endpoint is known to truncate prompts that are too long."""

    async def refuse(self, request: ChatRequest) -> int | None:
        """Returns the size of the context if the request is known to be longer, however its text is counted."""
        if self._tokens is None or _fewest_tokens(request) <= self._tokens:
            return None
        self._tokens = await self.of_ollama()  # it may have been started again with another context
        return self._tokens if self._tokens is not None and _fewest_tokens(request) > self._tokens else None

    async def may_be_cut(self, request: ChatRequest, fingerprint: str) -> bool:
        """Returns whether the answer, whose first piece has come, may be to a truncated prompt."""
        if fingerprint != OLLAMA:
            return False
        if self._tokens is None:
            self._tokens = await self.of_ollama()
        return self._tokens is not None and _most_tokens(request) >= self._tokens

    async def find_cut(self, request: ChatRequest, completion: Completion, fingerprint: str) -> int | None:
        """Returns the size of the context if the endpoint showed the model less than the request.

        Servers other than Ollama refuse a request that is too long. A low count proves nothing: some servers count only
        what their cache lacks.
        """
        counted, self.truncates = completion.prompt_tokens, fingerprint == OLLAMA
        if not self.truncates or completion.estimated:
            return None
        if self._tokens is None or counted >= self._tokens:
            self._tokens = await self.of_ollama()
        if self._tokens is None or _most_tokens(request) < self._tokens:
            return None
        # Ollama drops the first of several messages, and may then count less than the context.
        return self._tokens if counted >= self._tokens or counted < _fewest_tokens(request) else None

    async def find_full(self, request: ChatRequest, completion: Completion) -> int | None:
        """Returns the size of the context if it ended the answer, and the prompt took most of it."""
        prompt, written = completion.prompt_tokens, completion.completion_tokens
        is_limited = request.max_tokens is not None and written >= request.max_tokens
        if not completion.cut or completion.estimated or is_limited or prompt < _SHARE_OF_A_PROMPT * written:
            return None
        if prompt > _most_tokens(request) + _OF_A_TEMPLATE:  # more than was sent is no count
            return None
        context = await self.of_models()  # an endpoint may also have a limit of its own for answers
        return context if context is not None and prompt + written >= context - _NEAR else None

    async def find(self) -> int | None:
        """Returns the size of the context after a first answer; None if the endpoint does not tell."""
        return await (self.of_ollama() if self.truncates else self.of_models())

    async def find_kind(self) -> str:
        """Returns what serves the model: `openai`, `ollama`, `llama.cpp`, `vllm`, or else `openai-compatible`.

        OpenAI's own address tells it. Other servers name themselves as the owner of a model in their lists of models.
        """
        if urlsplit(self._endpoint.url).hostname == _OPENAI:
            return "openai"
        models = await self._list("/models", "data")
        named = [model for model in models if model.get("id") == self._model] or models[:1]
        owner = named[0].get("owned_by") if named else ""
        return _KINDS.get(owner, _OTHER_KIND) if isinstance(owner, str) else _OTHER_KIND

    async def of_ollama(self) -> int | None:
        """Returns the context with which Ollama has loaded the model; None if it does not tell."""
        address = urlsplit(self._endpoint.address)
        root = urlunsplit((address.scheme, address.netloc, address.path.rstrip("/").removesuffix("/v1"), "", ""))
        names = {self._model, f"{self._model}:latest"}
        for loaded in await self._list(f"{root}/api/ps", "models"):
            name = loaded.get("name")
            if isinstance(name, str) and name in names:
                return _count(loaded.get("context_length"))
        return None

    async def of_models(self) -> int | None:
        """Returns what the endpoint's list of models tells: llama-server's `meta.n_ctx`, vLLM's `max_model_len`."""
        models = await self._list("/models", "data")
        named = [model for model in models if model.get("id") == self._model]
        for model in named or (models if len(models) == 1 else []):  # llama-server takes any name
            meta = model.get("meta")
            return _count(meta.get("n_ctx") if isinstance(meta, dict) else model.get("max_model_len"))
        return None

    async def list_names(self) -> list[str]:
        """Returns the names of the endpoint's list of models."""
        return read_names(await self._list("/models", "data"))

    async def _list(self, path: str, field: str) -> list[dict[str, Any]]:
        """Returns the objects of a list that an endpoint may or may not have."""
        if path in self._silent:
            return []
        try:
            with outside_calls():
                return await read_list_later(self._endpoint.client(), path, field)
        except TimeoutError:  # each call would wait for it again
            self._silent.add(path)
            return []


def _fewest_tokens(request: ChatRequest) -> int:
    return sum(len(_RUN.sub(r"\1", message.content)) for message in request.messages) // _MOST_CHARACTERS


def _most_tokens(request: ChatRequest) -> int:
    return sum(len(message.content.encode()) for message in request.messages) // _FEWEST_BYTES


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
