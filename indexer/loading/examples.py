"""The smallest files of each binary kind, as examples of loaders."""

import io
import struct
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence

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
            method = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED  # so that it tells the kind
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def example_of(kind: str) -> bytes:
    """Returns the example of a kind: doc, docx, epub, msg, ods, odt, pdf, pptx, xls or xlsx."""
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


def _odt() -> bytes:
    return _odf("text", '<text:h text:outline-level="1">Köln</text:h><text:p>Eine Stadt am Rhein. 很老。</text:p>')


def _ods() -> bytes:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in (("Stadt", "Fluss"), ("Köln", "Rhein"))
    )
    return _odf("spreadsheet", f'<table:table table:name="Städte">{rows}</table:table>')


def _odf(kind: str, body: str) -> bytes:
    names = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = "".join(f' xmlns:{name}="{names}:{name}:1.0"' for name in ("office", "table", "text"))
    content = (
        f"<office:document-content{spaces}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
        "</office:document-content>"
    )
    return pack({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": _XML + content})


_SECTOR, _SMALL_SECTOR, _SMALL = 512, 64, 4096
_END, _FAT, _FREE = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def pack_compound(streams: Mapping[str, bytes]) -> bytes:
    """Returns a compound file ([MS-CFB], version 3) with streams by their paths (`STORAGE/STREAM`), of some megabytes
    at most.
    """
    names = sorted({path.rpartition("/")[0] for path in streams if "/" in path} - {""})
    entries = ["", *names, *streams]
    small, mini_fat, sectors, fat = bytearray(), list[int](), list[bytes](), list[int]()
    starts: dict[str, tuple[int, int]] = {}

    def write(content: bytes) -> int:
        first = len(fat)
        count = -(-len(content) // _SECTOR)
        sectors.extend(content[n * _SECTOR : (n + 1) * _SECTOR].ljust(_SECTOR, b"\0") for n in range(count))
        fat.extend([*range(first + 1, first + count), _END][:count])
        return first if count else _END

    for path, content in streams.items():
        if len(content) >= _SMALL:
            starts[path] = write(content), len(content)
            continue
        first, count = len(mini_fat), -(-len(content) // _SMALL_SECTOR)
        small += content.ljust(count * _SMALL_SECTOR, b"\0")
        mini_fat.extend([*range(first + 1, first + count), _END][:count])
        starts[path] = (first if count else _END), len(content)
    starts[""] = write(bytes(small)), len(small)
    mini_start = write(
        b"".join(struct.pack("<I", one) for one in mini_fat).ljust(-(-len(mini_fat) // 128) * 512, b"\xff")
    )
    directory = b"".join(_directory_entry(n, entries, starts, names) for n in range(len(entries)))
    directory_start = write(directory.ljust(-(-len(directory) // _SECTOR) * _SECTOR, b"\0"))
    fat_sectors = 1
    while (len(fat) + fat_sectors) > fat_sectors * 128:
        fat_sectors += 1
    own = range(len(fat), len(fat) + fat_sectors)
    table = b"".join(struct.pack("<I", one) for one in [*fat, *([_FAT] * fat_sectors)]).ljust(
        fat_sectors * 512, b"\xff"
    )
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIII", 0, fat_sectors, directory_start, 0, _SMALL)
    header += struct.pack("<IIII", mini_start if mini_fat else _END, -(-len(mini_fat) // 128), _END, 0)
    header += b"".join(struct.pack("<I", one) for one in own)
    return header.ljust(512, b"\xff") + b"".join(sectors) + table


def _directory_entry(n: int, entries: list[str], starts: Mapping[str, tuple[int, int]], storages: list[str]) -> bytes:
    """Writes an entry of the directory. The entries of a storage are a chain, each the right sibling of the last."""
    path = entries[n]
    parent, _, name = path.rpartition("/")
    siblings = [k for k in range(1, len(entries)) if entries[k].rpartition("/")[0] == parent]
    siblings.sort(key=lambda k: (len(entries[k]), entries[k].upper()))
    right = next((k for k in siblings[siblings.index(n) + 1 :]), _FREE) if n else _FREE
    children = [k for k in range(1, len(entries)) if entries[k].rpartition("/")[0] == path and entries[k] != path]
    children.sort(key=lambda k: (len(entries[k]), entries[k].upper()))
    is_storage = path in storages
    child = children[0] if children and (is_storage or not n) else _FREE
    encoded = ("Root Entry" if not n else name or path).encode("utf-16-le")
    start, size = (0, 0) if is_storage else starts[path]
    kind = 5 if not n else 1 if is_storage else 2
    written = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded) + 2, kind, 1, _FREE, right, child)
    return written + bytes(36) + struct.pack("<IQ", start, size)


def make_doc(text: str, *, flags: int = 0, version: int = 0xC1) -> bytes:
    """Returns a Word file of 1997 with a text whose paragraphs end with a carriage return, all in the style 0."""
    fib = bytearray(1472)
    raw = text.encode("utf-16-le")
    struct.pack_into("<HH6xH", fib, 0, 0xA5EC, version, flags)
    struct.pack_into("<i", fib, 76, len(raw) // 2)
    pieces = struct.pack("<IIHIH", 0, len(raw) // 2, 0, len(fib), 0)
    clx = b"\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", fib, 154 + 8 * 33, 0, len(clx))
    return pack_compound({"WordDocument": (bytes(fib) + raw).ljust(4096, b"\0"), "0Table": clx})


def make_msg(texts: Mapping[int, str | bytes | int], files: Mapping[str, bytes] = {}) -> bytes:
    """Returns a mail of Outlook: its properties by number, as texts, bytes or numbers, and its attachments by name."""
    streams = {"__properties_version1.0": bytes(32)}
    for number, value in texts.items():
        if isinstance(value, int):
            streams["__properties_version1.0"] += struct.pack("<HHIII", 3, number, 6, value, 0)
            continue
        kind, raw = ("001F", value.encode("utf-16-le")) if isinstance(value, str) else ("0102", value)
        streams[f"__substg1.0_{number:04X}{kind}"] = raw
    for n, (name, content) in enumerate(files.items()):
        folder = f"__attach_version1.0_#{n:08X}"
        streams[f"{folder}/__substg1.0_3707001F"] = name.encode("utf-16-le")
        streams[f"{folder}/__substg1.0_37010102"] = content
        streams[f"{folder}/__properties_version1.0"] = bytes(8)
    return pack_compound(streams)


def make_xls(
    sheets: Mapping[str, Iterable[Sequence[str | float]]],
    *,
    formats: Iterable[int] = (),
    hidden: Collection[str] = (),
    more: bytes = b"",
) -> bytes:
    """Returns a workbook of Excel 97: sheets by name, each with the values of its rows. '' is an empty cell.

    `formats` are the numbers of the formats of the first columns (14 is a date); `more` are further records
    (`make_record`) of the last sheet.
    """
    formats = list(formats)
    fonts = make_record(0x31, struct.pack("<HHHHHBBBxBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 5, 0) + b"Arial") * 4
    # Cells have the formats from the second on; the first is the default.
    styles = b"".join(make_record(0xE0, struct.pack("<HH16x", 0, number)) for number in (0, *formats))
    parts, names = list[bytes](), list(sheets)
    for name, rows in sheets.items():
        records = make_record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
        for row, values in enumerate(rows):
            for column, value in enumerate(values):
                where = struct.pack("<HHH", row, column, column + 1 if column < len(formats) else 0)
                if isinstance(value, str):
                    records += make_record(0x204, where + _xls_text(value, "<H")) if value else b""
                else:
                    records += make_record(0x203, where + struct.pack("<d", value))
        parts.append(records + (more if name == names[-1] else b"") + make_record(0x0A))
    start = make_record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + fonts + styles
    place = len(start) + sum(len(_xls_text(name, "<B")) + 10 for name in names) + len(make_record(0x0A))
    for name, part in zip(names, parts, strict=True):
        start += make_record(0x85, struct.pack("<IBB", place, name in hidden, 0) + _xls_text(name, "<B"))
        place += len(part)
    return pack_compound({"Workbook": (start + make_record(0x0A) + b"".join(parts)).ljust(_SMALL, b"\0")})


def make_record(kind: int, content: bytes = b"") -> bytes:
    """Returns a record of a workbook of Excel 97."""
    return struct.pack("<HH", kind, len(content)) + content


def _xls_text(text: str, length: str) -> bytes:
    return struct.pack(length, len(text)) + b"\1" + text.encode("utf-16-le")


_EXAMPLES = {
    "doc": make_doc("Köln\rEine Stadt am Rhein. 很老。\r"),
    "docx": _docx(),
    "epub": _epub(),
    "msg": make_msg({0x0037: "Köln", 0x0C1A: "Ada", 0x1000: "Eine Stadt am Rhein. 很老。"}),
    "ods": _ods(),
    "odt": _odt(),
    "pdf": _pdf(),
    "pptx": _pptx(),
    "xls": make_xls({"Städte": [["Stadt", "Fluss"], ["Köln", "Rhein"]]}),
    "xlsx": _xlsx(),
}
