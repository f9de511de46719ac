"""Plain text: a block for each chapter, under its heading. Its encoding is found out if it is not UTF-8."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from core.documents import LOADER_NOTES, Metadata, loader_notes
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.loading.covers import read_cover
from indexer.loading.texts.chapters import find_chapters, find_title
from indexer.loading.texts.layout import JoinedPages, is_unwrapped, join_pages
from indexer.loading.texts.roff import is_roff, render_roff
from indexer.loading.texts.sections import make_sections
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/plain",)
SUFFIXES = (".txt", ".text", ".info")
_NODE = b"\n\x1f\n"
"""What stands between the nodes of an info file of GNU."""
_MARKUP = re.compile(rb"\x00\x08\[[^\x00\n]{0,200}\x00\x08\]|[\x00\x1f]")
"""Signs to a reader of info files, such as that an index follows; and what ends a node."""
EXAMPLE = "Erster Satz. Второе предложение.\r\n第三句。".encode()


class Config(StrategyConfig):
    """What is recognised in the text."""

    chapters: bool = Field(default=True, description="Whether chapters are recognised.")
    running_lines: bool = Field(
        default=False, description="Keep the headers and footers that the pages of a text with form feeds repeat."
    )
    title: bool = Field(default=True, description="Whether the first line is the title where it looks like one.")


class TextLoader:
    """Takes the text as it is, without the ends of its printed pages; the source of a manual page as `man` shows it.

    The title is the sender's, else what the cover says, else the first line or a line in the middle of the first page,
    else the file's name.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        if _NODE in source.content and source.key.lower().endswith(".info"):
            source = replace(source, content=_MARKUP.sub(b"", source.content))
        decoded = decode_source(source)
        written = render_roff(decoded.text) if is_roff(decoded.text) else decoded.text
        joined = JoinedPages(written) if self._config.running_lines else join_pages(written)
        text = joined.text
        own = find_title(text) if self._config.title else ""
        stem = stem_of(source.key)
        title = one_line(source.title or "") or read_cover(text, stem) or own or stem
        headings = find_chapters(text, own) if self._config.chapters else []
        return LoadedDocument(
            key=source.key,
            title=title,
            blocks=tuple(make_sections(text, 0, headings, "", joins_small=is_unwrapped(text))),
            metadata=_add_note(decoded.metadata, joined.numbered),
            pages=(text,),
        )


def _add_note(metadata: Metadata, numbered: Sequence[str]) -> Metadata:
    """Returns the metadata with a note on lines that may be headings and were left out as numbers of pages."""
    if not numbered:
        return metadata
    note = (
        f"lines that number its pages are left out, such as {numbered[0][:80]!r}; "
        "txt:running_lines=true keeps them if they are headings"
    )
    return {**metadata, LOADER_NOTES: [*loader_notes(metadata), note]}


def build(config: Config, _backends: object) -> Loader:
    return TextLoader(config)
