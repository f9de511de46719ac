"""`hopweave entities …`: the graph of a corpus on the command line."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cli.options import AsJson, CorpusName, FilterText, parse_filter_text
from cli.output.console import print_json
from core.errors import InvalidInput

if TYPE_CHECKING:
    from app.container import Container
    from app.services.graph import NamedMerge
    from core.corpora import Corpus
    from retrieval.exploration import EntityDetails, FoundEntity, Subgraph, Ways
    from retrieval.resolution import Proposals


T = TypeVar("T")
_Filter = dict[str, Any] | None

_group = typer.Typer(
    name="entities",
    help="Find entities of the graph, show what the corpus says of them, and decide which are one.",
    no_args_is_help=True,
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
    type: Annotated[
        str | None,
        typer.Option(help="Only entities of this type, as person, or a type of the schema.", show_default=False),
    ] = None,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Find entities by name."""
    from api.schemas.entities import convert_found
    from app.services.graph import find
    from cli.output.entities import show_found

    async def read(container: "Container", at: "Corpus", only: _Filter) -> list["FoundEntity"]:
        return await find(container, at, name, limit=limit, type=type, where=only)

    found = _read(corpus, where, (), read)
    _show(found, convert_found, show_found, as_json=as_json)


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
    from app.services.graph import show
    from cli.output.entities import show_details
    from hopweave.wire import entities as wire

    async def read(container: "Container", at: "Corpus", only: _Filter, id: str) -> "EntityDetails":
        return await show(container, at, id, facts=facts, passages=passages, where=only)

    details = _read(corpus, where, (name,), read)
    _show(details, wire.EntityDetails, show_details, as_json=as_json)


@_group.command("neighbourhood")
def show_neighbourhood(
    name: _Named,
    corpus: CorpusName,
    depth: Annotated[int, typer.Option(min=1, max=6, help="The greatest number of edges from the entity.")] = 2,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of nodes.")] = 30,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Show the edges near an entity."""
    from app.services.graph import neighbourhood
    from cli.output.entities import show_subgraph
    from hopweave.wire import entities as wire

    async def read(container: "Container", at: "Corpus", only: _Filter, id: str) -> "Subgraph":
        return await neighbourhood(container, at, id, depth=depth, limit=limit, where=only)

    subgraph = _read(corpus, where, (name,), read)
    _show(subgraph, wire.Subgraph, show_subgraph, as_json=as_json)


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
    from app.services.graph import explain_ways
    from cli.output.entities import show_ways as print_ways
    from hopweave.wire import entities as wire

    async def read(container: "Container", at: "Corpus", only: _Filter, id: str, other_id: str) -> "Ways":
        return await explain_ways(container, at, id, other_id, limit=limit, where=only)

    ways = _read(corpus, where, (name, other), read)
    _show(ways, wire.Ways, print_ways, as_json=as_json)


@_group.command("merge")
def merge_entities(
    name: _Named,
    into: Annotated[str, typer.Argument(metavar="NAME|ID", help="The entity that it is.")],
    corpus: CorpusName,
    as_json: AsJson = False,
) -> None:
    """State that an entity is another: from then on both are one, with the name of the second."""
    from app.services.graph import merge
    from cli.output.entities import show_merge
    from hopweave.wire.entities import EntityMerge

    _show(_call(corpus, merge, names=(name, into)), EntityMerge, show_merge, as_json=as_json)


@_group.command("merges")
def list_merges(corpus: CorpusName, as_json: AsJson = False) -> None:
    """List the merges of entities, the newest first."""
    from api.schemas.entities import convert_merges
    from app.services.graph import list_merges
    from cli.output.entities import show_merges

    found, _ = _call(corpus, list_merges)
    _show(found, convert_merges, show_merges, as_json=as_json)


@_group.command("unmerge")
def undo_merge(
    merge: Annotated[str, typer.Argument(metavar="ID", help="The merge's id, as `entities merges` shows it.")],
    corpus: CorpusName,
    as_json: AsJson = False,
) -> None:
    """Undo a merge: both entities are as before."""
    from app.services.graph import undo
    from cli.output.entities import show_undone
    from hopweave.wire.entities import EntityMerge

    _show(_call(corpus, undo, merge), EntityMerge, show_undone, as_json=as_json)


@_group.command("resolve")
def resolve_entities(
    corpus: CorpusName,
    above: Annotated[float, typer.Option(min=0, max=1, help="The least probability.")] = 0.5,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The largest number of pairs.")] = 50,
    review: Annotated[bool, typer.Option("--review", help="Ask of each pair whether both are one.")] = False,
    merge_above: Annotated[
        float | None,
        typer.Option(
            min=0.5, max=1, help="From now on, merge pairs of this probability by itself.", show_default=False
        ),
    ] = None,
    merge_never: Annotated[bool, typer.Option("--merge-never", help="From now on, merge nothing by itself.")] = False,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Propose entities that may be one, with the evidence for and against it.

    First merges what the corpus' threshold says, if it has one.
    """
    from api.schemas.entities import convert_proposals
    from api.schemas.values import dump
    from app.services.resolution import find_proposals, merge_by_itself, set_threshold
    from cli.output.entities import show_merge, show_proposals

    if review and as_json:
        raise InvalidInput("--review asks, and --json does not: use one of them")

    async def read(container: "Container", at: "Corpus", only: _Filter) -> "tuple[list[NamedMerge], Proposals]":
        if merge_above is not None or merge_never:
            await set_threshold(container, at, None if merge_never else merge_above)
        merged = await merge_by_itself(container, at)
        return merged, await find_proposals(container, at, limit=limit, above=above, where=only)

    merged, found = _read(corpus, where, (), read)
    if as_json:
        print_json(dump(convert_proposals(found)))
        return
    for merge in merged:
        show_merge(merge)
    if review:
        _review(corpus, found)
    else:
        show_proposals(found)


def _review(corpus: str, found: "Proposals") -> None:
    """Asks of each pair, and carries out each answer at once."""
    from app.services.graph import merge, undo
    from app.services.resolution import reject, withdraw
    from cli.output.entities import show_proposal

    last: Callable[[], object] | None = None
    place = 0
    while place < len(found.data):
        proposal = found.data[place]
        show_proposal(proposal)
        ids = proposal.entity.id, proposal.into.id
        answer = typer.prompt("the same? [y]es, [n]o, [s]kip, [u]ndo the last, [q]uit", err=True).strip()[:1].lower()
        if answer == "q":
            return
        if answer == "u" and last is not None:
            last()
            last, place = None, place - 1
            continue
        if answer == "y":
            last = partial(_call, corpus, undo, _call(corpus, merge, *ids).id)
        elif answer == "n":
            last = partial(_call, corpus, withdraw, _call(corpus, reject, *ids).id)
        elif answer == "s":
            last = None
        else:
            continue
        place += 1


@_group.command("reject")
def reject_pair(
    name: _Named,
    other: Annotated[str, typer.Argument(metavar="NAME|ID", help="The entity that it is not.")],
    corpus: CorpusName,
    as_json: AsJson = False,
) -> None:
    """State that two entities are two: they are not proposed as one any more."""
    from app.services.resolution import reject
    from cli.output.entities import show_rejection
    from hopweave.wire.entities import EntityRejection

    _show(_call(corpus, reject, names=(name, other)), EntityRejection, show_rejection, as_json=as_json)


@_group.command("rejections")
def list_rejected(corpus: CorpusName, as_json: AsJson = False) -> None:
    """List the rejected pairs of entities, the newest first."""
    from api.schemas.entities import convert_rejections
    from app.services.resolution import list_rejections
    from cli.output.entities import show_rejections

    _show(_call(corpus, list_rejections), convert_rejections, show_rejections, as_json=as_json)


@_group.command("unreject")
def withdraw_rejection(
    rejection: Annotated[str, typer.Argument(metavar="ID", help="The id, as `entities rejections` shows it.")],
    corpus: CorpusName,
    as_json: AsJson = False,
) -> None:
    """Withdraw a rejection: the pair may be proposed again."""
    from app.services.resolution import withdraw
    from cli.output.entities import show_withdrawn
    from hopweave.wire.entities import EntityRejection

    _show(_call(corpus, withdraw, rejection), EntityRejection, show_withdrawn, as_json=as_json)


def _call(corpus: str, operation: Callable[..., Awaitable[T]], *ids: str, names: tuple[str, ...] = ()) -> T:
    """Returns what `operation(container, corpus, *ids)` returns, with the ids of the entities of the names, if any."""

    async def work(container: "Container", at: "Corpus", _: _Filter, *named: str) -> T:
        return await operation(container, at, *named, *ids)

    return _read(corpus, None, names, work)


def _read(corpus: str, where: str | None, names: tuple[str, ...], read: Callable[..., Awaitable[T]]) -> T:
    """Returns what `read(container, corpus, filter, *ids)` returns, with the ids of the entities of these names."""
    from app.services.graph import resolve
    from cli.runtime import run_with_container

    only = parse_filter_text(where)

    async def work(container: "Container") -> T:
        at = await container.record.corpora.get(corpus)
        ids = [await resolve(container, at, name, where=only) for name in names]
        return await read(container, at, only, *ids)

    return run_with_container(work)


def _show(value: T, convert: type | Callable[[T], object], show: Callable[[T], None], *, as_json: bool) -> None:
    """Prints `value` for people, or as the JSON of the HTTP API: what `convert` makes of it, or as this type."""
    from api.schemas.values import dump, fill

    if as_json:
        print_json(dump(fill(convert, value) if isinstance(convert, type) else convert(value)))
    else:
        show(value)
