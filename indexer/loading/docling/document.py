"""The parts of docling's JSON that are read: a `DoclingDocument`, and the reply of docling-serve that holds it.

Other fields are ignored: images, places within pages, and the grid that repeats the cells of a table.
"""

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import LoadFailed
from core.text.titles import one_line

_POINTER = re.compile(r"#/([a-z_]{1,40})/(\d{1,9})")
_SHOWN = 200


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Reference(_Read):
    """A JSON pointer to an item, such as `#/texts/12`."""

    pointer: str = Field(alias="$ref")


class Provenance(_Read):
    """The page on which `text[charspan]` of an item stands. Pages count from 1."""

    page_no: int = Field(ge=1)
    charspan: tuple[int, int] = (0, 0)


class Cell(_Read):
    """A cell of a table. Rows and columns count from 0."""

    text: str = ""
    start_row_offset_idx: int = Field(default=0, ge=0)
    start_col_offset_idx: int = Field(default=0, ge=0)
    row_span: int = 1
    col_span: int = 1
    column_header: bool = False


class _TableData(_Read):
    table_cells: list[Cell] = []


class Item(_Read):
    """A text, a table, a picture or a group. `orig` is its text as the file has it, before it was made readable."""

    label: str = ""
    content_layer: str = "body"
    children: list[Reference] = []
    prov: list[Provenance] = []
    text: str = ""
    orig: str = ""
    name: str = ""
    level: int = 1
    enumerated: bool = False
    marker: str = ""
    captions: list[Reference] = []
    footnotes: list[Reference] = []
    data: _TableData | None = None

    @property
    def page(self) -> int | None:
        return self.prov[0].page_no if self.prov else None


class DoclingDocument(_Read):
    """A document. `body` names its parts in the order of reading; `pages` are the numbers of its pages."""

    schema_name: str
    body: Item
    groups: list[Item] = []
    texts: list[Item] = []
    pictures: list[Item] = []
    tables: list[Item] = []
    key_value_items: list[Item] = []
    form_items: list[Item] = []
    field_regions: list[Item] = []
    field_items: list[Item] = []
    pages: dict[int, Any] = {}

    def find(self, reference: Reference) -> Item | None:
        """Returns the item that a reference names, or None."""
        match = _POINTER.fullmatch(reference.pointer)
        items = getattr(self, match[1], None) if match else None
        if match is None or not isinstance(items, list) or int(match[2]) >= len(items):
            return None
        found: Item = items[int(match[2])]
        return found


class _Error(_Read):
    error_message: str = ""


class _Export(_Read):
    json_content: DoclingDocument | None = None


class Reply(_Read):
    """What docling-serve replies for a file. `status` is `success`, or `partial_success` where pages are missing."""

    document: _Export
    status: str
    errors: list[_Error] = []

    @property
    def reason(self) -> str:
        """The first error, on one line; '' if there is none."""
        return one_line(self.errors[0].error_message)[:_SHOWN] if self.errors else ""


def read_reply(key: str, content: bytes) -> tuple[Reply, DoclingDocument]:
    """Raises `LoadFailed` if this is no reply with a document, or one that says why there is none."""
    try:
        reply = Reply.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))[:_SHOWN] or "its JSON"
        raise LoadFailed(f"{key!r} cannot be read: docling sent no valid document ({where}: {first['msg']})") from error
    document = reply.document.json_content
    if document is None or reply.status not in ("success", "partial_success"):
        raise LoadFailed(f"{key!r} cannot be read by docling: {reply.reason or reply.status[:_SHOWN]}")
    return reply, document
