"""`hopweave search` and `hopweave ask`."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import AsJson, CorpusName, FilterText, Searcher, TopK, Web
from cli.output.console import emit, say
from core.errors import InvalidFilter

if TYPE_CHECKING:
    from core.strategies import StrategySpec

__all__ = ["register"]

_INTERRUPTED = 130


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
    web: Web = False,
    as_json: AsJson = False,
) -> None:
    """Rank the passages of a corpus."""
    from app.services.questions import SearchRequest
    from cli.asking import searched
    from cli.output.results import search_object, show_search

    request = SearchRequest(
        query=query,
        searcher=_spec(searcher),
        k=k,
        filter=_filter(where),
        explain=explain or features,
        contributions=features,
        web=web,
    )
    result, trace = searched(corpus, request)
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
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="How many passages a retrieval brings; unset, the reasoner's own number.", show_default=False
        ),
    ] = None,
    where: FilterText = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Limits for this question: calls=20,tokens=50000,seconds=60, or some of them.", show_default=False
        ),
    ] = None,
    instructions: Annotated[str, typer.Option(help="How the answer is to be written.", show_default=False)] = "",
    web: Web = False,
    as_json: AsJson = False,
    no_stream: Annotated[bool, typer.Option("--no-stream", help="Print nothing before the answer is whole.")] = False,
) -> None:
    """Answer a question from a corpus, with citations."""
    from app.services.questions import AskRequest
    from cli.asking import asked
    from cli.output.results import answer_object, show_answer

    request = AskRequest(
        question=question,
        reasoner=_spec(reasoner),
        searcher=_spec(searcher),
        k=k,
        filter=_filter(where),
        instructions=instructions,
        web=web,
    )
    try:
        answer, trace = asked(corpus, request, budget=budget, shown=not (no_stream or as_json))
    except KeyboardInterrupt:
        say("hopweave: interrupted; calls of models that were under way are cancelled")
        raise typer.Exit(_INTERRUPTED) from None
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
