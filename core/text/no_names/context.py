"""Where a form stands in a text: in code, at the beginning of an item, where it is defined. Used by
`core.text.no_names.document_names`.
"""

import re

__all__ = [
    "begins_item",
    "begins_line",
    "fills_line",
    "has_address",
    "is_defined",
    "is_title_of_part",
    "stands_in_code",
]

_MOST_INDENT = 20
_ITEM = re.compile(r"(?:^|\n)[ \t>]*+\(?(?:\w{1,4}\)|\w\.|\d{1,2}(?:\.\d{1,3})*+\.?|§\s?\d++)[ \t\u00a0]++$")
_LONGEST_ITEM = 40
_DEFINITION = re.compile(r"[\"”’'`]{1,2},?(?:\)|:|\s(?:shall\s)?(?:mean|refer|ha[sv]e? the meaning))")
_DEFINED_AS = re.compile(r"(?:\(|\b(?:the|an?|as|each)\s)[\"“‘'`]{1,2}$")
_TITLE = re.compile(
    r"(?:headings?|caption|captioned|section|see|titled|entitled|\d[A-Z]?[,:]?)\s[\"“‘]$", re.IGNORECASE
)
_PART_BEHIND = re.compile(
    r"[\"”’'],?\s(?:below|above|on\spage|section|in\s(?:our|this|part|item)|of\s(?:our|this))\b", re.IGNORECASE
)
_ADDRESS = re.compile(r"\"?\s?<[^\s<>@]{1,80}@")
_CODE_MARKS = "_@$\\/#"


def begins_line(text: str, start: int) -> bool:
    """Whether nothing but spaces stand before `start` in its line."""
    return text[max(start - _MOST_INDENT, 0) : start].rstrip(" \t")[-1:] in ("", "\n")


def begins_item(text: str, start: int) -> bool:
    """Whether the number or the letter of an item of a list or of a section stands before `start` in its line."""
    return _ITEM.search(text[max(start - _LONGEST_ITEM, 0) : start]) is not None


def fills_line(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a whole line or cell, or a line and a comma or a colon."""
    before = text[max(start - _MOST_INDENT, 0) : start].rstrip(" \t>*•–-")[-1:]
    behind = text[end : end + _MOST_INDENT].lstrip(" \t,:")[:1]
    return before in ("\n", "|") and behind in ("\n", "|")


def is_defined(text: str, start: int, end: int) -> bool:
    """Whether the quoted `text[start:end]` is a term that is defined there: `(the "Plan")`, `"Plan" means`."""
    behind = _DEFINITION.match(text, end)
    return behind is not None or _DEFINED_AS.search(text[max(start - 8, 0) : start]) is not None


def is_title_of_part(text: str, start: int, end: int) -> bool:
    """Whether the quoted `text[start:end]` is the heading of a part of the text: `Item 7A, "Market Risk"`."""
    return _TITLE.search(text[max(start - 16, 0) : start]) is not None or _PART_BEHIND.match(text, end) is not None


def has_address(text: str, end: int) -> bool:
    """Whether the address of a mail stands behind a form, as behind the name of a sender."""
    return _ADDRESS.match(text, end) is not None


def stands_in_code(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a part of an identifier, an address, an option (`-Wall`) or a header, or a call."""
    before, behind = text[max(start - 2, 0) : start], text[end : end + 1]
    if any(mark and mark in _CODE_MARKS for mark in (before[-1:], behind)):
        return True
    form = text[start:end]
    if behind == "(" and not form[1:].islower():
        return True
    if behind == ":" and "-" in form and " " not in form and begins_line(text, start):
        return True
    return before[-1:] == "-" and not before[:1].isalnum()
