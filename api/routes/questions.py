"""The routes that answer questions: `/search` returns ranked passages, `/ask` a cited answer, whole or as a stream."""

from fastapi import APIRouter, Request, Response

from api.access.scopes import READ
from api.answering import send_answer, stream_answer
from api.connection import run_while_connected
from api.deps import ContainerDep, CorpusDep, json_response
from api.schemas.ask import AnswerOut, AskIn, BudgetIn
from api.schemas.search import SearchIn, SearchOut
from api.schemas.stream import ASK_RESPONSES
from app.services import questions
from core.trace import Trace

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["questions"])


@router.post("/search", dependencies=[READ], summary="Rank passages", response_model=SearchOut)
async def search(corpus: CorpusDep, body: SearchIn, container: ContainerDep, http: Request) -> Response:
    request = body.to_request()
    trace = Trace(budget=BudgetIn().within(container.settings.budget))
    work = questions.search_page(container, corpus, request, body.to_layout(), trace)
    return json_response(SearchOut.from_page(await run_while_connected(http, work), trace))


@router.post(
    "/ask", dependencies=[READ], summary="Answer with citations", response_model=AnswerOut, responses=ASK_RESPONSES
)
async def ask(corpus: CorpusDep, body: AskIn, container: ContainerDep, http: Request) -> Response:
    request = body.to_request()
    trace = Trace(budget=body.budget.within(container.settings.budget))
    work = questions.ask(container, corpus, request, trace)
    respond = stream_answer if body.stream else send_answer
    return await respond(http, work, trace)
