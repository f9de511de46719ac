"""Opening of a PDF file, with messages that tell empty, encrypted and damaged files apart."""

from typing import TYPE_CHECKING

from core.errors import LoadFailed

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
