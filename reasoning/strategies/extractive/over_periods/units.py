"""What the numbers of a table are in, as the table, its caption and its column say it: millions, percent, dollars."""

import re
from dataclasses import dataclass

from core.passage_context.grids import TextGrid

__all__ = ["CAPTION", "Unit", "add_sign", "find_sign", "find_unit", "is_unscaled"]

CAPTION = 400
"""Characters above a table that tell what it is about."""
_SHARE = re.compile(
    r"(?:percentages?|percent|%) of (?:net |total )?(?:sales|revenue)|\b(?:in|en) (?:%|Prozent|percent)",
    re.IGNORECASE,
)
_IN = r"\b(?:in|of) (?:[$€£] ?|U\.?S\.? |dollars |euros |EUR |USD |GBP |CHF )?|\((?:[$€£] ?)?|[$€£] ?(?:in )?"
_SCALES = {
    "million": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )millions\b|\bMio\b\.?"
        r"|\bin (?:[$€£] ?|US\$ ?|EUR |USD )?millions?\b"
        r"|(?<![^\W_])(?:US)?[$€£] ?(?:m|mn|millions?)\b|\b(?:EUR|USD|GBP|CHF) mn?\b"
        r"|\bmillions d[e’']|\bM€|\b[A-Z]{3} millions?\b",
        re.IGNORECASE,
    ),
    "thousand": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )thousands\b|\bTsd\b\.?|\bin (?:[$€£] ?)?thousands?\b"
        r"|[$€£] ?(?:k|thousands?)\b|\bTEUR\b|\bT€|\bmilliers d[e’']|\bk€"
        r"|[$€£] ?['’]?000\b|\b[A-Z]{3} thousands?\b",
        re.IGNORECASE,
    ),
    "billion": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )billions\b|\bMrd\b\.?|\bin (?:[$€£] ?)?billions?\b"
        r"|(?:US)?[$€£] ?(?:bn|billions?)\b|\b(?:EUR|USD|GBP|CHF) bn\b|\bmilliards d[e’']"
        r"|\b[A-Z]{3} billions?\b",
        re.IGNORECASE,
    ),
}
"""How a table says what its numbers are in."""
_UNSCALED = re.compile(
    r"per share|\bshares\b|\bEPS\b|je Aktie|par action|%|rate\b|headcount|employees|number of|\bunits\b|days\b"
    r"|Mitarbeiter|Beschäftigte|Anzahl|Stück|quote\b|effectif|nombre|salariés|taux\b|ratio\b|margin percentage",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"\b(EUR|USD|GBP|CHF|JPY)\b|\b(?:U\.?S\.? )?(dollar|euro)s?\b|([$€£¥])", re.IGNORECASE)
_NAMES = {"$": "USD", "DOLLAR": "USD", "€": "EUR", "EURO": "EUR", "£": "GBP", "¥": "JPY"}
_BESIDE = 20
"""Characters beside `millions` in which the currency stands: `(in millions of euros)`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """What a number is in: `million` or `%`, and the code of its currency; '' for what is not said."""

    scale: str = ""
    currency: str = ""


def find_sign(grid: TextGrid, at: int, text: str) -> str:
    """Returns the sign of currency that stands in a column, mostly in its first and last rows; '' if none or several
    do, or if percentages stand there, too.
    """
    values = [text[slice(*row.cells[at])] for row in grid.rows if at < len(row.cells)]
    signs = {sign for value in values for sign in "$€£¥" if sign in value}
    return signs.pop() if len(signs) == 1 and not any("%" in value for value in values) else ""


def add_sign(value: str, sign: str) -> str:
    """Returns a value with the sign of its column, unless it has it: `(5)` becomes `($5)`."""
    if not sign or sign in value:
        return value
    return f"({sign}{value[1:]}" if value.startswith("(") else f"{sign}{value}"


def is_unscaled(text: str) -> bool:
    """Returns whether a label or value is of a kind that no scale of its table is for: per share, people, percent."""
    return _UNSCALED.search(text) is not None


def find_unit(  # noqa: PLR0917 - the places that may say it, the nearest first
    value: str, label: str, column: str, path: str, grid: TextGrid, text: str, start: int, heading: str
) -> Unit:
    """Returns what a table says that its numbers are in. `value` is with its sign, `path` the whole label of the row,
    which begins at `text[start]`. Of two captions above it the nearer counts.
    """
    if "%" in value:
        return Unit(scale="%")
    currency = _find_currency(value)
    if is_unscaled(label):
        return Unit(currency=currency)
    above = " ".join(text[max(0, grid.start - CAPTION) : start].split())
    corner = grid.columns[0] if grid.columns else ""
    for place in (value, column, label, path, corner, above, heading):
        if place is above and _SHARE.search(above):
            return Unit(scale="%")
        found = [(match, scale) for scale, pattern in _SCALES.items() for match in pattern.finditer(place)]
        if found:
            last, scale = max(found, key=lambda pair: pair[0].end())
            beside = place[max(0, last.start() - _BESIDE) : last.end() + _BESIDE]
            return Unit(scale="" if place is value else scale, currency=currency or _find_currency(beside))
    return Unit(currency=currency)


def _find_currency(text: str) -> str:
    """Returns the code of the only currency that a text names."""
    names = {next(filter(None, match.groups())).upper() for match in _CURRENCY.finditer(text)}
    codes = {_NAMES.get(name, name) for name in names}
    return codes.pop() if len(codes) == 1 else ""
