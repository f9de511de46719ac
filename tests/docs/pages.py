"""The documentation as text: its files, tables and code, for the tests that compare it with the code."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["DOCS", "GENERATED", "ROOT", "code_blocks", "code_free", "inline_code", "pages", "table_rows"]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = ("cli.md",)
"""Pages that `make docs` writes."""

_CELL_END = re.compile(r"(?<!\\)\|")
_FENCED = re.compile(
    r"^(?P<fence>```+)(?P<language>[\w-]*)[^\n]*\n(?P<code>.*?)^(?P=fence)\s*$", re.DOTALL | re.MULTILINE
)
_INLINE = re.compile(r"`([^`\n]+)`")


@cache
def pages() -> Mapping[str, str]:
    """All pages that people write, by path from the root. The changelog is left out: it also names what is gone."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    texts = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files if file.exists()}
    return {name: text for name, text in texts.items() if Path(name).name not in GENERATED}


def table_rows(page: str, *headings: str) -> list[list[str]]:
    """The cells of all rows of the tables whose first columns have these headings."""
    rows: list[list[str]] = []
    inside = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in _CELL_END.split(line.strip())[1:-1]] if line.startswith("|") else []
        if not cells:
            inside = False
        elif tuple(cells[: len(headings)]) == headings:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            rows.append(cells)
    return rows


def code_blocks(page: str, *languages: str) -> list[str]:
    """The fenced blocks in these languages, or all of them."""
    return [found["code"] for found in _FENCED.finditer(page) if not languages or found["language"] in languages]


def code_free(page: str) -> str:
    """Returns the page without fenced blocks and without what stands between backticks."""
    return _INLINE.sub("", _FENCED.sub("", page))


def inline_code(page: str) -> list[str]:
    """What stands between single backticks, outside fenced blocks."""
    return _INLINE.findall(_FENCED.sub("", page))
