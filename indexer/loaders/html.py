"""Web pages (HTML): the main text under its headings, without scripts, navigation and what is hidden."""

from pydantic import Field

from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.properties import make_metadata
from indexer.loading.texts.html_text import HtmlPage, declared_encoding
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/html", "application/xhtml+xml")
SUFFIXES = (".html", ".htm", ".xhtml")
ISOLATED = True
EXAMPLE = "<title>Köln</title><nav>Start</nav><h1>Köln</h1><p>Eine Stadt.</p><h2>历史</h2><p>很老。</p>".encode()


class Config(StrategyConfig):
    """What is read of a page."""

    main: bool = Field(default=True, description="Whether navigation, footers and asides are left out.")


class HtmlLoader:
    """The title is the sender's, else the heading of level 1 or the title of the page, else the name of the file."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        decoded = decode_source(source, declared_encoding(source.content))
        page = HtmlPage(decoded.text)
        builder = TextBuilder()
        page.add_text(builder, main=self._config.main)
        builder.end_page()
        metadata = {**make_metadata(page.properties), **decoded.metadata}
        return finish_document(source, builder, page.title, metadata, numbered=False)


def build(config: Config, _backends: object) -> Loader:
    return HtmlLoader(config)
