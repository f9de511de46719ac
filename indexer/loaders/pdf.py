"""PDF: text by pages, columns in the order of reading, headings from the outline or else from the sizes of fonts.

A row of a table is a line. Pages that are images are read by `tesseract` where it is installed.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from core.errors import LoadFailed
from core.passage_context import PAGE_LABELS, make_page_labels
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.covers import tell_apart
from indexer.loading.examples import example_of
from indexer.loading.pdf.bold import find_in_fonts, find_repeated
from indexer.loading.pdf.headings import Heading, begins_annex, find_in_outline, find_in_sizes, read_outline
from indexer.loading.pdf.layout import Line, read_lines
from indexer.loading.pdf.properties import open_pdf, read_page_labels, read_properties
from indexer.loading.pdf.recognition import Tesseract, find_tesseract
from indexer.loading.pdf.ruled import read_rulings
from indexer.loading.pdf.runs import read_runs
from indexer.loading.pdf.titles import Title, find_title, is_cover
from indexer.loading.running_lines import find_running_lines

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage


MEDIA_TYPES = ("application/pdf",)
SUFFIXES = (".pdf",)
ISOLATED = True
EXAMPLE = example_of("pdf")


_MOST_REACH = 10
_LEAST_REACH = 3
"""A heading that only its size tells ends after a tenth of the pages, but not before so many pages."""

_LONGEST_JOINED = 1000
"""Characters up to which neighbouring sections are one block, if lines in bold are headings: many are short."""


class Config(StrategyConfig):
    """How pages are read."""

    headings: Literal["auto", "outline", "sizes", "fonts", "none"] = Field(
        default="auto",
        description=(
            "Where headings come from; `auto`: the outline, or the sizes of fonts without one; `fonts`: the outline, "
            "or sizes and, if these divide the document, lines in bold or italics."
        ),
    )
    columns: bool = Field(default=True, description="Read one column after the other, not across the page.")
    running_lines: bool = Field(
        default=False, description="Keep the headers, footers and page numbers that pages repeat."
    )
    ocr: Literal["auto", "never"] = Field(
        default="auto", description="`auto`: pages without text are read by tesseract, if it is installed."
    )
    ocr_languages: str = Field(
        default="eng", pattern=r"^\w+([+/]\w+)*$", description="Languages of tesseract, such as `deu+eng`."
    )
    ocr_dpi: int = Field(default=300, ge=72, le=600, description="Resolution of the image of a page for tesseract.")


class PdfLoader:
    """Loads PDF.

    The title is the first of these:

    - the title that the sender gave,
    - the title in the properties,
    - the heading of the first page that is above all other headings, or above the others of a page of headings alone,
    - the name of the file.

    If the heading is a letterhead, which all letters of a firm share, the line with the number of the letter precedes
    it. A title that lacks the year, quarter or version in the name of the file has this name in parentheses: quarterly
    reports have the same title.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        document = open_pdf(source.key, source.content)
        try:
            outline = read_outline(document) if self._config.headings in ("auto", "outline", "fonts") else []
            by_fonts = not outline and self._config.headings == "fonts"
            pages = self._read_pages(document, source.key, fonts=by_fonts)
            labels = read_page_labels(document)
            repeated = find_repeated(pages)
            if not self._config.running_lines:
                pages = _drop_running_lines(pages, labels)
            headings = find_in_outline(pages, outline) if outline else self._find_larger(pages)
            title, metadata = read_properties(document)
        finally:
            document.close()
        name = stem_of(source.key)
        found = Title(title) if title else find_title(headings, pages, name)
        bold = find_in_fonts(pages, headings, repeated) if by_fonts else None
        headings = bold or headings
        if found.is_letter:  # its title says what these headings say, and a passage has both receiver and sum
            headings = {**headings, 0: [one for one in headings.get(0, ()) if one.title not in found.text]}
        builder = TextBuilder()
        reach = len(pages) if outline else _find_reach(headings, len(pages))
        last = 0
        for number, lines in enumerate(pages):
            last = number if headings.get(number) else last
            if number - last == reach or (not outline and begins_annex(lines)):
                builder.clear_headings()
            _add_page(builder, lines, headings.get(number, ()))
        if sequences := make_page_labels(labels):
            metadata[PAGE_LABELS] = sequences
        return finish_document(
            source,
            builder,
            tell_apart(found.text, name),
            metadata,
            numbered=True,
            joined=_LONGEST_JOINED if bold else 0,
        )

    def _read_pages(self, document: "PdfDocument", key: str, *, fonts: bool) -> list[list[Line]]:
        """Raises `LoadFailed` if no page has text."""
        tesseract = None
        if self._config.ocr == "auto":
            tesseract = find_tesseract(self._config.ocr_languages, self._config.ocr_dpi)
        pages: list[list[Line]] = []
        images = 0
        for number in range(1, len(document) + 1):
            lines, is_image = self._read_page(document, key, number, tesseract, fonts=fonts)
            pages.append(lines)
            images += is_image
        if not any(pages):
            raise LoadFailed(_explain_no_text(key, len(pages), images, has_tesseract=tesseract is not None))
        return pages

    def _read_page(
        self, document: "PdfDocument", key: str, number: int, tesseract: Tesseract | None, *, fonts: bool
    ) -> tuple[list[Line], bool]:
        """Returns the lines of a page, and whether it has no text but images."""
        from pypdfium2 import PdfiumError

        try:
            page = document[number - 1]
            text = page.get_textpage()
        except PdfiumError as error:
            raise LoadFailed(f"{key!r} is damaged: its page {number} cannot be read") from error
        try:
            rulings = read_rulings(page)
            runs = read_runs(text, rulings, fonts=fonts)
            lines = read_lines(runs, rulings, columns=self._config.columns)
            is_image = not lines and _has_image(page)
            if is_image and tesseract is not None:
                lines = _as_lines(tesseract.read(page, key, number))
        finally:
            text.close()
            page.close()
        return lines, is_image

    def _find_larger(self, pages: Sequence[Sequence[Line]]) -> Mapping[int, list[Heading]]:
        return find_in_sizes(pages) if self._config.headings in ("auto", "sizes", "fonts") else {}


def _drop_running_lines(pages: Sequence[Sequence[Line]], labels: Sequence[str]) -> list[list[Line]]:
    running = find_running_lines([[line.text for line in page] for page in pages], labels)
    return [
        [line for n, line in enumerate(page) if n not in dropped] for page, dropped in zip(pages, running, strict=True)
    ]


def _has_image(page: "PdfPage") -> bool:
    from pypdfium2 import raw

    return next(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=5), None) is not None


def _explain_no_text(key: str, pages: int, images: int, *, has_tesseract: bool) -> str:
    if not images:
        return f"{key!r} has no text: its {pages:,} pages are empty, or drawn without characters"
    if has_tesseract:
        return f"{key!r} has no text: tesseract finds none in its {images:,} pages of images"
    return (
        f"{key!r} has no text: it needs OCR, since {images:,} of its {pages:,} pages are images; install tesseract "
        "where the workers run (and see `pdf:ocr=auto`), then retry the document"
    )


def _as_lines(texts: Sequence[str]) -> list[Line]:
    """Returns recognised lines; their size is unknown. An empty line ends a paragraph."""
    pairs = zip(["", *texts], texts, strict=False)
    return [Line(text, 0.0, 0.0, 0.0, is_first=not before) for before, text in pairs if text]


def _find_reach(headings: Mapping[int, Sequence[Heading]], pages: int) -> int:
    """Returns after how many pages a heading ends that only its size tells."""
    return 1 if is_cover(headings, pages) else max(_LEAST_REACH, pages // _MOST_REACH)


def _add_page(builder: TextBuilder, lines: Sequence[Line], headings: Sequence[Heading]) -> None:
    at = 0
    for heading in headings:
        _add_lines(builder, lines[at : heading.line])
        written = one_line(" ".join(line.text for line in lines[heading.line : heading.line + heading.lines]))
        builder.add_heading(heading.level, heading.title, line=written, is_wide=heading.is_wide)
        at = max(at, heading.line + heading.lines)
    _add_lines(builder, lines[at:])
    builder.end_page()


def _add_lines(builder: TextBuilder, lines: Sequence[Line]) -> None:
    for n, line in enumerate(lines):
        if n and line.is_first:
            builder.add_line()
        builder.add_line(line.text)


def build(config: Config, _backends: object) -> Loader:
    return PdfLoader(config)
