"""Rich Text Format (RTF): one block per section, under its path of headings; a table row is a line.

Deleted passages of tracked changes and codes of fields are left out. Footnotes and endnotes follow their paragraph.
Headers, footers and comments are not read. `reader` reads the groups and control words.
"""

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loaders.rtf.reader import is_rtf, read_rtf
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.paragraphs import add_paragraphs
from indexer.loading.properties import make_metadata
from indexer.loading.texts.html_text import HtmlPage

__all__ = ["EXAMPLE", "ISOLATED", "MEDIA_TYPES", "SUFFIXES", "Config", "RtfLoader", "build", "is_rtf"]

MEDIA_TYPES = ("application/rtf", "text/rtf", "text/richtext")
SUFFIXES = (".rtf",)
ISOLATED = True
EXAMPLE = (
    rb"{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}"
    rb"{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\author Ada}}"
    rb"\pard\s1 K\'f6ln\par\pard Eine Stadt am Rhein. \f1 \'cd\'e0 \'e2\'ee\'ea\'e7\'e0\'eb\'e5. "
    rb"\f0\u24456?\u32769?\u12290?\par}"
)


class Config(StrategyConfig):
    """Which parts of a document are read."""

    tables: bool = Field(default=True, description="Read tables, each row as a line.")
    notes: bool = Field(default=True, description="Read footnotes and endnotes, each after the paragraph that has it.")


class RtfLoader:
    """Loads RTF. The title is the sender's, else the paragraph in the style "Title", else the title of the properties,
    else the first heading of level 1, else the name of the file.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        found = read_rtf(source.content, source.key)
        builder = TextBuilder()
        title = heading = ""
        if found.html:
            HtmlPage(found.html).add_text(builder, main=False)
        else:
            title, heading = add_paragraphs(builder, found.paragraphs, **self._config.model_dump())
        builder.end_page()
        metadata = make_metadata(found.properties) | ({LOADER_NOTES: found.notes} if found.notes else {})
        return finish_document(source, builder, title or found.title or heading, metadata, numbered=False)


def build(config: Config, _backends: object) -> Loader:
    return RtfLoader(config)
