"""Attachments of mails: submitted as documents of their own with their mail, and deleted with it.

docs/decisions/0065-attachments-are-documents.md gives the reasons.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from core.corpora import Corpus
from core.documents import Document, Submission
from core.errors import LoadFailed
from core.ports.indexing import Source
from core.ports.record import Enqueued
from indexer import ATTACHMENT_OF, Loaders, Rejection, attachment_prefix, make_submissions

if TYPE_CHECKING:
    from app.container import Container

__all__ = ["AttachmentReader", "delete_lost_attachments", "list_attachments"]

_PAGE = 200
_MOST = 900
"""Attachments of one mail, together with the ones of the mails that are attached to it."""


class AttachmentReader:
    """Reads the attachments of submitted mails, in the parser process of `loaders`.

    `mails` are the keys of the mails whose attachments are known, `attached` the keys of these attachments.
    """

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self.mails: set[str] = set()
        self.attached: set[str] = set()

    def read(self, found: Iterable[Submission | Rejection]) -> Iterator[Submission | Rejection]:
        """Yields what is found, and after it the attachments of its mails, except those whose keys it has already.

        A mail that cannot be read has none: its own document fails with the reason.
        """
        keys = set[str]()
        mails = list[Submission]()
        for one in found:
            yield one
            if isinstance(one, Submission):
                keys.add(one.key)
                mails += [one] if self._loaders.reads_files(one.media_type) else []
        for mail in mails:
            attached = [one for one in self._read_mail(mail) if one.key not in keys]
            if len(attached) > _MOST:
                reason = f"it has more than {_MOST} attachments, with the mails in it; the others are left out"
                yield Rejection(source=mail.key, reason=reason)
            self.attached |= {one.key for one in attached[:_MOST]}
            yield from attached[:_MOST]

    def _read_mail(self, mail: Submission) -> list[Submission]:
        """Returns the attachments of a mail and of the mails among them: all, or somewhat more than `_MOST`."""
        waiting, attached = [mail], list[Submission]()
        for current in waiting:
            try:
                found = self._loaders.find_files(_make_source(current))
            except LoadFailed:  # loading the document of this mail fails for the same reason, which is shown there
                continue
            if current is mail:
                self.mails.add(mail.key)
            files = list(make_submissions(current, found))
            attached += files
            waiting += files
            if len(attached) > _MOST:
                break
        return attached


def _make_source(submission: Submission) -> Source:
    return Source(
        key=submission.key,
        content=submission.content,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
    )


async def list_attachments(container: "Container", corpus: Corpus, keys: Iterable[str]) -> list[Document]:
    """Returns the documents that were submitted as attachments of the mails with these keys, and of mails in them."""
    found: list[Document] = []
    for key in keys:
        prefix = attachment_prefix(key)
        cursor: str | None = prefix
        while cursor is not None:
            page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor)
            below = [document for document in page.data if document.key.startswith(prefix)]
            found += [document for document in below if ATTACHMENT_OF in document.metadata]
            cursor = page.next_cursor if len(below) == len(page.data) else None
    return found


async def delete_lost_attachments(
    container: "Container", corpus: Corpus, enqueued: Enqueued, mails: Collection[str]
) -> None:
    """Deletes the attachments that earlier versions of the submitted `mails` had, and these do not.

    A mail that was skipped keeps its own.
    """
    submitted = {document.key for document in enqueued.documents}
    changed = [document.key for document in enqueued.documents if document.key in mails and not document.skipped]
    lost = [one.id for one in await list_attachments(container, corpus, changed) if one.key not in submitted]
    if lost:
        await container.record.submissions.delete_existing(corpus.id, lost)
        await container.notifier.notify_soon(corpus.id)
