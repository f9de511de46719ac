"""Creates corpora with checked settings, reindexes them with other settings, and deletes them."""

import asyncio

from app.container import Container
from core import strategies
from core.corpora import NO_EMBEDDING, Corpus, CorpusSettings, Fine
from core.errors import Conflict, InvalidInput, NotFound
from core.graph_schema import read_graph_schema
from core.jobs import Job, JobKind
from core.ports.embedding_form import split_form
from core.prompting.prompts import use_prompts
from indexer import versions_of

_RECENT = 10


async def create(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
    schema: str | None = None,
) -> Corpus:
    """Creates a corpus, with the text of a `schema.toml` if one is given. Other arguments that are None come from the
    settings. `embedding` is `KIND:MODEL`, or the name of the configured or the built-in model, or `none` for a corpus
    without vectors.

    Raises `InvalidStrategy` for an unknown chunker or extractor, what `Embedders.named` raises for an embedding model,
    and `InvalidInput` for `fine` without vectors, or with dot products, and for a wrong schema. Then it creates
    nothing.
    """
    if schema is not None:
        read_graph_schema(schema)
    _check_fine(fine, embedding)
    chosen = await describe_new(container, chunker=chunker, extractor=extractor, fine=fine, embedding=embedding)
    _check_compared(fine, chosen)
    corpus = await container.record.corpora.create(name, chosen)
    if schema is not None:
        await container.record.graph_schemas.set(corpus.id, schema)
    return corpus


async def describe_new(
    container: Container,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
) -> CorpusSettings:
    """Returns the settings that `create` gives a corpus. Raises what it raises."""
    settings = container.settings
    return await _make_settings(
        container,
        embedding=embedding,
        chunker=chunker or settings.chunker,
        extractor=extractor or settings.extractor,
        fine=fine or settings.fine,
    )


async def reindex(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
) -> Job:
    """Starts reindexing of a corpus: a shadow corpus is built, and replaces the corpus when it is complete.

    Arguments that are None stay as they are in the corpus, except that `embedding` None is the configured model,
    unless the corpus has no vectors. The corpus is searched with its present model until then. Raises as `create` does.
    """
    corpus = await container.record.corpora.get(name)
    if embedding is None and not corpus.settings.has_vectors:
        embedding = NO_EMBEDDING
    _check_fine(fine, embedding)
    chosen = await _make_settings(
        container,
        embedding=embedding,
        chunker=chunker or corpus.settings.chunker,
        extractor=extractor or corpus.settings.extractor,
        fine=fine or corpus.settings.fine,
    )
    _check_compared(fine, chosen)
    reindexing = await container.record.reindexing.start(corpus.id, chosen)
    await container.notifier.notify_soon(reindexing.shadow_id)
    return await container.record.jobs.get(reindexing.job_id)


def check_offered(container: Container, embedding: str | None) -> None:
    """Raises `InvalidInput` for an embedding model that clients may not choose.

    A name may name a folder of this machine, or weights that are downloaded.
    """
    embedders = container.embedders
    if embedding is None or embedders.is_offered(embedding):
        return
    raise InvalidInput(
        f"this server does not offer the embedding model {embedding!r}: add it to HOPWEAVE_EMBEDDING__OFFERED, "
        "or leave `embedding` out"
    )


def _check_fine(fine: Fine | None, embedding: str | None) -> None:
    if fine is Fine.ON and embedding == NO_EMBEDDING:
        raise InvalidInput(
            "fine 'on' (--fine on) gives entities and facts vectors, and without an embedding (--no-embedding) the "
            "corpus has none; leave one of them out"
        )


def _check_compared(fine: Fine | None, chosen: CorpusSettings) -> None:
    if fine is Fine.ON and split_form(chosen.embedding_model)[1].dot:
        raise InvalidInput(
            "fine 'on' (--fine on) compares names with names by cosine, and the embedding model "
            f"{chosen.embedding_model!r} compares dot products; leave one of them out"
        )


async def _make_settings(
    container: Container, *, embedding: str | None, chunker: str, extractor: str, fine: Fine
) -> CorpusSettings:
    """Returns the settings of a corpus. Raises `InvalidStrategy` unless the strategies exist and can run here."""
    embedders = container.embedders
    named = embedders.configured_name if embedding is None else embedders.complete_name(embedding)
    embedder = embedders.named(named)
    strategies.parse_config("indexer.chunkers", strategies.parse_spec(chunker), "chunker")
    with use_prompts(container.prompts):
        versions = versions_of(chunker, extractor, container.models)
    return CorpusSettings(
        chunker=chunker,
        extractor=extractor,
        fine=fine,
        embedding=named,
        embedding_model=embedder.model,
        dimension=await asyncio.to_thread(lambda: embedder.dimension),
        versions=versions,
    )


async def find_corpus(container: Container, name: str) -> Corpus | None:
    """Returns the corpus with this name, or None."""
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        return None


async def ensure(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
    schema: str | None = None,
) -> Corpus:
    """Returns the corpus with this name, and creates it if it is missing.

    Raises `Conflict` if an existing corpus differs from an argument that is not None.
    """
    try:
        corpus = await container.record.corpora.get(name)
    except NotFound:
        return await create(
            container, name, chunker=chunker, extractor=extractor, fine=fine, embedding=embedding, schema=schema
        )
    if embedding is not None:
        _check_embedding(container, corpus, embedding)
    for setting, requested in (("chunker", chunker), ("extractor", extractor), ("fine", fine)):
        present = getattr(corpus.settings, setting)
        if requested is not None and requested != present:
            raise Conflict(
                f"corpus {name!r} has {setting} {present!s}, not {requested!s}: "
                "leave the option out, or use a new corpus"
            )
    if schema is not None and await container.record.graph_schemas.get(corpus.id) != schema:
        raise other_schema(name)
    return corpus


def other_schema(name: str) -> Conflict:
    """Returns the error of an ingest with a schema into a corpus that has another one, or none."""
    return Conflict(
        f"corpus {name!r} does not have this schema: leave --schema out, or set it with "
        f"`hopweave corpora schema {name} --schema FILE`"
    )


def _check_embedding(container: Container, corpus: Corpus, embedding: str) -> None:
    """Raises `Conflict` if the corpus does not have the named embedding model."""
    name, settings = corpus.name, corpus.settings
    if embedding == NO_EMBEDDING:
        if settings.has_vectors:
            raise Conflict(
                f"corpus {name!r} has vectors of {settings.embedding_model!r}: leave --no-embedding out, or delete "
                f"them with `hopweave corpora reindex {name} --no-embedding`"
            )
        return
    embedders = container.embedders
    if settings.embedding == embedders.complete_name(embedding):
        return
    if embedders.named(embedding).model != settings.embedding_model:
        present = f"vectors of {settings.embedding_model!r}" if settings.has_vectors else "no vectors"
        raise Conflict(
            f"corpus {name!r} has {present}: leave --embedding {embedding} out, or embed it anew with "
            f"`hopweave corpora reindex {name} --embedding {embedding}`"
        )


async def delete(container: Container, name: str) -> Job:
    """Makes a corpus invisible at once. A worker deletes its contents later.

    Returns the same job while that is being done; then raises `NotFound`.
    """
    try:
        corpus = await container.record.corpora.get(name)
    except NotFound:
        running = await _find_deletion(container, name)
        if running is None:
            raise
        return running
    job = await container.record.corpora.delete(name)
    await container.snapshots.delete(corpus.id)
    await container.delete_cached_answers(corpus.id)
    await container.notifier.notify_soon(corpus.id)
    return job


async def _find_deletion(container: Container, name: str) -> Job | None:
    """Returns the job that deletes the corpus that had this name last; None if none does."""
    jobs = await container.record.jobs.list(corpus=name, kind=JobKind.DROP, limit=_RECENT)
    return next((job for job in jobs if not job.state.final), None)
