"""Names of columns, which loaders of tables write into each row: `City: Ulm; River: Danube`. They name nothing.

Used by `core.text.name_evidence` and `core.text.no_names.document_names`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

_SEPARATORS = (" | ", "; ")
_COLON = ": "
_LONGEST = 60
"""Characters of the name of a column."""
_LEAST_ROWS = 3
_MOST_COLUMNS = 10_000
"""A text with more names of fields is no table."""


def find_columns(texts: Iterable[str]) -> frozenset[str]:
    """Returns the names that stand before values in several rows of a document, each with two such values or more."""
    counts = Counter[str]()
    for text in texts:
        if _COLON not in text or not any(separator in text for separator in _SEPARATORS):
            continue
        for line in text.split("\n"):
            names = [name for _, name in _find_fields(line)]
            if len(names) > 1:
                counts.update(set(names))
        if len(counts) > _MOST_COLUMNS:
            return frozenset()
    return frozenset(name for name, count in counts.items() if count >= _LEAST_ROWS)


def hide_columns(text: str, columns: frozenset[str]) -> str:
    """Returns the text with spaces in place of the names of columns in its rows, and of rows that only name columns."""
    if not columns or not any(separator in text for separator in _SEPARATORS):
        return text
    return "\n".join(_hide_in_line(line, columns) for line in text.split("\n"))


def _hide_in_line(line: str, columns: frozenset[str]) -> str:
    fields = [(start, name) for start, name in _find_fields(line) if name in columns]
    parts, end = [], 0
    for start, name in fields:
        parts += [line[end:start], " " * len(name)]
        end = start + len(name)
    line = "".join([*parts, line[end:]])
    cells = line.split(_SEPARATORS[0])
    if len(cells) > 1 and columns.issuperset(map(str.strip, cells)):
        return " " * len(line)
    return line


def _find_fields(line: str) -> Iterator[tuple[int, str]]:
    """Yields the names that stand before values in a line, each with its offset."""
    separator = next((one for one in _SEPARATORS if one in line), "")
    if not separator or _COLON not in line:
        return
    start = 0
    for field in line.split(separator):
        name, colon, _ = field.partition(_COLON)
        if colon and len(name) <= _LONGEST and name.strip() == name != "":
            yield start, name
        start += len(field) + len(separator)
