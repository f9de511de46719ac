"""The check for originals that no revision names, which a submission leaves that is killed before it queues them."""

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus
from core.ports.record import Tombstone

__all__ = ["find_orphaned_originals", "make_originals_finding"]

_BATCH = 1000


async def find_orphaned_originals(container: Container, corpus: Corpus) -> list[str]:
    """Returns the names of the originals that the record does not name, sorted."""
    held = await container.files.names(corpus.id)
    orphans: list[str] = []
    for start in range(0, len(held), _BATCH):
        listed = Tombstone(id=0, corpus_id=corpus.id, content_hashes=tuple(held[start : start + _BATCH]))
        orphans += (await container.record.tombstones.select_orphans(listed)).content_hashes
    return orphans


def make_originals_finding(corpus: Corpus, orphans: list[str]) -> Finding:
    """Returns the finding about the originals of a corpus. They are no problem: they take space, and nothing else."""
    subject = f"corpus {corpus.name}: originals"
    if not orphans:
        return Finding(subject=subject, level=Level.OK, detail="all are named by the record")
    return Finding(
        subject=subject,
        level=Level.NOTE,
        detail=f"{len(orphans)} are named by nothing, for example {orphans[0]}",
        remedy="`hopweave doctor --repair` deletes them",
    )
