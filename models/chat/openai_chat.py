"""A language model at an endpoint that speaks OpenAI's chat protocol, without wrappers.

`SupportedParameters` learns from refusals which optional parameters the endpoint and model support.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from core.errors import HopweaveError, ModelFailed
from core.execution.bounded_answers import AnswerRefused
from core.ports.chat import ChatRequest, Completion, OnToken
from core.prompting.structured import strip_thinking
from core.trace import Trace
from models.chat.chat_errors import (
    ADDRESS,
    NO_REFUSAL,
    convert_connection_error,
    convert_status_error,
    convert_stream_error,
    make_too_long,
)
from models.chat.completion_reader import AnswerTooLong, CompletionReader, ServedContext
from models.chat.endpoint import Endpoint, start_on_send
from models.endpoint_errors import describe_address, names_unknown_model

if TYPE_CHECKING:
    import openai


_OPTIONAL = ("stream_options", "max_tokens", "max_completion_tokens", "temperature", "stop")
_UNKNOWN = re.compile(r"(?i)unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not (permitted|allowed)")


class SupportedParameters:
    """Reasoning models require `max_completion_tokens` and refuse `temperature` and `stop`; some servers refuse
    `stream_options`. Each refusal is learnt once.
    """

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def select(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the supported parameters of `wanted`; others are left out or renamed."""
        sent = {name: value for name, value in wanted.items() if name not in self._refused and value not in (None, ())}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            sent |= {"max_completion_tokens": wanted["max_tokens"]} if wanted.get("max_tokens") else {}
        return sent

    def learn(self, error: "openai.APIStatusError", sent: Mapping[str, Any]) -> bool:
        """Returns whether the refusal names an optional parameter that was sent, which is then not sent again."""
        said = error.response.text
        if error.status_code in NO_REFUSAL or not _UNKNOWN.search(said):
            return False
        for name in _OPTIONAL:
            if name in sent and (error.param == name or re.search(rf"['\"`]{name}\\?['\"`]", said)):
                self._refused.add(name)
                return True
        return False


MAX_CHARACTERS = 200_000
_SECONDS_WITHOUT_OTHERS = 0.01
_CHUNKS_AT_ONCE = 1000
_CHUNKS_PER_SECOND = 1000
"""How fast a stream is read after `_CHUNKS_AT_ONCE` chunks, which few answers have."""
_LONGEST_LABEL = 512  # what OpenAI takes as a value of metadata


class OutputMode(StrEnum):
    """How a call with a schema requests JSON, best first."""

    SCHEMA = "json_schema"
    OBJECT_OF_SCHEMA = "json_object with schema"
    """As llama-cpp-python's server takes it."""
    OBJECT = "json_object"
    TEXT = "text"


class OpenAIChat:
    """Implements `core.ports.chat.ChatModel` without retries, limits or accounting."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        send_metadata: bool = False,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._send_metadata = send_metadata
        self._max_characters = max_characters
        self._parameters = SupportedParameters()
        self.context = ServedContext(endpoint, model)
        self.timings: Mapping[str, Any] = {}
        """What the endpoint reported of its speed with its last answer, as llama-server does."""

    @property
    def model(self) -> str:
        return self._model

    @property
    def url(self) -> str:
        """The address of the endpoint, without secrets."""
        return self._endpoint.url

    async def complete(
        self,
        request: ChatRequest,
        trace: Trace,  # noqa: ARG002  # part of the port; the accounting wrapper uses it
        on_token: OnToken | None = None,
        *,
        mode: OutputMode = OutputMode.SCHEMA,
    ) -> Completion:
        """`mode` is used if the request has a schema. Raises `FormatRefused` if the endpoint does not support it."""
        import openai

        if limit := await self.context.refuse(request):
            raise make_too_long(f"{self._model} at {self._endpoint.url} has a context of {limit} tokens", request)
        while True:
            sent = self._parameters.select(self._wanted(request, mode, stream=on_token is not None))
            # The client's errors contain the request. `from None` keeps them out of tracebacks.
            try:
                async with asyncio.timeout(None) as timer:
                    with start_on_send(timer, self._endpoint.timeout):
                        return await self._call(request, sent, on_token)
            except openai.APIStatusError as error:
                if self._parameters.learn(error, sent):
                    continue
                offered = await self.context.list_names() if names_unknown_model(error) else ()
                raise convert_status_error(error, self._endpoint, self._model, request, offered) from None
            except (openai.APIConnectionError, TimeoutError) as error:
                if isinstance(error.__cause__, HopweaveError):  # raised by our own hook before the request was sent
                    raise error.__cause__ from None
                if isinstance(error.__cause__, AnswerRefused):
                    raise self._unusable(str(error.__cause__), request) from None
                raise convert_connection_error(error, self._endpoint, self._model, request) from None

    async def _call(self, request: ChatRequest, sent: dict[str, Any], on_token: OnToken | None) -> Completion:
        draft = CompletionReader(request.max_characters or self._max_characters)
        pieces = None if on_token is None else _Pieces(self.context, request, on_token)
        with self._reading(request, draft):
            if pieces is None:
                told = await self._endpoint.client().chat.completions.with_raw_response.create(**sent)
                self._read_whole(told.content, draft, request)
            else:
                stream = await self._open_stream(sent)
        if pieces is not None:
            await self._stream(stream, draft, request, pieces)
        if not draft.choices:
            raise self._unusable(f"answered without any choice: see the endpoint's own log; {self._remedy()}", request)
        if what := _find_no_answer(draft):
            raise self._unusable(what, request)
        completion = await self._finish(draft, request)
        if pieces is not None:
            pieces.release()
        return completion

    def _read_whole(self, body: bytes, draft: CompletionReader, request: ChatRequest) -> None:
        if what := _find_no_json(body):
            raise self._unusable(f"{what}: {self._remedy()}", request)
        draft.read(json.loads(body))

    async def _finish(self, draft: CompletionReader, request: ChatRequest) -> Completion:
        """Returns the answer, unless the model was shown only a part of the request."""
        completion, self.timings = draft.completion(self._model, request), draft.timings
        if limit := await self.context.find_cut(request, completion, draft.fingerprint):
            raise make_too_long(
                f"{self._model} at {self._endpoint.url} has a context of {limit} tokens and truncated the prompt "
                f"to {completion.prompt_tokens}",
                request,
            )
        if limit := await self.context.find_full(request, completion):
            raise make_too_long(
                f"{self._model} at {self._endpoint.url} has a context of {limit} tokens, of which a prompt of "
                f"{completion.prompt_tokens} left too few for the answer",
                request,
            )
        return completion

    async def _open_stream(self, sent: dict[str, Any]) -> "openai.AsyncStream[object]":
        """Requests a stream whose chunks are JSON. To make the client's values of them takes ten times as long."""
        import openai

        more: dict[str, Any] = {}
        body = {**{name: value for name, value in sent.items() if name != "extra_body"}, **sent.get("extra_body", more)}
        chunks = openai.AsyncStream[object]
        client = self._endpoint.client()
        return await client.post("/chat/completions", cast_to=object, body=body, stream=True, stream_cls=chunks)

    async def _stream(
        self, stream: "openai.AsyncStream[object]", draft: CompletionReader, request: ChatRequest, pieces: "_Pieces"
    ) -> None:
        """Reads a stream. A stream that was cut off looks finished, but has no `finish_reason`.

        An endpoint that streams nothing answers as a whole.
        """
        import openai

        chunks, broken, pace = aiter(stream), None, _Pace()
        async with stream:
            if await self._reads_whole(stream, draft, request):
                pieces.held.append(draft.text)
                return
            while not broken:
                await pace.keep()
                with self._reading(request, draft):
                    try:
                        piece = draft.read_chunk(await anext(chunks))
                    except StopAsyncIteration:
                        break
                    except openai.APIConnectionError as error:
                        if isinstance(error.__cause__, AnswerRefused):
                            raise error.__cause__ from None
                        broken = error
                        break
                if piece:
                    await pieces.give(piece, draft.fingerprint)
        if broken or not draft.chunks or (draft.choices and not draft.finish):
            raise self._incomplete(stream, draft, request, broken)

    def _incomplete(
        self,
        stream: "openai.AsyncStream[object]",
        draft: CompletionReader,
        request: ChatRequest,
        broken: BaseException | None,
    ) -> HopweaveError:
        """Returns the error for a stream that ended before the answer, or was no stream."""
        if draft.text:
            return self._unusable("was cut off in the middle of its answer", request)
        if not broken and not draft.chunks and not _is_stream(stream):
            what = (
                _HTML if _content_type(stream).startswith("text/html") else "answered with what is no stream of events"
            )
            return self._unusable(f"{what}: {self._remedy()}", request)
        cause = broken or ConnectionError("the stream ended before its answer")
        return convert_connection_error(cause, self._endpoint, self._model, request)

    async def _reads_whole(
        self, stream: "openai.AsyncStream[object]", draft: CompletionReader, request: ChatRequest
    ) -> bool:
        """Returns whether an answer was no stream, and reads it. A mislabelled stream is left to be read."""
        if not _content_type(stream).startswith("application/json"):
            return False
        with self._reading(request, draft):
            body = await stream.response.aread()
            if not body.lstrip().startswith(b"{"):
                return False
            self._read_whole(body, draft, request)
        return True

    @contextmanager
    def _reading(self, request: ChatRequest, draft: CompletionReader) -> Iterator[None]:
        """Converts errors while reading: the client passes on HTML pages, texts and incomplete objects unchecked."""
        import openai

        try:
            yield
        except (openai.APIStatusError, openai.APIConnectionError):
            raise
        except AnswerRefused as error:
            raise self._unusable(str(error), request) from None
        except RecursionError:
            raise self._unusable("answered with JSON that is nested too deeply", request) from None
        except AnswerTooLong as error:
            raise self._unusable(f"{error} (HOPWEAVE_LLM__MAX_ANSWER_CHARACTERS); it was stopped", request) from None
        except openai.APIError as error:
            begun = draft.has_begun
            raise convert_stream_error(error, self._endpoint, self._model, request, begun=begun) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            why = f"answered with what is no completion ({type(error).__name__}): {self._remedy()}"
            raise self._unusable(why, request) from None

    def _remedy(self) -> str:
        return describe_address(self._endpoint.address, ADDRESS)

    def _unusable(self, why: str, request: ChatRequest) -> ModelFailed:
        return ModelFailed(f"step {request.role!r}: {self._model} at {self._endpoint.url} {why}")

    def _wanted(self, request: ChatRequest, mode: OutputMode, *, stream: bool) -> dict[str, Any]:
        wanted: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.speaker.value, "content": m.content} for m in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stop": list(request.stop) or None,
            "response_format": _format(request, mode),
        }
        if stream:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._send_metadata:
            wanted["extra_body"] = {"metadata": _metadata(request)}
        return wanted


_HTML = "answered with an HTML page instead of JSON, as a web server, a proxy or a login page does"
_NO_TEXT = "HOPWEAVE_LLM__MODEL (or the role's own) sets another model"


def _find_no_json(body: bytes) -> str:
    """Returns what an answer is that is no JSON, if that can be told; else ''."""
    start = body.lstrip()[:200].lower()
    if not start:
        return "answered with an empty body"
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return _HTML
    if start.startswith(b"data:"):
        return "answered with a stream of events, which was not asked for"
    return "" if body.rstrip().endswith((b"}", b"]")) else "answered with JSON whose end is missing"


def _find_no_answer(draft: CompletionReader) -> str:
    """Returns what a completion without an answer has instead, and what to do; '' if it has an answer, or nothing at
    all. A completion that its limit of tokens ended is not judged here: more tokens may bring the answer.
    """
    text = draft.text.strip()
    if not text and draft.calls_tools:
        return (
            f"called a tool instead of answering, and no tool was offered: turn tools off at its server, or {_NO_TEXT}"
        )
    if text and draft.finish != "length" and not strip_thinking(text):
        return (
            "ended its answer within its reasoning (a tag such as <think> is not closed): allow more tokens with "
            f"HOPWEAVE_LLM__MAX_OUTPUT_TOKENS, turn its reasoning off at its server, or {_NO_TEXT}"
        )
    return ""


class _Pieces:
    """Passes the pieces of a text on. If the prompt may have been truncated, pieces are `held` to the end."""

    def __init__(self, context: ServedContext, request: ChatRequest, on_token: OnToken) -> None:
        self._context = context
        self._request = request
        self._on_token = on_token
        self._holds: bool | None = None
        self.held: list[str] = []

    async def give(self, piece: str, fingerprint: str) -> None:
        if self._holds is None:
            self._holds = await self._context.may_be_cut(self._request, fingerprint)
        if self._holds:
            self.held.append(piece)
        else:
            self._on_token(piece)

    def release(self) -> None:
        if self.held:
            self._on_token("".join(self.held))


class _Pace:
    """Lets other tasks run while chunks that came together are read without waiting."""

    def __init__(self) -> None:
        self._began = self._others_waited = time.monotonic()
        self._chunks = 0

    async def keep(self) -> None:
        """Is called before each chunk."""
        self._chunks += 1
        now = time.monotonic()
        ahead = (self._chunks - _CHUNKS_AT_ONCE) / _CHUNKS_PER_SECOND - (now - self._began)
        if ahead > _SECONDS_WITHOUT_OTHERS or now - self._others_waited > _SECONDS_WITHOUT_OTHERS:
            await asyncio.sleep(max(0.0, ahead))
            self._others_waited = time.monotonic()


def _content_type(stream: "openai.AsyncStream[object]") -> str:
    return str(stream.response.headers.get("Content-Type", "")).lower()


def _is_stream(stream: "openai.AsyncStream[object]") -> bool:
    """Returns whether an answer says that it is a stream, or does not say what it is."""
    return _content_type(stream).startswith(("text/event-stream", "application/octet-stream")) or not _content_type(
        stream
    )


def _format(request: ChatRequest, mode: OutputMode) -> dict[str, Any] | None:
    if request.schema is None or mode is OutputMode.TEXT:
        return None
    if mode is OutputMode.OBJECT:
        return {"type": "json_object"}
    if mode is OutputMode.OBJECT_OF_SCHEMA:
        return {"type": "json_object", "schema": dict(request.schema)}
    schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _metadata(request: ChatRequest) -> dict[str, str]:
    ours = {"role": request.role, "question": request.question, "corpus": request.corpus_id}
    return {name: value[:_LONGEST_LABEL] for name, value in {**request.labels, **ours}.items() if value}
