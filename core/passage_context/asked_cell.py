"""Which of several cells of a quoted row a question asks for: by the names of columns, and by the kind of value."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from core.documents import HEADING_SEPARATOR
from core.passage_context.cells import TableCell
from core.passage_context.other_words import OtherWords, find_other_words
from core.passage_context.tables import is_amount, is_date
from core.text.value_kinds import ValueKind, find_kind, find_stems

_MONEY = re.compile(r"[$€£¥]|\b(?:EUR|USD|GBP|CHF|JPY)\b|\d[.,]\d\d\b")
_TOTAL = find_stems("total sum amount Gesamt Summe Betrag montant somme")
_IN_LABEL = 0.5
"""How much a word of the question counts for a column if it is also in the label of the row."""
_OF_KIND, _SHARE = 0.3, 1.5
"""How much a value counts that is of the kind asked for; a share, if a percentage is asked for, beside any name."""
_SHORTEST, _SHORTENED = 3, 0.7
"""Letters of a name that may be the beginning of a word of the question, and how much that counts."""
_COUNT_ASKED = re.compile(r"\bhow many\b|\bwie ?viele\b|\bcombien d[e’']|\bnumber of\b|\bAnzahl\b", re.IGNORECASE)
_SHARE_ASKED = re.compile(r"%|\bper ?cent|\bProzent|\bpour ?cent", re.IGNORECASE)
_YEAR_END = re.compile(r"\bend of (?:fiscal )?\d{4}|\byear[ -]?end\b|\bEnde \d{4}|\bfin \d{4}", re.IGNORECASE)
_LAST_DAY = find_stems("31 Dec December Dez Dezember déc décembre")
_AFTER_ALL = "\U0010ffff"
_ASKED = 1000
"""Characters at each end of a question whose words choose a column; what is between them is a pasted text."""


def choose_cell(cells: Sequence[TableCell], question: str) -> TableCell | None:
    """Returns the cell that a question asks for: the first cell with the greatest score. If the question tells nothing
    of the columns, returns the first cell if all columns are dates (reports begin with the newest), else the only
    amount, if there is just one.

    A word of the question counts for each column that it names, and counts less if more columns have it. A value that
    the question states is not what it asks for.
    """
    question = question if len(question) <= 2 * _ASKED else f"{question[:_ASKED]} {question[-_ASKED:]}"
    asked, terms = _read(question)
    named = sorted(asked | _LAST_DAY if _YEAR_END.search(question) else asked)
    matched = {name: _match(name, named, terms) for name in {cell.column for cell in cells}}
    columns = [matched[cell.column] for cell in cells]
    counts = Counter(stem for found in columns for stem in found)
    rows = find_stems(" ".join({cell.row for cell in cells}))
    kind = find_kind(question)
    has_parts = len({cell.row for cell in cells}) > 1  # side by side, each with its own label
    by_name = [
        sum((_IN_LABEL if stem in rows else 1) * strength / counts[stem] for stem, strength in found.items())
        + (len(find_stems(cell.row) & asked) if has_parts else 0)
        for cell, found in zip(cells, columns, strict=True)
    ]
    given = [_is_given(cell.value, asked) for cell in cells]
    if _counts_rows(question, by_name, given):
        return None
    scores = [
        (not is_given, named + _suit(cell, kind, question))
        for cell, named, is_given in zip(cells, by_name, given, strict=True)
    ]
    best = max(scores)
    if best[1] or len({cell.column for cell in cells}) == 1 or all(is_date(_last(cell.column)) for cell in cells):
        return cells[scores.index(best)]
    amounts = [cell for cell in cells if is_amount(cell.value)]
    return amounts[0] if len(amounts) == 1 and kind is not ValueKind.PERSON else None


def _counts_rows(question: str, by_name: Sequence[float], given: Sequence[bool]) -> bool:
    """Returns whether a question counts rows: the only columns that it names have values that it states, "how many
    pumps have Ada as inspector".
    """
    if _COUNT_ASKED.search(question) is None:
        return False
    named = [is_given for score, is_given in zip(by_name, given, strict=True) if score]
    return bool(named) and all(named)


@lru_cache(maxsize=4)
def _read(question: str) -> tuple[frozenset[str], tuple[OtherWords, ...]]:
    """Returns the stems of a question, which is asked of each row of a table, and the terms that it says."""
    return find_stems(question), tuple(find_other_words(question))


def _is_given(value: str, asked: Collection[str]) -> bool:
    stems = find_stems(value)
    return bool(stems) and stems <= set(asked)


def _last(name: str) -> str:
    return name.rpartition(HEADING_SEPARATOR)[2]


def _match(name: str, asked: Sequence[str], terms: Sequence[OtherWords]) -> dict[str, float]:
    """Returns the words of a question that the name of a column has, and how surely: `Max` may be short for maximum.

    `asked` is sorted, so that words with the same beginning are adjacent. Of the `terms` that the question says, a name
    has all words or none: `Revenue` has "net sales", and `Net income` has not.
    """
    found: dict[str, float] = {}
    stems = find_stems(name)
    for stem in stems:
        at = bisect_left(asked, stem)
        if asked[at : at + 1] == [stem]:
            found[stem] = 1
        elif len(stem) >= _SHORTEST and stem.isalpha():
            for word in asked[at : bisect_left(asked, f"{stem}{_AFTER_ALL}")]:
                found.setdefault(word, _SHORTENED)
    for term in terms:
        if term.is_in(stems):
            found |= dict.fromkeys(term.said, 1.0)
        elif not stems >= set(term.said):
            found = {word: strength for word, strength in found.items() if word not in term.said}
    return found


def _suit(cell: TableCell, kind: ValueKind, question: str) -> float:
    """Returns how well a cell suits the kind of value that is asked for; it decides where no column is named."""
    match kind:
        case ValueKind.NUMBER if is_amount(cell.value):
            is_money = bool(_MONEY.search(cell.value) or _MONEY.search(cell.column))
            is_share = "%" in cell.value or "%" in cell.column
            if _SHARE_ASKED.search(question):
                return _SHARE if is_share else _OF_KIND
            if _COUNT_ASKED.search(question):
                return _OF_KIND * (1 + 0.2 * (not is_money and not is_share))
            return _OF_KIND * (1 + 0.2 * is_money + 0.1 * bool(_TOTAL & find_stems(cell.column)))
        case ValueKind.DATE if is_date(cell.value):
            return _OF_KIND
        case _:
            return 0.0
