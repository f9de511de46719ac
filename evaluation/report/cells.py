"""Cells of tables: how numbers are formatted; tables of Markdown pages, and text that no markup in it can change."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from core.text.shortening import shorten
from evaluation.rows.answer_rows import ModelRow

__all__ = [
    "MODEL_HEADINGS",
    "escape",
    "format_code",
    "format_count",
    "format_number",
    "format_percent",
    "list_model_cells",
    "make_markdown_table",
    "make_model_table",
    "make_table",
]


MODEL_HEADINGS = ("role", "model", "endpoint", "temperature", "output tokens", "profile", "prompts")

_UNKNOWN = "–"


def make_table(kind: str, numbers: Sequence[str]) -> Table:
    """Returns a table with a column of names under `kind`, and a column for each number."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text(kind))
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def make_model_table() -> Table:
    """Returns a table with the columns of `list_model_cells`, whose names of reasoners and models may be folded."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text("models"), overflow="fold", min_width=14)
    for name in MODEL_HEADINGS:
        made.add_column(name, overflow="fold")
    return made


def format_percent(fraction: float | None) -> str:
    return _UNKNOWN if fraction is None else f"{100 * fraction:.1f}"


def format_number(value: float | None, digits: int) -> str:
    return _UNKNOWN if value is None else f"{value:,.{digits}f}"


def format_count(count: float) -> str:
    """Returns a whole number as such, and the average of several with its decimals."""
    return f"{count:g}"


def list_model_cells(models: Sequence[ModelRow], prompt_set: str) -> Iterator[list[str]]:
    """Yields the cells under `MODEL_HEADINGS` of each model; '' is not set. Without a model there is one row."""
    for model in models:
        temperature = "" if model.temperature is None else f"{model.temperature:g}"
        tokens = "" if model.max_output_tokens is None else str(model.max_output_tokens)
        prompts = "" if model.role else prompt_set
        yield [model.role or "all", model.name, model.endpoint, temperature, tokens, model.profile, prompts]
    if not models:
        yield [""] * len(MODEL_HEADINGS)


_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&$])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and characters that change the direction of writing and so what a line seems to say."""
_LONGEST = 400


def escape(text: str, longest: int = _LONGEST) -> str:
    """Returns the text on one line, cut to its first characters, with its markup escaped."""
    return _MARKUP.sub(r"\\\1", _CONTROL.sub("\ufffd", shorten(text, longest)))


def format_code(text: str) -> str:
    """Returns the text as code on one line. A backtick or a column of a table in it would end the code."""
    return f"`{_CONTROL.sub(chr(0xFFFD), ' '.join(text.split())).replace('`', chr(39)).replace('|', '¦')}`"


def make_markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table; its first `texts` columns are text, the others numbers."""
    lines = [_line(headings), _line([*["---"] * texts, *["---:"] * (len(headings) - texts)])]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
