"""Labels of pages beside their numbers: the fourth page of a report is `iv`, and its seventh one `3`.

A PDF file has few sequences of labels: `i`, `ii`, … up to the first chapter, then `1`, `2`, …. So the labels are a
field of the document's metadata that has the first label of each sequence by its page: `{"1": "i", "5": "1"}`.
Whatever has a hit or a citation has these metadata, so nothing is stored beside a passage.
"""

from collections.abc import Mapping, Sequence

from core.documents import Metadata
from core.text.titles import one_line

PAGE_LABELS = "page_labels"
"""The field of a document's metadata with its sequences of labels."""

_MOST_SEQUENCES = 200
_LONGEST = 30
"""Characters of a label. A longer text is no label."""
_DIGITS, _LETTERS = "0123456789", "abcdefghijklmnopqrstuvwxyz"
_MOST_DIGITS = 9
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LARGEST_ROMAN = 3999


def make_page_labels(labels: Sequence[str]) -> dict[str, str]:
    """Returns the first label of each sequence by its page, from the labels of all pages in order.

    It is empty if there is no label that differs from the number of its page, or if there are more than 200 sequences.
    """
    found: dict[str, str] = {}
    first, start = "", 1
    for page, written in enumerate(labels, start=1):
        label = one_line(written[: _LONGEST + 1])
        label = label if len(label) <= _LONGEST else ""
        if page == 1 or label != _count_up(first, page - start):
            first, start = label, page
            found[str(page)] = label
    is_known = found in ({}, {"1": ""}, {"1": "1"})
    return {} if is_known or len(found) > _MOST_SEQUENCES else found


def find_page_label(metadata: Metadata, page: int | None) -> str:
    """Returns the label of a page; '' if it has none, or if that is the number of the page.

    The metadata may be of a sender, who may give the field anything. What is no sequence of labels is left out.
    """
    stated = metadata.get(PAGE_LABELS)
    if page is None or not isinstance(stated, Mapping):
        return ""
    starts = [
        (int(start), label)
        for start, label in stated.items()
        if isinstance(label, str) and len(label) <= _LONGEST and _is_number(str(start)) and int(start) <= page
    ]
    start, first = max(starts, default=(page, ""))
    label = one_line(_count_up(first, page - start))
    return "" if label == str(page) else label


def name_page(page: int, label: str) -> str:
    """Returns `7 (iv)` for page 7 with the label iv, and `7` without a label."""
    return f"{page} ({label})" if label else str(page)


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MOST_DIGITS and all(character in _DIGITS for character in text)


def _count_up(label: str, steps: int) -> str:
    """Returns the label that follows another label by so many steps: `A-5` is three steps after `A-2`, and `vi` after
    `iii`; a label without a number, such as `Cover`, stays. Returns '' if it would be out of proportion.
    """
    head = label.rstrip(_DIGITS)
    if number := label[len(head) :]:
        return f"{head}{str(int(number) + steps).zfill(len(number))}" if len(number) <= _MOST_DIGITS else label
    head = label.rstrip(_LETTERS + _LETTERS.upper())
    tail = label[len(head) :]
    lower = tail.lower()
    if tail not in (lower, lower.upper()) or not tail or not steps:
        return label
    if roman := _read_roman(lower):
        counted = _write_roman(roman + steps) if roman + steps <= _LARGEST_ROMAN else ""
    elif len(set(lower)) == 1:
        times, letter = divmod(_LETTERS.index(lower[0]) + (len(lower) - 1) * len(_LETTERS) + steps, len(_LETTERS))
        counted = _LETTERS[letter] * (times + 1) if times < _LONGEST else ""
    else:
        return label
    return f"{head}{counted if tail == lower else counted.upper()}" if counted else ""


def _read_roman(text: str) -> int:
    """Returns the number that a text is in Roman numerals, 0 if it is none."""
    number, rest = 0, text
    for value, letters in _ROMAN:
        while rest.startswith(letters):
            number, rest = number + value, rest[len(letters) :]
    return number if not rest and text == _write_roman(number) else 0


def _write_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        times, number = divmod(number, value)
        written += letters * times
    return written
