"""Mails (EML) and mailboxes (mbox): headers as metadata, bodies as text. Attachments of a mail are documents of their
own, which `read_files` finds; those of a mailbox are named only.
"""

import re

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.texts.mails import Mail, is_mailbox, read_mail, split_mailbox

__all__ = [
    "EXAMPLE",
    "ISOLATED",
    "MEDIA_TYPES",
    "SUFFIXES",
    "Config",
    "MailLoader",
    "build",
    "may_have_files",
    "note_files",
    "read_files",
]

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
    """The title is the sender, else the subject of a mail.

    Each mail of a mailbox is under its sender and date, and below these under its subject.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        builder = TextBuilder()
        notes: dict[str, None] = {}
        metadata: dict[str, object]
        if is_mailbox(source.content):
            count = 0
            for content in split_mailbox(source.content):
                mail = read_mail(content, source.key, in_mailbox=True)
                builder.clear_headings()
                builder.add_heading(1, mail.origin, line="")
                builder.add_heading(2, mail.subject or mail.date or "(no subject)")
                self._add(builder, mail)
                notes |= dict.fromkeys(mail.notes)
                count += 1
            title, metadata = "", {"mails": count}
        else:
            mail = read_mail(source.content, source.key)
            self._add(builder, mail)
            notes |= dict.fromkeys(mail.notes)
            title, metadata = mail.subject, dict(mail.metadata)
            notes |= dict.fromkeys(note_files(mail, source.key))
        builder.end_page()
        metadata |= {LOADER_NOTES: list(notes)} if notes else {}
        return finish_document(source, builder, title, metadata, numbered=False)

    def _add(self, builder: TextBuilder, mail: Mail) -> None:
        builder.add_paragraph(mail.text(attachments=self._config.attachments))


def may_have_files(content: bytes) -> bool:
    """Whether a file may have attachments that are documents, by a look at its bytes."""
    return not is_mailbox(content) and _MULTIPART.search(content) is not None


def read_files(content: bytes, key: str) -> Mail:
    """Returns the mail with its attachments. Raises what the loader raises."""
    return read_mail(content, key)


def note_files(mail: Mail, key: str) -> tuple[str, ...]:
    """Returns notes on the attachments that are no documents of their own."""
    from indexer.selection.attachments import choose_documents  # it imports all loaders, as their kinds decide

    return choose_documents(mail.files, key)[1]


def build(config: Config, _backends: object) -> Loader:
    return MailLoader(config)
