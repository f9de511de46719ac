"""An endpoint that speaks OpenAI's chat protocol over a real socket, and answers, or fails, as it is told to."""

import asyncio
import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from tests.twins import chat_wire
from tests.twins.chat_http import ChatSockets
from tests.twins.chat_script import Call, Reply

__all__ = ["Call", "ChatServer", "Reply"]

_POLL = 0.002
_LONGEST = 60.0


class ChatServer:
    """Within `with` it serves `POST …/chat/completions` (whole and as a stream) and `GET …/models` at `url`.

    An answer is the first of: a refusal by the options below; the next `Reply` of `script`; the next of
    `scripts[role]`; what `respond` makes of the call (by default the text "ok"). `respond` runs in the request's own
    thread and may be replaced at any time; what it raises is raised again at the end of `with`.

    - `knows`: the kinds of `response_format` that it takes, any other is answered 400.
    - `api_key`: answers 401 to any other key. `models`: answers 404 to any other model.
    - `context_tokens`: answers 400 with `context_length_exceeded` to longer prompts (four characters a token).
    - `ollama_context`: as Ollama does, longer prompts are truncated and counted so; `/api/ps` tells the context.
    - `model_fields`: what the list of models tells of each.
    - `refuses`: names of parameters that are answered 400, such as `stream_options` or `max_tokens`.

    `pages` are the paths that were read. `calls` are all requests, refused ones too; `in_flight` ends just before an
    answer's last byte, so a client that asks again at once is not counted twice. `hung_up` are the calls whose client
    went away before that.
    """

    def __init__(
        self,
        *,
        respond: Callable[[Call], Reply] = lambda call: Reply(text="ok"),  # noqa: ARG005  # a call's signature
        knows: Collection[str] = ("json_schema", "json_object"),
        api_key: str = "",
        models: Collection[str] = (),
        context_tokens: int | None = None,
        ollama_context: int | None = None,
        refuses: Collection[str] = (),
        port: int = 0,
    ) -> None:
        self.script: deque[Reply] = deque()
        self.scripts: defaultdict[str, deque[Reply]] = defaultdict(deque)
        self.respond = respond
        self.knows = set(knows)
        self.api_key = api_key
        self.models = set(models)
        self.context_tokens = context_tokens
        self.ollama_context = ollama_context
        self.model_fields: Mapping[str, Any] = {}
        self.pages: list[str] = []
        self.refuses = set(refuses)
        self.calls: list[Call] = []
        self.hung_up: list[Call] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closing = False
        self._lock = threading.Lock()
        self._http = ChatSockets(self, port)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing = True
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self._http.hang_up()
        if error is None and self._http.failures:
            raise self._http.failures[0]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that the server is about to notice, such as `lambda: server.hung_up`."""
        ends = time.monotonic() + _LONGEST
        while not condition():
            assert time.monotonic() < ends, "the server never saw what the test waits for"
            await asyncio.sleep(_POLL)

    def begin(self, body: dict[str, Any], headers: dict[str, str], received: float) -> Call:
        with self._lock:
            call = Call(number=len(self.calls), body=body, headers=headers, received=received)
            self.calls.append(call)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            return call

    def end(self, call: Call, *, hung_up: bool = False) -> None:
        with self._lock:
            if call.ended is None:
                call.ended = time.monotonic()
                self.in_flight -= 1
                if hung_up:
                    self.hung_up.append(call)

    def page(self, path: str) -> bytes | None:
        with self._lock:
            self.pages.append(path)
        if path.endswith("/models"):
            return chat_wire.models(self.models, self.model_fields)
        if path == "/api/ps" and self.ollama_context:
            loaded = [{"name": name, "model": name, "context_length": self.ollama_context} for name in self.models]
            return json.dumps({"models": loaded}).encode()
        return None

    def reply_to(self, call: Call) -> Reply:
        reply = self._choose_reply(call)
        if self.ollama_context is None or reply.status >= 400:
            return reply
        return replace(reply, fingerprint="fp_ollama", counted=min(call.prompt_tokens, self.ollama_context))

    def _choose_reply(self, call: Call) -> Reply:
        refusal = self._refusal(call)
        if refusal:
            return refusal
        with self._lock:
            for script in (self.script, self.scripts[call.role]):
                if script:
                    return script.popleft()
        return self.respond(call)

    def _refusal(self, call: Call) -> Reply | None:
        if self.api_key and call.headers.get("authorization") != f"Bearer {self.api_key}":
            given = call.headers.get("authorization", "").removeprefix("Bearer ")
            return Reply(status=401, text=f"Incorrect API key provided: {given}", code="invalid_api_key")
        model = call.body["model"]
        if self.models and model not in self.models:
            return Reply(status=404, text=f"The model `{model}` does not exist", code="model_not_found")
        if call.mode not in {"text", *self.knows}:
            return Reply(status=400, text=f"response_format.type: {call.mode!r} is not supported")
        for name in sorted(self.refuses & call.body.keys()):
            return Reply(status=400, text=f"Unsupported parameter: '{name}' is not supported with this model.")
        if self.context_tokens is not None and call.prompt_tokens > self.context_tokens:
            text = f"This model's maximum context length is {self.context_tokens} tokens."
            return Reply(status=400, text=text, code="context_length_exceeded")
        return None
