"""Rules of reindexing: when a shadow corpus may be made, and when it may take the name of its corpus."""

from dataclasses import replace

from core.corpora import Corpus, CorpusSettings
from core.errors import Conflict, NotFound
from core.ids import new_id
from core.ports.record.corpora import ReindexDifference

__all__ = ["NO_DIFFERENCE", "already_reindexing", "is_complete", "make_shadow"]

NO_DIFFERENCE = ReindexDifference(revisions=(), document_ids=())


def make_shadow(corpus: Corpus, settings: CorpusSettings) -> Corpus:
    """Returns a shadow corpus with the name that its job is shown under: the name that it will have.

    Raises `NotFound` if the corpus has no name.
    """
    if not corpus.name:
        raise NotFound(f"the corpus with the id {corpus.id!r} was deleted, or is being built itself")
    return replace(corpus, id=new_id(), settings=settings, generation=0)


def already_reindexing(name: str) -> Conflict:
    """Returns the error of `Reindexing.start` for a corpus that has a shadow corpus."""
    return Conflict(f"corpus {name!r} is being reindexed already; wait for that job, or cancel it and begin again")


def is_complete(difference: ReindexDifference, *, has_unfinished: bool) -> bool:
    """Whether a shadow corpus may take the name of its corpus.

    `has_unfinished`: some document of the shadow corpus is neither indexed, nor unreadable in both.
    """
    return not difference and not has_unfinished
