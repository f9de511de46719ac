"""Markdown: one block per section, under its path of headings. Front matter becomes metadata.

The text of a block is the source as it is written. The part before the first heading is a block without a path. A
heading without text below it is the text of its own block, so that nothing is lost.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import cache
from typing import Any

from pydantic import Field

from core.documents import LOADER_NOTES
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.characters import is_valid_text
from core.text.titles import one_line, stem_of
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
        front = read_front_matter(text) if self._config.front_matter else _FrontMatter()
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


def build(config: Config, _backends: object) -> Loader:
    return MarkdownLoader(config)


_LONGEST = 65_536
_DEEPEST = 16
_LARGEST_NUMBER = 10**15
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_YAML_FIELD = re.compile(r"""[\w"'-][^:\r\n]*:(\s|$)|#""")


@dataclass(frozen=True, slots=True)
class _FrontMatter:
    """The fields, the offset where the text begins, and `note`, which says why there are no fields although it does."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    note: str = ""


def read_front_matter(text: str) -> _FrontMatter:
    """Returns the front matter of a text. A thematic break in the first line does not begin front matter.

    Dates are strings as in ISO 8601, so that they can be compared. Front matter that cannot be parsed remains text, and
    there is a note.
    """
    first = _LINE.match(text)
    fence = first[1].rstrip() if first else ""
    if first is None or fence not in _FENCES:
        return _FrontMatter()
    end = _find_end(text, first.end(), _FENCES[fence])
    if end is None:
        return _FrontMatter()
    inner = text[first.end() : end[0]]
    if fence == "---" and not _YAML_FIELD.match(inner):
        return _FrontMatter()
    try:
        parsed = (
            _parse_yaml(inner) if fence == "---" else tomllib.loads(inner.replace("\r\n", "\n").replace("\r", "\n"))
        )
        plain = _make_plain(parsed or {}, 0)
    except (ValueError, RecursionError, OverflowError) as error:
        kind = "YAML" if fence == "---" else "TOML"
        return _FrontMatter(note=f"the front matter is read as text: it is no valid {kind} ({_one_line(error)})")
    if not isinstance(plain, dict):
        return _FrontMatter()
    return _FrontMatter(fields=plain, end=end[1])


def _find_end(text: str, begin: int, closing: tuple[str, ...]) -> tuple[int, int] | None:
    for line in _LINE.finditer(text, begin, begin + _LONGEST):
        if line[1].rstrip() in closing:
            return line.start(), line.end()
        if line.end() == len(text):
            return None
    return None


def _parse_yaml(text: str) -> object:
    """Raises `ValueError`. Aliases are refused: a few lines of aliases make a value of any size."""
    import yaml

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            raise ValueError("aliases are not supported")
        return _make_yaml_loader()(text).get_single_data()
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


@cache
def _make_yaml_loader() -> Any:
    """Returns a safe loader for which a day that the calendar does not have, such as `2024-13-45`, is a text: the other
    fields stay fields.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def construct(loader: Any, node: Any) -> object:
        try:
            return loader.construct_yaml_timestamp(node)
        except ValueError:
            return node.value

    Loader.add_constructor("tag:yaml.org,2002:timestamp", construct)
    return Loader


def _make_plain(value: object, depth: int) -> Any:
    """Returns a value of JSON. Dates and times are strings as in ISO 8601; what JSON does not have is a string."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, Mapping):
        return {_text(name): _make_plain(one, depth + 1) for name, one in value.items() if name is not None}
    if isinstance(value, set | list | tuple):
        return [_make_plain(one, depth + 1) for one in (sorted(value, key=str) if isinstance(value, set) else value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= _LARGEST_NUMBER:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    shown = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    if not is_valid_text(shown):
        raise ValueError("it holds half of a surrogate pair")
    return shown


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def _own_title(front: _FrontMatter) -> str:
    title = front.fields.get("title")
    return one_line(title) if isinstance(title, str) else ""
