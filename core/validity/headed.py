"""Changes of a clause that an amendment names by its heading: "Rent review. The review of 1 May does not take place."

Open it to teach such wordings, or how a heading is known.
"""

import re

from core.documents import HEADING_SEPARATOR
from core.text.value_kinds import find_stems
from core.validity.written_dates import leave_out_dates

_READ = 4000
"""Characters above a place in which its heading is looked for."""
_LONGEST = 80
_NUMBER = re.compile(
    r"[#*_\s]{0,6}(?:(?:(?:article|section|clause|artikel|ziffer)\s|§\s?)\d{1,3}[a-z]?(?:\.\d{1,3}){0,2}[.):]?"
    r"|\d{1,3}(?:\.\d{1,3}){1,2}[.):]?|\d{1,3}[a-z]?[.):])",
    re.IGNORECASE,
)
_HEAD = re.compile(rf"{_NUMBER.pattern}(?:\s|\s?[–—-]\s)(?P<name>[^\W\d_][^\n.!?;]{{1,60}})[*_]{{0,3}}", re.IGNORECASE)
"""A line that is a numbered heading: `5. Rent review`."""
_RUN_IN = re.compile(rf"{_NUMBER.pattern}\s(?P<name>[^\W\d_][^\n.!?;,]{{1,40}})\.\s", re.IGNORECASE)
"""A heading before the first sentence of its clause: `5. Rent review. The rent …`."""
_ENDED = re.compile(
    r"\b(?P<ends>(?:(?:does|do|shall|will) (?:not|no longer) (?:take place|apply|be (?:payable|due|made))"
    r"|(?:is|are) no longer (?:payable|due|applicable|required)|no longer (?:applies|apply)|ceases? to apply|lapses?"
    r"|entf(?:ällt|allen)|findet nicht(?: mehr)? statt|(?:gilt|gelten) nicht mehr"
    r"|(?:n['’]a|n['’]ont) pas lieu|ne s['’]appliquent? plus|(?:est|sont) supprimée?s?))\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead|stattdessen|à la place)\b", re.IGNORECASE)
_INSTEAD_OF = re.compile(r"\b(?:instead of|(?:an)?statt|au lieu d[eu])\s(?P<ended>[^,;.]{3,80})", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|unless|where|when|except|(?-i:may)|would|could|wenn|falls|sofern|soweit|si|sauf)\b", re.IGNORECASE
)
_DENIED = re.compile(r"\b(?:not?|never|nicht|nie|kein\w{0,2}|ne|pas)\b", re.IGNORECASE)
"""Before what ends: "The cover never lapses"."""
_WORD = re.compile(r"\w+")
_BEHIND = frozenset({"any", "anymore", "more", "longer", "instead", "mehr", "stattdessen", "plus", "ersatzlos"}) | {
    *("on", "from", "as", "of", "with", "effect", "after", "ab", "dem", "am", "vom", "zum", "mit", "wirkung", "nach"),
}
"""Words that may follow an ending, alone or before a day; behind any other word it may be the ending of a part."""


def find_title(text: str, start: int, heading: str) -> str:
    """Returns the name of the clause that a place of an amendment is of, without its number; "" if it has none."""
    above = text[max(0, start - _READ) : start]
    for line in reversed(above.splitlines()):
        found = _HEAD.fullmatch(line[:_LONGEST].strip()) or _RUN_IN.match(line)
        if found is not None:
            return found["name"].strip(" *_")
    last = heading.rpartition(HEADING_SEPARATOR)[2]
    numbered = _NUMBER.match(last)
    return last[numbered.end() if numbered else 0 :].strip(" –—-")


def find_name(line: str) -> str:
    """Returns the name in a line that is a numbered heading, or in what stands before the first sentence of a clause,
    with the space behind it; "" if the line is something else.
    """
    found = _HEAD.fullmatch(line) or _RUN_IN.fullmatch(line)
    return found["name"].strip(" *_") if found else ""


def skip_heading(text: str, start: int, end: int) -> int:
    """Returns where a sentence begins behind the heading with which it may begin."""
    first = text.rfind("\n", 0, start) + 1
    line = text[first : end if (stop := text.find("\n", start, end)) < 0 else stop]
    if stop >= 0 and len(line) <= _LONGEST and _HEAD.fullmatch(line.strip()):
        return stop + 1
    found = _RUN_IN.match(text, first, end)
    return max(start, found.end()) if found else start


def find_ended(sentence: str) -> frozenset[str]:
    """Returns the stems of what a sentence ends, such as "The review of 1 May 2026"; none if it ends nothing, or ends
    something for some cases: "The prohibition does not apply to guide dogs."
    """
    if _CONDITION.search(sentence):
        return frozenset()
    found, of = _ENDED.search(sentence), _INSTEAD_OF.search(sentence)
    if found is None:
        return find_stems(of["ended"] if of else "")
    before, (behind, _) = sentence[: found.start()], leave_out_dates(sentence[found.end() :])
    is_whole = not _DENIED.search(before) and _BEHIND.issuperset(_WORD.findall(behind.casefold()))
    return find_stems(before) if is_whole else frozenset()


def sets_instead(sentence: str) -> bool:
    """Returns whether a sentence sets something in the place of what the sentence before it ends: "… instead"."""
    return _INSTEAD.search(sentence) is not None


def is_below(title: str, heading: str, before: str, line: str) -> bool:
    """Returns whether a line is of a clause with this name: by the last heading `before` its end, or the headings of
    its passage. If a passage shows neither, the line has the words of the name.
    """
    wanted = find_stems(title)
    found = find_title(before, len(before), heading)
    return bool(wanted) and (find_stems(found) == wanted if found else wanted <= find_stems(line))
