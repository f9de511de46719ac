"""Lines that answer nothing: the foot of a page or of a letter, and a row that names the columns again.

Open it when such a line is quoted.
"""

import re
from collections.abc import Sequence

from core.passage_context.tables import is_date, split_cells
from core.text.periods import find_months
from core.text.value_kinds import find_stems

_FOOT_OF_PAGE = re.compile(
    r"[^\n]{0,120}(?:[|·•–—]|\s-)\s?(?:Page|Seite|p\.|S\.|Pagina|Página)\s?\d{1,4}(?:\s?(?:of|von|de|sur|di|/)\s?\d{1,4})?"
    r"|(?:Page|Seite|Pagina|Página)\s\d{1,4}(?:\s?(?:of|von|de|sur|di|/)\s?\d{1,4})?(?:\s?[|·•–—][^\n]{0,120})?",
    re.IGNORECASE,
)
"""The line below or above a page: `Annual report 2024 | Page 7`. It answers nothing, and would be read as a row."""
_REPORT = (
    r"(?:(?:annual|quarterly|interim|half-year(?:ly)?|semi-?annual) report|form (?:10-?[KQ]|20-?F|6-?K|40-?F)(?:/A)?"
    r"|(?:geschäfts|jahres|halbjahres|quartals|zwischen)bericht|rapport (?:annuel|semestriel|trimestriel|financier))"
)
_YEAR = r"(?:FY ?)?(?:19|20)\d\d(?:[/-]\d\d)?"
_FOOT_OF_REPORT = re.compile(
    rf"(?=[^\n]{{0,120}}?(?:{_YEAR}|form \d))"
    rf"(?:[^\n]{{0,80}}?{_REPORT}(?:[ ,]{{1,2}}{_YEAR})?[\s|·•–—-]{{1,6}}\d{{1,3}}"
    rf"|\d{{1,3}}[\s|·•–—-]{{1,6}}[^\n]{{0,80}}?{_REPORT}(?:[ ,]{{1,2}}{_YEAR})?)[\s|]{{0,6}}",
    re.IGNORECASE,
)
"""The same with the name of the report for the word: `Acme Inc. 2023 Annual Report 40`, `Q2 2023 Form 10-Q | 7`."""
_IMPRINT = re.compile(
    r"\b(?:IBAN|BIC|SWIFT|VAT (?:id|no|reg)|Tax (?:id|no)|USt-?Id|UID|Steuernummer|TVA|SIRET|SIREN|RCS|KvK|HRB|HRA"
    r"|Amtsgericht|Handelsregister|(?:commercial|trade) register|registered (?:in|office)|company (?:no|number|reg)"
    r"|managing directors?|Geschäftsführ(?:er|erin|ung)|gérante?|Sitz der Gesellschaft)\b",
    re.IGNORECASE,
)
_LEAST_MARKS = 2
"""Marks of the foot of a firm's letter, which has its numbers and its bank, in a unit."""
OF_FIRM = frozenset(
    find_stems(
        "IBAN BIC SWIFT bank account VAT tax number id register registered registration company director office firm "
        "Bank Konto Kontonummer Steuernummer Register Registergericht Handelsregister Geschäftsführer Sitz Firma "
        "banque compte TVA SIRET SIREN registre gérant siège société"
    )
)
"""Words of questions about the foot of a firm's letter."""
_ENDS_PERIOD = re.compile(r"\b(?:ended|ending|zum|bis|clos(?:e|es)?)\b", re.IGNORECASE)
_UNITS = find_stems(
    "million millions thousand thousands billion billions unaudited EUR USD GBP CHF euros Mio Mrd Tsd TEUR "
    "Millionen Milliarden Tausend milliers milliards"
)
_BESIDE_UNIT = find_stems("dollar dollars amounts shares data per share except tabular all figures and in of")
"""Words of the label of a row that names columns: `in millions`."""


def is_foot_of_page(text: str) -> bool:
    """Returns whether a unit is the line below or above a page, with the number of the page."""
    return bool(_FOOT_OF_PAGE.fullmatch(text) or _FOOT_OF_REPORT.fullmatch(text))


def is_foot_of_letter(text: str) -> bool:
    """Returns whether a unit is the foot of a firm's letter: its numbers and its bank."""
    return len({mark.casefold() for mark in _IMPRINT.findall(text)}) >= _LEAST_MARKS


def has_only_periods(cells: Sequence[str]) -> bool:
    """Returns whether all cells of a row beside its label that are not empty are dates or lengths of periods."""
    return any(cells) and all(is_date(cell) or find_months(cell) for cell in cells if cell)


def names_periods(row: str) -> bool:
    """Returns whether a row within a table names its columns again: it has only periods below a unit, or only their
    ends: `In millions | July 30, 2023`. `Due | July 30, 2023` has a label, and so a value.
    """
    label, *cells = (cell.strip() for cell in split_cells(row))
    stems = find_stems(label)
    if stems & _UNITS and stems <= _UNITS | _BESIDE_UNIT:
        periods = [cell for cell in cells if any(map(str.isdigit, cell))]  # beside `Change`
        return has_only_periods(periods)
    return has_only_periods(cells) and (not label or all(_ENDS_PERIOD.search(cell) for cell in cells if cell))
