"""`hopweave corpora …`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.data.data import run_with_data
from cli.options import (
    CHUNKER_HELP,
    EMBEDDING_HELP,
    EXTRACTOR_HELP,
    FINE_HELP,
    AsJson,
    NoEmbedding,
    NoGraph,
    SchemaFile,
    choose_embedding,
    choose_extractor,
    read_schema_file,
)
from cli.output.console import fields, print_json, print_result, print_status, table
from cli.runtime import run_with_container
from core.corpora import Fine
from core.errors import InvalidInput
from core.ports.embedding_form import split_form

if TYPE_CHECKING:
    from app.container import Container
    from cli.data.data import Data
    from core.corpora import Corpus, CorpusCounts
    from core.graph import FitTally
    from core.graph_schema import GraphSchema
    from core.jobs import Job
    from retrieval.exploration import FitCounts


_group = typer.Typer(name="corpora", help="List, create, show, rename and delete corpora.", no_args_is_help=True)
_Name = Annotated[str, typer.Argument(help="The corpus' name.")]


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("list")
def list_corpora(as_json: AsJson = False) -> None:
    """List all corpora."""
    found = run_with_data(lambda data: data.list_corpora())
    if as_json:
        print_json({"data": [_object(corpus, counts) for corpus, counts in found], "next_cursor": None})
        return
    if not found:
        from core.settings import read_settings

        print_status(f"no corpus in {read_settings().data_dir}; `hopweave ingest PATH --corpus NAME` makes one")
    columns = ("name", "documents", "passages", "entities", "facts", "extractor", "embedding")
    table(
        columns,
        (
            (c.name, n.documents, n.chunks, n.entities, n.facts, c.settings.extractor, c.settings.embedding_model)
            for c, n in found
        ),
    )


@_group.command("create")
def create_corpus(
    name: _Name,
    chunker: Annotated[str | None, typer.Option(help=CHUNKER_HELP, show_default=False)] = None,
    extractor: Annotated[str | None, typer.Option(help=EXTRACTOR_HELP, show_default=False)] = None,
    fine: Annotated[Fine | None, typer.Option(help=FINE_HELP, show_default=False)] = None,
    embedding: Annotated[
        str | None,
        typer.Option(help=EMBEDDING_HELP, show_default=False),
    ] = None,
    no_embedding: NoEmbedding = False,
    no_graph: NoGraph = False,
    schema: SchemaFile = None,
    as_json: AsJson = False,
) -> None:
    """Create an empty corpus. Options that are not given come from the settings."""
    from app.services.corpora import create

    settings = {
        "chunker": chunker,
        "extractor": choose_extractor(extractor, no_graph=no_graph),
        "embedding": choose_embedding(embedding, no_embedding=no_embedding),
    }

    text = read_schema_file(schema)

    async def work(container: "Container") -> "tuple[Corpus, CorpusCounts]":
        corpus = await create(container, name, **settings, fine=fine, schema=text)
        return corpus, await container.record.corpora.count(corpus.id)

    _show(*run_with_container(work, creates=True), as_json=as_json)


@_group.command("show")
def show_corpus(name: _Name, as_json: AsJson = False) -> None:
    """Show a corpus' settings and counts, and how its facts fit its schema."""

    async def work(data: "Data") -> "tuple[Corpus, CorpusCounts, tuple[FitTally, bool] | None]":
        corpus, counts = await data.show_corpus(name)
        return corpus, counts, await data.check_schema(name)

    corpus, counts, fits = run_with_data(work)
    _show(corpus, counts, fits, as_json=as_json)


@_group.command("schema")
def manage_schema(
    name: _Name,
    schema: SchemaFile = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the schema.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the types and relations of a corpus' graph, and how its facts fit them; with an option, change them."""
    from api.schemas.entities import convert_schema
    from api.schemas.values import dump
    from app.services.graph import check_facts, delete_schema, get_schema, set_schema
    from cli.output.entities import show_schema

    if schema is not None and delete:
        raise InvalidInput("--schema sets a schema, and --delete deletes it: use one of them")
    text = read_schema_file(schema)

    async def work(container: "Container") -> "tuple[GraphSchema, FitCounts] | None":
        corpus = await container.record.corpora.get(name)
        if delete:
            await delete_schema(container, corpus)
            return None
        kept = await (get_schema(container, corpus) if text is None else set_schema(container, corpus, text))
        return kept, await check_facts(container, corpus)

    found = run_with_container(work)
    if found is None:
        print_json({}) if as_json else print_result(f"corpus {name} has no schema")
    elif as_json:
        print_json(dump(convert_schema(*found)))
    else:
        show_schema(*found)


@_group.command("rename")
def rename_corpus(
    name: _Name, new_name: Annotated[str, typer.Argument(help="Its new name.")], as_json: AsJson = False
) -> None:
    """Rename a corpus."""
    _show(*run_with_data(lambda data: data.rename_corpus(name, new_name)), as_json=as_json)


@_group.command("reindex")
def reindex_corpus(
    name: _Name,
    chunker: Annotated[str | None, typer.Option(help=CHUNKER_HELP, show_default=False)] = None,
    extractor: Annotated[str | None, typer.Option(help=EXTRACTOR_HELP, show_default=False)] = None,
    fine: Annotated[Fine | None, typer.Option(help=FINE_HELP, show_default=False)] = None,
    embedding: Annotated[str | None, typer.Option(help=EMBEDDING_HELP, show_default=False)] = None,
    no_embedding: NoEmbedding = False,
    no_graph: NoGraph = False,
    as_json: AsJson = False,
) -> None:
    """Index a corpus again, and swap it in when it is complete.

    Options that are not given stay as they are, except that the embedding model is that of the settings, unless the
    corpus has no vectors. The old index answers meanwhile, with its own embedding model, and stays if a document fails.
    """
    from app.services.corpora import reindex
    from cli.flows.jobs import complete_job
    from cli.output.progress import Progress
    from core.jobs import JobState

    settings = {
        "chunker": chunker,
        "extractor": choose_extractor(extractor, no_graph=no_graph),
        "embedding": choose_embedding(embedding, no_embedding=no_embedding),
    }
    with Progress() as progress:

        async def work(container: "Container") -> "Job":
            job = await reindex(container, name, **settings, fine=fine)
            return await complete_job(container, job, progress.watch)

        job = run_with_container(work)
    if as_json:
        print_json({"job": job})
    else:
        done = job.state is JobState.DONE
        print_result(f"corpus {name} is reindexed" if done else f"corpus {name} is unchanged: the job is {job.state}")
        for key, reason in job.failures:
            print_result(f"  {key}: {reason}")
    if job.state is not JobState.DONE:
        raise typer.Exit(1)


@_group.command("tree")
def make_tree(
    name: _Name,
    tree: Annotated[str, typer.Argument(metavar="TREE", help="The name of the new corpus.")],
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the cost, and call no model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a corpus with the passages of another one and summaries of them, layer over layer (RAPTOR).

    The configured language model summarizes groups of similar passages. Search the tree with the searcher raptor. If
    the command is interrupted or a call fails, run it again: summaries that are written are not paid again.
    """
    from cli.flows.summary_tree import estimate_cost, make
    from cli.output.summaries import show_tree, tree_to_dict

    if estimate:
        estimate_cost(name)
        return
    built = make(name, tree)
    print_json(tree_to_dict(built)) if as_json else show_tree(built)


@_group.command("delete")
def delete_corpus(
    name: _Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a corpus with everything in it."""
    if not yes:
        typer.confirm(f"Delete corpus {name!r} with everything in it?", abort=True, err=True)

    async def work(data: "Data") -> "Job":
        return await data.complete(await data.delete_corpus(name))

    job = run_with_data(work)
    if as_json:
        print_json({"job": job})
    else:
        print_result(f"corpus {name} is deleted ({job.state})")


def _object(corpus: "Corpus", counts: "CorpusCounts") -> dict[str, Any]:
    settings = corpus.settings
    return {
        "id": corpus.id,
        "name": corpus.name,
        "chunker": settings.chunker,
        "extractor": settings.extractor,
        "fine": settings.fine,
        "embedding": {"model": settings.embedding_model, "dimension": settings.dimension},
        "generation": corpus.generation,
        "created_at": corpus.created_at,
        "counts": asdict(counts),
    }


def _show(
    corpus: "Corpus", counts: "CorpusCounts", fits: "tuple[FitTally, bool] | None" = None, *, as_json: bool
) -> None:
    shown = _object(corpus, counts)
    if as_json:
        print_json({**shown, "fits": None if fits is None else {**asdict(fits[0]), "complete": fits[1]}})
    else:
        settings = corpus.settings
        weights, form = split_form(settings.embedding_model)
        form_in_words = f", {form.describe()}" if form.describe() else ""
        embedding = f"{weights} ({settings.dimension}){form_in_words}" if settings.has_vectors else "none (no vectors)"
        # The whole name is what documents with ready embeddings have to name.
        name = {"embedding_model": settings.embedding_model} if weights != settings.embedding_model else {}
        extractor = settings.extractor if settings.has_graph else "none (no graph)"
        fields({**shown, "embedding": embedding, **name, "extractor": extractor, **_describe_fits(fits)})


def _describe_fits(fits: "tuple[FitTally, bool] | None") -> dict[str, str]:
    if fits is None:
        return {}
    return {"schema": fits[0].describe() + ("" if fits[1] else ", in the first passages with facts")}
