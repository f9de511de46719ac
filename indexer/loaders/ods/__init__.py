"""Spreadsheets of OpenDocument (ODS): a page a sheet, as in workbooks of Excel. Cells are read as they are shown.

Comments, drawings, charts, tracked changes, and copies of sheets of other files are not read. Source: OpenDocument 1.3,
part 3.
"""

from pydantic import Field

from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loaders.ods.sheet_reader import SheetReader
from indexer.loading.archives import read_member
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.odf import open_odf, read_odf_properties
from indexer.loading.sheets import add_sheet

MEDIA_TYPES = (
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.spreadsheet-template",
)
SUFFIXES = (".ods", ".ots")
ISOLATED = True
EXAMPLE = example_of("ods")


class Config(StrategyConfig):
    """Which sheets are read, and how."""

    column_names: bool = Field(
        default=True, description="Write `name: value` in each row if the first row has names of columns."
    )
    hidden: bool = Field(default=False, description="Also read hidden sheets.")


class OdsLoader:
    """Loads ODS. Of formulas, the values that were saved are read. Macros are neither read nor run."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        key = source.key
        with open_odf(source.content, key, "ODS") as archive:
            title, metadata = read_odf_properties(archive, key)
            content = read_member(archive, "content.xml", key)
        builder = TextBuilder()
        reading = SheetReader(content, key)
        for name, is_visible in reading.sheets():
            builder.clear_headings()
            if self._config.hidden or is_visible:
                builder.add_heading(1, name, line="")
                add_sheet(builder, reading.rows(), named=self._config.column_names)
            builder.end_page()
        return finish_document(source, builder, title, metadata, numbered=True)


def build(config: Config, _backends: object) -> Loader:
    return OdsLoader(config)
