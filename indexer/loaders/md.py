"""Markdown: one block per section, under its path of headings. Front matter becomes metadata.

The text of a block is the source as it is written. The part before the first heading is a block without a path. A
heading without text below it is the text of its own block, so that nothing is lost.
"""

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.loading.texts.front_matter import FrontMatter, read_front_matter
from indexer.loading.texts.markdown import find_headings
from indexer.loading.texts.sections import begins_releases, make_sections
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/markdown", "text/x-markdown")
SUFFIXES = (".md", ".markdown")
EXAMPLE = "# Köln\n\nEine Stadt.\n\n## Geschichte\n\nAlt. 很老。\n".encode()


class Config(StrategyConfig):
    """What is made of front matter."""

    front_matter: bool = Field(default=True, description="Whether YAML and TOML front matter becomes metadata.")


class MarkdownLoader:
    """Loads Markdown.

    The title is the sender's, else `title` of the front matter, else the first heading of level 1 unless it is a
    release of several, else the name of the file.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        decoded = decode_source(source)
        text = decoded.text
        front = read_front_matter(text) if self._config.front_matter else FrontMatter()
        headings = find_headings(text, front.end)
        tops = [heading for heading in headings if heading.level == 1 and heading.title]
        first = tops[0].title if tops and not begins_releases(tops) else ""
        title = one_line(source.title or "") or _own_title(front) or first or stem_of(source.key)
        notes = [*decoded.notes, *([front.note] if front.note else [])]
        return LoadedDocument(
            key=source.key,
            title=title,
            blocks=tuple(make_sections(text, front.end, headings, title)),
            metadata={**front.fields, **({LOADER_NOTES: notes} if notes else {})},
            pages=(text,),
        )


def _own_title(front: FrontMatter) -> str:
    title = front.fields.get("title")
    return one_line(title) if isinstance(title, str) else ""


def build(config: Config, _backends: object) -> Loader:
    return MarkdownLoader(config)
