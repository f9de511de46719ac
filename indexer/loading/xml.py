"""Parsing of XML parts of archives: no entity is resolved, and nothing is fetched."""

import html
import re
from typing import Any

from core.errors import LoadFailed

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
