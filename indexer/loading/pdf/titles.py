"""The title of a PDF whose properties have none: from its headings, or from the line that says what it is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from indexer.loading.assembly import CELL_SEPARATOR
from indexer.loading.pdf.headings import Heading
from indexer.loading.pdf.layout import Line
from indexer.loading.properties import is_number_of_exhibit
from indexer.loading.texts.chapter_words import word_level

_COVERED = 3
"""A document of more pages has a cover if its first page alone has headings."""

_MOST_WORDS = 6
_LONGEST_LINE = 80
_LINES = 60
"""A letterhead is a heading of a few words. What the letter is stands in a short line of the first page."""
_TOKEN = re.compile(r"[^\W_](?:[\w./-]*[^\W_])?")
_DATE_OR_YEAR = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}|(?:19|20)\d\d")
_FEWEST_DIGITS = 3
_KIND = re.compile(
    r"(?:tax |pro ?forma )?(?:invoice|bill|credit note|delivery note|packing slip|purchase order|work order|order|quote"
    r"|quotation|offer|receipt|statement|reminder|contract|agreement|certificate"
    r"|rechnung|gutschrift|lieferschein|bestellung|auftrag|angebot|quittung|kontoauszug|mahnung|vertrag|bescheid"
    r"|facture|avoir|bon de |devis|reçu|contrat|fattura|nota di credito|preventivo|ordine|contratto"
    r"|factura|albarán|pedido|presupuesto|recibo|contrato|factuur|offerte|pakbon|faktura|paragon|zamówienie|umowa"
    r"|счет|счёт|накладная|договор)",
    re.IGNORECASE,
)
"""How a line begins that has the number of a letter of a firm, such as `Invoice no. 2024-017`."""


class Title(NamedTuple):
    """A title, or '' if there is none. `is_letter` if it has a letterhead and the number of the letter."""

    text: str
    is_letter: bool = False


def find_title(headings: Mapping[int, Sequence[Heading]], pages: Sequence[Sequence[Line]], file_name: str) -> Title:
    """Returns the heading of the first page that is above all others.

    - If the first page has only headings, it is a title page: headings on later pages may be as large.
    - If no other page has headings, the title joins the highest headings, such as the kind of a report and its company.
    - A letterhead is the same on all letters of a firm: the line that has the number of the letter precedes it.
    """
    title = _find_above_all(headings, pages)
    if not title or len(title.split()) > _MOST_WORDS or any(character.isdecimal() for character in title):
        return Title(title)
    on_first = (heading.title for heading in headings.get(0, ()))
    lines = [line.text for line in pages[0][:_LINES]]
    reference = next(_find_references(on_first, lines, file_name), "")
    return Title(f"{reference.replace(CELL_SEPARATOR, ' ')}, {title}", is_letter=True) if reference else Title(title)


def _find_references(headings: Iterable[str], lines: Sequence[str], file_name: str) -> Iterator[str]:
    """Yields what a document is with its number, such as `Invoice RE-2024-017`: a heading that ends with a number, the
    beginning of a line that begins with the word for it, or the beginning of a line with a number in the file's name.
    """
    for heading in headings:
        *words, last = _TOKEN.findall(heading) or [""]
        if words and not words[0][0].isdecimal() and _is_reference(last) and not last.isdecimal():  # no postal code
            yield heading
    for line in lines:
        if len(line) <= _LONGEST_LINE and _KIND.match(line) and (end := _find_end(line, lambda _: True)):
            yield line[:end]
    for line in lines:
        if len(line) <= _LONGEST_LINE and (end := _find_end(line, lambda token: token in file_name)):
            yield line[:end]


def _find_end(line: str, is_wanted: Callable[[str], bool]) -> int:
    """Returns where the first number of a document ends in a line, if a word is before it; else 0."""
    for n, token in enumerate(_TOKEN.finditer(line)):
        if n and _is_reference(token[0]) and is_wanted(token[0]):
            return token.end()
    return 0


def _is_reference(token: str) -> bool:
    """Whether a token may be the number of a document: it has some digits, and is no date and no year."""
    return sum(map(str.isdecimal, token)) >= _FEWEST_DIGITS and not _DATE_OR_YEAR.fullmatch(token)


def _find_above_all(headings: Mapping[int, Sequence[Heading]], pages: Sequence[Sequence[Line]]) -> str:
    on_first = [heading for heading in headings.get(0, ()) if not is_number_of_exhibit(heading.title)]
    first = min(on_first, key=lambda heading: heading.level, default=None)
    if first is None:
        return ""
    if is_cover(headings, len(pages)):
        return ", ".join(dict.fromkeys(one.title for one in on_first if one.level == first.level))
    is_title_page = sum(one.lines for one in on_first) == len(pages[0]) and _is_no_chapter(first.title)
    looked_at = on_first if is_title_page else [one for page in headings.values() for one in page]
    return first.title if sum(one.level <= first.level for one in looked_at) == 1 else ""


def is_cover(headings: Mapping[int, Sequence[Heading]], pages: int) -> bool:
    """Returns whether the first page alone has headings: what is large there names the document, and no section."""
    return pages > _COVERED and not any(found for number, found in headings.items() if number)


def _is_no_chapter(title: str) -> bool:
    return not title[0].isdigit() and word_level(title) is None
