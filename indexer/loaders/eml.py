"""Mails (EML) and mailboxes (mbox): headers as metadata, bodies as text. Attachments are documents of their own, which
`read_files` finds.
"""

import re
from collections.abc import Iterator

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.texts.mails import Mail, is_mailbox, read_mail, split_mailbox

_MULTIPART = re.compile(rb"content-type:\s{0,100}+multipart/", re.IGNORECASE)

MEDIA_TYPES = ("message/rfc822", "application/mbox")
SUFFIXES = (".eml", ".mbox")
ISOLATED = True
EXAMPLE = (
    "From: Ada <ada@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?K=C3=B6ln?=\r\n"
    "Date: Mon, 01 Apr 2024 10:00:00 +0200\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nНа вокзале.\r\n"
).encode()


class Config(StrategyConfig):
    """What is read of a mail."""

    attachments: bool = Field(default=True, description="Whether the names of attachments are part of the text.")


class MailLoader:
    """The title is the sender, else the subject of a mail, also if a mailbox has only one.

    Each mail of a mailbox is under its sender and date, and below these under its subject.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        from indexer.selection.attachments import AttachmentChoice  # it imports all loaders, as their kinds decide

        builder = TextBuilder()
        choice = AttachmentChoice(source.key)
        notes: dict[str, None] = {}
        title, metadata = "", dict[str, object]()
        for count, mail in enumerate(read_files(source.content, source.key), start=1):
            if mail.in_mailbox:
                builder.clear_headings()
                builder.add_heading(1, mail.origin, line="")
                builder.add_heading(2, mail.subject or mail.date or "(no subject)")
                title, metadata = mail.subject if count == 1 else "", {"mails": count}
            else:
                title, metadata = mail.subject, dict(mail.metadata)
            builder.add_paragraph(mail.text(attachments=self._config.attachments))
            notes |= dict.fromkeys(mail.notes)
            choice.choose(mail)
        builder.end_page()
        notes |= dict.fromkeys(choice.notes)
        metadata |= {LOADER_NOTES: list(notes)} if notes else {}
        return finish_document(source, builder, title, metadata, numbered=False)


def may_have_files(content: bytes) -> bool:
    """Whether a file may have attachments that are documents, by a look at its bytes."""
    return _MULTIPART.search(content) is not None


def read_files(content: bytes, key: str) -> Iterator[Mail]:
    """Yields the mail, or the mails of a mailbox, with their attachments. Raises `LoadFailed` as `read_mail` does."""
    if not is_mailbox(content):
        yield read_mail(content, key)
        return
    for one in split_mailbox(content):
        yield read_mail(one, key, in_mailbox=True)


def build(config: Config, _backends: object) -> Loader:
    return MailLoader(config)
