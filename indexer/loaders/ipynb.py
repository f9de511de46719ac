"""Jupyter notebooks: cells of text and of code under their headings, and the text that code has put out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from core.errors import InvalidInput, LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.texts.markdown import find_headings
from indexer.submission.decoding import decode
from indexer.submission.document_json import parse_json

MEDIA_TYPES = ("application/x-ipynb+json",)
SUFFIXES = (".ipynb",)
EXAMPLE = (
    '{"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": ['
    '{"cell_type": "markdown", "source": ["# Köln\\n", "Eine Stadt."]},'
    '{"cell_type": "code", "source": "print(1)", "outputs": [{"output_type": "stream", "text": ["1\\n"]}]}]}'
).encode()

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Config(StrategyConfig):
    """What is read of a notebook."""

    code: bool = Field(default=True, description="Whether cells of code are read.")
    output_characters: int = Field(
        default=2000, ge=0, le=10_000_000, description="Characters of the output of a cell, at most; 0: no output."
    )


class NotebookLoader:
    """The title is the sender's, else the first heading of level 1, else the name of the file."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        try:
            notebook = parse_json(decode(source.content, source.key))
        except InvalidInput as error:
            raise LoadFailed(f"{source.key!r}: {error}") from error
        builder = TextBuilder()
        title = ""
        for cell in _cells(notebook, source.key):
            text = _text(cell.get("source", cell.get("input")))
            if cell.get("cell_type") == "markdown":
                own = _add_markdown(builder, text)
                title = title or own
            elif cell.get("cell_type") != "code":
                builder.add_paragraph(text)
            elif self._config.code:
                builder.add_paragraph(text.strip("\n"))
                self._add_outputs(builder, cell.get("outputs"))
        builder.end_page()
        return finish_document(source, builder, title, _metadata(notebook), numbered=False)

    def _add_outputs(self, builder: TextBuilder, outputs: object) -> None:
        texts = [_output(one) for one in outputs if isinstance(one, Mapping)] if isinstance(outputs, list) else []
        text = _ESCAPE.sub("", "\n".join(one.strip("\n") for one in texts if one.strip()))
        if len(text) > self._config.output_characters:
            text = text[: self._config.output_characters] + " …" if self._config.output_characters else ""
        builder.add_paragraph(text)


def _cells(notebook: object, key: str) -> Iterator[Mapping[str, Any]]:
    """Yields the cells, of the formats 4 and 3. Raises `LoadFailed` if there are none."""
    sheets: Sequence[object] = [notebook]
    if isinstance(notebook, Mapping) and isinstance(notebook.get("worksheets"), list):
        sheets = notebook["worksheets"]
    lists = [sheet["cells"] for sheet in sheets if isinstance(sheet, Mapping) and isinstance(sheet.get("cells"), list)]
    if not lists:
        raise LoadFailed(f"{key!r} is no notebook: it has no list of `cells`")
    return (cell for cells in lists for cell in cells if isinstance(cell, Mapping))


def _add_markdown(builder: TextBuilder, text: str) -> str:
    """Adds a cell; returns its first heading of level 1."""
    headings = find_headings(text)
    builder.add_paragraph(text[: headings[0].start if headings else len(text)])
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        builder.add_heading(heading.level, heading.title)
        builder.add_paragraph(text[heading.end : following.start if following else len(text)])
    return next((one.title for one in headings if one.level == 1), "")


def _output(output: Mapping[str, Any]) -> str:
    """Returns an output as text; images and the like have none."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    shown = data.get("text/plain") if isinstance(data, Mapping) else output.get("text")
    return _text(shown)


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _metadata(notebook: object) -> dict[str, str]:
    metadata = notebook.get("metadata") if isinstance(notebook, Mapping) else None
    kernel = metadata.get("kernelspec") if isinstance(metadata, Mapping) else None
    language = kernel.get("language") if isinstance(kernel, Mapping) else None
    return {"programming_language": language} if isinstance(language, str) and language else {}


def build(config: Config, _backends: object) -> Loader:
    return NotebookLoader(config)
