"""`make_questions`: questions of a corpus with their answers; `measure_searchers`: how searchers find the supports."""

from pydantic import Field

from api.mcp.tool import CorpusName, Hints, Tool, ToolCall, choose_corpus
from api.schemas.ask import BudgetIn
from api.schemas.base import In, Out
from api.schemas.search import Searcher, parse_strategy
from app.services.made_questions import (
    KINDS,
    MOST_ASKED,
    MOST_SEARCHERS,
    Kind,
    MadeQuestion,
    MadeQuestions,
    make_for_caller,
    measure_searchers,
)
from core.corpora import Corpus
from core.keys import Scope
from core.trace import Trace


class MakeArguments(In):
    corpus: CorpusName = ""
    count: int = Field(default=20, ge=1, le=MOST_ASKED, description="How many questions, at most.")
    seed: int = Field(default=0, ge=0, le=2**53 - 1, description="The seed by which questions are drawn.")
    kinds: list[Kind] = Field(
        default_factory=list, max_length=len(KINDS), description="Only questions of these kinds; empty: all kinds."
    )


class MeasureArguments(MakeArguments):
    searchers: list[Searcher] = Field(
        default=["fused"],
        min_length=1,
        max_length=MOST_SEARCHERS,
        description="Searchers, such as `fused`, `bridged` or `sparse`.",
    )


class QuestionOut(Out):
    id: str
    kind: str
    question: str
    answer: str = Field(description="Empty if the corpus does not answer the question.")
    documents: list[str] = Field(description="The keys of the documents that the question is made from.")
    quotes: list[str] = Field(description="The sentences or rows that state the answer.")


class MakeResult(Out):
    questions: list[QuestionOut]
    notes: list[str] = Field(description="Why there are not more of a kind, and what was left out.")


class ScoresOut(Out):
    searcher: str
    recall_at_5: float = Field(description="The mean share of a question's supports among the first 5, from 0 to 1.")
    mrr: float = Field(description="The mean of 1 / the rank of the first support, from 0 to 1.")


class MeasureResult(Out):
    asked: int = Field(description="How many of the made questions were asked; unanswerable ones are not.")
    searchers: list[ScoresOut]
    notes: list[str] = Field(description="Why there are not more of a kind, and what was left out.")


async def _make(call: ToolCall, given: MakeArguments) -> MakeResult:
    corpus = await call.container.record.corpora.get(await choose_corpus(call, given.corpus))
    made = await _make_questions(call, corpus, given)
    return MakeResult(questions=[_show(question) for question in made.questions], notes=list(made.notes))


async def _measure(call: ToolCall, given: MeasureArguments) -> MeasureResult:
    corpus = await call.container.record.corpora.get(await choose_corpus(call, given.corpus))
    specs = {text: spec for text in given.searchers if (spec := parse_strategy(text, {}, "searcher")) is not None}
    made = await _make_questions(call, corpus, given)
    call.progress(f"{len(made.questions)} questions are made; asking {len(specs)} searchers")
    trace = Trace(budget=BudgetIn().within(call.container.settings.budget))
    asked = [question.to_supported() for question in made.questions if question.answer]
    measured = await measure_searchers(call.container, corpus, asked, specs, trace)
    return MeasureResult(
        asked=measured.asked,
        searchers=[
            ScoresOut(searcher=row.searcher, recall_at_5=row.scores["recall@5"], mrr=row.scores["mrr"])
            for row in measured.searchers
            if row.scores
        ],
        notes=list(made.notes),
    )


async def _make_questions(call: ToolCall, corpus: Corpus, given: MakeArguments) -> MadeQuestions:
    kinds = tuple(kind for kind in KINDS if not given.kinds or kind in given.kinds)
    return await make_for_caller(call.container, corpus, count=given.count, seed=given.seed, kinds=kinds)


def _show(question: MadeQuestion) -> QuestionOut:
    return QuestionOut(
        id=question.id,
        kind=str(question.kind),
        question=question.text,
        answer=question.answer,
        documents=list(question.keys),
        quotes=[quote.text for quote in question.quotes] if question.answer else [],
    )


MAKE_QUESTIONS = Tool(
    name="make_questions",
    title="Make questions with known answers",
    description="Makes questions of the user's documents, from facts and tables, with their answers, the documents "
    "that support them and quotes. Use it to try how well the documents are found. The server keeps none of them.",
    arguments=MakeArguments,
    result=MakeResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_make,
)

MEASURE_SEARCHERS = Tool(
    name="measure_searchers",
    title="Measure searchers",
    description="Makes questions of the user's documents as `make_questions` does, and tells for each searcher how "
    "many of the supporting documents it finds. The same corpus, seed and kinds give the same questions.",
    arguments=MeasureArguments,
    result=MeasureResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_measure,
)
