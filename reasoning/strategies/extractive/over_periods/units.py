"""What the numbers of a table are in, as the table, its caption and its column say it: millions, percent, dollars."""

import re
from dataclasses import dataclass

from core.passage_context.grids import GridRow, TextGrid

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
    r"|\((?:numbers?|nos?\.?|count|#|FTEs?|average|people|days|hours|years|m²|sq\.? ?m|km|kg|tonnes|k?t|[GMk]Wh|TEU"
    r"|Zahl|Tage|Stunden|jours)\)"
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


_PER_SHARE_BUT = re.compile(
    r"\b(?:except|other than|außer|ausgenommen|sauf)\b.{0,40}\b(?:share|Aktie|action)", re.IGNORECASE
)
_SMALL = re.compile(r"\D{0,3}\d{1,2}\.\d\d\D{0,2}")
"""Below "in millions, except per share amounts", an amount of a share."""


_EXCEPTED = re.compile(
    r"\b(?:except|other than|außer|ausgenommen|mit Ausnahme|sauf|à l['’]exception)\b[^)|]{0,160}", re.IGNORECASE
)
"""What a caption says of other numbers: "in millions, except number of shares, which are reflected in thousands"."""


def is_unscaled(text: str) -> bool:
    """Returns whether a label or value is of a kind that no scale of its table is for: per share, people, percent."""
    return _UNSCALED.search(text) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a value stands: its label, its column, the whole label of its row, the first column's name, the text above
    the row, and the heading.
    """

    label: str
    column: str
    path: str
    corner: str
    above: str
    heading: str


def find_place(grid: TextGrid, row: GridRow, column: str, label: str, text: str, heading: str) -> Place:
    """Returns the place of a value of a row in a table of `text`. Of two captions above the row the nearer counts."""
    return Place(
        label=label,
        column=column,
        path=row.label,
        corner=grid.columns[0] if grid.columns else "",
        above=" ".join(text[max(0, grid.start - CAPTION) : row.start].split()),
        heading=heading,
    )


def find_unit(value: str, place: Place) -> Unit:
    """Returns what a table says that a number is in. `value` is with its sign; what stands nearest to it counts."""
    if "%" in value:
        return Unit(scale="%")
    currency = _find_currency(value)
    if is_unscaled(place.label) or (
        _PER_SHARE_BUT.search(f"{place.above} {place.heading}") and _SMALL.fullmatch(value)
    ):
        return Unit(currency=currency)
    for text in (value, place.column, place.label, place.path, place.corner, place.above, place.heading):
        if text is place.above and _SHARE.search(text):
            return Unit(scale="%")
        own = _EXCEPTED.sub(" ", text)
        found = [(match, scale) for scale, pattern in _SCALES.items() for match in pattern.finditer(own)]
        if found:
            last, scale = max(found, key=lambda pair: pair[0].end())
            beside = own[max(0, last.start() - _BESIDE) : last.end() + _BESIDE]
            return Unit(scale="" if text is value else scale, currency=currency or _find_currency(beside))
    return Unit(currency=currency)


def _find_currency(text: str) -> str:
    """Returns the code of the only currency that a text names."""
    names = {next(filter(None, match.groups())).upper() for match in _CURRENCY.finditer(text)}
    codes = {_NAMES.get(name, name) for name in names}
    return codes.pop() if len(codes) == 1 else ""
