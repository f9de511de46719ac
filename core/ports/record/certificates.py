"""The port of certificates: what was removed and is not certified yet, and the certificates, by chain.

A removal is written in the transaction that removes. So after a crash there is neither, or both; a worker makes the
certificate afterwards, when it has looked into the views, and `Certificates.append` exchanges one for the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.ports.record.commits import Tombstone

MAX_DOCUMENTS = 1000
"""The documents of one removal of a corpus, which has as many removals as it needs."""


class RemovalKind(StrEnum):
    """`answers`: a deletion was asked for, and has withdrawn stored answers. The documents follow in another one."""

    DOCUMENTS = "documents"
    ANSWERS = "answers"
    CORPUS = "corpus"


@dataclass(frozen=True, kw_only=True)
class RemovedDocument:
    """A document that was deleted, or of which contents were replaced.

    `contents` are the hashes of the removed originals, of all its revisions. `passages` are the passages that readers
    saw and that are gone. `job` is the job that asked for it, `by` the id of the key whose holder did, or ''.
    """

    key: str
    is_replaced: bool = False
    contents: tuple[str, ...] = ()
    passages: int = 0
    job: str = ""
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Removal:
    """What one transaction removed from a corpus, which had the name `corpus`, in seconds since 1970 by the store's
    clock. `listed` are the ids of entries of views that it made orphans. `answers` are stored answers.
    """

    id: int
    corpus_id: str
    corpus: str
    kind: RemovalKind
    removed_at: float
    documents: tuple[RemovedDocument, ...]
    listed: Tombstone
    answers: int = 0


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A line as `core.record_policy.certificates.sign` makes it. `corpus` is the name that the corpus had."""

    chain: str
    number: int
    corpus: str
    line: str


class Certificates(Protocol):
    """Removals and certificates. A shadow corpus has none: what is removed there is a copy.

    A chain belongs to a corpus, and stays when the corpus is reindexed, renamed or deleted. The id of a new chain is
    that of its corpus.
    """

    async def list_removals(self, corpus_id: str | None = None) -> Sequence[Removal]:
        """Returns the oldest removals, a hundred at most, of one corpus or of all.

        Leaves out the removal of a corpus whose rows are still there.
        """
        ...

    async def get_last(self, corpus_id: str) -> Certificate | None:
        """Returns the last certificate of the chain of a corpus."""
        ...

    async def append(self, corpus_id: str, certificate: Certificate, removal: Removal | None = None) -> bool:
        """Stores a certificate and deletes its removal, in one transaction.

        Returns False if the chain has this number already: the caller makes it again, after the last one. Does nothing
        and returns True if the removal is gone: it is certified.
        """
        ...

    async def list(
        self, corpus: str, *, limit: int = 1000, after: tuple[str, int] | None = None
    ) -> Sequence[Certificate]:
        """Returns certificates by chain and number, after this chain and number.

        The chains belong to the corpora that have this id, that have this name, or that had it when one of their
        certificates was made and are deleted. A renamed corpus is found by its new name alone, for callers are limited
        to names. None: an empty list.
        """
        ...
