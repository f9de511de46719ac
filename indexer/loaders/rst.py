"""reStructuredText: one block per section, under its path of headings. Directives are text: no file is included.

The text of a block is the source as it is written, as it is for Markdown.
"""

import re
from collections.abc import Iterator

from pydantic import Field

from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.loading.texts.sections import Heading, begins_releases, make_sections
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/x-rst", "text/prs.fallenstein.rst")
SUFFIXES = (".rst", ".rest")
EXAMPLE = "Köln\n====\n\nEine Stadt.\n\n历史\n----\n\n很老。\n".encode()

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+")
_MARKUP = re.compile(r"(?::[\w:.+-]{1,80}:)?`([^`<]++)(?:<[^`>]*+>)?`_{0,2}|\*{1,2}([^*]++)\*{1,2}")
_SHORTEST = 2
_ENOUGH = 4  # marks of an underline that is shorter than its title
_FIELD = re.compile(r":([A-Za-z][\w -]*):[^\S\r\n]+([^\r\n]+)")
_FIELDS = {"author": "author", "authors": "author", "date": "created", "version": "version", "subject": "subject"}


class Config(StrategyConfig):
    """What is made of fields."""

    fields: bool = Field(default=True, description="Whether the fields below the title become metadata.")


class RstLoader:
    """The title is the sender's, else the first heading unless it is a release of several, else the file's name."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        decoded = decode_source(source)
        text = decoded.text
        headings = _headings(text)
        first = headings[0].title if headings and headings[0].level == 1 and not begins_releases(headings) else ""
        title = one_line(source.title or "") or first or stem_of(source.key)
        fields = _fields(text[headings[0].end if headings else 0 :]) if self._config.fields else {}
        return LoadedDocument(
            key=source.key,
            title=title,
            blocks=tuple(make_sections(text, 0, headings, title)),
            metadata={**fields, **decoded.metadata},
            pages=(text,),
        )


def _headings(text: str) -> list[Heading]:
    """Returns the titles with an underline, or with lines above and below. The order of their marks gives the levels.

    Lines of tables have spaces between their marks, and literal blocks are indented, so neither is taken for a title.
    """
    found: list[Heading] = []
    marks: list[str] = []
    for before, line, below in _windows(text):
        mark = _ADORNMENT.fullmatch(below[0])
        if mark is None or not line[0].strip() or _ADORNMENT.fullmatch(line[0]) or len(below[0]) < _SHORTEST:
            continue
        over = before[0] == below[0]
        indented = line[0][0].isspace()
        if (
            (indented and not over)
            or len(below[0]) < min(_ENOUGH, len(line[0].rstrip()))
            or (not over and before[0].strip())
        ):
            continue
        style = ("over " if over else "") + mark[1]
        if style not in marks:
            marks.append(style)
        start = before[1] if over else line[1]
        found.append(Heading(marks.index(style) + 1, _plain(line[0]), start, below[2]))
    return found


def _windows(text: str) -> Iterator[tuple[tuple[str, int, int], tuple[str, int, int], tuple[str, int, int]]]:
    """Yields each three successive lines, each line with its offset and the offset of the next line."""
    before, line = ("", 0, 0), ("", 0, 0)
    for found in _LINE.finditer(text):
        below = (found[1].rstrip() if len(found[1]) < 1000 else "", found.start(), found.end())
        yield before, line, below
        before, line = line, below
        if found.end() == len(text):
            return


def _plain(title: str) -> str:
    """Returns a title without emphasis, literals and roles."""
    plain = title.replace("``", "")
    return one_line(_MARKUP.sub(lambda found: found[1].rstrip() if found[1] else found[2], plain))


def _fields(text: str) -> dict[str, str]:
    """Returns the known fields of the list at the beginning of a text."""
    fields: dict[str, str] = {}
    position = len(text) - len(text.lstrip())
    while found := _FIELD.match(text, position):
        if name := _FIELDS.get(found[1].lower()):
            fields[name] = one_line(found[2])
        line = _LINE.match(text, found.end())
        position = line.end() if line else len(text)
    return fields


def build(config: Config, _backends: object) -> Loader:
    return RstLoader(config)
