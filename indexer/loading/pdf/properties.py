"""Opening of a PDF file, with messages that tell empty, encrypted and damaged files apart, and its properties."""

import contextlib
import ctypes
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from core.errors import LoadFailed
from core.text.titles import one_line
from indexer.loading.assembly import clean_text
from indexer.loading.properties import make_metadata, read_title

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


def open_pdf(key: str, content: bytes) -> "PdfDocument":
    """Returns a document of at least one page. Raises `LoadFailed`, which names the document by its key."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    if not content:
        raise LoadFailed(f"{key!r} is empty: it has no bytes")
    try:
        document = PdfDocument(content)
    except PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise LoadFailed(f"{key!r} is encrypted: it needs a password; save it without one") from error
        raise LoadFailed(f"{key!r} is no PDF file, or it is damaged: PDFium cannot open it") from error
    if not len(document):
        raise LoadFailed(f"{key!r} is damaged: it has no pages")
    return document


_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([-+])(\d\d)'?(\d\d)?)?")
_IDENTIFIER = re.compile(r"[a-z0-9_./\\-]+")
"""A title in this form is a number of the publisher, or the name of the file that was typeset (`bashref`)."""


def read_properties(document: "PdfDocument") -> tuple[str, dict[str, Any]]:
    """Returns the title, or '' if there is none of use, and the metadata."""
    given = document.get_metadata_dict(skip_empty=True)
    title = read_title(given.get("Title"))
    metadata = make_metadata(
        {
            "author": given.get("Author"),
            "created": _parse_date(given.get("CreationDate", "")),
            "modified": _parse_date(given.get("ModDate", "")),
            "language": _read_language(document),
            "subject": given.get("Subject"),
            "keywords": given.get("Keywords"),
        }
    )
    return "" if _IDENTIFIER.fullmatch(title) else title, metadata


def read_page_labels(document: "PdfDocument") -> list[str]:
    """Returns the labels of the pages, such as `iv` or `A-3`; none if the document gives its pages no other names."""
    labels = [one_line(clean_text(_read_label(document, index))) for index in range(len(document))]
    return labels if any(label and label != str(n) for n, label in enumerate(labels, 1)) else []


def _read_label(document: "PdfDocument", index: int) -> str:
    try:
        return str(document.get_page_label(index))
    except UnicodeDecodeError:  # half of a surrogate pair
        return ""


def _parse_date(text: str) -> datetime | None:
    """Reads `D:20240131120000+01'00'`, which may end after the year. A wrong date is none."""
    match = _DATE.match(text.strip())
    if match is None:
        return None
    *numbers, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = (int(number) if number else None for number in numbers)
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    with contextlib.suppress(ValueError):
        zone = timezone(-offset if sign == "-" else offset) if sign else UTC
        return datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone)
    return None


def _read_language(document: "PdfDocument") -> str | None:
    from pypdfium2 import raw

    length = raw.FPDFCatalog_GetLanguage(document, None, 0)
    if length <= 2:
        return None
    buffer = (ctypes.c_ushort * length)()
    raw.FPDFCatalog_GetLanguage(document, buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "replace")
