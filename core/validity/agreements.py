"""What agreements and their amendments say of themselves: the parties, and which agreement an amendment names.

An amendment names its agreement by a title, a day and the parties: "the Master Services Agreement between them dated
March 1, 2023". The parties tell two agreements with the same title and day apart, and are enough to know an agreement
that is named in other words than its title.
"""

import re
from collections.abc import Iterator, Sequence

from core.text.word_lists import words_of
from core.validity.written_dates import find_dates

_READ = 1500
"""Characters at the beginning of a document in which its parties are named."""
_LONGEST = 700
"""Characters that the names of the parties, with their addresses, take."""
_MOST_PARTIES = 12
_BETWEEN = re.compile(
    r"(?<![\w-])(?:by and between|by and among|between|among|zwischen)[\s:]{1,4}(?:(?:the|der|die|dem|den) )?",
    re.IGNORECASE,
)
_THEM = re.compile(r"(?<![\w-])(?:between|among|zwischen) (?:them|the|ihnen|den)\b", re.IGNORECASE)
_OF_DAY = re.compile(
    r"(?<!\w)(?:dated|dated as of|as of|of|vom|made on|entered into on|on|from) ?(?:the )?$", re.IGNORECASE
)
_CAPITAL = re.compile(r"[A-ZÀ-ÖØ-Þ]")
_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ0-9][\w&'’/+-]{0,40}(?: (?:[&+] )?[A-ZÀ-ÖØ-Þ0-9][\w&'’/+-]{0,40}){0,7}")
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_DEFINITION = re.compile(
    r"\((?:[^()\"“”„«»]{0,100}[\"“”„«»]|the |hereinafter|nachfolgend|im folgenden)[^()]{0,300}\)", re.IGNORECASE
)
"""What a document calls another one, `(the “Agreement”)`, unlike the part of a name in `Regulation (EC) No 45/2001`."""
_DEFINED = re.compile(r"[\"“”„«»][^\"“”„«»\n]{1,60}[\"“”„«»]")
"""What a document calls a party, such as “Client”, is no name by which another document knows it."""
_FORMS = words_of(
    "llc llp lp ltd limited inc incorporated corp corporation company co plc gmbh mbh ag kg ohg ug se sa sarl sas srl"
    " bv nv gbr ev eg pty mr ms mrs dr herr frau firma"
)
"""Forms of companies, and of address."""
_AMENDMENT = r"(?:amendment|addendum|(?:änderungs|ergänzungs|zusatz)vereinbarung|nachtrag|avenant)"
_LONGEST_TITLE = 200
_PARAGRAPHS_OF_TITLE = 2
"""Paragraphs behind the name of an amendment that may be its title, such as `to` and `Master Services Agreement`."""
_ORDINAL = (
    r"(?:\d{1,2}(?:st|nd|rd|th|\.)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|erster?|zweiter?"
    r"|dritter?|vierter?|fünfter?|sechster?)"
)
_AMENDMENT_NAME = (
    rf"(?:(?:this|diese[rs]?|the|le|présent) ){{0,2}}(?:{_ORDINAL} )?{_AMENDMENT}"
    r"(?: (?:agreement|(?:no\.?|nr\.?|n°|number) ?\w{1,4}|\d{1,3}))?(?: \([^()]{1,60}\))?"
)
_NAME_ALONE = re.compile(rf"[#*_ ]{{0,8}}{_AMENDMENT_NAME}[*_ ]{{0,4}}", re.IGNORECASE)
_AMENDED_TITLE = re.compile(rf"{_AMENDMENT_NAME} (?:to|zum|zur|zu dem|zu der|au|à la|aux) ", re.IGNORECASE)
"""`Amendment No. 1 to`, `This First Amendment to`, `2. Nachtrag zum`."""


def find_parties(text: str) -> tuple[str, ...]:
    """Returns the names that follow the first "between" at the beginning of a document, in small letters and without
    the form of a company; the first one is the first party. () if none is named.
    """
    beginning = text[:_READ]
    for found in _BETWEEN.finditer(beginning):
        if not _CAPITAL.match(beginning, found.end()):
            continue
        told = _DEFINED.sub(" ; ", _BRACKETS.sub(" ; ", beginning[found.end() : found.end() + _LONGEST]))
        names = (_plain(name[0]) for name in _NAME.finditer(told.replace(".", "")))
        return tuple(dict.fromkeys(name for name in names if name))[:_MOST_PARTIES]
    return ()


def share_parties(parties: Sequence[str], others: Sequence[str]) -> bool:
    """Returns whether the first party of each of two documents is a party of the other one."""
    return bool(parties) and bool(others) and parties[0] in others and others[0] in parties


def leave_out_parties(named: str) -> str:
    """Returns the name with which a text begins, without a definition in brackets and without "between A and B"; the
    day behind the parties stays: `Lease dated 1 March 2021` of "Lease between A and B dated 1 March 2021 (the “X”)".
    """
    text = " ".join(_DEFINITION.sub(" ", named).split())
    between = _BETWEEN.search(text) or _THEM.search(text)
    if between is None:
        return text
    head = text[: between.start()].rstrip(" ,")
    if next(find_dates(head), None) is not None:
        return head
    day = next((day for day in find_dates(text[: between.end() + _LONGEST]) if day.start >= between.end()), None)
    is_of_name = day is not None and _OF_DAY.search(text[max(0, day.start - 30) : day.start]) is not None
    return f"{head} dated {text[day.start : day.end]}" if day is not None and is_of_name else head


def read_amended_title(line: str) -> str:
    """Returns what an amendment names behind its own name, with which the line begins: `Lease dated …` of "Amendment
    No. 1 to Lease dated …"; '' if the line begins with something else.
    """
    found = _AMENDED_TITLE.match(line)
    return "" if found is None else line[found.end() :]


def split_name(paragraph: str) -> tuple[str, str]:
    """Returns a first line that is only the name of an amendment, and the lines below it; the paragraph and '' if its
    first line is something else: `AMENDMENT No. 1` stands above "to the Lease dated 1 March 2021" without a gap.
    """
    line, _, below = paragraph.partition("\n")
    is_name = bool(below.strip()) and _NAME_ALONE.fullmatch(" ".join(line.split())[:_LONGEST_TITLE]) is not None
    return (line, below) if is_name else (paragraph, "")


def join_amended_title(paragraphs: Sequence[str]) -> tuple[str, int]:
    """Returns the title of an amendment that names what it amends in a paragraph behind its own name, and the place of
    this paragraph: `Amendment No. 1` stands above "to the Lease dated 1 March 2021". `("", 0)` if the first paragraph
    is more than such a name, or nothing is named behind it.
    """
    if not paragraphs or not _NAME_ALONE.fullmatch(" ".join(paragraphs[0].split())[:_LONGEST_TITLE]):
        return "", 0
    title = paragraphs[0].strip(" #*_\n")
    for place, paragraph in enumerate(paragraphs[1 : 1 + _PARAGRAPHS_OF_TITLE], start=1):
        title = " ".join(f"{title} {paragraph}".split())[:_LONGEST_TITLE]
        if _AMENDED_TITLE.match(title):
            return title, place
    return "", 0


def _plain(name: str) -> str:
    words: Iterator[str] = (word.casefold() for word in name.split())
    return " ".join(word for word in words if word not in _FORMS and not word.isdecimal())
