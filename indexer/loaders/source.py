"""Source code as text. That of Python is cut at its classes and functions, which are its headings."""

import ast
import re
import warnings
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from pydantic import Field

from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.texts.sections import Heading
from indexer.submission.decoding import decode_source

MEDIA_TYPES = ("text/x-source", "text/x-python", "text/javascript", "application/javascript", "text/x-java", "text/x-c")
SUFFIXES = (
    *(".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java", ".kt", ".kts", ".scala", ".groovy", ".go"),
    *(".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".cs", ".fs", ".swift", ".m", ".mm", ".rb", ".php"),
    *(".pl", ".pm", ".lua", ".r", ".jl", ".hs", ".ml", ".ex", ".exs", ".erl", ".clj", ".lisp", ".el", ".sh", ".bash"),
    *(".zsh", ".ps1", ".bat", ".sql", ".css", ".scss", ".less", ".vue", ".svelte", ".proto", ".graphql", ".tf"),
    *(".cmake", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".tex"),
)
ISOLATED = True
EXAMPLE = b'"""Wells."""\n\nclass Well:\n    def dig(self):\n        return 1\n'


class Config(StrategyConfig):
    """What is recognised."""

    definitions: bool = Field(default=True, description="Whether classes and functions of Python are headings.")


class SourceLoader:
    """Takes the text as it is. The title is the sender's, else the name of the file with its suffix."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        decoded = decode_source(source)
        text = decoded.text
        path = PurePosixPath(source.key.replace("\\", "/"))
        python = path.suffix.lower() in (".py", ".pyi") or source.media_type.startswith("text/x-python")
        blocks = _cut(text) if python and self._config.definitions else [Block(text=text)]
        return LoadedDocument(
            key=source.key,
            title=one_line(source.title or "") or one_line(path.name) or source.key,
            blocks=tuple(blocks),
            metadata=decoded.metadata,
            pages=(text,),
        )


def _cut(text: str) -> list[Block]:
    """Returns a block for each part of the text that is in one definition, with the line that begins it."""
    definitions = find_definitions(text)
    cuts = sorted({0, len(text), *(offset for heading, end in definitions for offset in (heading.start, end))})
    waiting = deque(definitions)
    around: list[tuple[Heading, int]] = []
    blocks = []
    for begin, end in pairwise(cuts):
        around = [one for one in around if one[1] > begin]
        while waiting and waiting[0][0].start <= begin:
            around.append(waiting.popleft())
        if text[begin:end].strip():
            names = tuple(heading.title for heading, _ in around)
            blocks.append(Block(text=text[begin:end], heading=names, start=begin))
    return blocks


def build(config: Config, _backends: object) -> Loader:
    return SourceLoader(config)


_DEEPEST = 2


def find_definitions(text: str) -> list[tuple[Heading, int]]:
    """Returns the definitions in order, each with the offset of its end; [] if the text is not valid Python.

    Decorators belong to their definition. Functions within functions are no headings.
    """
    try:
        with warnings.catch_warnings():  # on the source, which is not ours
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # another version of Python, or no Python
        return []
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text)), len(text)]
    return list(_of_body(tree.body, starts, 1))


def _of_body(body: list[ast.stmt], starts: list[int], level: int) -> Iterator[tuple[Heading, int]]:
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        end = starts[min(node.end_lineno or node.lineno, len(starts) - 1)]
        kind = "class" if isinstance(node, ast.ClassDef) else "def"
        yield Heading(level, f"{kind} {node.name}", starts[first], starts[first]), end
        if isinstance(node, ast.ClassDef) and level < _DEEPEST:
            yield from _of_body(node.body, starts, level + 1)
