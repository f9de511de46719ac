"""Where a form stands in a text: in code, at the beginning of an item, where it is defined. Used by
`core.text.no_names.document_names`.

`hide_code` hides lines that have no names: code, formulas, encoded data, and tables of contents.
"""

import re

_MOST_INDENT = 20
_ITEM = re.compile(r"(?:^|\n)[ \t>]*+\(?(?:\w{1,4}\)|\w\.|\d{1,2}(?:\.\d{1,3})*+\.?|§\s?\d++)[ \t\u00a0]++$")
_LONGEST_ITEM = 40
_DEFINITION = re.compile(r"[\"”’'`*]{1,4},?(?:\)|:|\s(?:shall\s)?(?:mean|refer|ha[sv]e? the meaning))")
_DEFINED_AS = re.compile(r"(?:\(|\b(?:the|an?|as|each)\s)[\"“‘'`*]{1,4}$")
_TITLE = re.compile(
    r"(?:headings?|caption|captioned|section|see|under|titled|entitled|\d[A-Z]?[,:]?)\s[\"“‘]$", re.IGNORECASE
)
_SECTION = re.compile(
    r"\b(?:sections?|chapters?|kapitel|abschnitte?|chapitres?)\s(?:\d{1,2}(?:\.\d{1,2}){0,3},?\s)?[\"“„‘»«]\s?$",
    re.IGNORECASE,
)
_PART_BEHIND = re.compile(
    r"[\"”’'],?\s(?:below|above|on\spage|section|in\s(?:our|this|part|item)|of\s(?:our|this))\b", re.IGNORECASE
)
_ADDRESS = re.compile(r"\"?\s?<[^\s<>@]{1,80}@")
_NUMBERED = re.compile(
    r"\b(?:note|part|section|chapter|item|exhibit|annex|appendix|table|figure)\s\w{1,4}\s?[-–—]\s$", re.IGNORECASE
)
_LONGEST_ROWS = 2_000
_FIGURE_CELL = re.compile(r"(?:^|\|)\s{0,4}[-−–(<>≤≥±~$€£]{0,3}\s?\d[\d.,]*+[)%]?\s{0,4}(?:\||$)")
_LONGEST_HEADING = 80
_HEADING = re.compile(
    r"[ \t]{0,20}\(?(?:\w{1,4}\)|[A-Z]\.|[IVX]{1,5}\.|\d{1,2}(?:\.\d{1,3}){0,3}\.?|§\s?\d{1,3}"
    r"|(?:Section|Article)\s\w{1,4}[.:]?)\s+"
    r"(?:[A-Z][\w’'-]*+[,;:]?\s|(?:and|or|of|the|to|for|in|with|by|on|a|an|&)\s){0,12}[A-Z][\w’'-]*+(?:[.:](?:\s|$)|\s*$)"
)
_APPLIED = re.compile(r"\s?\((?:[A-Za-z]\w?)?(?:,\s?[A-Za-z]\w?)*\)|\s\((?=\s|$)")
"""Behind what is a function: `B0 (x)`, `CrcWordByWord ( `."""
_BYTE = re.compile(r"[\dA-F]{2}")
_FIELD = re.compile(r"[ \t]{0,30}:")
"""Behind the name of a field of a listing: `emailAddress    :`."""
_LONGEST_SYMBOL = 3
_CAMEL = re.compile(r"[a-z][A-Z][a-z]+\Z")
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
    return before in ("\n", "|") and behind in ("", "\n", "|")


def is_label(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` begins a line or an item and a colon follows it: `- Desks: on the third floor`."""
    before = text[max(start - _MOST_INDENT, 0) : start].rstrip(" \t>*•–-")[-1:]
    return before in ("", "\n") and text[end : end + 1] == ":"


def fills_cell(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a whole cell of a row with bars."""
    before = text[max(start - _MOST_INDENT, 0) : start].rstrip(" ")[-1:]
    behind = text[end : end + _MOST_INDENT].lstrip(" ")[:1]
    return "|" in (before, behind) and before in ("", "\n", "|") and behind in ("", "\n", "|")


def heads_column(text: str, start: int) -> bool:
    """Whether the row at `start` has no figure, and the row below it has as many cells and a figure."""
    begin = text.rfind("\n", 0, start) + 1
    rows = text[begin : begin + _LONGEST_ROWS].split("\n", 2)
    if len(rows) < 2 or rows[0].count("|") != rows[1].count("|"):
        return False
    return _FIGURE_CELL.search(rows[0]) is None and _FIGURE_CELL.search(rows[1]) is not None


def is_in_heading(text: str, start: int, end: int) -> bool:
    """Whether nothing but words with capitals and small words stand in the line of an item with a number or a letter,
    up to its end or its first full stop: `9. Entire Agreement, Governing Law and Jurisdiction`.
    """
    begin = text.rfind("\n", 0, start) + 1
    if start - begin > _LONGEST_HEADING:
        return False
    line = text[begin : begin + 2 * _LONGEST_HEADING].split("\n", 1)[0]
    heading = _HEADING.match(line)
    return heading is not None and end - begin <= heading.end()


def is_defined(text: str, start: int, end: int) -> bool:
    """Whether the quoted `text[start:end]` is a term that is defined there: `(the "Plan")`, `"Plan" means`."""
    behind = _DEFINITION.match(text, end)
    return behind is not None or _DEFINED_AS.search(text[max(start - 8, 0) : start]) is not None


def is_title_of_part(text: str, start: int, end: int) -> bool:
    """Whether the quoted `text[start:end]` is the heading of a part of the text: `Item 7A, "Market Risk"`."""
    return (
        has_title_before(text, start)
        or _TITLE.search(text[max(start - 16, 0) : start]) is not None
        or _PART_BEHIND.match(text, end) is not None
    )


def has_title_before(text: str, start: int) -> bool:
    """Whether what is quoted at `start` is the title of the section or chapter that stands before it."""
    return _SECTION.search(text[max(start - _LONGEST_ITEM, 0) : start]) is not None


def is_titled(text: str, start: int) -> bool:
    """Whether the title of a place in the text begins at `start`: `Note 2 - Business Combination`."""
    return _NUMBERED.search(text[max(start - _LONGEST_ITEM, 0) : start]) is not None


def has_address(text: str, end: int) -> bool:
    """Whether the address of a mail stands behind a form, as behind the name of a sender."""
    return _ADDRESS.match(text, end) is not None


def stands_in_code(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a part of an identifier, an address, an option (`-Wall`) or a header, or a call."""
    before, behind = text[max(start - 2, 0) : start], text[end : end + 1]
    if any(mark and mark in _CODE_MARKS for mark in (before[-1:], behind)) or before == "$(" or before[-1:] == "=":
        return True
    form = text[start:end]
    if before[-1:] == "." and form[0].islower():
        return True  # of an identifier that begins with what it stands for: `<name>.hideRefs`
    if ":" in (before[-1:], behind) and _BYTE.fullmatch(form):
        return True  # of a fingerprint: `D7:04:2F`
    if behind == "(" and not form[1:].islower():
        return True
    if _APPLIED.match(text, end) and (len(form) <= _LONGEST_SYMBOL or _CAMEL.search(form)):
        return True
    if " " not in form and begins_line(text, start) and _FIELD.match(text, end):
        return form[0].islower() or (behind == ":" and "-" in form)
    if before[-1:] == ":" and before[:1].isdigit() and form[0].isdigit():
        return True  # the end of a number: `4:19-cv-00341`
    return before[-1:] == "-" and not before[:1].isalnum()


_SUSPICIOUS = re.compile(r"[%$] [a-z]|[;{}=\\^\[\]#<≤≥≠≈∑∏∫√·−×]|->|&&|::|/\*|\*/|\. ?\. ?\.|[!-~]{45}")
"""What a line without names has at least once. Most texts of prose have none of it and are returned as they are."""
_QUOTE = re.compile(r"(?:\s{0,8}>){0,8}\s{0,40}[+-]?\s{0,40}")
"""The beginning of a line of a mail that quotes, or of a change to a file."""
_LEADERS = re.compile(r"(?:\. ?){4}")
_WORD_OF_DATA = re.compile(r"[!-~]{45,}")
_ENCODED = re.compile(r"[ -`]{20,}")
"""The characters of uuencode, which has no small letters."""
_SYMBOLS = frozenset("#&*+<=>?@\\^_%$![]`")
_LEAST_SYMBOLS = 4
"""Different symbols of an encoded line."""
_ASSIGNMENT = re.compile(r"[A-Za-z_$@%][\w.>*\[\]-]{0,60}\s{0,20}[-+|:]?=(?![=>])\s?(?!\$?\d)\S")
_PROMPT = re.compile(r"[%$] [a-z][\w./-]*+\s")
"""The beginning of a command behind the prompt of a shell."""
_DIRECTIVE = re.compile(r"#\s{0,8}(?:include|define|undef|ifn?def|endif|pragma)\b|</?[A-Za-z]\w*[ >]|[{}]\)?[;,]?\s*$")
_MARKS = (
    re.compile(r"\w->\w"),
    re.compile(r"[=!<>]=|&&|\|\|"),
    re.compile(r"\w::\w"),
    re.compile(r"\w\((?!e?s\)|ies\))"),
    re.compile(r"[;{]\s*$"),
    re.compile(r"\w\[\w*\]|[\])]\s?\{"),
    re.compile(r"\w\s?[-+*|]?=\s?[\w&*\"'(-]"),
    re.compile(r"/\*|\*/|\*\w+\s?[,)=]"),
)
"""Each is also found in prose now and then; two in a line are code."""
_OPERATOR = re.compile(r"[=≤≥≠≈∑∏∫√·−×⊕∈]|\s[+*/<>]\s")
_WORD_OF_PROSE = re.compile(r"(?<![^\W_])[^\W\d_A-Z]{4,}(?![^\W_])")


def hide_code(text: str) -> str:
    """Returns the text with spaces in place of its lines of code, formulas, encoded data and tables of contents."""
    if _SUSPICIOUS.search(text) is None:
        return text
    lines = text.split("\n")
    return "\n".join(" " * len(line) if _has_no_names(line) else line for line in lines)


def _has_no_names(line: str) -> bool:
    if _SUSPICIOUS.search(line) is None:
        return False
    content = line[_QUOTE.match(line).end() :].rstrip()  # type: ignore[union-attr]  # it matches the empty string
    if _LEADERS.search(content) or _WORD_OF_DATA.fullmatch(content):
        return True
    if _ENCODED.fullmatch(content) and len(_SYMBOLS & set(content)) >= _LEAST_SYMBOLS:
        return True
    if _ASSIGNMENT.match(content) or _DIRECTIVE.match(content) or _PROMPT.match(content):
        return True
    if _OPERATOR.search(content) and " | " not in content and _WORD_OF_PROSE.search(content) is None:
        return True  # a formula
    return sum(mark.search(content) is not None for mark in _MARKS) > 1
