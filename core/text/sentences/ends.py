"""Whether a mark ends a sentence: rules about the word before it and the word after it. Used by `splitter.py`.

Each decision reads at most some dozen characters on both sides, so that its cost does not depend on the text.
"""

import re

from core.text.sentences.abbreviations import (
    AFTER_ORDINAL,
    BEFORE_NAME,
    BEFORE_NUMBER,
    BEFORE_ORDINAL,
    BEFORE_TEXT,
    LABELS,
    MAY_END,
    MONTHS,
    PARTICLES,
    STARTERS,
)

__all__ = ["FRAGMENT", "ends_sentence", "is_fragment", "is_item_number"]

FRAGMENT = 4
"""A piece of no more letters and digits is no sentence of its own, such as "Shri." before a name."""

_WINDOW = 40
"""Characters before a full stop that are read for its last two words."""
_LONGEST_JOINED = 600
"""After so many characters, a small letter may begin a sentence; else a text without capitals would be one."""
_LONGEST_LABEL = 30
_LONGEST_MARK = 40
_PLAIN_WORD = 6
"""A word of this many letters is no abbreviation, so that even a small letter after its full stop begins a sentence."""

_OPENING = "([{\"'“„«‚‘‹¿¡`*_"
_BEFORE_WORD = "([{\"'“„«‚‘‹¿¡`*_§"
_BRACKETS = frozenset("([{")
_DASHES = "-–—"
_BEGINNINGS = _BRACKETS | set(_DASHES + "•")
"""What begins something new behind a full stop, even before a small letter."""
_POSSESSIVE = frozenset({"d", "ll", "m", "re", "s", "t", "ve"})
_NEXT = re.compile(rf"[{re.escape(_OPENING)}]{{0,9}}(?:[-–—•] )?[{re.escape(_OPENING)}]{{0,9}}")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_ELISION = re.compile(r"['’].*")
_LETTERS = re.compile(rf"(?:[\W\d_]*+[^\W\d_]){{{FRAGMENT + 1}}}")
_ROMAN = re.compile(r"[IVXLCDM]+\b")
_DOTTED_LETTER = re.compile(r"\W*\w\.")
_DOTTED = re.compile(r"\w{1,4}(?:\.\w{1,7})*\.\w{1,4}")
_ITEM = re.compile(r"[\s(\[]*(?:§+\s*)?(?:\d{1,3}(?:[.-]\w{1,4})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")
_DATE = re.compile(r"\d{1,2}\.\s?\d{2,4}\b")
_LABEL = re.compile(r"[\s(]*(\w+|§+)\.?\s+[\dIVX]+(?:[.-]\w{1,4})*\Z")


def ends_sentence(text: str, start: int, mark: int, after: int, following: int) -> bool:
    """Whether the sentence that begins at `start` ends at `after`, behind a mark and what closes quotes and brackets.

    The mark begins at `mark`; `following` is the place of the next character that is no white space.
    """
    opening = _NEXT.match(text, following)
    at = opening.end() if opening else following
    first = text[at : at + 1]
    if not first:
        return True
    opened = text[following:at]
    if not first.isalnum() and not opened and first in ",;:.!?)]}»”…%=<":
        return first == "<" or (first == "%" and text[mark - 1 : mark].isalnum())
    if text[mark : mark + 2] != "." and text[mark : mark + 2].strip(".") != "" and text[mark] != ".":
        return not first.islower() or _is_lower(text, start, mark)
    if after - mark > 1 and text[mark + 1] == ".":  # dots
        return not first.islower()
    return _full_stop_ends(text, start, mark, after, at, opened)


def is_fragment(text: str, start: int, end: int) -> bool:
    """Whether a piece has no letter, or only a few letters of a script with words."""
    end = min(end, start + _LONGEST_MARK)
    if _LETTERS.match(text, start, end):
        return False
    piece = text[start:end]
    letters = [character for character in piece if character.isalpha()]
    if not letters:
        return True
    cased = all(character.islower() or character.isupper() for character in letters)
    return cased and sum(character.isalnum() for character in piece) <= FRAGMENT


def is_item_number(text: str, start: int, end: int) -> bool:
    """Whether a range has the number of an item and nothing else."""
    return end - start <= FRAGMENT * 2 and _ITEM.fullmatch(text, start, end) is not None


def _full_stop_ends(text: str, start: int, mark: int, after: int, at: int, opened: str) -> bool:
    before, word = _read_last_words(text, start, mark)
    first = text[at]
    if after - mark > 1:  # a quote or a bracket is closed behind the full stop
        return not first.islower() or bool(opened)
    if not word:
        return first.isupper()
    if not word[-1].isalnum():  # a closing quote or bracket; a degree sign stands for the end of "number"
        return word[-1] != "°" and (not first.islower() or bool(set(opened) & _BRACKETS))
    if _is_item(text, start, mark, before, word):
        return False
    following = _read_word(text, at)
    if len(following) == 1 and text[at + 1 : at + 2] == ".":
        following += "."  # an initial, or an abbreviation
    ends = _abbreviation_ends(before, word, following, opened)
    if ends is not None:
        return ends
    if word.isdigit():
        date = len(word) <= 2 and _DATE.match(text, at)  # 1. 2. 2025
        return not date and _number_ends(before, word, following, first, opened)
    if first.islower():
        plain = len(word) >= _PLAIN_WORD or not word[-1:].isalpha() or bool(set(opened) & _BEGINNINGS)
        return plain or _is_lower(text, start, mark) or mark - start > _LONGEST_JOINED
    return True


def _abbreviation_ends(before: str, word: str, following: str, opened: str) -> bool | None:
    """Returns whether the sentence ends after a word that may be an abbreviation; None if it is none."""
    folded = word.casefold()
    if folded not in MAY_END:
        folded = folded.rpartition("-")[2]  # Dipl.-Ing
    key = _ELISION.sub("", following.casefold())
    starts = following[:1].isupper() and key in STARTERS
    number = following[:1].isdigit() or bool(_ROMAN.fullmatch(following)) or len(following.rstrip(".")) == 1
    if len(word) == 1 and word.isalpha():
        return _initial_ends(before, word, following, starts)
    if folded in BEFORE_TEXT or (len(word) == len(following) == 2 and (word + following).isupper()):  # "EE. UU."
        return False
    if folded in MAY_END:
        return following[:1].isupper() and (starts or "." not in word)
    if _DOTTED.fullmatch(word) and any(character.isalpha() for character in word):
        return starts
    if folded in BEFORE_NAME and not starts and (not following or following[:1].isalpha() or number):
        return False
    if folded in BEFORE_NUMBER and (number or not following[:1].isupper()):
        return False
    if _is_consonants(word) and not (starts or opened or before[-1:].isdigit()):
        return False
    return None


def _initial_ends(before: str, word: str, following: str, starts: bool) -> bool | None:
    if word.islower():
        if not word.isascii():
            return None
        if word in "fs" and before[:1].isdigit():  # "S. 12 f."
            return following[:1].isupper()
        return starts and word not in "csv" and not _DOTTED_LETTER.fullmatch(before)  # not "d. h. Die"
    if before in ("a.", "d."):  # "a. C.", as a year is counted in Spanish and Italian
        return starts
    return starts and _ELISION.sub("", following.casefold()) not in PARTICLES


def _number_ends(before: str, word: str, following: str, first: str, opened: str) -> bool:
    if first.islower() or (opened[:1] in _DASHES and _is_label(before)):
        return False
    if len(word) > 2:
        return True
    folded = following.casefold()
    if folded in MONTHS or folded in AFTER_ORDINAL:
        return False
    if following.isdigit() and len(following) in (2, 4) and before.rstrip(".").isdigit() and before.endswith("."):
        return False
    return not (before.casefold() in BEFORE_ORDINAL and first.isupper() and folded not in STARTERS)


def _is_item(text: str, start: int, mark: int, before: str, word: str) -> bool:
    """Whether all before the full stop is the number of an item, or the label of a heading such as "Section 5"."""
    if before.rstrip(_BEFORE_WORD).endswith((":", ";")) and _ITEM.fullmatch(word + "."):
        return True
    if mark - start > _LONGEST_LABEL:
        return False
    if _ITEM.fullmatch(text, start, mark + 1):
        return True
    label = _LABEL.match(text[start:mark])
    return label is not None and _is_label(label[1])


def _is_label(word: str) -> bool:
    return word.strip('"“«(.').casefold() in LABELS


def _read_last_words(text: str, start: int, mark: int) -> tuple[str, str]:
    """Returns the last two words before a full stop, the last word without opening marks; '' after white space."""
    part = text[max(start, mark - _WINDOW) : mark]
    if not part or part[-1].isspace():
        return "", ""
    words = part.rsplit(None, 2)
    word = words[-1].lstrip(_BEFORE_WORD) or words[-1]
    return (words[-2] if len(words) > 1 else ""), _cut_elision(word)


def _cut_elision(word: str) -> str:
    """Returns a word without the article before its apostrophe, as in "dell’art"."""
    apostrophe = max(word.rfind("'"), word.rfind("’"))
    rest = word[apostrophe + 1 :]
    return word if apostrophe < 0 or not rest or rest in _POSSESSIVE else rest


def _read_word(text: str, at: int) -> str:
    match = _WORD.match(text, at, at + _WINDOW)
    return match[0] if match else ""


def _is_lower(text: str, start: int, mark: int) -> bool:
    """Whether a sentence begins with a small letter, as in a text without capitals."""
    match = _WORD.search(text, start, min(mark, start + _WINDOW))
    return match is not None and match[0][0].islower()


def _is_consonants(word: str) -> bool:
    """Whether a word cannot be spoken, such as "Nrn", and is no acronym either."""
    return (
        2 <= len(word) <= 5
        and word.isalpha()
        and not word.isupper()
        and word.isascii()
        and not set(word.casefold()) & set("aeiouy")
    )
