"""Plain text: one block, in UTF-8 (or UTF-16 with its byte order mark)."""

from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.submission.decoding import decode

__all__ = ["EXAMPLE", "MEDIA_TYPES", "SUFFIXES", "Config", "TextLoader", "build"]

MEDIA_TYPES = ("text/plain",)
SUFFIXES = (".txt", ".text")
EXAMPLE = "Erster Satz. Второе предложение.\r\n第三句。".encode()


class Config(StrategyConfig):
    """No options."""


class TextLoader:
    """Takes the text as it is. The title is that of the sender, or else the name of the file."""

    def load(self, source: Source) -> LoadedDocument:
        text = decode(source.content, source.key)
        title = one_line(source.title or "") or stem_of(source.key)
        return LoadedDocument(key=source.key, title=title, blocks=(Block(text=text, start=0),))


def build(_config: Config, _backends: object) -> Loader:
    return TextLoader()
