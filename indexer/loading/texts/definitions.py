"""Definitions of Python source as headings: classes, and the functions in them and beside them."""

import ast
import re
import warnings
from collections.abc import Iterator

from indexer.loading.texts.sections import Heading

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
