"""Whether a corpus of a file can live here: its settings, the embedding model, and what is there under its name."""

from collections.abc import Mapping

from app.archive.format.section import Section
from app.container import Container
from app.services.pruning import documents_of
from core import strategies
from core.corpora import Corpus, CorpusSettings
from core.errors import Conflict, EmbeddingMismatch, NotFound
from indexer import gives_triples, has_fine_vectors

__all__ = ["check_asked", "check_models", "check_same_settings", "corpus_named", "has_other_documents", "holds"]

_FIELDS = ("chunker", "extractor", "fine", "embedding_model", "dimension")


async def corpus_named(container: Container, name: str) -> Corpus | None:
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        return None


def check_models(container: Container, section: Section) -> list[str]:
    """What is to be said of it. Raises `InvalidStrategy` for a chunker or extractor that is unknown here, and
    `EmbeddingMismatch` where vectors are to be made and the embedding model is another.
    """
    settings = section.settings
    strategies.parse_config("indexer.chunkers", strategies.parse_spec(settings.chunker), "chunker")
    gives_triples(settings.extractor)
    kinds = ("chunk", "entity", "fact") if has_fine_vectors(settings) else ("chunk",)
    lacking = sum(section.lacking(kind, kind) for kind in kinds)
    there, here = settings.embedding_model, container.embedder.model
    if there == here:
        return [f"{lacking:,} vectors are not in the file and were made again"] if lacking else []
    if lacking:
        raise EmbeddingMismatch(
            f"{lacking:,} vectors of corpus {section.name!r} are not in {section.path.name} and have to be made by "
            f"{there!r}, but {here!r} is configured: set HOPWEAVE_EMBEDDING__MODEL to {there!r} for this"
        )
    return [f"its embedding model is {there!r}, and {here!r} is configured: searching it needs the former"]


def check_same_settings(corpus: Corpus, section: Section) -> None:
    """Raises `Conflict`, naming the first setting that differs."""
    for field in _FIELDS:
        here, there = getattr(corpus.settings, field), getattr(section.settings, field)
        if here != there:
            raise _conflict(corpus, section, field, str(here), str(there))
    ours, theirs = corpus.settings.versions, section.settings.versions
    for role in sorted(ours.keys() & theirs.keys()):
        if ours[role] != theirs[role]:
            raise _conflict(corpus, section, f"version of the {role}", ours[role], theirs[role])


def _conflict(corpus: Corpus, section: Section, what: str, here: str, there: str) -> Conflict:
    return Conflict(
        f"corpus {corpus.name!r} has the {what} {here}, and {section.path.name} was written with {there}: "
        "take another name for --corpus, or reindex one of the two first"
    )


def check_asked(section: Section, asked: Mapping[str, object]) -> None:
    """Raises `Conflict` where an option asks for what the file has otherwise."""
    for field, value in asked.items():
        there = getattr(section.settings, field)
        if value is not None and value != there:
            raise Conflict(
                f"{section.path.name} was written with {field} {there!s}, not {value!s}: leave the option out; "
                "to change it, reindex the corpus afterwards"
            )


async def has_other_documents(container: Container, corpus: Corpus, section: Section) -> bool:
    """Whether the corpus has documents that the file does not know."""
    page: list[str] = []
    async for document in documents_of(container, corpus):
        page.append(document.id)
        if len(page) == 1000:
            if len(section.spool.find_keys(section.heap("document"), page)) < len(page):
                return True
            page.clear()
    return len(section.spool.find_keys(section.heap("document"), page)) < len(page)


async def holds(container: Container, corpus: Corpus, section: Section) -> bool:
    """Whether the corpus is what the file says, document by document."""
    if _identity(corpus.settings) != _identity(section.settings):
        return False
    counts = await container.record.corpora.count(corpus.id)
    if counts.documents != section.count("document"):
        return False
    for batch in section.batches():
        fingerprints = {document.key: document.fingerprint for _, document in batch}
        if len(await container.record.submissions.find_unchanged(corpus.id, fingerprints)) < len(fingerprints):
            return False
    return True


def _identity(settings: CorpusSettings) -> tuple[object, ...]:
    return tuple(getattr(settings, field) for field in _FIELDS)
