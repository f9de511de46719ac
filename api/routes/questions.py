"""The routes that answer questions: `/search` returns ranked passages, `/ask` a cited answer, whole or as a stream."""

from fastapi import APIRouter, Request, Response

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep, json_response
from api.schemas.ask import AnswerOut, AskCorporaIn, AskIn, BudgetIn
from api.schemas.search import SearchCorporaIn, SearchIn, SearchOut
from api.schemas.stream import ASK_RESPONSES
from api.streams.answering import send_answer, stream_answer
from app.container import Container
from app.services import questions
from app.services.links import Links
from app.services.scope import Asked, open_corpora
from core.trace import Trace

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["questions"])


@router.post("/corpora/{corpus}/search", dependencies=[READ], summary="Rank passages", response_model=SearchOut)
async def search(corpus: CorpusDep, body: SearchIn, container: ContainerDep, http: Request) -> Response:
    return await _search(corpus, body, container, http)


@router.post("/search", dependencies=[READ], summary="Rank the passages of several corpora", response_model=SearchOut)
async def search_corpora(body: SearchCorporaIn, container: ContainerDep, http: Request) -> Response:
    """The corpora are searched as one. A passage that several of them have is one hit, of the first."""
    return await _search(await open_corpora(container, body.corpora), body, container, http)


@router.post(
    "/corpora/{corpus}/ask",
    dependencies=[READ],
    summary="Answer with citations",
    response_model=AnswerOut,
    responses=ASK_RESPONSES,
)
async def ask(corpus: CorpusDep, body: AskIn, container: ContainerDep, http: Request) -> Response:
    return await _ask(corpus, body, container, http)


@router.post(
    "/ask",
    dependencies=[READ],
    summary="Answer from several corpora, with citations",
    response_model=AnswerOut,
    responses=ASK_RESPONSES,
)
async def ask_corpora(body: AskCorporaIn, container: ContainerDep, http: Request) -> Response:
    """Each search of the question is one of all corpora."""
    return await _ask(await open_corpora(container, body.corpora), body, container, http)


async def _search(asked: Asked, body: SearchIn, container: Container, http: Request) -> Response:
    trace = Trace(budget=BudgetIn().within(container.settings.budget))
    work = questions.search_page(container, asked, body.to_request(), body.to_layout(), trace)
    page = await run_while_connected(http, work)
    return json_response(SearchOut.from_page(page, trace, Links.of(container.settings)))


async def _ask(asked: Asked, body: AskIn, container: Container, http: Request) -> Response:
    trace = Trace(budget=body.budget.within(container.settings.budget))
    verify = body.limit_verification(container.settings.budget)
    work = questions.ask(container, asked, body.to_request(), trace, verify=verify)
    respond = stream_answer if body.stream else send_answer
    return await respond(http, work, trace, Links.of(container.settings))
