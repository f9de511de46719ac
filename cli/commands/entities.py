"""`hopweave entities …`: the graph of a corpus on the command line."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cli.options import AsJson, CorpusName, FilterText, parse_filter_text
from cli.output.console import print_json

if TYPE_CHECKING:
    from app.container import Container
    from core.corpora import Corpus

__all__ = ["register"]

T = TypeVar("T")

_group = typer.Typer(
    name="entities", help="Find entities of the graph, and show what the corpus says of them.", no_args_is_help=True
)
_Named = Annotated[str, typer.Argument(metavar="NAME|ID", help="The entity's name in any spelling, or its id.")]


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("find")
def find_entities(
    corpus: CorpusName,
    name: Annotated[
        str, typer.Argument(help="A name, or a part of one. Default: the most mentioned entities.", show_default=False)
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="The largest number of entities.")] = 20,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Find entities by name."""
    from api.schemas.entities import EntityListOut
    from app.services.entities import find
    from cli.output.entities import show_found

    found = _run(corpus, where, lambda container, at, only: find(container, at, name, limit=limit, where=only))
    if as_json:
        print_json(EntityListOut.model_validate({"data": found}).model_dump(mode="json"))
    else:
        show_found(found)


@_group.command("show")
def show_entity(
    name: _Named,
    corpus: CorpusName,
    facts: Annotated[int, typer.Option(min=0, max=1000, help="The largest number of facts.")] = 50,
    passages: Annotated[int, typer.Option(min=0, max=200, help="The largest number of passages.")] = 10,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Show an entity: its facts, its synonyms, and the passages that mention it."""
    from api.schemas.entities import EntityDetailsOut
    from app.services.entities import resolve, show
    from cli.output.entities import show_details
    from retrieval.exploration import EntityDetails

    async def work(container: "Container", at: "Corpus", only: dict[str, Any] | None) -> EntityDetails:
        id = await resolve(container, at, name, where=only)
        return await show(container, at, id, facts=facts, passages=passages, where=only)

    details = _run(corpus, where, work)
    if as_json:
        print_json(EntityDetailsOut.model_validate(details).model_dump(mode="json"))
    else:
        show_details(details)


@_group.command("neighbourhood")
def show_neighbourhood(
    name: _Named,
    corpus: CorpusName,
    depth: Annotated[int, typer.Option(min=1, max=6, help="The greatest number of edges from the entity.")] = 2,
    limit: Annotated[int, typer.Option(min=1, max=500, help="The largest number of nodes.")] = 30,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Show the edges near an entity."""
    from api.schemas.entities import SubgraphOut
    from app.services.entities import neighbourhood, resolve
    from cli.output.entities import show_subgraph
    from retrieval.exploration import Subgraph

    async def work(container: "Container", at: "Corpus", only: dict[str, Any] | None) -> Subgraph:
        id = await resolve(container, at, name, where=only)
        return await neighbourhood(container, at, id, depth=depth, limit=limit, where=only)

    subgraph = _run(corpus, where, work)
    if as_json:
        print_json(SubgraphOut.model_validate(subgraph).model_dump(mode="json"))
    else:
        show_subgraph(subgraph)


@_group.command("ways")
def show_ways(
    name: _Named,
    other: Annotated[str, typer.Argument(metavar="NAME|ID", help="The other entity.")],
    corpus: CorpusName,
    limit: Annotated[int, typer.Option(min=1, max=20, help="The largest number of ways.")] = 3,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Show the shortest ways between two entities, with what states each step."""
    from api.schemas.entities import WaysOut
    from app.services.entities import explain_ways, resolve
    from cli.output.entities import show_ways as print_ways
    from retrieval.exploration import Ways

    async def work(container: "Container", at: "Corpus", only: dict[str, Any] | None) -> Ways:
        ends = [await resolve(container, at, end, where=only) for end in (name, other)]
        return await explain_ways(container, at, ends[0], ends[1], limit=limit, where=only)

    ways = _run(corpus, where, work)
    if as_json:
        print_json(WaysOut.model_validate(ways).model_dump(mode="json"))
    else:
        print_ways(ways)


def _run(
    corpus: str, where: str | None, work: Callable[["Container", "Corpus", dict[str, Any] | None], Awaitable[T]]
) -> T:
    from cli.runtime import run_with_container

    only = parse_filter_text(where)

    async def with_corpus(container: "Container") -> T:
        return await work(container, await container.record.corpora.get(corpus), only)

    return run_with_container(with_corpus)
