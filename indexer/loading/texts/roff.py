"""Sources of manual pages (`man` macros of roff) as the text that `man` shows: terms, deeper descriptions, headings."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

_LOOKED_AT = 60
"""Lines in which the title of a manual page stands; licences are comments before it."""
_INDENT, _DEEPER, _SUBSECTION = 7, 7, 3
_MOST_DEPTH = 10
_BULLET = 2
"""Characters of a tag that stands in the line of its text: a sign, or `1.`."""
_SIGNS = {
    "hy": "-",
    "en": "–",
    "em": "—",
    "aq": "'",
    "dq": '"',
    "bu": "•",
    "co": "©",
    "rg": "®",
    "lq": "“",
    "rq": "”",
    "oq": "‘",
    "cq": "’",
    "->": "→",
    "<-": "←",
    "ha": "^",
    "ti": "~",
    "rs": "\\",
    "mu": "×",
    "+-": "±",
    "de": "°",
    "<=": "≤",
    ">=": "≥",
    "Fo": "«",
    "Fc": "»",
    "mc": "µ",
    "ga": "`",
    "bv": "|",
    "lB": "[",
    "rB": "]",
    "sc": "§",
    "-": "-",
    "\\": "\\",
    "e": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "'": "´",
    "`": "`",
    "t": " ",
    ".": ".",
}
"""The characters that escapes write. Other escapes, of fonts and of places in a line, write nothing."""
_ESCAPE = re.compile(
    r"\\(?:[f*snFmMgkVY](?:\((?P<a>..)|\[(?P<b>[^\]\n]{0,40})\]|[+-]?(?P<c>.))|\((?P<d>..)|\[(?P<e>[^\]\n]{0,40})\]"
    r"|C'(?P<named>[^'\n]{0,40})'|N'(?P<code>[0-9]{1,3})'|[hvwDLlSHoZXBAbxRN]'[^'\n]{0,80}'"
    r"|(?P<comment>\"[^\n]*)|(?P<f>.)|\Z)"
)
_PRINTED = range(32, 127)
"""Numbers of the characters that an escape may write by number."""
_STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™"}
_ARGUMENT = re.compile(r'"((?:[^"\n]|"")*)"?|((?:\\[ ]|[^\s"])(?:\\[ ]|[^\s])*)')
_REQUEST = re.compile(r"[.'][ \t]*((?:de|am)1(?=\s)|[A-Za-z]{1,12}|\\\")?[ \t]*([^\n]*)")
_TITLE = re.compile(r"\.TH\s")
_PARAGRAPHS = frozenset({"P", "PP", "LP", "HP"})
_JOINED = frozenset({"B", "I", "SM", "SB", "R"})
_ALTERNATING = frozenset({"BR", "BI", "IR", "IB", "RB", "RI"})
_SKIPPED = {"de": 1, "de1": 1, "am": 1, "am1": 1, "dei": 1, "ami": 1, "ig": 0}
"""Requests whose next lines are the body of a macro or a comment, and which argument names the macro that ends it."""
_END = re.compile(r"\.[ \t]*([^\s\\]{1,40})(?=[\s\\]|\Z)")
_USUAL_END = "."


def is_roff(text: str) -> bool:
    """Returns whether a text is the source of a manual page: a title before any line of text."""
    for line in islice(text.split("\n", _LOOKED_AT), _LOOKED_AT):
        if _TITLE.match(line):
            return True
        if line.strip() and line[0] not in ".'":
            return False
    return False


def render_roff(text: str) -> str:
    """Returns a manual page as `man` shows it, with the line ends of its source: no word is moved to another line."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    page = _Page(_find_ends(lines))
    for number, line in enumerate(lines):
        page.read(number, line)
    return "\n".join(page.lines).strip("\n") + "\n"


def _find_ends(lines: Sequence[str]) -> dict[str, int]:
    """Returns the number of the last line of each macro, which may be the end of a definition."""
    return {found[1]: number for number, line in enumerate(lines) if (found := _END.match(line))}


def _plain(text: str) -> str:
    """Returns a text with the characters of its escapes."""

    def write(found: re.Match[str]) -> str:
        if name := found["d"] or found["e"] or found["named"]:
            return _SIGNS.get(name, "")
        if code := found["code"]:
            return chr(int(code)) if int(code) in _PRINTED else ""
        if found[0].startswith("\\*"):
            return _STRINGS.get(found["a"] or found["b"] or found["c"] or "", "")
        return _SIGNS.get(found["f"] or "", "")

    return _ESCAPE.sub(write, text)


def _split(arguments: str) -> list[str]:
    """Returns the arguments of a macro, in which words in quotation marks are one."""
    found = (whole if whole or not word else word for whole, word in _ARGUMENT.findall(arguments.partition('\\"')[0]))
    return [_plain(argument.replace('""', '"')) for argument in found]


class _Page:
    """The lines of a page that is being read. `_tag` is True if the next line is the term of an entry, and `_is_format`
    if the next lines say how the columns of a table look. `ends` are the lines that may end a definition: without
    an end, it is left out alone, and not the rest of the page with it.
    """

    def __init__(self, ends: Mapping[str, int]) -> None:
        self._ends = ends
        self._number = 0
        self.lines: list[str] = []
        self._indent = _INDENT
        self._outer = [_INDENT]
        self._tag = False
        self._is_format = False
        self._sign = ""
        self._until = ""

    def read(self, number: int, line: str) -> None:
        self._number = number
        if self._until:
            end = _END.match(line)
            self._until = "" if end and end[1] == self._until else self._until
            return
        found = _REQUEST.match(line)
        is_request = found is not None and bool(found[1])
        if self._is_format and not is_request:
            self._is_format = not line.rstrip().endswith(".")
            return
        self._is_format = False  # A request ends a format without its last sign, so the rest of the page is not lost.
        if found is None:
            self._write(_plain(line))
        elif found[1]:
            self._request(found[1], found[2])

    def _request(self, name: str, arguments: str) -> None:
        macros: dict[str, Callable[[list[str]], None]] = {
            "TH": self._title,
            "SH": self._section,
            "SS": self._subsection,
            "TP": self._tagged,
            "TQ": self._tagged,
            "tq": self._tagged,
            "IP": self._item,
            "RS": self._deeper,
            "RE": self._back,
            "UR": self._link,
            "MT": self._link,
            "TS": self._table,
            "T": self._table,  # `.T&` begins other columns in a table.
            "br": lambda _: None,
            "sp": lambda _: self._blank(),
        }
        if name in _SKIPPED:
            self._define(_split(arguments)[_SKIPPED[name] :])
        elif name in _PARAGRAPHS:
            self._blank()
            self._indent = self._outer[-1]
        elif name in _JOINED or name in _ALTERNATING:
            words = _split(arguments)
            if words:  # Without words, the macro sets the font of the next line.
                self._write((" " if name in _JOINED else "").join(words))
        elif name in macros:
            macros[name](_split(arguments))

    def _define(self, ends: list[str]) -> None:
        end = ends[0] if ends else _USUAL_END
        if self._ends.get(end, -1) > self._number:
            self._until = end

    def _title(self, words: list[str]) -> None:
        self.lines.append(f"{words[0]}({words[1]})" if len(words) > 1 else " ".join(words))

    def _section(self, words: list[str]) -> None:
        self._head(" ".join(words), 0)

    def _subsection(self, words: list[str]) -> None:
        self._head(" ".join(words), _SUBSECTION)

    def _head(self, title: str, indent: int) -> None:
        self._blank()
        self._outer, self._indent = [_INDENT], _INDENT
        if title:
            self.lines.append(" " * indent + title)

    def _tagged(self, _: list[str]) -> None:
        self._blank()
        self._tag, self._sign, self._indent = True, "", self._outer[-1]

    def _item(self, words: list[str]) -> None:
        self._blank()
        self._indent = self._outer[-1]
        tag = words[0] if words else ""
        if len(tag) > _BULLET:
            self._write(tag)
        else:
            self._sign = f"{tag} " if tag.strip() else ""
        self._indent += _DEEPER

    def _deeper(self, _: list[str]) -> None:
        if len(self._outer) < _MOST_DEPTH:
            self._outer.append(self._outer[-1] + _DEEPER)
        self._indent = self._outer[-1]

    def _back(self, _: list[str]) -> None:
        if len(self._outer) > 1:
            self._outer.pop()
        self._indent = self._outer[-1]

    def _table(self, _: list[str]) -> None:
        self._is_format = True

    def _link(self, words: list[str]) -> None:
        self._write(" ".join(words))

    def _blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def _write(self, text: str) -> None:
        if not text.strip():
            self._blank()
            return
        self.lines.append(" " * self._indent + self._sign + text.rstrip())
        self._sign = ""
        if self._tag:
            self._tag = False
            self._indent += _DEEPER
