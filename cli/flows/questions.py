"""Runs one search or one question for a command: by the server that runs on the data folder, else in this process.

Stored questions come last: in this process, as the HTTP API shows them.
"""

from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from api.cursors import decode_cursor, encode_cursor
from cli.local_server import Misdirected, find_server
from core.settings import Settings, read_settings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from app.container import Container
    from core.trace import Budget


T = TypeVar("T", bound="BaseModel")
Json = dict[str, Any]
_Show = Callable[[str, Mapping[str, Any]], None]


def run_search(corpora: list[str], body: Json) -> Json:
    """Returns the response to a body of `POST …/search`."""
    settings = read_settings()
    if (server := find_server(settings)) is not None:
        with closing(server):
            try:
                return server.post(corpora, "search", body)
            except Misdirected:
                pass
    return _search_here(settings, corpora, body)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of an answer and of its verification as `calls=…,tokens=…,seconds=…`; None: the settings' limits."""

    answer: str | None = None
    verification: str | None = None


def run_question(corpora: list[str], body: Json, *, limits: Limits, prompts: Path | None, shown: bool) -> Json:
    """Returns the response to a body of `POST …/ask`; draws the plan on stderr if `shown`.

    `limits` may exceed the settings; `prompts` is a folder that replaces the settings' folder. With either, the
    question is answered in this process.
    """
    settings = read_settings() if prompts is None else read_settings(prompts_dir=prompts)
    server = find_server(settings) if limits == Limits() and prompts is None else None
    if server is not None:
        with closing(server), _drawing(shown) as show:
            try:
                for kind, data in server.stream(corpora, "ask", {**body, "stream": True}):
                    if kind == "answer":
                        return data
                    show(kind, data)
            except Misdirected:
                pass
    return _ask_here(settings, corpora, body, limits, shown=shown)


def _search_here(settings: Settings, corpora: list[str], body: Json) -> Json:
    from api.schemas.ask import BudgetIn
    from api.schemas.search import SearchIn, convert_page
    from api.schemas.values import dump
    from app.services.asked_corpora import open_corpora
    from app.services.links import Links
    from app.services.questions import search_page
    from cli.runtime import run_with_container
    from core.trace import Trace

    asked = _validate(SearchIn, body)
    request, layout = asked.to_request(), asked.to_layout()

    async def work(container: "Container") -> Json:
        trace = Trace(budget=BudgetIn().within(container.settings.budget))
        found = await open_corpora(container, corpora)
        page = await search_page(container, found, request, layout, trace)
        return dump(convert_page(page, trace, Links.of(settings)))

    return run_with_container(work, settings)


def _ask_here(settings: Settings, corpora: list[str], body: Json, limits: Limits, *, shown: bool) -> Json:
    from api.schemas.ask import AskIn, BudgetIn, convert_answer
    from api.schemas.events import convert_event
    from api.schemas.values import dump
    from app.services.asked_corpora import open_corpora
    from app.services.links import Links
    from app.services.questions import ask
    from cli.runtime import run_with_container
    from core.trace import Event, Trace

    asked = _validate(AskIn, body)
    request = asked.to_request()
    links = Links.of(settings)

    async def work(container: "Container") -> Json:
        otherwise = BudgetIn().within(container.settings.budget)
        trace = Trace(budget=_budget("--budget", limits.answer, otherwise))
        verify = _budget("--verify-budget", limits.verification, otherwise) if asked.verify else None
        found = await open_corpora(container, corpora)
        with _drawing(shown) as show:

            def pass_on(event: Event) -> None:
                if (data := convert_event(event, links)) is not None:
                    show(event.kind, dump(data))

            trace.listeners.append(pass_on)
            answer = await ask(container, found, request, trace, verify=verify)
        return dump(convert_answer(answer, trace, links))

    return run_with_container(work, settings)


def _validate(shape: "type[T]", body: Json) -> "T":
    """Returns the body as the HTTP API would read it; raises `InvalidInput`."""
    from pydantic import ValidationError

    from core.errors import InvalidInput
    from core.faults import describe_faults

    try:
        return shape.model_validate(body)
    except ValidationError as error:
        raise InvalidInput(describe_faults(error, field="option")) from error


def _drawing(shown: bool) -> "nullcontext[_Show] | Any":
    if not shown:
        return nullcontext(_ignore)
    from cli.output.plan_view import draw_plan

    return draw_plan()


def _ignore(_kind: str, _data: Mapping[str, Any]) -> None:
    """Shows nothing."""


def _budget(option: str, text: str | None, otherwise: "Budget") -> "Budget":
    """Returns the limits of `text` over the settings' limits, which it may exceed; `null` means no limit."""
    from dataclasses import replace

    from pydantic import ValidationError

    from core.errors import InvalidInput
    from core.faults import describe_faults
    from core.settings import BudgetSettings
    from core.strategies import parse_spec

    given = dict(parse_spec(f"budget:{text}").options) if text else {}
    try:
        checked = BudgetSettings.model_validate(given)
    except ValidationError as error:
        problems = describe_faults(error, field="limit")
        raise InvalidInput(f"{option} {text!r} is wrong: {problems}; write calls=20,tokens=50000,seconds=60") from error
    return replace(otherwise, **{name: getattr(checked, name) for name in given})


async def list_questions(
    container: "Container", corpus: str, *, kept: bool | None, limit: int, cursor: str | None
) -> tuple[list[Json], str | None]:
    """Deletes expired questions, then returns a page, newest first, and the cursor of the next page."""
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    await container.record.questions.prune(after_seconds=container.settings.questions.stored_seconds)
    scope = ("questions", found.id, None if kept is None else str(kept))
    before = decode_cursor(cursor, *scope)
    listed = await questions.list_questions(container, found, kept=kept, limit=limit + 1, before=before)
    last = listed[limit - 1].id if len(listed) > limit else None
    return [schemas.show_question(found, one) for one in listed[:limit]], encode_cursor(last, *scope)


async def show_question(container: "Container", corpus: str, id: str) -> Json:
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    return schemas.show_question(found, await questions.read_question(container, found, id))


async def ask_again(container: "Container", corpus: str, id: str) -> Json:
    """Asks a question again, and returns the new question when it has ended."""
    from api.schemas import stored_questions as schemas
    from app.services.stored_questions import questions
    from app.services.stored_questions.runner import answer_stored
    from core.trace import Trace

    found = await container.record.corpora.get(corpus)
    body = schemas.load_request(await container.record.questions.get(found.id, id))
    request = await questions.continue_conversation(container, found, body.to_request(), body.follows)
    trace = Trace(budget=body.budget.within(container.settings.budget))
    await questions.check_askable(container, found, request)
    made = await questions.store_question(container, found, schemas.dump_request(body), again_of=id)
    await answer_stored(container, found, made.id, request, trace, schemas.StoredForm())
    return await show_question(container, corpus, made.id)


async def compare_question(container: "Container", corpus: str, id: str) -> Json:
    from api.schemas.stored_questions import convert_changes
    from api.schemas.values import dump
    from app.services.stored_questions import questions

    found = await container.record.corpora.get(corpus)
    return dump(convert_changes(await questions.compare(container, found, id)))


async def keep_question(container: "Container", corpus: str, id: str, *, kept: bool) -> Json:
    found = await container.record.corpora.get(corpus)
    await container.record.questions.set_kept(found.id, id, kept=kept)
    return await show_question(container, corpus, id)


async def delete_question(container: "Container", corpus: str, id: str) -> None:
    found = await container.record.corpora.get(corpus)
    await container.record.questions.delete(found.id, id)
