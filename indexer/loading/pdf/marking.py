"""Finding the words of a text on a page of a PDF, although page and loaded text differ in their characters.

Hyphens, ligatures, marks, spaces, line ends and the order of columns differ. So only letters and digits are compared,
decomposed and in folded case, piece by piece.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Letters", "Piece", "find_pieces"]

_MIN_LETTERS = 8
_MIN_IDEOGRAPHS = 3
_FIRST_IDEOGRAPH = "\u2e80"
_TRIES = 50


@dataclass
class Letters:
    """The letters and digits of a text, normalised.

    `places` has for each of them the place of its character in the text, and `starts` whether a word begins with it.
    """

    places: list[int] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    text: str = ""

    @classmethod
    def of(cls, characters: Iterable[tuple[int, str]]) -> "Letters":
        """Takes characters with their places."""
        letters, found, is_start = cls(), list[str](), True
        for place, character in characters:
            plain = [one for one in unicodedata.normalize("NFKD", character).casefold() if one.isalnum()]
            for one in plain:
                found.append(one)
                letters.places.append(place)
                letters.starts.append(is_start or _is_ideograph(one))
                is_start = False
            if not plain:
                is_start = is_start or not unicodedata.category(character).startswith("M")
        letters.text = "".join(found)
        return letters

    def is_end(self, at: int) -> bool:
        """Whether a word ends before the letter `at`."""
        return at >= len(self.starts) or self.starts[at]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Letters of the mark from `start` to `end` that stand on the page from its letter `place` on."""

    start: int
    end: int
    place: int


def find_pieces(mark: Letters, page: Letters) -> Iterator[Piece]:
    """Yields the longest pieces of the mark that the page has, in the order of the mark.

    A piece consists of whole words. Unless it is the whole mark, it has at least eight letters, or three ideographs.
    """
    at = near = 0
    while at < len(mark.text):
        piece = _find_longest(mark, at, page, near)
        if piece is None:
            at += 1
            while at < len(mark.text) and not mark.starts[at]:
                at += 1
            continue
        yield piece
        at, near = piece.end, piece.place + piece.end - piece.start


def _find_longest(mark: Letters, at: int, page: Letters, near: int) -> Piece | None:
    """Returns the longest piece that begins at `at`. Of several places, the first place after `near` is taken."""
    low, high = 0, len(mark.text) - at
    if mark.text[at:] in page.text:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        if mark.text[at : at + middle] in page.text:
            low = middle
        else:
            high = middle - 1
        if high < _MIN_IDEOGRAPHS and high < len(mark.text):
            return None
    end = at + low
    while end > at and not mark.is_end(end):
        end -= 1
    piece = mark.text[at:end]
    if not piece or not (_is_long(piece) or len(piece) == len(mark.text)):
        return None
    place = _find_words(piece, page, near)
    return None if place is None else Piece(start=at, end=end, place=place)


def _find_words(piece: str, page: Letters, near: int) -> int | None:
    """Returns the place of a piece where words begin and end. Pages without spaces have it anywhere."""
    for begin in (near, 0):
        place = page.text.find(piece, begin)
        for _ in range(_TRIES):
            if place < 0:
                break
            if page.starts[place] and page.is_end(place + len(piece)):
                return place
            place = page.text.find(piece, place + 1)
    anywhere = page.text.find(piece, near)
    anywhere = anywhere if anywhere >= 0 else page.text.find(piece)
    return anywhere if anywhere >= 0 and _is_long(piece) else None


def _is_long(piece: str) -> bool:
    return len(piece) >= _MIN_LETTERS or sum(map(_is_ideograph, piece)) >= _MIN_IDEOGRAPHS


def _is_ideograph(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return character >= _FIRST_IDEOGRAPH
