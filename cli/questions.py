"""`hopweave search` and `hopweave ask`."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import emit
from cli.options import AsJson, CorpusName, FilterText, Searcher, TopK
from cli.running import run_with_container
from core.errors import InvalidFilter

if TYPE_CHECKING:
    from app.container import Container
    from core.ports.reasoning import Answer
    from core.ports.retrieval import SearchResult
    from core.strategies import StrategySpec

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("search")(search)
    app.command("ask")(ask)


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    corpus: CorpusName,
    searcher: Searcher = None,
    k: TopK = 5,
    where: FilterText = None,
    explain: Annotated[bool, typer.Option("--explain", help="Tell why each passage is there.")] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Tell also what each feature adds to the score; implies --explain.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rank the passages of a corpus."""
    from app.questions import SearchRequest
    from app.questions import search as search_corpus
    from cli.results import search_object, show_search
    from core.trace import Trace

    trace = Trace()
    request = SearchRequest(
        query=query,
        searcher=_spec(searcher),
        k=k,
        filter=_filter(where),
        explain=explain or features,
        contributions=features,
    )

    async def work(container: "Container") -> "SearchResult":
        return await search_corpus(container, await container.record.corpora.get(corpus), request, trace)

    result = run_with_container(work)
    if as_json:
        emit(search_object(result, trace))
    else:
        show_search(result, trace)


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    corpus: CorpusName,
    reasoner: Annotated[
        str | None, typer.Option(help="NAME[:key=value,…]; unset, the one of the settings.", show_default=False)
    ] = None,
    searcher: Searcher = None,
    k: TopK = 5,
    where: FilterText = None,
    as_json: AsJson = False,
    no_stream: Annotated[  # noqa: ARG001 - reasoners without a model have nothing to show before their answer
        bool, typer.Option("--no-stream", help="Print nothing before the answer is whole.")
    ] = False,
) -> None:
    """Answer a question from a corpus, with citations."""
    from app.questions import AskRequest
    from app.questions import ask as ask_corpus
    from cli.results import answer_object, show_answer
    from core.trace import Trace

    trace = Trace()
    request = AskRequest(
        question=question, reasoner=_spec(reasoner), searcher=_spec(searcher), k=k, filter=_filter(where)
    )

    async def work(container: "Container") -> "Answer":
        return await ask_corpus(container, await container.record.corpora.get(corpus), request, trace)

    answer = run_with_container(work)
    if as_json:
        emit(answer_object(answer, trace))
    else:
        show_answer(answer, trace)


def _spec(text: str | None) -> "StrategySpec | None":
    from core.strategies import parse_spec

    return None if text is None else parse_spec(text)


def _filter(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidFilter(f"--filter is not valid JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(value, dict):
        raise InvalidFilter('--filter is a JSON object of fields and conditions, such as {"year": 1990}')
    return value
