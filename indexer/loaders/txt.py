"""Plain text: one block, in UTF-8 (or UTF-16 with its byte order mark)."""

from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.chunking.titles import one_line, stem_of
from indexer.submission.decoding import decode

__all__ = ["MEDIA_TYPES", "SUFFIXES", "Config", "Text", "build"]

MEDIA_TYPES = ("text/plain",)
SUFFIXES = (".txt", ".text")


class Config(StrategyConfig):
    """Nothing to choose."""


class Text:
    """Takes the text as it is; the title is the sender's or the file's name."""

    def load(self, source: Source) -> LoadedDocument:
        text = decode(source.content, source.key)
        title = one_line(source.title or "") or stem_of(source.key)
        return LoadedDocument(key=source.key, title=title, blocks=(Block(text=text, start=0),))


def build(_config: Config, _backends: object) -> Loader:
    return Text()
