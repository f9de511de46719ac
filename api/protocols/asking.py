"""`Asked`: a conversation with a model, as work that writes a reply. The chat routes of all protocols use it.

`stream_reply` sends the reply while it is written, in the form of a protocol. A conversation with the configured
language model, without retrieval, makes titles and follow-ups for front ends.
"""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fastapi import Request
from starlette.responses import StreamingResponse

from api.protocols.conversation import Conversation, read_conversation
from api.protocols.models import Model, find_model
from api.protocols.reply import Reply, find_rest, reply_from_answer, reply_from_completion
from api.schemas.ask import convert_answer
from api.schemas.stored_questions import QuestionIn, StoredForm, dump_request
from api.schemas.values import load
from api.streams.following import problem_of
from api.streams.work_stream import Put, stream_work
from app.container import Container
from app.services import questions
from app.services.links import Links
from app.services.stored_questions import questions as stored
from app.services.stored_questions.runner import answer_stored
from core.corpora import Corpus
from core.errors import Conflict, NotFound
from core.events import TokenEvent
from core.ports.chat import ChatRequest, Completion, Message, OnToken
from core.questions import AskedQuestion, QuestionOutcome, QuestionState
from core.trace import Budget, Event, Listener, Trace
from hopweave.wire.answers import Answer

_PLAIN_ROLE = "plain"
"""The role of these calls in the settings of language models, and the name under which usage is counted."""


@dataclass(frozen=True, kw_only=True)
class PlainRequest:
    """The messages as the client sent them, and the parameters that the model's endpoint gets."""

    messages: tuple[Message, ...]
    temperature: float = 1.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


async def _complete_plain(
    container: Container, request: PlainRequest, trace: Trace, on_token: OnToken | None = None
) -> Completion:
    """Sends the messages to the model of the role `plain`, within the budget of the trace. Nothing is cached: a client
    that asks again wants another text.

    Raises `NotFound` if no language model is configured, and what a call of a model raises.
    """
    if container.models is None:
        raise NotFound(
            "the model 'plain' is the configured language model, and none is configured: set HOPWEAVE_LLM__MODEL "
            "(and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY)"
        )
    call = ChatRequest(
        role=_PLAIN_ROLE,
        messages=request.messages,
        prompt_hash=_PLAIN_ROLE,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        stop=request.stop,
        cached=False,
    )
    await container.check_tokens()
    with trace.timed("total"), container.count_tokens(trace):
        return await container.models.of(_PLAIN_ROLE).complete(call, trace, on_token)


OnText = Callable[[str], None]
"""Called with each piece of a text while it is written."""


class Wire(Protocol):
    """The form in which a protocol sends a stream. `ping` is sent while there is nothing else to send."""

    @property
    def media_type(self) -> str: ...

    @property
    def ping(self) -> bytes: ...

    def begin(self) -> bytes:
        """Returns what comes before the first piece; b'' for nothing."""
        ...

    def send_text(self, piece: str) -> bytes: ...

    def end(self, reply: Reply, offset: int) -> Iterator[bytes]:
        """Yields what follows the text, which begins at `offset` of all that was sent."""
        ...

    def send_error(self, details: dict[str, Any]) -> bytes:
        """Returns the error of a stream that has begun, from the details of a problem."""
        ...


async def stream_reply(
    request: Request, work: Callable[[OnText], Coroutine[Any, Any, Reply]], wire: Wire, stops: Sequence[str]
) -> StreamingResponse:
    """Returns a response that sends the text of a reply as `work` writes it, and ends the work with the connection.

    `work` is called with what takes the pieces of its text. Errors are raised or sent as `stream_work` says.
    """
    text = _Text(wire, stops)
    return await stream_work(request, lambda put: work(lambda piece: text.send(piece, put)), text)


class _Text:
    """The text of a reply while it is sent (a `StreamForm`). `_sent` is what was sent, `_held` what is held back."""

    def __init__(self, wire: Wire, stops: Sequence[str]) -> None:
        self._wire = wire
        self._stops = stops
        self._held = ""
        self._sent = ""
        self._stopped = False
        self.media_type = wire.media_type
        self.begin = wire.begin
        self.send_error = wire.send_error

    @property
    def ping(self) -> bytes:
        return self._wire.ping

    def send(self, piece: str, put: Put) -> None:
        """Puts a piece, up to the first stop. What may be the beginning of a stop is held back."""
        if self._stopped:
            return
        self._held += piece if self._sent or self._held else piece.lstrip()
        ends = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        self._stopped = bool(ends)
        ready = self._held[: min(ends)] if ends else self._held[: _find_open_stop(self._held, self._stops)]
        self._held = self._held[len(ready) :]
        if ready:
            self._sent += ready
            put(self._wire.send_text(ready))

    def end(self, made: Reply) -> Iterator[bytes]:
        rest, offset = find_rest(self._sent, made.text)
        if rest:
            yield self._wire.send_text(rest)
        yield from self._wire.end(made, offset)


def _find_open_stop(text: str, stops: Sequence[str]) -> int:
    """Returns where the stop begins that the end of the text may belong to; the length of the text if none does."""
    longest = max((len(stop) for stop in stops), default=1)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(stop.startswith(text[start:]) for stop in stops):
            return start
    return len(text)


class _KeptForm(StoredForm):
    """Keeps the error that a stored question ends with, since only its text is stored."""

    error: BaseException | None = None

    def problem(self, error: BaseException) -> dict[str, Any]:
        self.error = error
        return super().problem(error)


_DISCONNECTED = QuestionOutcome(state=QuestionState.CANCELLED)
"""The outcome of a stored question whose client has disconnected."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of which model; `trace` has the usage afterwards. `write` is the work.

    `stops`, `temperature` and `max_tokens` are parameters of the client; the last two count for `plain`. `follows` is
    the id of the stored question whose conversation goes on, and `question` is the stored question that is answered.
    """

    container: Container
    model: Model
    conversation: Conversation
    trace: Trace
    address: str
    stops: Sequence[str] = ()
    temperature: float = 1.0
    max_tokens: int | None = None
    follows: str | None = None
    question: AskedQuestion | None = None

    async def write(self, on_text: OnText | None = None) -> Reply:
        """Returns the reply, and calls `on_text` with the pieces of its text as they are written."""
        corpus = self.model.corpus
        if corpus is None:
            return await self._write_plain(on_text)
        if on_text is not None:
            self.trace.listeners.append(_make_listener(on_text))
        if self.question is not None:
            answer = await self._answer_stored(corpus, self.question)
        else:
            made = await questions.ask(self.container, corpus, await self._make_request(corpus), self.trace)
            answer = convert_answer(made, self.trace, Links.of(self.container.settings))
        shown = self.container.settings.api.chat_sources
        return reply_from_answer(answer, address=self.address, corpus=corpus.name, shown=shown, stops=self.stops)

    async def store(self) -> "Asked":
        """Returns the same with the stored question that the work will answer. Without a corpus, nothing is stored.

        Raises what the question would raise that cannot be answered or stored.
        """
        corpus, said = self.model.corpus, self.conversation
        if corpus is None:
            return self
        body = {
            "question": said.question,
            "reasoner": None if self.model.reasoner is None else str(self.model.reasoner),
            "instructions": said.instructions,
            "follows": self.follows,
            "history": [{"role": turn.speaker.value, "content": turn.content} for turn in said.history],
        }
        # First, since it says in a caller's words what is wrong with a question, such as an empty one.
        await stored.check_askable(self.container, corpus, await self._make_request(corpus))
        given = QuestionIn.model_validate({name: value for name, value in body.items() if value})
        return replace(self, question=await stored.store_question(self.container, corpus, dump_request(given)))

    async def _make_request(self, corpus: Corpus) -> questions.AskRequest:
        request = questions.AskRequest(
            question=self.conversation.question,
            reasoner=self.model.reasoner,
            instructions=self.conversation.instructions,
            history=self.conversation.history,
        )
        return await stored.continue_conversation(self.container, corpus, request, self.follows)

    async def _answer_stored(self, corpus: Corpus, question: AskedQuestion) -> Answer:
        """Returns the answer as it is stored. Raises what made it fail, and `Conflict` if it is not there any more."""
        form = _KeptForm()
        request = await self._make_request(corpus)
        await answer_stored(self.container, corpus, question.id, request, self.trace, form, interrupted=_DISCONNECTED)
        if form.error is not None:
            raise form.error
        kept = await stored.read_question(self.container, corpus, question.id)
        if kept.answer is None:
            raise Conflict(str(problem_of(kept)["detail"]))
        return load(Answer, kept.answer)

    async def _write_plain(self, on_text: OnText | None) -> Reply:
        request = PlainRequest(
            messages=self.conversation.messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            stop=tuple(self.stops),
        )
        completion = await _complete_plain(self.container, request, self.trace, on_text)
        return reply_from_completion(completion, self.stops)


async def ask_model(
    container: Container,
    request: Request,
    model: str,
    messages: Sequence[Message],
    *,
    stops: Sequence[str] = (),
    temperature: float | None = None,
    max_tokens: int | None = None,
    follows: str | None = None,
) -> Asked:
    """Returns what a client asks. Raises `NotFound` for an unknown model, and `InvalidInput` for messages that end
    without a question.
    """
    settings = container.settings
    return Asked(
        container=container,
        model=await find_model(container, model),
        conversation=read_conversation(messages),
        trace=Trace(budget=Budget(**settings.budget.model_dump())),
        address=find_address(container, request),
        stops=stops,
        temperature=1.0 if temperature is None else temperature,
        max_tokens=max_tokens,
        follows=follows,
    )


def find_address(container: Container, request: Request) -> str:
    """Returns the address of this server for readers of the reply."""
    return (container.settings.api.public_url or str(request.base_url)).rstrip("/")


def _make_listener(on_text: OnText) -> Listener:
    def listen(event: Event) -> None:
        if isinstance(event, TokenEvent):
            on_text(event.text)

    return listen
