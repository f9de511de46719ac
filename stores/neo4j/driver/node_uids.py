"""The property `uid`, which identifies nodes and relationships: parts that are joined by colons."""

from core.ports.record import Claim

__all__ = ["document_uid", "revision_uid", "uid_of"]


def uid_of(corpus_id: str, id: str) -> str:
    """Returns the uid of the node with this id in a corpus."""
    return f"{corpus_id}:{id}"


def document_uid(claim: Claim) -> str:
    return uid_of(claim.corpus_id, claim.document_id)


def revision_uid(claim: Claim) -> str:
    return f"{document_uid(claim)}:{claim.revision}"
