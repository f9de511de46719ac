"""Documents of each binary kind, made for tests; nothing here is read from disk."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pptx
from fpdf import FPDF
from PIL import Image

from indexer.loading.examples import pack

__all__ = [
    "Part",
    "add_member",
    "make_docx",
    "make_epub",
    "make_long_pdf",
    "make_mail",
    "make_pdf",
    "make_pptx",
    "make_scan",
    "make_xlsx",
    "pack",
    "replace_member",
    "saved",
]

Part = tuple[str, str | Sequence[Sequence[str]]]
"""`("h2", title)`, `("p", text)`, `("bold", text)`, `("italic", text)`, `("table", rows)` or `("page", "")`."""


def make_docx(parts: Sequence[Part], **properties: Any) -> bytes:
    document = docx.Document()
    for name, value in properties.items():
        setattr(document.core_properties, name, value)
    for kind, content in parts:
        if isinstance(content, str):
            level = int(kind[1]) if kind.startswith("h") else 0
            document.add_heading(content, level) if level else document.add_paragraph(content)
            continue
        table = document.add_table(rows=len(content), cols=len(content[0]))
        for row, cells in zip(table.rows, content, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    return saved(document)


def make_pptx(slides: Sequence[tuple[str, Sequence[str], str]], **properties: Any) -> bytes:
    """Slides with a title, paragraphs and notes."""
    presentation = pptx.Presentation()
    for name, value in properties.items():
        setattr(presentation.core_properties, name, value)
    for title, paragraphs, notes in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = "\n".join(paragraphs)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return saved(presentation)


def make_xlsx(sheets: Mapping[str, Sequence[Sequence[Any]]], **properties: Any) -> bytes:
    workbook = openpyxl.Workbook()
    for name, value in properties.items():
        setattr(workbook.properties, name, value)
    for number, (name, rows) in enumerate(sheets.items()):
        sheet = workbook.create_sheet(name) if number else workbook.active
        sheet.title = name
        for row in rows:
            sheet.append(row)
    return saved(workbook)


def make_mail() -> bytes:
    """A mail with the attachment `plan.txt`."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@example.org", "charles@example.org", "The plan"
    mail.set_content("Here is the plan.")
    mail.add_attachment("The engine is built in May.", filename="plan.txt")
    return mail.as_bytes()


def make_epub(
    chapters: Mapping[str, str],
    *,
    names: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
    doctype: str = "<!DOCTYPE html>",
) -> bytes:
    """Chapters are bodies by the name of their file; `names` are their titles in the contents."""
    items = "".join(
        f'<item id="c{n}" href="text/{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    links = "".join(f'<li><a href="text/{name}#x">{title}</a></li>' for name, title in (names or {}).items())
    namespace = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>The Harbour</dc:title><dc:creator>Ada Lovelace</dc:creator><dc:date>1843-09-01</dc:date>"
        f'<dc:language>en</dc:language></metadata><manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/></manifest><spine>{order}</spine></package>'
    )
    files = {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": package,
        "OPS/nav.xhtml": f'<html {namespace}><body><nav epub:type="toc"><ol>{links}</ol></nav></body></html>',
    }
    for name, body in chapters.items():
        files[f"OPS/text/{name}"] = f"{doctype}<html {namespace}><head><title/></head><body>{body}</body></html>"
    return pack({**files, **(more or {})})


def make_pdf(parts: Sequence[Part], *, outline: bool = False, is_encrypted: bool = False, **properties: Any) -> bytes:
    pdf = FPDF(format="A4")
    for name, value in properties.items():
        getattr(pdf, f"set_{name}")(value)
    if is_encrypted:
        pdf.set_encryption(owner_password="of the owner", user_password="of the user")  # noqa: S106
    pdf.add_page()
    for kind, content in parts:
        if kind == "page":
            pdf.add_page()
        elif not isinstance(content, str):
            pdf.set_font("Helvetica", size=10)
            _add_table(pdf, content)
        elif kind.startswith("h"):
            pdf.set_font("Helvetica", size=22 - 3 * int(kind[1]))
            if outline:
                pdf.start_section(content, level=int(kind[1]) - 1)
            pdf.multi_cell(0, 10, content, new_x="LMARGIN", new_y="NEXT")
        else:
            style = {"bold": "B", "italic": "I"}.get(kind, "")
            pdf.set_font("Helvetica", style=style, size=10)
            if style:
                pdf.ln(8)
            pdf.multi_cell(0, 5, content, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def make_long_pdf(pages: Sequence[Sequence[str]], labels: bytes = b"") -> bytes:
    """A file of many pages, each of which has these lines. Written by hand, since libraries take a minute for it.

    `labels` are the entries of its labels of pages: `0<</S/r>>4<</S/D>>` are i, ii, iii, iv, 1, 2.
    """
    written, places = bytearray(b"%PDF-1.4\n"), []

    def add(content: bytes) -> None:
        places.append(len(written))
        written.extend(b"%d 0 obj\n%s\nendobj\n" % (len(places), content))

    add(b"<</Type/Catalog/Pages 2 0 R/PageLabels<</Nums[%s]>>>>" % labels)
    kids = b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(pages)))
    add(b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)))
    add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for n, lines in enumerate(pages):
        shown = b"".join(b"(%s) Tj 0 -14 Td " % line.encode("latin-1") for line in lines)
        content = b"BT /F1 10 Tf 50 790 Td %sET" % shown
        resources = b"<</Font<</F1 3 0 R>>>>"
        add(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources%s>>" % (5 + 2 * n, resources))
        add(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    end = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(written))
    return bytes(written) + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


def make_scan(pages: int = 2) -> bytes:
    """A file of images."""
    document = FPDF()
    for _ in range(pages):
        document.add_page()
        buffer = io.BytesIO()
        Image.new("L", (60, 80), 128).save(buffer, "PNG")
        document.image(buffer, 10, 10, 100)
    return bytes(document.output())


def _add_table(pdf: FPDF, rows: Sequence[Sequence[str]]) -> None:
    with pdf.table() as table:
        for cells in rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def replace_member(content: bytes, name: str, replacement: str | bytes) -> bytes:
    """An archive in which one file has another content."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert name in archive.namelist()
    return add_member(content, name, replacement)


def add_member(content: bytes, name: str, added: str | bytes) -> bytes:
    """An archive with another file, or with another content of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files: dict[str, str | bytes] = {one: archive.read(one) for one in archive.namelist()}
    return pack({**files, name: added})
