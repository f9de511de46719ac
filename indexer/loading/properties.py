"""The properties of a document as metadata: `author`, `created`, `modified`, `language`, `subject`, `keywords`."""

import contextlib
import re
import zipfile
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from core.text.titles import one_line
from indexer.loading.archives import parse_xml, read_member
from indexer.loading.assembly import clean_text

_MAX_CHARACTERS = 1000
_NO_VALUES = frozenset(
    (
        *("(anonymous)", "(unspecified)", "anonymous", "unspecified"),  # reportlab
        *("python-docx", "2013-12-23T23:15:00Z"),
        *("2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z"),  # python-pptx
        *("openpyxl", "Apache POI", "Un-named", "Unknown Creator", "Unknown Author", "Microsoft Office User"),
        *("1601-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),  # clocks that were not set
    )
)
"""What programs and libraries write by themselves as author, subject or time."""
_EXHIBIT = re.compile(r"(?:ex|exhibit)[-. ]{1,3}\d{1,3}(?:\.\d{1,3})?[a-z]?\.?", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"^(untitled|\(?(anonymous|unspecified)\)?$|microsoft word|powerpoint[ -]pr|présentation powerpoint|slide \d+$"
    r"|document ?\d{0,3}$|[a-z]{1,12}[-_]?\d{6,8}[a-z]?$)"
    r"|\.(docx?|dvi|html?|indd|od[pst]|pdf|pptx?|qxd|rtf|tex|txt|xls[mx]?)$",
    re.IGNORECASE,
)
"""Titles that programs make of the names of files, or write where nobody gave a title."""
_OFFICE_PART = "docProps/core.xml"
_OFFICE_NAMES = {
    "author": "creator",
    "created": "created",
    "modified": "modified",
    "language": "language",
    "subject": "subject",
    "keywords": "keywords",
}


def make_metadata(properties: Mapping[str, object]) -> dict[str, Any]:
    """Returns the properties that have a value: texts on one line, and times as ISO 8601 in UTC.

    Times of this form can be compared as texts.
    """
    found = {name: _as_text(value) for name, value in properties.items() if value is not None}
    return {name: value for name, value in found.items() if value and value not in _NO_VALUES}


def read_office_properties(archive: zipfile.ZipFile, key: str) -> tuple[str, dict[str, Any]]:
    """Returns the title and the metadata of an office document; it may have none of them."""
    if _OFFICE_PART not in archive.namelist():
        return "", {}
    root = parse_xml(read_member(archive, _OFFICE_PART, key), key, _OFFICE_PART)
    texts = {one.tag.rpartition("}")[2]: one.text for one in root if isinstance(one.tag, str)}
    found = {name: texts.get(tag) for name, tag in _OFFICE_NAMES.items()}
    times = {name: parse_time(found[name]) for name in ("created", "modified")}
    return read_title(texts.get("title")), make_metadata({**found, **times})


def read_title(stated: str | None) -> str:
    """Returns the title that the properties state; '' if a program made it up, or if it is the number of an exhibit."""
    title = (stated or "").strip()
    return "" if _NO_TITLE.search(title) or is_number_of_exhibit(title) else title


def is_number_of_exhibit(line: str) -> bool:
    """Returns whether a line is only the number that a filing gives to what follows: `EX-10.9`, `Exhibit 10.17`."""
    return _EXHIBIT.fullmatch(line.strip()) is not None


def parse_time(text: str | None) -> datetime | None:
    """Returns a time that is written as in ISO 8601; None for any other text, or ''."""
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat((text or "").strip())
    return None


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, date):
        return value.isoformat()
    return one_line(clean_text(str(value)))[:_MAX_CHARACTERS]
