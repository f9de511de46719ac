"""Checks whether a section fits this installation: its settings, the embedding model, and a corpus with its name."""

from collections.abc import Mapping

from app.archive.format.section import ArchiveSection
from app.container import Container
from app.services.documents import list_documents
from core import strategies
from core.corpora import Corpus, CorpusSettings
from core.errors import Conflict, EmbeddingMismatch, NotFound
from indexer import gives_triples, has_fine_vectors

__all__ = [
    "check_compatibility",
    "check_requested_settings",
    "check_same_settings",
    "find_corpus",
    "has_other_documents",
    "has_same_documents",
]

_FIELDS = ("chunker", "extractor", "fine", "embedding_model", "dimension")


async def find_corpus(container: Container, name: str) -> Corpus | None:
    """Returns the corpus with this name, or None."""
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        return None


def check_compatibility(
    container: Container, section: ArchiveSection, written: CorpusSettings | None = None
) -> list[str]:
    """Returns notes for the user. `written` are the settings of the corpus, if they are not all those of the file.

    Raises `InvalidStrategy` for a chunker or extractor that is unknown here, and `EmbeddingMismatch` if vectors are
    missing and the configured embedding model is not the one of the file.
    """
    settings = section.settings
    strategies.parse_config("indexer.chunkers", strategies.parse_spec(settings.chunker), "chunker")
    gives_triples(settings.extractor)
    if not settings.has_vectors:
        return []
    kinds = ("chunk", "entity", "fact") if has_fine_vectors(settings) else ("chunk",)
    lacking = sum(section.count_missing(kind, kind) for kind in kinds)
    there, here = settings.embedding_model, container.embedder.model
    if container.embedders.find(written or settings) is not None:
        return [f"{lacking:,} vectors are not in the file and were made again"] if lacking else []
    if lacking:
        raise EmbeddingMismatch(
            f"{lacking:,} vectors of corpus {section.name!r} are not in {section.source} and have to be made by "
            f"{there!r}, but {here!r} is configured: set HOPWEAVE_EMBEDDING__MODEL to {there!r} for this"
        )
    return [f"its embedding model is {there!r}, and {here!r} is configured: searching it needs the former"]


def check_same_settings(corpus: Corpus, section: ArchiveSection) -> None:
    """Raises `Conflict`, with the first setting that differs."""
    for field in _FIELDS:
        here, there = getattr(corpus.settings, field), getattr(section.settings, field)
        if here != there:
            raise _make_conflict(corpus, section, field, str(here), str(there))
    ours, theirs = corpus.settings.versions, section.settings.versions
    for role in sorted(ours.keys() & theirs.keys()):
        if ours[role] != theirs[role]:
            raise _make_conflict(corpus, section, f"version of the {role}", ours[role], theirs[role])


def _make_conflict(corpus: Corpus, section: ArchiveSection, what: str, here: str, there: str) -> Conflict:
    return Conflict(
        f"corpus {corpus.name!r} has the {what} {here}, and {section.source} was written with {there}: "
        "choose another name with --corpus, or reindex one of the two first"
    )


def check_requested_settings(section: ArchiveSection, asked: Mapping[str, object]) -> None:
    """Raises `Conflict` if an option differs from the setting in the file."""
    for field, value in asked.items():
        there = getattr(section.settings, field)
        if value is not None and value != there:
            raise Conflict(
                f"{section.source} was written with {field} {there!s}, not {value!s}: leave the option out; "
                "to change it, reindex the corpus afterwards"
            )


async def has_other_documents(container: Container, corpus: Corpus, section: ArchiveSection) -> bool:
    """Returns whether the corpus has documents that are not in the file."""
    page: list[str] = []
    async for document in list_documents(container, corpus):
        page.append(document.id)
        if len(page) == 1000:
            if len(section.spool.find_keys(section.heap("document"), page)) < len(page):
                return True
            page.clear()
    return len(section.spool.find_keys(section.heap("document"), page)) < len(page)


async def has_same_documents(container: Container, corpus: Corpus, section: ArchiveSection) -> bool:
    """Returns whether the corpus has the settings of the section and exactly its documents and merges, unchanged."""
    if _identity(corpus.settings) != _identity(section.settings):
        return False
    merges = {(merge.from_id, merge.into_id) for merge in await container.record.merges.list(corpus.id)}
    if merges != {(merge.from_id, merge.into_id) for merge in section.read_merges()}:
        return False
    counts = await container.record.corpora.count(corpus.id)
    if counts.documents != section.count("document"):
        return False
    for batch in section.read_batches():
        fingerprints = {document.key: document.fingerprint for _, document in batch}
        if len(await container.record.submissions.find_unchanged(corpus.id, fingerprints)) < len(fingerprints):
            return False
    return True


def _identity(settings: CorpusSettings) -> tuple[object, ...]:
    return tuple(getattr(settings, field) for field in _FIELDS)
