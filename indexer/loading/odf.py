"""Files of OpenDocument: their names of elements, their encryption, their properties, and white space in paragraphs.

Source: OpenDocument 1.3, parts 2 and 3.
"""

from datetime import datetime
from typing import Any
from zipfile import ZipFile

from core.errors import LoadFailed
from indexer.loading.archives import check_archive, open_archive, parse_xml, read_member
from indexer.loading.properties import make_metadata, parse_time, read_title

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, TABLE, STYLE = (f"{{{_NAMES}{name}:1.0}}" for name in ("office", "text", "table", "style"))
LEFT_OUT = frozenset(
    (
        *(f"{TEXT}{name}" for name in ("tracked-changes", "note-citation", "ruby-text", "sequence-decls", "deletion")),
        *(f"{OFFICE}{name}" for name in ("annotation", "annotation-end", "forms", "scripts", "event-listeners")),
        f"{{{_NAMES}svg-compatible:1.0}}title",
        f"{{{_NAMES}svg-compatible:1.0}}desc",
    )
)
"""Elements that are no text of a document."""
MOST_REPEATED = 64
"""The most spaces, or cells of a text document, that one element stands for."""
_CHARACTERS = {f"{TEXT}tab": "\t", f"{TEXT}line-break": "\n"}
_MANIFEST, _WHOLE = "META-INF/manifest.xml", "encrypted-package"


def open_odf(content: bytes, key: str, kind: str) -> ZipFile:
    """Opens a document that has the part `content.xml`.

    Raises `LoadFailed` if it is empty, damaged, encrypted or of another kind, exceeds the bounds of an archive, or
    defines entities.
    """
    archive = open_archive(content, key, kind, "content.xml", _WHOLE)
    names = archive.namelist()
    if _WHOLE in names or (_MANIFEST in names and b"encryption-data" in read_member(archive, _MANIFEST, key)):
        raise LoadFailed(f"{key!r} is encrypted with a password; save it without one")
    check_archive(archive, key, may_have_doctype=True)  # OpenOffice 2 writes a document type
    return archive


def read_odf_properties(archive: ZipFile, key: str) -> tuple[str, dict[str, Any]]:
    """Returns the title and the metadata of a document; it may have none of them."""
    if "meta.xml" not in archive.namelist():
        return "", {}
    root = parse_xml(read_member(archive, "meta.xml", key), key, "meta.xml")
    texts: dict[str, list[str]] = {}
    for element in root.iter():
        if isinstance(element.tag, str) and element.text:
            texts.setdefault(element.tag.rpartition("}")[2], []).append(element.text)
    found = {name: values[0] for name, values in texts.items()}
    return read_title(found.get("title")), make_metadata(
        {
            "author": found.get("initial-creator") or found.get("creator"),
            "created": _time(found.get("creation-date")),
            "modified": _time(found.get("date")),
            "language": found.get("language"),
            "subject": found.get("subject"),
            "keywords": ", ".join(texts.get("keyword", [])) or None,
        }
    )


def _time(text: str | None) -> datetime | None:
    """ODF has fractions of a second of any length (`2024-01-31T12:00:00.123456789`)."""
    return parse_time((text or "").partition(".")[0])


def read_count(element: Any, name: str) -> int:
    """Returns how many cells, rows or characters an element stands for by its attribute `name`; 1 if it is no number.

    The caller bounds it.
    """
    stated = element.get(name, "1")
    return max(1, int(stated)) if stated.isdecimal() and len(stated) < 10 else 1


def read_characters(element: Any) -> str | None:
    """Returns the spaces, the tab or the line break that an element stands for; None for other elements."""
    if element.tag == f"{TEXT}s":
        return " " * min(read_count(element, f"{TEXT}c"), MOST_REPEATED)
    return _CHARACTERS.get(element.tag)


def collapse(text: str | None) -> str:
    """Returns the characters of an element, each run of white space as one space. Spaces that count are elements."""
    if not text:
        return ""
    before, after = text[:1].isspace(), text[-1:].isspace()
    inner = " ".join(text.split())
    return (" " * before + inner + " " * after) if inner else " "
