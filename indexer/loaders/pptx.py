"""Presentations (PPTX): a page a slide, with the slide's title as heading; a table row is a line."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.archives import check_archive, open_archive
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.properties import read_office_properties
from indexer.loading.texts.cell_grid import CellGrid

MEDIA_TYPES = ("application/vnd.openxmlformats-officedocument.presentationml.presentation",)
SUFFIXES = (".pptx",)
ISOLATED = True
EXAMPLE = example_of("pptx")


class Config(StrategyConfig):
    """Which parts of a presentation are read."""

    notes: bool = Field(default=True, description="Read the speaker's notes, after the text of their slide.")


class PptxLoader:
    """Loads PPTX. The title is the sender's, else the title in the properties, else the title of the first slide."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        import pptx

        with open_archive(source.content, source.key, "PPTX", "ppt/presentation.xml") as archive:
            check_archive(archive, source.key)
            title, metadata = read_office_properties(archive, source.key)
        try:
            presentation = pptx.Presentation(io.BytesIO(source.content))
        except (KeyError, ValueError) as error:
            raise LoadFailed(f"{source.key!r} is no PPTX file: {one_line(str(error))}") from error
        builder = TextBuilder()
        first = ""
        for slide in presentation.slides:
            head = slide.shapes.title
            name = head.text_frame.text if head is not None and head.has_text_frame else ""
            first = first or name
            builder.clear_headings()
            builder.add_heading(1, name)
            for shape in _walk(slide.shapes):
                if head is None or shape.shape_id != head.shape_id:
                    _add_shape(builder, shape)
            if self._config.notes and slide.has_notes_slide:
                frame = slide.notes_slide.notes_text_frame
                builder.add_paragraph(frame.text if frame is not None else "")
            builder.end_page()
        return finish_document(source, builder, title or first, metadata, numbered=True)


def _walk(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yields the shapes in order, also inside groups, without the number, date and footer of a slide."""
    from pptx.enum.shapes import PP_PLACEHOLDER
    from pptx.shapes.group import GroupShape

    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _walk(shape.shapes)
        elif not shape.is_placeholder or shape.placeholder_format.type not in (
            PP_PLACEHOLDER.SLIDE_NUMBER,
            PP_PLACEHOLDER.DATE,
            PP_PLACEHOLDER.FOOTER,
        ):
            yield shape


def _add_shape(builder: TextBuilder, shape: Any) -> None:
    if shape.has_text_frame:
        builder.add_paragraph(shape.text_frame.text.replace("\v", "\n"))
    elif getattr(shape, "has_table", False):
        grid = CellGrid()
        for row in shape.table.rows:
            grid.begin_row()
            for cell in row.cells:
                if not cell.is_spanned:
                    grid.add(cell.text, cell.span_width, cell.span_height)
        for line in grid.lines():
            builder.add_line(line)
        builder.add_line()


def build(config: Config, _backends: object) -> Loader:
    return PptxLoader(config)
