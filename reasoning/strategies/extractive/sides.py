"""The sides of a question about several named things: `Compare the revenue of Norwick and Belvane` has two.

Passages of one side seldom name the other, so each side is searched by a question of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.passage_context.tables import is_date
from core.text.lead_in import find_rest
from core.text.name_spans import NameSpan, find_names
from core.text.periods import find_quarters

_LONGEST = 1000
"""Characters of a question that is split; a longer question tells a story."""
_MOST = 5
"""Sides of a question; more names are a list that is searched as a whole."""
_JOINS = re.compile(
    r"(?:['’]s?)?(?:,|,?\s(?:and|or|vs\.?|versus|und|oder|et|ou|y|o)(?=\s)|\s?&)\s+((?:[\w'’-]{1,30}\s){0,4})",
    re.IGNORECASE,
)
"""What joins two sides, and the words before the second name: `Alien or the director of Jaws`."""
_SMALL = frozenset(
    {"the", "a", "an", "of", "in", "by", "at", "for", "from", "with", "on", "to", "der", "die", "das", "dem", "den"}
    | {"des", "ein", "eine", "von", "vom", "bei", "mit", "im", "le", "la", "les", "de", "du", "un", "une", "chez"}
    | {"avec", "el", "los", "las", "del"}
)
_CHOICE = re.compile(r"\s(?:or|oder|ou|o)\s", re.IGNORECASE)
"""What joins the last two sides of a choice, which a comma parts from the question: `in Switzerland, Rex or Bello?`"""
_TOGETHER = re.compile(r"\b(?:between|zwischen|entre)\s(?:\w{1,20}\s){0,2}\Z", re.IGNORECASE)
"""Behind it stand the two parties of one document."""
_COMPARED = re.compile(r"\b(?:differ|compar|vergl|unterschied|différen|diferen)\w{0,10}\b", re.IGNORECASE)
_COMPARE = re.compile(r"\A(?:please )?compare (?=(?:the|its|their) )", re.IGNORECASE)
"""What of one side there is to ask: `Compare the revenue of A and B` asks what the revenue of A was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """The question of each side by the side's name, in order. `joined` are the names as the question joins them."""

    questions: Mapping[str, str]
    joined: str


def split_sides(question: str) -> Sides | None:
    """Returns the sides of a question; None if it is about one thing.

    The sides are names with "and", "or" or a comma between them. What stands before and after them is a part of each
    side's question, and so is the lead-in. `joined` may be one name: `Thelma and Louise`.
    """
    if len(question) > _LONGEST:
        return None
    start = find_rest(question)
    joined: list[NameSpan] = []
    for name in find_names(question):
        if name.start < start or is_date(name.form):
            continue
        if joined and _are_joined(question, joined[-1], name):
            joined.append(name)
        elif _are_sides(question, joined):
            break
        else:
            joined = [name]
    if len(joined) > 2 and _CHOICE.search(question, joined[-2].end, joined[-1].start):
        joined = joined[0 if question[: joined[0].start].rstrip().endswith((",", ":")) else 1 :]
    if not _are_sides(question, joined):
        return None
    before, after = question[: joined[0].start], question[joined[-1].end :]
    verb = "is" if find_quarters(question) is None else "was"  # each side's report has a value of the quarter
    before = _COMPARE.sub(f"What {verb} ", before)
    return Sides(
        questions={name.form: f"{before}{_write(question, name, joined[-1])}{after}" for name in joined},
        joined=question[joined[0].start : joined[-1].end],
    )


def _write(question: str, name: NameSpan, last: NameSpan) -> str:
    """Returns a name as the question has it, with its `'s`, which may belong to it, unless this is behind the last."""
    is_followed = name is not last and question.startswith(("'s", "’s"), name.end)
    return question[name.start : name.end + 2 * (is_followed and not question.startswith(("'s", "’s"), last.end))]


def _are_joined(question: str, first: NameSpan, second: NameSpan) -> bool:
    joins = _JOINS.fullmatch(question, first.end, second.start)
    if joins is None:
        return False
    earlier = set(question[: first.start].casefold().split())
    return all(word in _SMALL or word in earlier for word in joins[1].casefold().split())


def _are_sides(question: str, names: list[NameSpan]) -> bool:
    if not 1 < len({name.form for name in names}) <= _MOST:
        return False
    between = question[names[-2].end : names[-1].start]
    if between.strip().startswith(",") and len(between.split()) == 1:
        return False  # a place or an apposition: "in Ulm, Bavaria"
    return _TOGETHER.search(question[: names[0].start]) is None or _COMPARED.search(question) is not None
