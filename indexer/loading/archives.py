"""Archives of XML files (office documents, EPUB): their bounds are checked before anything is unpacked.

`parse_xml` parses a part: no entity is resolved, and nothing is fetched.
"""

import html
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

from core.errors import LoadFailed

MAX_FILES = 10_000
MAX_UNPACKED = 512 * 1024 * 1024
MAX_RATIO = 200
"""Bytes unpacked for each byte of the archive. XML of spreadsheets reaches some 50."""

_RATIO_MATTERS = 10 * 1024 * 1024  # a small file may be as repetitive as it likes
_UNPACKING = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError, RuntimeError, ValueError,
)  # fmt: skip
"""What `zipfile` raises for members that are damaged."""
_XML = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE", re.IGNORECASE)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def open_archive(content: bytes, key: str, kind: str, needed: str, *others: str) -> zipfile.ZipFile:
    """Opens an archive of the kind `kind`, which has the file `needed` or one of `others`.

    Raises `LoadFailed` if it is empty, damaged, encrypted, of another kind, or exceeds the bounds.
    """
    if not content:
        raise LoadFailed(f"{key!r} is empty: it has no bytes")
    if content.startswith(_OLE):
        raise LoadFailed(
            f"{key!r} is no {kind} file: it is encrypted with a password, or of a format before 2007; save it as "
            f"{kind} without a password"
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise LoadFailed(f"{key!r} is no {kind} file: {_lower(error)}; it may be damaged or cut off") from error
    _check_bounds(archive.infolist(), len(content), key)
    if not {needed, *others}.intersection(archive.namelist()):
        raise LoadFailed(f"{key!r} is no {kind} file: the archive has no {needed!r}")
    return archive


def check_archive(archive: zipfile.ZipFile, key: str, *, may_have_doctype: bool = False) -> None:
    """Raises `LoadFailed` if an XML file of the archive defines entities, or has a document type unless it may."""
    for member in archive.infolist():
        if member.filename.lower().endswith(_XML):
            content = read_member(archive, member.filename, key).replace(b"\0", b"")  # UTF-16, too
            if _ENTITY.search(content) or (not may_have_doctype and _DOCTYPE.search(content)):
                raise LoadFailed(
                    f"{key!r} is refused: its part {member.filename!r} defines a document type or entities"
                )


def read_member(archive: zipfile.ZipFile, name: str, key: str) -> bytes:
    """Returns the bytes of a file of the archive, which are never more than the archive states.

    Raises `LoadFailed` if it is missing or damaged.
    """
    try:
        return archive.read(name)
    except KeyError as error:
        raise LoadFailed(f"{key!r} is damaged: its part {name!r} is missing") from error
    except _UNPACKING as error:
        raise LoadFailed(f"{key!r} is damaged: its part {name!r} cannot be unpacked ({_lower(error)})") from error


def _check_bounds(members: Iterable[zipfile.ZipInfo], packed: int, key: str) -> None:
    members = list(members)
    if len(members) > MAX_FILES:
        raise LoadFailed(f"{key!r} is refused: its archive has {len(members):,} files, more than {MAX_FILES:,}")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED:
        size, limit = unpacked // 1024**2, MAX_UNPACKED // 1024**2
        raise LoadFailed(f"{key!r} is refused: unpacked it has {size:,} MB, more than {limit:,} MB")
    if unpacked > _RATIO_MATTERS and unpacked > MAX_RATIO * packed:
        ratio = unpacked // packed
        raise LoadFailed(
            f"{key!r} is refused: it grows {ratio:,} times when it is unpacked, more than {MAX_RATIO} times"
        )


def _lower(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:1].lower() + text[1:]


_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]*);")
_OWN = (b"amp", b"lt", b"gt", b"quot", b"apos")


def parse_xml(content: bytes, key: str, name: str) -> Any:
    """Returns the root element of a part, which is read as far as possible if it is damaged. Raises `LoadFailed`."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(_NAMED.sub(_replace_entity, content), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise LoadFailed(f"{key!r} is damaged: its part {name!r} is no XML ({error})") from error
    if root is None:
        raise LoadFailed(f"{key!r} is damaged: its part {name!r} is no XML")
    return root


def _replace_entity(match: re.Match[bytes]) -> bytes:
    """Replaces a named entity of HTML by its character: XML knows five of them."""
    name = match[1]
    if name in _OWN:
        return match[0]
    character = html.unescape(f"&{name.decode('ascii')};")
    return b"".join(b"&#%d;" % ord(c) for c in character) if not character.startswith("&") else b""
