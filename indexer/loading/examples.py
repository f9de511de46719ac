"""The smallest files of each binary kind, as examples of loaders."""

import io
import zipfile
from collections.abc import Mapping

__all__ = ["example_of", "pack"]

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org"
_TYPES = f"{_OFFICE}/package/2006/content-types"
_RELATIONS = f"{_OFFICE}/package/2006/relationships"
_R = f"{_OFFICE}/officeDocument/2006/relationships"
_MAIN = "application/vnd.openxmlformats-officedocument"


def pack(files: Mapping[str, str | bytes]) -> bytes:
    """Returns a ZIP archive of the files; the same files always give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def example_of(kind: str) -> bytes:
    """Returns the example of a kind: docx, epub, pdf, pptx or xlsx."""
    return _EXAMPLES[kind]


def _office(main: str, media_type: str, parts: Mapping[str, str], others: Mapping[str, str]) -> bytes:
    """Packs an office document. `others` are the media types of the parts besides `main`."""
    overrides = {main: media_type, **others}
    lines = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in overrides.items())
    types = (
        f'{_XML}<Types xmlns="{_TYPES}"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{lines}</Types>'
    )
    root = _relations({"rId1": (f"{_R}/officeDocument", main)})
    return pack({"[Content_Types].xml": types, "_rels/.rels": root, **{n: _XML + p for n, p in parts.items()}})


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="{id}" Type="{kind}" Target="{target}"/>' for id, (kind, target) in targets.items()
    )
    return f'{_XML}<Relationships xmlns="{_RELATIONS}">{lines}</Relationships>'


def _docx() -> bytes:
    namespace = f"{_OFFICE}/wordprocessingml/2006/main"
    heading = '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
    paragraphs = "".join(
        f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"
        for properties, text in ((heading, "Köln"), ("", "Eine Stadt am Rhein. 很老。"))
    )
    document = f'<w:document xmlns:w="{namespace}"><w:body>{paragraphs}</w:body></w:document>'
    kind = f"{_MAIN}.wordprocessingml.document.main+xml"
    return _office("word/document.xml", kind, {"word/document.xml": document}, {})


def _pptx() -> bytes:
    names = f'xmlns:p="{_OFFICE}/presentationml/2006/main" xmlns:a="{_OFFICE}/drawingml/2006/main" xmlns:r="{_R}"'
    presentation = f'<p:presentation {names}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
    shapes = "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{n}" name="s{n}"/><p:cNvSpPr/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        for n, kind, text in ((2, '<p:ph type="title"/>', "Köln"), (3, "", "Eine Stadt am Rhein."))
    )
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    slide = f"<p:sld {names}><p:cSld><p:spTree>{group}{shapes}</p:spTree></p:cSld></p:sld>"
    links = _relations({"rId1": (f"{_R}/slide", "slides/slide1.xml")}).removeprefix(_XML)
    parts = {
        "ppt/presentation.xml": presentation,
        "ppt/_rels/presentation.xml.rels": links,
        "ppt/slides/slide1.xml": slide,
    }
    kind = f"{_MAIN}.presentationml"
    return _office(
        "ppt/presentation.xml",
        f"{kind}.presentation.main+xml",
        parts,
        {"ppt/slides/slide1.xml": f"{kind}.slide+xml"},
    )


def _xlsx() -> bytes:
    names = f'xmlns="{_OFFICE}/spreadsheetml/2006/main" xmlns:r="{_R}"'
    workbook = f'<workbook {names}><sheets><sheet name="Städte" sheetId="1" r:id="rId1"/></sheets></workbook>'
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{a}</t></is></c>'
        f'<c r="B{n}" t="inlineStr"><is><t>{b}</t></is></c></row>'
        for n, (a, b) in enumerate((("Stadt", "Fluss"), ("Köln", "Rhein")), 1)
    )
    parts = {
        "xl/workbook.xml": workbook,
        "xl/_rels/workbook.xml.rels": _relations({"rId1": (f"{_R}/worksheet", "worksheets/sheet1.xml")}).removeprefix(
            _XML
        ),
        "xl/worksheets/sheet1.xml": f"<worksheet {names}><sheetData>{rows}</sheetData></worksheet>",
    }
    kind = f"{_MAIN}.spreadsheetml"
    return _office(
        "xl/workbook.xml",
        f"{kind}.sheet.main+xml",
        parts,
        {"xl/worksheets/sheet1.xml": f"{kind}.worksheet+xml"},
    )


def _epub() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Städte</dc:title><dc:creator>Ada</dc:creator>'
        '<dc:language>de</dc:language></metadata><manifest><item id="c1" href="c1.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c1"/></spine></package>'
    )
    chapter = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><h1>Köln</h1>'
        "<p>Eine Stadt am Rhein. 很老。</p></body></html>"
    )
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": _XML + container,
            "book.opf": _XML + package,
            "c1.xhtml": _XML + chapter,
        }
    )


def _pdf() -> bytes:
    content = b"BT /F1 18 Tf 72 760 Td (Cologne) Tj /F1 11 Tf 0 -30 Td (A city on the Rhine. It is old.) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    written, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(written)
    return written + b"xref\n0 6\n0000000000 65535 f \n" + table + end


_EXAMPLES = {"docx": _docx(), "epub": _epub(), "pdf": _pdf(), "pptx": _pptx(), "xlsx": _xlsx()}
