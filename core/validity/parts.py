"""Parts of a document that have a validity of their own: how sentences name them, and whether a passage is in one.

"Section 5 of this Agreement expires on 31 December 2025" says nothing of the rest of the agreement. So a statement
names its part, as the sentence writes it, and a passage belongs to a part by its headings or by the lines above it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.documents import HEADING_SEPARATOR

_KINDS = {
    "article": "provision", "art": "provision", "artikel": "provision", "section": "provision", "sec": "provision",
    "clause": "provision", "paragraph": "provision", "rule": "provision", "ziffer": "provision",
    "nummer": "provision", "absatz": "provision", "abschnitt": "provision", "§": "provision", "§§": "provision",
    "chapter": "chapter", "kapitel": "chapter", "annex": "annex", "appendix": "annex", "schedule": "annex",
    "exhibit": "annex", "anlage": "annex", "anhang": "annex", "part": "part", "teil": "part", "title": "title",
    "titel": "title",
}  # fmt: skip
"""Words with which a part is named, and its kind. A heading without such a word, such as `6. Fees`, is a provision."""
_WORD = (
    r"(?:articles?|art\.|artikeln?|sections?|sec\.|clauses?|paragraphs?|rules?|ziffern?|nummern?|absätze?|abs\."
    r"|abschnitte?|§§?|chapters?|kapitel|annex(?:es)?|appendix|appendices|schedules?|exhibits?|anlagen?|anhänge?|anhang"
    r"|parts?|teile?|titles?|titel)"
)
_MARK = r"(?:\d{1,4}[a-z]?(?:\.\d{1,3}){0,3}|[ivxlc]{1,7}|[a-z])(?:\(\w{1,4}\)){0,2}(?![\w(])"
_JOIN = r"(?:,? (?:and|or|und|oder|sowie) |, |/| to | bis | ?– ?| - |-)"
_LIST = rf"{_WORD} ?{_MARK}(?:(?:{_JOIN}(?:{_WORD} ?)?| {_WORD} ?){_MARK}){{0,12}}"
_PARTS = re.compile(
    rf"(?:[\W_]{{0,4}}(?:however|in addition|jedoch)[,:]? )?(?:\(?\w{{1,3}}\)[.:]? |[-–•] )?(?:the |die |der |das )?"
    rf"(?P<parts>{_LIST})",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(rf"(?<!\w)(?P<parts>{_LIST})", re.IGNORECASE)
_ACTS = re.compile(
    r",? (?:shall|will|is|are|takes?|enters?|comes?|becomes?|appl(?:y|ies)|expires?|ceases?|ends?|lapses?|terminates?"
    r"|remains?|continues?|tritt|treten|gilt|gelten|endet|ist|sind)\b",
    re.IGNORECASE,
)
"""What follows the subject of a sentence: "Article 8. This Regulation shall …" says nothing of its own article."""
_NAMED = re.compile(rf"(?P<join>{_JOIN})?(?P<word>{_WORD})? ?(?P<mark>{_MARK})", re.IGNORECASE)
_HEAD = re.compile(rf"[\W_]{{0,6}}?(?P<word>{_WORD})? ?(?P<mark>{_MARK})", re.IGNORECASE)
_HEAD_LINE = re.compile(r"[\W_]{0,6}(?:\d{1,4}[a-z]?(?:[.):]|$)|\d{1,4}(?:\.\d{1,3}){1,3} (?=[A-ZÀ-Ý\"“(]))")
"""A line without such a word that begins a part: `5. Fees`, `5.2 Notice`, and not `5 days after` or `2024-01-01`."""
_RANGE = ("to", "bis", "–", "-")
_OF_PART = re.compile(rf"{_WORD} ?{_MARK} (?:of|to|in|der|des) $", re.IGNORECASE)
_MOST_IN_RANGE = 500
_LONGEST_LINE = 200


@dataclass(frozen=True, kw_only=True)
class NamedParts:
    """Parts that a clause names: their names as written, and where they begin and end."""

    text: str
    start: int
    end: int


def find_parts(clause: str) -> NamedParts | None:
    """Returns the parts with which a clause begins; None if it begins with something else."""
    found = _PARTS.match(clause)
    return None if found is None else _make_parts(found)


def find_named_parts(text: str) -> Iterator[NamedParts]:
    """Yields the parts that a text names, wherever they stand."""
    for found in _ANYWHERE.finditer(text):
        yield _make_parts(found)


def _make_parts(found: re.Match[str]) -> NamedParts:
    return NamedParts(text=found["parts"], start=found.start("parts"), end=found.end("parts"))


def is_subject(clause: str, end: int) -> bool:
    """Returns whether what ends here is what the clause says something of."""
    return _ACTS.match(clause, end) is not None


def mentions_part(before: str) -> bool:
    """Returns whether a text ends with a part of what follows, such as `Section 5 of `."""
    return _OF_PART.search(before[-60:]) is not None


def is_in_part(part: str, heading: str, before: str) -> bool:
    """Returns whether a passage belongs to one of the parts that a statement names: by its headings, and by the lines
    of its text `before` a place, of which a later one may begin another part.
    """
    wanted = _read_parts(part)
    return any(_fits(wanted, named) for named in _find_place(heading, before).items())


def is_placed(heading: str, before: str) -> bool:
    """Returns whether it is known of which part a passage is, as in `is_in_part`."""
    return bool(_find_place(heading, before))


def _find_place(heading: str, before: str) -> dict[str, str]:
    """Returns the numbers of the parts that a passage is of, by their kinds."""
    at = dict(named for title in heading.split(HEADING_SEPARATOR) if (named := _read_head(title)) is not None)
    for line in before.splitlines():
        kind, mark = _read_line(line[:_LONGEST_LINE]) or ("", "")
        if kind and _follows(mark, at.get(kind, "")):
            at[kind] = mark
    return at


def _follows(mark: str, last: str) -> bool:
    """Returns whether a number comes after another one: `1.` below `5. Fees` is an item of a list."""
    number, last_number = mark.partition(".")[0], last.partition(".")[0]
    return not (number.isdigit() and last_number.isdigit()) or int(number) >= int(last_number)


def _fits(wanted: set[tuple[str, str]], named: tuple[str, str]) -> bool:
    """`5.2` is in `5`."""
    kind, mark = named
    steps = mark.split(".")
    return any((kind, ".".join(steps[:length])) in wanted for length in range(1, len(steps) + 1))


def _read_line(line: str) -> tuple[str, str] | None:
    found = _HEAD.match(line)
    is_head = found is not None and (found["word"] or _HEAD_LINE.match(line.rstrip()))
    return _read_head(line) if is_head else None


def _read_head(title: str) -> tuple[str, str] | None:
    found = _HEAD.match(title)
    if found is None or (found["word"] is None and not found["mark"][0].isdigit()):
        return None
    return _kind_of(found["word"] or "section"), _number_of(found["mark"])


def _read_parts(text: str) -> set[tuple[str, str]]:
    """Returns kinds and numbers of parts, with the numbers between two that `to` joins. `Chapter III Section 4` is left
    out: which chapter has a passage of section 4 may not be known.
    """
    read: list[tuple[str, str]] = []
    kind = "provision"
    for found in _NAMED.finditer(text):
        join, mark = (found["join"] or "").strip(), _number_of(found["mark"])
        if read and not join and found["join"] is None:
            read.pop()
            continue
        kind = _kind_of(found["word"]) if found["word"] else kind
        if join in _RANGE and read and read[-1][1].isdigit() and mark.isdigit():
            first = int(read[-1][1])
            read += [(kind, str(number)) for number in range(first, min(int(mark), first + _MOST_IN_RANGE))]
        read.append((kind, mark))
    return set(read)


def _kind_of(word: str) -> str:
    word = word.casefold().rstrip(".")
    return next((kind for name, kind in _KINDS.items() if word == name or word.startswith(name)), "provision")


def _number_of(mark: str) -> str:
    """A paragraph of an article, `6(1)`, counts as the article: headings name no paragraphs."""
    return mark.partition("(")[0].casefold().rstrip(".")
