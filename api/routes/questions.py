"""Questions to a corpus: ranked passages, or a cited answer."""

from fastapi import APIRouter, Request, Response

from api.budgets import allowed
from api.deps import ContainerDep, CorpusDep, answered
from api.named import named
from api.schemas.ask import AnswerOut, AskIn, answer_out
from api.schemas.search import SearchIn, SearchOut, search_out
from api.schemas.stream import ASK_RESPONSES
from api.streaming import streamed, while_connected
from app.services import questions
from app.services.questions import AskRequest, SearchRequest
from core.ports.chat import Message, Speaker
from core.trace import Trace

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["questions"])


@router.post("/search", summary="Rank passages", response_model=SearchOut)
async def search(corpus: CorpusDep, body: SearchIn, container: ContainerDep, http: Request) -> Response:
    trace = Trace(budget=allowed(container.settings.budget))
    request = SearchRequest(
        query=body.query,
        searcher=named(body.searcher, body.searcher_options, "searcher"),
        k=body.k,
        filter=body.filter,
        min_similarity=body.min_similarity,
        min_generation=body.min_generation,
        explain=body.explain is not False,
        contributions=body.explain == "features",
        web=body.web,
    )
    result = await while_connected(http, questions.search(container, corpus, request, trace))
    return answered(search_out(result, trace))


@router.post("/ask", summary="Answer with citations", response_model=AnswerOut, responses=ASK_RESPONSES)
async def ask(corpus: CorpusDep, body: AskIn, container: ContainerDep, http: Request) -> Response:
    trace = Trace(budget=allowed(container.settings.budget, body.budget))
    work = questions.ask(container, corpus, _request(body), trace)
    if body.stream:
        return await streamed(http, work, trace)
    return answered(answer_out(await while_connected(http, work), trace))


def _request(body: AskIn) -> AskRequest:
    return AskRequest(
        question=body.question,
        reasoner=named(body.reasoner, body.options, "reasoner"),
        searcher=named(body.searcher, body.searcher_options, "searcher"),
        k=body.k,
        filter=body.filter,
        instructions=body.instructions,
        history=tuple(Message(speaker=Speaker(turn.role), content=turn.content) for turn in body.history),
        web=body.web,
    )
