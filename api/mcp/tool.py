"""`Tool`: what a model is told of a tool, and its work; `ToolCall`: what the work of one call may use.

- `Progress` sends what a tool is doing to the client, in order and beside the work.
- `Questions` says who answers searches and questions. Over stdio that may be the server of the data folder.
- A `Reference` names a passage or document in all corpora: `people/chunks/ID`, `people/documents/ID`.
- The arguments at the end, which name a corpus, are shared by several tools.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field

from api.schemas.ask import AskIn, BudgetIn, convert_answer
from api.schemas.base import In, Text
from api.schemas.events import convert_event
from api.schemas.search import SearchIn, convert_page
from api.schemas.values import dump
from app.container import Container
from app.services.links import Links
from app.services.questions import ask, search_page
from core.errors import InvalidInput, NotFound
from core.keys import Scope
from core.trace import Event, Trace

Send = Callable[[float, float | None, str], Awaitable[None]]
"""Sends how much is done, of how much (None: unknown), and a sentence."""

_MOST_WAITING = 100


class Progress:
    """A call is cheap and never waits: the listeners of a trace are plain functions.

    The protocol wants numbers that grow. `done` is used where it does, else the number of the message.
    """

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[tuple[float, float | None, str]] = asyncio.Queue(_MOST_WAITING)
        self._last = 0.0

    def __call__(self, text: str, *, done: float | None = None, total: float | None = None) -> None:
        """Reports a sentence. A client that reads too slowly misses some."""
        if done is not None and done <= self._last:
            return
        self._last = self._last + 1 if done is None else done
        with contextlib.suppress(asyncio.QueueFull):
            self.waiting.put_nowait((self._last, total, text))


@contextlib.asynccontextmanager
async def sending_progress(send: Send) -> AsyncIterator[Progress]:
    """Yields a `Progress` whose reports are sent while the block runs, and all of them before it ends."""
    progress = Progress()

    async def pass_on() -> None:
        while True:
            await send(*await progress.waiting.get())
            progress.waiting.task_done()

    task = asyncio.create_task(pass_on(), name="sending progress")
    try:
        yield progress
        joining = asyncio.create_task(progress.waiting.join())
        await asyncio.wait({joining, task}, return_when=asyncio.FIRST_COMPLETED)
        joining.cancel()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # a client that is gone reads no progress


Json = dict[str, Any]
OnEvent = Callable[[str, Mapping[str, Any]], None]
"""Takes kind and data of each event of a question, as they are streamed."""


class Questions(Protocol):
    """Takes the bodies of `POST …/search` and `POST …/ask`, and returns the responses.

    Raises errors of `core.errors`. The work ends when the caller is cancelled.
    """

    async def search(self, corpus: str, body: Json) -> Json: ...

    async def ask(self, corpus: str, body: Json, on_event: OnEvent) -> Json: ...


class ContainerQuestions:
    """Answers in this process."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._links = Links.of(container.settings)

    async def search(self, corpus: str, body: Json) -> Json:
        asked = SearchIn.model_validate(body)
        trace = Trace(budget=BudgetIn().within(self._container.settings.budget))
        found = await self._container.record.corpora.get(corpus)
        page = await search_page(self._container, found, asked.to_request(), asked.to_layout(), trace)
        return dump(convert_page(page, trace, self._links))

    async def ask(self, corpus: str, body: Json, on_event: OnEvent) -> Json:
        request = AskIn.model_validate(body).to_request()
        trace = Trace(budget=BudgetIn().within(self._container.settings.budget))

        def pass_on(event: Event) -> None:
            if (data := convert_event(event, self._links)) is not None:
                on_event(event.kind, dump(data))

        trace.listeners.append(pass_on)
        found = await self._container.record.corpora.get(corpus)
        answer = await ask(self._container, found, request, trace)
        return dump(convert_answer(answer, trace, self._links))


_REFERENCE = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})/(chunks|documents)/([0-9a-f]{1,64})(?:/([1-9][0-9]{0,11}))?")
_HTTP = ("https://", "http://")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """`offset` is the first character that is wanted of a document's text."""

    corpus: str
    kind: Literal["chunks", "documents"]
    id: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.corpus}/{self.kind}/{self.id}" + (f"/{self.offset}" if self.offset else "")


def parse_reference(text: str) -> Reference:
    """Raises `InvalidInput` for a text that is no reference."""
    found = _REFERENCE.fullmatch(text.strip())
    if found is None or (found[2] == "chunks" and found[4]):
        raise InvalidInput(
            f"{text[:80]!r} is no id of this server; take the `id` of a result of `search`, or of a citation of `ask`, "
            "such as 'people/chunks/4b0d…'"
        )
    kind: Literal["chunks", "documents"] = "chunks" if found[2] == "chunks" else "documents"
    return Reference(corpus=found[1], kind=kind, id=found[3], offset=int(found[4] or 0))


def link_to(address: str, corpus: str, document_id: str, metadata: Mapping[str, Any], link: str | None) -> str:
    """Returns the address for readers of a document: the `url` of its metadata, else `link`, which is its address in
    the web page, else its original here.
    """
    own = metadata.get("url")
    if isinstance(own, str) and own.lower().startswith(_HTTP):
        return own
    return link or f"{address}/v1/corpora/{corpus}/documents/{document_id}/content"


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What clients decide by whether to ask their user first. The names are the protocol's."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """`container` shows what the caller may see. `address` is the address of this server in links.

    `creates_corpora`: whether `ingest` makes a corpus that is missing. Files are read within `root`; None: no files.
    """

    container: Container
    questions: Questions
    address: str
    progress: Progress
    creates_corpora: bool = False
    root: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`run` takes the call and its checked arguments (an instance of `arguments`), and returns an instance of `result`.

    It raises errors of `core.errors`. A tool with the scope `write` is offered where writing is switched on.
    """

    name: str
    title: str
    description: str
    arguments: type[In]
    result: type[BaseModel]
    hints: Hints
    scope: Scope
    run: Callable[[ToolCall, Any], Awaitable[BaseModel]]

    @property
    def writes(self) -> bool:
        return self.scope is Scope.WRITE


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Returns the JSON schema of a model without references and generated titles: some clients read neither."""
    schema = model.model_json_schema(mode="validation" if issubclass(model, In) else "serialization")
    resolved: dict[str, Any] = _resolve(schema, schema.get("$defs", {}))
    resolved.pop("$defs", None)
    return resolved


def _resolve(value: Any, definitions: Mapping[str, Any], *, names: bool = False) -> Any:
    """Replaces references by what they refer to. `names`: the keys of `value` are names of properties."""
    if isinstance(value, list):
        return [_resolve(part, definitions) for part in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        target = definitions[value["$ref"].rpartition("/")[2]]
        return _resolve({**target, **{key: part for key, part in value.items() if key != "$ref"}}, definitions)
    return {
        key: _resolve(part, definitions, names=key == "properties" and not names)
        for key, part in value.items()
        if names or key not in ("title", "$defs")
    }


_MAX_QUESTION = 20_000
_MAX_NAME = 63
_SHOWN = 20

CorpusName = Annotated[
    str,
    Field(
        max_length=_MAX_NAME,
        description="The name of the corpus, as `list_corpora` gives it. Leave it out if there is only one.",
    ),
]
Question = Annotated[Text, Field(min_length=1, max_length=_MAX_QUESTION)]
Passages = Annotated[int, Field(ge=1, le=50)]
AsOf = Annotated[
    str,
    Field(
        description="The day on which documents have to be in force, such as 2024-05-01; `any`: all documents, also "
        "superseded ones. Leave it out for today.",
        pattern=r"^(?:|any|[0-9]{4}-[0-9]{2}-[0-9]{2})$",
    ),
]
Filter = Annotated[
    dict[str, Any],
    Field(
        description="Only documents whose metadata match, such as {'year': {'$gte': 2020}, 'team': 'sales'}. "
        "Operators: $eq $ne $gt $gte $lt $lte $in $nin $contains $prefix $exists $and $or $not; $key, $id and $title "
        "address the document. Leave it out to use all documents.",
    ),
]


async def choose_corpus(call: ToolCall, name: str) -> str:
    """Returns the name, else the corpus of the setting, else the only corpus.

    Raises `InvalidInput` naming the corpora if there are several, and `NotFound` if there is none.
    """
    chosen = name or call.container.settings.mcp.corpus
    if chosen:
        return chosen
    names = [corpus.name for corpus in await call.container.record.corpora.list()]
    if not names:
        raise NotFound("there is no corpus yet; ask the user to ingest documents with `hopweave ingest`")
    if len(names) > 1:
        more = f" and {len(names) - _SHOWN:,} more (`list_corpora`)" if len(names) > _SHOWN else ""
        raise InvalidInput(
            f"there are several corpora, {', '.join(names[:_SHOWN])}{more}; give one of them as `corpus`"
        )
    return names[0]
