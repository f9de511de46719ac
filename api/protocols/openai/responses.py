"""`POST /v1/responses`: a question to a corpus, or to the language model, in the form of OpenAI's Responses API.

A response that is stored is a stored question of its corpus: the same key reads, continues and deletes it, and deleted
documents withdraw it. First come the body and its responses. `docs/clients/openai.md` lists the parameters.
"""

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Discriminator, Field, Tag, field_validator

from api.access.keys import READ
from api.deps import ContainerDep, json_response, run_while_connected
from api.protocols.asking import Asked, ask_model, find_address, stream_reply
from api.protocols.conversation import PartIn, ProtocolIn, TurnIn, ignored, refused
from api.protocols.errors import NO_PREVIOUS_RESPONSE, describe_errors, openai_error
from api.protocols.openai.chat import NO_TOOLS, TEXT_ONLY, DetailsOut, UrlCitationOut, cite, read_details
from api.protocols.reply import Reply, reply_from_answer
from api.schemas.base import Flag, Number, Out, Text, Whole
from api.schemas.values import load
from api.streams.following import problem_of
from app.container import Container
from app.services.stored_questions.questions import read_question
from core.corpora import Corpus
from core.errors import InvalidInput, NotFound
from core.ports.chat import Message, Speaker
from core.questions import AskedQuestion, QuestionState
from hopweave.wire.answers import Answer

_PREFIX = "resp_"
_ID_LENGTH = 32
"""Characters of the id of a corpus, and of a question."""
_TEXT, _LIST = "text[]", "list[]"


class InputPartIn(PartIn):
    type: Literal["input_text", "output_text"]


class InputMessageIn(TurnIn):
    """A message: of the user, or of a response before. Items of other types are refused."""

    kinds = ("input_text", "output_text")

    type: Literal["message"] = "message"
    content: Text | list[InputPartIn]

    @field_validator("type", mode="before")
    @classmethod
    def _check_type(cls, type: Any) -> Any:
        if isinstance(type, str) and type != "message":
            raise ValueError(f"items of type {type[:40]!r} are refused: this server reads messages; leave them out")
        return type


_Input = Annotated[
    Annotated[Text, Tag(_TEXT)] | Annotated[list[InputMessageIn], Field(min_length=1), Tag(_LIST)],
    Discriminator(lambda given: _LIST if isinstance(given, list) else _TEXT),
]
"""A text, or messages: a fault of a message is named, and not that a list is no text."""


class TextFormatIn(ProtocolIn):
    format: Any = refused("answers are cited text", {"type": "text"})
    verbosity: Any = ignored()


class ResponseIn(ProtocolIn):
    """A question, or a conversation whose last message is the question."""

    model: Text = Field(description="`CORPUS`, `CORPUS:REASONER`, or `plain` for the language model alone.")
    input: _Input
    instructions: Text | None = Field(default=None, description="How the answer is to be written.")
    previous_response_id: Text | None = Field(
        default=None,
        description="The stored response that this one follows; `input` then is the next question, without turns "
        "before it.",
    )
    store: Flag | None = Field(default=None, description="False stores nothing. `plain` stores nothing either.")
    stream: Flag | None = None
    temperature: Number | None = Field(default=None, ge=0, le=2, description="For `plain`; else ignored.")
    max_output_tokens: Whole | None = Field(default=None, ge=1, description="For `plain`; else ignored.")
    text: TextFormatIn | None = None

    access_programs: Any = ignored()
    context_management: Any = ignored()
    include: Any = ignored()
    max_tool_calls: Any = ignored()
    metadata: Any = ignored()
    moderation: Any = ignored()
    parallel_tool_calls: Any = ignored()
    prompt_cache_key: Any = ignored()
    prompt_cache_options: Any = ignored()
    prompt_cache_retention: Any = ignored()
    reasoning: Any = ignored()
    safety_identifier: Any = ignored()
    service_tier: Any = ignored()
    stream_options: Any = ignored()
    top_p: Any = ignored()
    truncation: Any = ignored()
    user: Any = ignored()

    background: Any = refused("responses are awaited; questions in the background are at /v1/corpora/…/questions")
    conversation: Any = refused("there are none; continue a response with `previous_response_id`")
    image: Any = refused(TEXT_ONLY)
    prompt: Any = refused("there are no stored prompts; send `instructions`")
    tool_choice: Any = refused(NO_TOOLS, "none", "auto")
    tools: Any = refused(NO_TOOLS)
    top_logprobs: Any = refused("there are none", 0)

    @property
    def messages(self) -> list[Message]:
        """The input with the instructions before it."""
        if isinstance(self.input, str):
            said = [Message(speaker=Speaker.USER, content=self.input)]
        else:
            said = [item.to_message() for item in self.input]
        return [Message(speaker=Speaker.SYSTEM, content=self.instructions), *said] if self.instructions else said


class ResponseCitationOut(UrlCitationOut):
    type: Literal["url_citation"] = "url_citation"


class OutputTextOut(Out):
    type: Literal["output_text"] = "output_text"
    text: str = ""
    annotations: list[ResponseCitationOut] = Field(
        default_factory=list, description="A citation for each marker of the answer."
    )
    logprobs: list[Any] = Field(default_factory=list)


_ItemStatus = Literal["in_progress", "completed", "incomplete"]


class OutputMessageOut(Out):
    id: str
    type: Literal["message"] = "message"
    status: _ItemStatus = "in_progress"
    role: Literal["assistant"] = "assistant"
    content: list[OutputTextOut] = Field(default_factory=list)


class InputTokensOut(Out):
    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensOut(Out):
    reasoning_tokens: int = 0


class ResponseUsageOut(Out):
    """The tokens of all calls of models that the answer took."""

    input_tokens: int
    input_tokens_details: InputTokensOut = InputTokensOut()
    output_tokens: int
    output_tokens_details: OutputTokensOut = OutputTokensOut()
    total_tokens: int

    @classmethod
    def of(cls, prompt: int, completion: int) -> "ResponseUsageOut":
        return cls(input_tokens=prompt, output_tokens=completion, total_tokens=prompt + completion)


class ResponseErrorOut(Out):
    code: Literal["server_error", "rate_limit_exceeded", "invalid_prompt"]
    message: str


class IncompleteOut(Out):
    reason: Literal["max_output_tokens"] = "max_output_tokens"


class TextFormatOut(Out):
    type: Literal["text"] = "text"


class TextConfigOut(Out):
    format: TextFormatOut = TextFormatOut()


class ResponseOut(Out):
    """What is null, empty or `disabled` without a description says of this server that it does not have it."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None = None
    status: Literal["in_progress", "completed", "incomplete", "failed", "cancelled"] = "in_progress"
    error: ResponseErrorOut | None = None
    incomplete_details: IncompleteOut | None = None
    instructions: str | None
    max_output_tokens: int | None = None
    model: str
    output: list[OutputMessageOut] = Field(default_factory=list)
    previous_response_id: str | None
    store: bool
    usage: ResponseUsageOut | None = None
    temperature: float | None = None
    background: bool = False
    metadata: dict[str, str] = Field(default_factory=dict)
    parallel_tool_calls: bool = False
    reasoning: None = None
    text: TextConfigOut = TextConfigOut()
    tool_choice: Literal["none"] = "none"
    tools: list[Any] = Field(default_factory=list)
    top_p: None = None
    truncation: Literal["disabled"] = "disabled"
    hopweave: DetailsOut | None = Field(
        default=None, description="How the answer came about; not a part of OpenAI's protocol. Null for `plain`."
    )

    @property
    def item_id(self) -> str:
        return f"msg_{self.id[-_ID_LENGTH:]}"

    def complete(self, text: str, reply: Reply, usage: ResponseUsageOut, at: int, offset: int = 0) -> "ResponseOut":
        """Returns the response with its message. In `text`, the text of the reply begins at `offset`."""
        is_cut = reply.finish == "length"
        status: Literal["incomplete", "completed"] = "incomplete" if is_cut else "completed"
        citations = [ResponseCitationOut(**values) for values in cite(reply.sources, offset)]
        part = OutputTextOut(text=text, annotations=citations)
        return self.model_copy(
            update={
                "completed_at": None if is_cut else at,
                "status": status,
                "incomplete_details": IncompleteOut() if is_cut else None,
                "output": [OutputMessageOut(id=self.item_id, status=status, content=[part])],
                "usage": usage,
                "hopweave": read_details(reply.details),
            }
        )

    def fail(self, problem: Mapping[str, Any]) -> "ResponseOut":
        """Returns the response with the error that the details of a problem tell."""
        error = ResponseErrorOut(code=_name_error(HTTPStatus(problem["status"])), message=problem["detail"])
        return self.model_copy(update={"status": "failed", "error": error})


def _name_error(status: HTTPStatus) -> Literal["server_error", "rate_limit_exceeded", "invalid_prompt"]:
    if status is HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit_exceeded"
    return "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_prompt"


class DeletedResponseOut(Out):
    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


router = APIRouter(prefix="/v1/responses", tags=["openai"], responses=describe_errors("OpenAIError"))

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The response; with `stream`, its events, the last of which is `response.completed`, "
        "`response.incomplete` or `response.failed`.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "description": "One event; `data` is JSON with its `type` and its `sequence_number`.",
                    "type": "object",
                    "required": ["event", "data"],
                    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
                }
            }
        },
    }
}


@router.post("", dependencies=[READ], summary="Create a response", response_model=ResponseOut, responses=_STREAM)
async def create_response(body: ResponseIn, container: ContainerDep, http: Request) -> Response:
    """A response is stored as a question of its corpus, unless `store` is false, and is answered while the client
    waits.
    """
    asked = await ask_model(
        container,
        http,
        body.model,
        body.messages,
        temperature=body.temperature,
        max_tokens=body.max_output_tokens,
        follows=None if body.previous_response_id is None else _split_id(body.previous_response_id)[1],
    )
    if body.previous_response_id is not None:
        await _check_previous(asked)
    if body.store is not False:
        asked = await asked.store()
    response = _begin(body, asked)
    if body.stream:
        return await stream_reply(http, asked.write, _Events(response=response, asked=asked), asked.stops)
    reply = await run_while_connected(http, asked.write())
    return json_response(response.complete(reply.text, reply, _count(asked), int(time.time())))


@router.get("/{id}", dependencies=[READ], summary="One stored response")
async def get_response(id: str, container: ContainerDep, http: Request) -> ResponseOut:
    """A key reads the responses that it has created, and the questions that it has stored otherwise."""
    corpus, question = await _find(container, id)
    reasoner, follows = question.request.get("reasoner"), question.request.get("follows")
    response = ResponseOut(
        id=_id_of(corpus, question.id),
        created_at=int(question.asked_at.timestamp()),
        model=f"{corpus.name}:{reasoner}" if reasoner else corpus.name,
        instructions=question.request.get("instructions"),
        previous_response_id=None if follows is None else _id_of(corpus, follows),
        store=True,
    )
    if question.answer is None:
        if question.state is QuestionState.CANCELLED:
            return response.model_copy(update={"status": "cancelled"})
        return response.fail(problem_of(question)) if question.state.final else response
    answer = load(Answer, question.answer)
    reply = reply_from_answer(
        answer,
        address=find_address(container, http),
        corpus=corpus.name,
        shown=container.settings.api.chat_sources,
    )
    usage = ResponseUsageOut.of(answer.usage.prompt_tokens, answer.usage.completion_tokens)
    at = question.answered_at or question.asked_at
    return response.complete(reply.text, reply, usage, int(at.timestamp()))


@router.delete("/{id}", dependencies=[READ], summary="Delete a stored response")
async def delete_response(id: str, container: ContainerDep) -> DeletedResponseOut:
    """The stored question is deleted. One that is answered is cancelled."""
    corpus, question = await _find(container, id)
    await container.record.questions.delete(corpus.id, question.id)
    return DeletedResponseOut(id=id)


def _begin(body: ResponseIn, asked: Asked) -> ResponseOut:
    corpus, question = asked.model.corpus, asked.question
    is_stored = corpus is not None and question is not None
    return ResponseOut(
        id=_id_of(corpus, question.id) if corpus and question else f"{_PREFIX}{uuid.uuid4().hex}",
        created_at=int(time.time()),
        instructions=body.instructions,
        max_output_tokens=body.max_output_tokens,
        model=body.model,
        previous_response_id=body.previous_response_id,
        store=is_stored,
        temperature=body.temperature,
    )


def _count(asked: Asked) -> ResponseUsageOut:
    usage = asked.trace.usage
    return ResponseUsageOut.of(usage.prompt_tokens, usage.completion_tokens)


def _id_of(corpus: Corpus, question_id: str) -> str:
    """Returns the id of a response, which tells where to look for it first."""
    return f"{_PREFIX}{corpus.id}{question_id}"


def _split_id(id: str) -> tuple[str, str]:
    """Returns the ids of the corpus and of the question of a response; empty ones if it is no id of a response."""
    ids = id.removeprefix(_PREFIX)
    if len(ids) != 2 * _ID_LENGTH or not (ids.isascii() and ids.isalnum()):
        return "", ""
    return ids[:_ID_LENGTH], ids[_ID_LENGTH:]


async def _find(container: Container, id: str) -> tuple[Corpus, AskedQuestion]:
    """Returns a stored response of the caller. Its corpus has another id since it was indexed again.

    Raises `NotFound`.
    """
    corpus_id, question_id = _split_id(id)
    corpora = await container.record.corpora.list() if question_id else ()
    for corpus in sorted(corpora, key=lambda corpus: corpus.id != corpus_id):
        with suppress(NotFound):
            return corpus, await read_question(container, corpus, question_id)
    raise NotFound(f"there is no response {id[:200]!r} of yours; responses are deleted after some days")


async def _check_previous(asked: Asked) -> None:
    """Raises `RequestValidationError` unless the response that is continued is the caller's, of the same corpus."""
    if asked.conversation.history:
        raise InvalidInput(
            "after a response, `input` is the next question alone: leave out the turns before it, or leave out "
            "`previous_response_id`"
        )
    if asked.model.corpus is not None and asked.follows:
        with suppress(NotFound):
            await asked.container.record.questions.get(asked.model.corpus.id, asked.follows)
            return
    why = f"there is no stored response of yours with this id from the model {asked.model.id!r}"
    fault = {"loc": ("body", "previous_response_id"), "msg": why, "type": NO_PREVIOUS_RESPONSE}
    raise RequestValidationError([fault])


_FIRST = 4
"""Events before the text."""


@dataclass(kw_only=True)
class _Events:
    """The stream as OpenAI's events of a response (a `Wire`). `sent` are the pieces of the text.

    `number` is the number of the next event. The first piece of the text is made before the stream begins, and follows
    its `_FIRST` events.
    """

    response: ResponseOut
    asked: Asked
    sent: list[str] = field(default_factory=list)
    number: int = _FIRST
    media_type = "text/event-stream"
    ping = b": ping\n\n"

    def begin(self) -> bytes:
        item = OutputMessageOut(id=self.response.item_id)
        first: tuple[tuple[str, dict[str, Any]], ...] = (
            ("response.created", {"response": self.response}),
            ("response.in_progress", {"response": self.response}),
            ("response.output_item.added", {"output_index": 0, "item": item}),
            ("response.content_part.added", {**self._place, "part": OutputTextOut()}),
        )
        return b"".join(_format(type, number, values) for number, (type, values) in enumerate(first))

    def send_text(self, piece: str) -> bytes:
        self.sent.append(piece)
        return self._event("response.output_text.delta", **self._place, delta=piece, logprobs=[])

    def end(self, reply: Reply, offset: int) -> Iterator[bytes]:
        done = self.response.complete("".join(self.sent), reply, _count(self.asked), int(time.time()), offset)
        (item,) = done.output
        (part,) = item.content
        for index, citation in enumerate(part.annotations):
            yield self._event(
                "response.output_text.annotation.added", **self._place, annotation_index=index, annotation=citation
            )
        yield self._event("response.output_text.done", **self._place, text=part.text, logprobs=[])
        yield self._event("response.content_part.done", **self._place, part=part)
        yield self._event("response.output_item.done", output_index=0, item=item)
        yield self._event(f"response.{done.status}", response=done)

    def send_error(self, details: dict[str, Any]) -> bytes:
        error = openai_error(details)["error"]
        told = self._event("error", **{name: error[name] for name in ("code", "message", "param")})
        return told + self._event("response.failed", response=self.response.fail(details))

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self.response.item_id, "output_index": 0, "content_index": 0}

    def _event(self, type: str, **values: Any) -> bytes:
        self.number += 1
        return _format(type, self.number - 1, values)


def _format(type: str, number: int, values: Mapping[str, Any]) -> bytes:
    shown = {name: value.model_dump() if isinstance(value, Out) else value for name, value in values.items()}
    data = json.dumps({"type": type, "sequence_number": number, **shown}, ensure_ascii=False)
    return f"event: {type}\ndata: {data}\n\n".encode()
