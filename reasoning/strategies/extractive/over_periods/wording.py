"""What a question over periods asks of rows: one measure, two of them, or what one is of the other in percent.

Open this when a question in other words is not understood.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.passage_context.other_words import find_other_words, find_said_labels
from core.text.terms import split_words
from core.text.titles import find_marks
from core.text.value_kinds import find_stems

__all__ = ["Share", "asks_for_part", "find_share", "say_as_rows", "split_measures"]

_AS_ROWS = (
    (
        re.compile(
            r"\b(?<!staff )(?<!employee )(?<!personnel )(?<!inventory )(?<!stock )(?<!asset )(?<!crew )(?<!portfolio )"
            r"(?<!labour )(?<!labor )(?<!workforce )(?<!customer )"
            r"turnover\b(?! (?:rate|ratio|tax|of (?:staff|employees|inventor)))",
            re.IGNORECASE,
        ),
        "revenue",
    ),
    (re.compile(r"\b(?:stock levels?|levels? of stocks?|stocks? of goods)\b", re.IGNORECASE), "inventories"),
    (re.compile(r"\bby (?:what|which|how many) (?:percentage|percent)\b", re.IGNORECASE), "by how much"),
    (re.compile(r"\bum wie ?viel prozent\b", re.IGNORECASE), "wie"),
)
"""What people say, and what rows are called. A turnover of staff is another thing."""
_MARGIN = re.compile(
    r"\b(?:(?P<gross>gross (?:profit margins?|margins (?=quarter)|margin (?:percentages?|percent|rates?|ratios?|in %"
    r"|in percent)))|(?P<operating>(?:operating|EBIT)(?: profit| income)?[ -]margins?|EBIT-Margen?|operativen? Margen?)"
    r"|(?P<net>net (?:profit |income )?margins?|Nettomargen?|Umsatzrenditen?)"
    r"|(?P<roh>Bruttomargen?|Rohertragsmargen?))(?: percentages?| in percent| in Prozent)?(?!\w)",
    re.IGNORECASE,
)
_OF_MARGINS = {
    "gross": "gross profit",
    "operating": "operating income",
    "net": "net income",
    "roh": "Bruttoergebnis",
}
_REST = (
    r"(?P<rest>(?:,? (?:in|for|over|during|im) (?:the |each |every )?"
    r"(?:Q[1-4]\b|first|second|third|fourth|[1-4]\.|jede|quarter|\d{4})[^?]{0,60})?)"
)
_SHARE = re.compile(
    r"\b(?:what|which) (?:percentage|percent|share|proportion|fraction) of (?P<whole>[^?]{2,80}?) "
    r"(?:is|are|was|were|comes? from|came from|does|do|did) (?P<part>[^?]{2,60}?)"
    r"(?: make up| account for| represent| contribute)?" + _REST + r"\s?\??\s?\Z"
    r"|\b(?:wie ?viel prozent|welcher anteil) (?:der|des|vom|am|von) (?P<ganzes>[^?]{2,80}?) "
    r"(?:entfallen auf|entfällt auf|entfielen auf|entfiel auf|sind|ist|waren|war) (?:die |den |das |der )?"
    r"(?P<teil>[^?]{2,60}?)" + _REST.replace("rest", "behind") + r"\s?\??\s?\Z",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:percentages?|percent|(?<!per )shares?|proportion|fraction) of\b|\bin (?:percent|prozent|%)"
    r"|\b(?:prozent|anteil) (?:der|des|vom|von|am|an)\b",
    re.IGNORECASE,
)
_AND = re.compile(r" (?:and|und|et|as well as|sowie) ", re.IGNORECASE)
_MOST_WORDS = 6
"""Words of a measure, at most."""
_LONGEST = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """A question for a part, and a question for the whole that it is a share of. `may_be_negative`: a margin may. `own`
    are words that the label of the part has; an empty set if the part is a known measure.
    """

    part: str
    whole: str
    may_be_negative: bool = False
    own: frozenset[str] = frozenset()


def say_as_rows(question: str) -> str:
    """Returns the question in the words of rows: `turnover` is `revenue`, and `stock levels` are `inventories`."""
    for pattern, words in _AS_ROWS:
        question = pattern.sub(words, question)
    return question


def find_share(question: str) -> Share | None:
    """Returns the two questions whose values make the share or the margin that a question asks for; None if it asks for
    none, or for several.
    """
    if len(question) > _LONGEST:
        return None
    margins = list(_MARGIN.finditer(question))
    if len(margins) == 1:
        found = margins[0]
        before, behind = question[: found.start()], question[found.end() :]
        part = _OF_MARGINS[found.lastgroup or "gross"]
        return Share(part=f"{before}{part}{behind}", whole=f"{before}revenue{behind}", may_be_negative=True)
    share = _SHARE.search(question)
    if share is None or margins:
        return None
    whole, part = share["whole"] or share["ganzes"], share["part"] or share["teil"]
    rest = share["rest"] or share["behind"] or ""
    # a part that is no measure by itself is a row below the whole: `Services` below `Net sales`
    if find_said_labels(part):
        return Share(part=f"{part}{rest}", whole=f"{whole}{rest}")
    return Share(part=f"{part} {whole}{rest}", whole=f"{whole}{rest}", own=find_stems(part) - find_stems(whole))


def asks_for_part(question: str) -> bool:
    """Returns whether a question wants a part in percent, so that an amount is no answer."""
    return _PART.search(question) is not None


def split_measures(question: str) -> Sequence[str]:
    """Returns a question for each of two measures that are joined: "revenue and net income of Q1"; else the question.

    Both have to be known measures, and not names of one.
    """
    words = [(word.start, word.end) for word in split_words(question[:_LONGEST])]
    for joint in _AND.finditer(question[:_LONGEST]):
        before = [place for place in words if place[1] <= joint.start()][-_MOST_WORDS:]
        behind = [place for place in words if place[0] >= joint.end()][:_MOST_WORDS]
        starts = [start for start, _ in before if _is_measure(question[start : joint.start()])]
        ends = [end for _, end in behind if _is_measure(question[joint.end() : end])]
        if not starts or not ends:
            continue
        first, second = question[min(starts) : joint.start()], question[joint.end() : max(ends)]
        if find_said_labels(first) & find_said_labels(second):
            continue
        head, tail = question[: min(starts)], question[max(ends) :]
        return f"{head}{first}{tail}", f"{head}{second}{tail}"
    return (question,)


def _is_measure(text: str) -> bool:
    """Returns whether a text is one known measure and nothing else."""
    stems = tuple(word.stem for word in split_words(text))
    found = find_other_words(text)
    return len(found) == 1 and found[0].said == stems and not find_marks(text)
