"""The routes of made questions: make them of a corpus, and measure searchers with them. Nothing is stored."""

from fastapi import APIRouter, Request, Response

from api.access.keys import READ
from api.deps import ContainerDep, CorpusDep, json_response, run_while_connected
from api.schemas.ask import BudgetIn
from api.schemas.made_questions import MakeQuestionsIn, MeasureIn, convert_made, convert_measurement
from app.services import made_questions
from core.trace import Trace
from hopweave.wire.made_questions import MadeQuestions, Measurement

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["questions"])


@router.post(
    "/made-questions",
    dependencies=[READ],
    summary="Make questions with known supports",
    response_model=MadeQuestions,
)
async def make_questions(corpus: CorpusDep, body: MakeQuestionsIn, container: ContainerDep, http: Request) -> Response:
    """They are made from the facts and tables of the documents that the caller sees, and stored nowhere."""
    work = made_questions.make_for_caller(container, corpus, count=body.count, seed=body.seed, kinds=body.chosen_kinds)
    made = await run_while_connected(http, work)
    return json_response(convert_made(made, corpus.generation))


@router.post(
    "/measurements", dependencies=[READ], summary="Measure searchers with questions", response_model=Measurement
)
async def measure_searchers(corpus: CorpusDep, body: MeasureIn, container: ContainerDep, http: Request) -> Response:
    """Each searcher is asked each question, all within the budget of one question. Questions without supports are not
    asked. The questions are not stored.
    """
    trace = Trace(budget=BudgetIn().within(container.settings.budget))
    work = made_questions.measure_searchers(container, corpus, body.to_questions(), body.to_searchers(), trace)
    return json_response(convert_measurement(await run_while_connected(http, work)))
