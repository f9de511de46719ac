"""Questions to a corpus: ranked passages, or a cited answer."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from api.deps import ContainerDep, CorpusDep, answered
from api.shapes.ask import AnswerOut, AskIn, answer_out
from api.shapes.search import SearchIn, SearchOut, search_out
from app import questions
from app.questions import AskRequest, SearchRequest
from core.errors import InvalidStrategy
from core.strategies import StrategySpec, parse_spec
from core.trace import Trace
from retrieval.bridged.ranker import SHIPPED

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}", tags=["questions"])


@router.post("/search", summary="Rank passages", response_model=SearchOut)
async def search(corpus: CorpusDep, body: SearchIn, container: ContainerDep) -> Response:
    trace = Trace()
    request = SearchRequest(
        query=body.query,
        searcher=_spec(body.searcher, body.searcher_options, "searcher"),
        k=body.k,
        filter=body.filter,
        min_similarity=body.min_similarity,
        min_generation=body.min_generation,
        explain=body.explain is not False,
        contributions=body.explain == "features",
    )
    result = await questions.search(container, corpus, request, trace)
    return answered(search_out(result, trace))


@router.post("/ask", summary="Answer with citations", response_model=AnswerOut)
async def ask(corpus: CorpusDep, body: AskIn, container: ContainerDep) -> Response:
    trace = Trace()
    request = AskRequest(
        question=body.question,
        reasoner=_spec(body.reasoner, body.options, "reasoner"),
        searcher=_spec(body.searcher, body.searcher_options, "searcher"),
        k=body.k,
        filter=body.filter,
    )
    answer = await questions.ask(container, corpus, request, trace)
    return answered(answer_out(answer, trace))


def _spec(text: str | None, options: Mapping[str, Any], kind: str) -> StrategySpec | None:
    """The strategy that was named, its options in either place."""
    if text is None:
        if options:
            raise InvalidStrategy(f"options were given for a {kind} that is not named; name the {kind}")
        return None
    spec = parse_spec(text)
    spec = StrategySpec(name=spec.name, options={**spec.options, **options})
    if spec.name == "bridged" and spec.options.get("ranker", SHIPPED[0]) not in SHIPPED:
        raise InvalidStrategy(  # who asks over HTTP must not learn which files this machine has
            f"over HTTP a ranker is one of {', '.join(SHIPPED)}; a file is named by the settings of the server "
            "(HOPWEAVE_SEARCHER=bridged:ranker=FILE) or on the command line"
        )
    return spec
