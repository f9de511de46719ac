"""Word documents of 1997 to 2003 (DOC): one block per section, under its path of headings; a table row is a line.

Deleted passages of tracked changes and codes of fields are left out. Footnotes and endnotes follow their paragraph.
Headers, footers and comments are not read. `word_file` reads the binary form.
"""

from pydantic import Field

from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loaders import docx, rtf
from indexer.loaders.doc.word_file import WordFile
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.compound import CompoundFile
from indexer.loading.examples import example_of
from indexer.loading.paragraphs import add_paragraphs

MEDIA_TYPES = ("application/msword",)
SUFFIXES = (".doc", ".dot")
ISOLATED = True
EXAMPLE = example_of("doc")


class Config(StrategyConfig):
    """Which parts of a document are read."""

    tables: bool = Field(default=True, description="Read tables, each row as a line.")
    notes: bool = Field(default=True, description="Read footnotes and endnotes, each after the paragraph that has it.")


class DocLoader:
    """Loads DOC. The title is the sender's, else the paragraph in the style "Title", else the title of the properties,
    else the first heading of level 1, else the name of the file.

    A file that is RTF or DOCX by its content is read as such: many programs name these `.doc`.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        options = self._config.model_dump()
        if rtf.is_rtf(source.content):
            return rtf.build(rtf.Config(**options), None).load(source)
        if source.content.startswith(b"PK\x03\x04"):
            return docx.build(docx.Config(**options), None).load(source)
        file = CompoundFile(source.content, source.key, "DOC")
        stated, metadata = file.read_properties()
        builder = TextBuilder()
        title, heading = add_paragraphs(builder, WordFile(file, source.key).paragraphs(), **options)
        builder.end_page()
        return finish_document(source, builder, title or stated or heading, metadata, numbered=False)


def build(config: Config, _backends: object) -> Loader:
    return DocLoader(config)
