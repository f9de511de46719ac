"""Workbooks of Excel 97 to 2003 (XLS): a page a sheet, as in XLSX. Older workbooks of Excel are read, too.

Macros, charts, comments and drawings are not read. `records` reads the stream of a workbook.
"""

from typing import Any

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from indexer.loaders import html, xlsx
from indexer.loaders.xls.records import add_sheets
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.compound import MAGIC, CompoundFile
from indexer.loading.examples import example_of
from indexer.loading.properties import read_title

MEDIA_TYPES = ("application/vnd.ms-excel",)
SUFFIXES = (".xls", ".xlt")
ISOLATED = True
EXAMPLE = example_of("xls")

_STREAMS = ("Workbook", "Book")  # since Excel 97; Excel 5 and 95
_BARE = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")  # how the records of Excel 2, 3, 4, and 5 to 2003 begin
_HEAD = 4096


class Config(xlsx.Config):
    """Which sheets are read, and how."""


class XlsLoader:
    """Loads XLS. Of formulas, the values that were saved are read.

    A file that is XLSX or HTML by its content is read as such: many programs name their exports `.xls`.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        content, key = source.content, source.key
        if content.startswith(b"PK\x03\x04"):
            return xlsx.build(self._config, None).load(source)
        if _is_html(content):
            return html.build(html.Config(), None).load(source)
        title, metadata = "", dict[str, Any]()
        if not content.startswith(_BARE):
            if content and not content.startswith(MAGIC):
                raise LoadFailed(f"{key!r} is no XLS file: {_tell_other(content)}")
            file = CompoundFile(content, key, "XLS")
            if file.has("EncryptedPackage"):
                raise LoadFailed(f"{key!r} is encrypted with a password; save it without one")
            title, metadata = file.read_properties()
            name = next((name for name in _STREAMS if file.has(name)), None)
            if name is None:
                raise LoadFailed(f"{key!r} is no XLS file: it has no workbook; it may be of another program")
            content = file.read(name)
            if not content.startswith(_BARE):
                raise LoadFailed(f"{key!r} is damaged: its workbook does not begin as one does")
        builder = TextBuilder()
        add_sheets(builder, content, key, **self._config.model_dump())
        return finish_document(source, builder, read_title(title), metadata, numbered=True)


def _is_html(content: bytes) -> bool:
    head = content[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return head.startswith(b"<") and (b"<html" in head or b"<table" in head)


def _tell_other(content: bytes) -> str:
    head = content[:_HEAD]
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        return "it is an XML spreadsheet of Excel 2003; save it as .xlsx"
    if b"\0" in head:
        return "it does not begin as one does; it may be of another kind"
    return "it is text; a table of text is read under the suffix .csv or .tsv"


def build(config: Config, _backends: object) -> Loader:
    return XlsLoader(config)
