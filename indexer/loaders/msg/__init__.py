"""Mails of Outlook (MSG): headers as metadata, the body as text. Attachments are documents of their own.

`outlook` reads the properties of the file.
"""

from collections.abc import Iterator

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loaders.msg.outlook import read_outlook
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.texts.mails import Mail

MEDIA_TYPES = ("application/vnd.ms-outlook",)
SUFFIXES = (".msg",)
ISOLATED = True
EXAMPLE = example_of("msg")


class Config(StrategyConfig):
    """What is read of a mail."""

    attachments: bool = Field(default=True, description="Whether the names of attachments are part of the text.")


class OutlookLoader:
    """The title is the sender's, else the subject of the mail."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        mail = read_outlook(source.content, source.key)
        builder = TextBuilder()
        builder.add_paragraph(mail.text(attachments=self._config.attachments))
        builder.end_page()
        notes = list(dict.fromkeys((*mail.notes, *self._note_files(mail, source.key))))
        metadata = mail.metadata | ({LOADER_NOTES: notes} if notes else {})
        return finish_document(source, builder, mail.subject, metadata, numbered=False)

    def _note_files(self, mail: Mail, key: str) -> tuple[str, ...]:
        """Returns notes on the attachments that are no documents of their own."""
        from indexer.selection.attachments import AttachmentChoice  # it imports all loaders, as their kinds decide

        choice = AttachmentChoice(key)
        choice.choose(mail)
        return choice.notes


def may_have_files(content: bytes) -> bool:
    """Whether a file may have attachments: any file may, so that a damaged file does not count as without them."""
    return bool(content)


def read_files(content: bytes, key: str) -> Iterator[Mail]:
    """Yields the mail with its attachments. Raises what the loader raises."""
    yield read_outlook(content, key)


def build(config: Config, _backends: object) -> Loader:
    return OutlookLoader(config)
