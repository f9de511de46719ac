"""Reads a completion from the JSON of an endpoint, whole or in streamed chunks.

The end finds out how many tokens a model takes at its endpoint, whether it was shown less than what was sent, and what
serves it.
"""

import re
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import urlsplit, urlunsplit

from core.ports.chat import ChatRequest, Completion
from models.chat.endpoint import outside_calls
from models.endpoint_errors import read_list_later, read_names

_MAX_REASONING = 4_000_000
_MOST_TOKENS = 100_000_000
"""Tokens of a call. An endpoint that reports more, or fewer than none, reports nothing."""


class AnswerTooLong(Exception):
    """The answer has more characters than it may have."""


def estimate_tokens(*texts: str) -> int:
    """Estimates tokens at four characters each, for endpoints that do not report usage."""
    return -(-sum(map(len, texts)) // 4)


class CompletionReader:
    """Collects one completion. Any field may be missing or malformed.

    Reading raises `AnswerTooLong` as soon as the text has more than `max_characters`, or the reasoning 4 million;
    `AttributeError`, `LookupError` or `TypeError` if the answer is no completion.
    """

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self.chunks = 0
        self.choices = False
        self._texts: list[str] = []
        self._length = 0
        self._reasoning = 0
        self.finish = ""
        self.calls_tools = False
        self.fingerprint = ""
        """The `system_fingerprint`, by which some servers can be told."""
        self.timings: dict[str, Any] = {}
        """What llama-server reports of its own speed."""
        self._usage: dict[str, Any] = {}
        self._half = ""
        """The first half of a surrogate pair, whose second half is in the next piece."""

    def read(self, answer: Any) -> None:
        """Reads a whole answer."""
        self._read(answer, "message")

    def read_chunk(self, chunk: Any) -> str:
        """Reads one chunk and returns its part of the text."""
        self.chunks += 1
        return self._read(chunk, "delta")

    @property
    def text(self) -> str:
        return "".join(self._texts) + ("\ufffd" if self._half else "")

    @property
    def has_begun(self) -> bool:
        """Whether a part of the answer, or of the reasoning before it, has come."""
        return bool(self._length or self._reasoning)

    def _join(self, piece: str) -> str:
        """Returns a piece without halves of surrogate pairs, which UTF-8 cannot express; whole pairs are joined."""
        if piece.isascii() and not self._half:
            return piece
        piece, self._half = self._half + piece, ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def completion(self, model: str, request: ChatRequest) -> Completion:
        told = self._reported_usage()
        prompt, written = told or (
            estimate_tokens(*(message.content for message in request.messages)),
            -(-(self._length + self._reasoning) // 4),
        )
        return Completion(
            text=_until(self.text, request.stop),
            model=model,
            prompt_tokens=prompt,
            completion_tokens=written,
            cut=self.finish == "length",
            estimated=told is None,
            reasoned=bool(self._reasoning),
        )

    def _reported_usage(self) -> tuple[int, int] | None:
        prompt, written = (self._usage.get(f"{kind}_tokens") for kind in ("prompt", "completion"))
        return (prompt, written) if _is_count(prompt) and _is_count(written) else None

    def _read(self, answer: Any, part: str) -> str:
        fingerprint, timings, usage = (answer.get(name) for name in ("system_fingerprint", "timings", "usage"))
        self.fingerprint = fingerprint if isinstance(fingerprint, str) else self.fingerprint
        self.timings = timings if isinstance(timings, dict) else self.timings
        self._usage = usage if isinstance(usage, dict) else self._usage
        if not (choices := answer.get("choices")):
            return ""
        choice = choices[0]
        self.choices = True
        self.finish = choice.get("finish_reason") or self.finish
        message = choice[part] or {}
        self.calls_tools |= bool(message.get("tool_calls") or message.get("function_call"))
        piece = self._join(_read_text(message, "content"))
        self._texts.append(piece)
        self._length += len(piece)
        # The older name (vLLM, DeepSeek), then the newer name.
        self._reasoning += len(_read_text(message, "reasoning_content") or _read_text(message, "reasoning"))
        if self._length > self._max_characters:
            raise AnswerTooLong(f"wrote more than the {self._max_characters:,} characters that an answer may have")
        if self._reasoning > _MAX_REASONING:
            raise AnswerTooLong(f"wrote more than {_MAX_REASONING:,} characters of reasoning")
        return piece


def _read_text(message: Any, name: str) -> str:
    text = message.get(name) or ""
    if not isinstance(text, str):
        raise TypeError(f"{name} is no text")
    return text


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _until(text: str, stops: tuple[str, ...]) -> str:
    """Returns the text up to the first stop phrase, since models that refuse the parameter do not stop there."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]


if TYPE_CHECKING:
    from models.chat.endpoint import Endpoint

_OLLAMA = "fp_ollama"
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
        if fingerprint != _OLLAMA:
            return False
        if self._tokens is None:
            self._tokens = await self.of_ollama()
        return self._tokens is not None and _most_tokens(request) >= self._tokens

    async def find_cut(self, request: ChatRequest, completion: Completion, fingerprint: str) -> int | None:
        """Returns the size of the context if the endpoint showed the model less than the request.

        Servers other than Ollama refuse a request that is too long. A low count proves nothing: some servers count only
        what their cache lacks.
        """
        counted, self.truncates = completion.prompt_tokens, fingerprint == _OLLAMA
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
