"""Files whose parts are nested deeper, longer or more than any honest file has them, by name.

Each took the unbounded loader more than half a minute of the processor, or more than a gigabyte.
"""

import io
import zipfile
from collections.abc import Callable, Mapping

__all__ = ["HOSTILE_FILES", "make_workbook"]

_MAIL = "From: a@example.org\r\nSubject: s\r\n"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORKBOOK = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}">'
        '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


def _encoded_words() -> bytes:
    words = " ".join(["=?utf-8?q?K=C3=B6ln?="] * 300_000)
    return f"From: a@example.org\r\nSubject: {words}\r\n\r\nneedle".encode()


def _many_parameters() -> bytes:
    parameters = "; ".join(f"a{n}=b" for n in range(400_000))
    return f"{_MAIL}Content-Type: text/plain; {parameters}\r\n\r\nneedle".encode()


def _wide_rows() -> bytes:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}" t="str"><v>needle</v></c></row>' for n in range(1, 100_001)
    )
    return make_workbook(f"<sheetData>{rows}</sheetData>")


def _stated_size() -> bytes:
    cell = '<row r="1048576"><c r="A1048576" t="str"><v>needle</v></c></row>'
    return make_workbook(f'<dimension ref="A1:XFD1048576"/><sheetData>{cell}</sheetData>')


def make_workbook(content: str) -> bytes:
    """Returns a workbook with a sheet of this content, which openpyxl would not write."""
    return _pack({**_WORKBOOK, "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}">{content}</worksheet>'})


def _repeated_chapter() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
        "<spine>" + '<itemref idref="c"/>' * 100_000 + "</spine></package>"
    )
    text = "needle " * 10_000
    chapter = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{text}</p></body></html>'
    return _pack({"META-INF/container.xml": container, "a.opf": package, "c.xhtml": chapter})


def _repeated_cells() -> bytes:
    names = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{names}:{name}:1.0"' for name in ("office", "table", "text"))
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>needle</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    body = f"<office:spreadsheet><table:table>{row * 1000}</table:table></office:spreadsheet>"
    return _pack({"content.xml": f"<office:document-content {spaces}>{body}</office:document-content>"})


def _pack(parts: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _many_runs() -> bytes:
    return b"{\\rtf1 needle " + b"{\\b a}" * 1_000_000 + b"}"


HOSTILE_FILES: Mapping[str, Callable[[], bytes]] = {
    "nested.html": lambda: b"<div>" * 300_000 + b"needle",
    "lists.html": lambda: b"<ul><li>" * 200_000 + b"needle",
    "anchors.html": lambda: b"<title>x</title>" + b'<h1>x<a href="#">' * 100_000 + b"needle",
    "attributes.html": lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(500_000)) + b">needle",
    "nested.eml": lambda: f"{_MAIL}Content-Type: text/html\r\n\r\n".encode() + b"<div>" * 300_000 + b"needle",
    "words.eml": _encoded_words,
    "parameters.eml": _many_parameters,
    "headings.md": lambda: b"needle\n\n" + b"# a\n" * 1_000_000,
    "wide.xlsx": _wide_rows,
    "stated.xlsx": _stated_size,
    "repeated.epub": _repeated_chapter,
    "repeated.ods": _repeated_cells,
    "runs.rtf": _many_runs,
    "words.rtf": lambda: b"{\\rtf1 needle" + b"\\'fc" * 2_000_000,
    "skipped.rtf": lambda: b"{\\rtf1 needle" + b"\\bin99999999999 " * 100_000 + b"\\uc99999999\\u1" * 100_000,
}
