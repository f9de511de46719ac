"""Corpora: made with checked settings, built anew with others, dropped with everything in them."""

from app.container import Container
from core import strategies
from core.corpora import Corpus, CorpusSettings, Fine
from core.errors import Conflict, NotFound
from core.jobs import Job
from indexer import versions_of

__all__ = ["create", "drop", "ensure", "reindex"]


async def create(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> Corpus:
    """Make a corpus; what is not given comes from the settings. Unknown strategies are refused before it exists."""
    settings = container.settings
    chosen = _checked(
        container,
        chunker=chunker or settings.chunker,
        extractor=extractor or settings.extractor,
        fine=fine or settings.fine,
    )
    return await container.record.corpora.create(name, chosen)


async def reindex(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> Job:
    """Have a corpus built anew beside the one that readers use, which takes its place when it is whole.

    What is not given stays as it is in the corpus; the embedding model is the one that is configured now.
    """
    corpus = await container.record.corpora.get(name)
    chosen = _checked(
        container,
        chunker=chunker or corpus.settings.chunker,
        extractor=extractor or corpus.settings.extractor,
        fine=fine or corpus.settings.fine,
    )
    built = await container.record.reindexing.start(corpus.id, chosen)
    await container.notifier.notify_soon(built.shadow_id)
    return await container.record.jobs.get(built.job_id)


def _checked(container: Container, *, chunker: str, extractor: str, fine: Fine) -> CorpusSettings:
    """Settings of strategies that exist and can work here."""
    strategies.parse_config("indexer.chunkers", strategies.parse_spec(chunker), "chunker")
    return CorpusSettings(
        chunker=chunker,
        extractor=extractor,
        fine=fine,
        embedding_model=container.embedder.model,
        dimension=container.embedder.dimension,
        versions=versions_of(chunker, extractor, container.models),
    )


async def ensure(
    container: Container,
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> Corpus:
    """The corpus of that name, made if it is missing; one that is there must have what is asked for."""
    try:
        corpus = await container.record.corpora.get(name)
    except NotFound:
        return await create(container, name, chunker=chunker, extractor=extractor, fine=fine)
    for setting, asked in (("chunker", chunker), ("extractor", extractor), ("fine", fine)):
        present = getattr(corpus.settings, setting)
        if asked is not None and asked != present:
            raise Conflict(
                f"corpus {name!r} has {setting} {present!s}, not {asked!s}: leave the option out, or use a new corpus"
            )
    return corpus


async def drop(container: Container, name: str) -> Job:
    """Make a corpus invisible at once and have a worker remove what it held."""
    corpus = await container.record.corpora.get(name)
    job = await container.record.corpora.delete(name)
    container.snapshots.evict(corpus.id)
    await container.delete_cached_answers(corpus.id)
    await container.notifier.notify_soon(corpus.id)
    return job
