"""Lines of a text that have no names: code, formulas, encoded data, and tables of contents. Used by
`core.text.no_names.document_names`.
"""

import re

_SUSPICIOUS = re.compile(r"[;{}=\\^\[\]#<≤≥≠≈∑∏∫√·−×]|->|&&|::|/\*|\*/|\. ?\. ?\.|[!-~]{45}")
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
    if _ASSIGNMENT.match(content) or _DIRECTIVE.match(content):
        return True
    if _OPERATOR.search(content) and " | " not in content and _WORD_OF_PROSE.search(content) is None:
        return True  # a formula
    return sum(mark.search(content) is not None for mark in _MARKS) > 1
