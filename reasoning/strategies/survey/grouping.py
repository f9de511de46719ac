"""What a question groups by: `per supplier`, `in more than two contracts`, `par fournisseur`.

The rest of the question is what a survey without groups would be asked.
"""

import re
from dataclasses import dataclass

from core.text.terms import split_words
from reasoning.strategies.survey.word_forms import find_number

PERIODS = {
    name: period
    for period, names in {
        "year": "year jahr an année",
        "quarter": "quarter quartal trimestre",
        "month": "month monat mois",
    }.items()
    for name in names.split()
}
"""Names of periods of time, by which documents are grouped by their dates."""
_NAME = r"[^\W\d_][\w-]{1,30}"
_TRAILING = re.compile(
    rf"(?P<comma>[,;])?\s(?:(?:grouped|listed|sorted|counted|split) )?(?P<how>by|per|for each|pro|je|nach|par)"
    rf" (?P<name>{_NAME}(?: {_NAME})?)\W{{0,3}}\Z"
)
_LEADING = re.compile(
    rf"\A\W{{0,3}}(?:for each|per|pro|je|für jede[ns]?) (?P<name>{_NAME}(?: {_NAME})?),\s", re.IGNORECASE
)
_GROUP_NAMES = frozenset(
    word.stem
    for word in split_words("""
        supplier vendor customer client country state city law party currency author status company firm department
        region category kind type project product language owner court site plant machine line team person
        source origin gender race brand carrier
        Lieferant Kunde Land Stadt Firma Abteilung Art fournisseur client pays ville société
    """)
)
"""Stems of nouns that `by` groups by, and which do nothing to the documents: "by year", unlike "by engineers"."""
_PARTICIPLE = re.compile(r"(?:ed|en|id|ade|ght|nt|old)\Z")
_COUNT = r"\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|fünf"
_MEMBERSHIP = re.compile(
    rf"\A\W{{0,3}}(?:which|what|how many|welche) (?P<name>{_NAME}(?: {_NAME})?)"
    r" (?:are|is|appear|appears|occur|occurs|stand|stands|have|has|sent|signed|issued|sind|stehen|haben)"
    r"(?: named| listed| part)?(?: in| on| of| auf)?"
    r"(?: (?P<words>more than|over|at least|fewer than|less than|at most|exactly|mehr als|mindestens|höchstens))?"
    rf" (?P<number>{_COUNT}) (?P<rest>\S.{{0,1000}})\Z",
    re.IGNORECASE | re.DOTALL,
)
_LEAST_WORDS = {"more than": 1, "over": 1, "mehr als": 1, "at least": 0, "mindestens": 0, "exactly": 0}
_MOST_WORDS = {"fewer than": -1, "less than": -1, "at most": 0, "höchstens": 0, "exactly": 0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Grouping:
    """What documents are grouped by, as it is written. Groups count that have at least `least` documents, and at most
    `most`; None is no bound. `stems` are the stems of the name. `counted` is what
    the question calls the groups, if it counts them.
    """

    name: str
    least: int | None = None
    most: int | None = None
    counted: str = ""

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in split_words(self.name))

    @property
    def period(self) -> str:
        """`year`, `quarter` or `month`, '' if documents are not grouped by dates."""
        name = self.name.casefold()
        return PERIODS.get(name) or PERIODS.get(name.removesuffix("s"), "")

    def counts(self, documents: int) -> bool:
        return (self.least is None or documents >= self.least) and (self.most is None or documents <= self.most)


def read_grouping(text: str) -> tuple[Grouping | None, str]:
    """Returns what the question groups by, if it says so, and the question without it."""
    if leading := _LEADING.match(text):
        return Grouping(name=leading["name"]), text[leading.end() :]
    found = _TRAILING.search(text)
    if found is None:
        return None, text
    if found["how"] in {"by", "nach", "par"} and not _is_grouped_by(found, text):
        return None, text
    return Grouping(name=found["name"]), text[: found.start()]


def _is_grouped_by(found: re.Match[str], text: str) -> bool:
    """Returns whether `by` groups, and does not name who did something: "signed by firms"."""
    name = found["name"]
    if name.casefold() in PERIODS:
        return True
    if found["how"] == "by" and name != name.casefold():
        return False
    known = {word.stem for word in split_words(name)} <= _GROUP_NAMES
    did = _PARTICIPLE.search(text[: found.start()]) is not None
    return bool(found["comma"]) or (known and not did and not name.endswith("s"))


def read_membership(text: str) -> tuple[Grouping | None, str]:
    """Returns what `Which suppliers are in more than two contracts?` groups by, and the documents that it names
    (`contracts?`).
    """
    found = _MEMBERSHIP.match(text)
    if found is None:
        return None, text
    number = int(
        find_number(found["number"]) or {"zwei": 2, "drei": 3, "vier": 4, "fünf": 5}[found["number"].casefold()]
    )
    words = (found["words"] or "at least").casefold()
    least, most = _LEAST_WORDS.get(words), _MOST_WORDS.get(words)
    grouping = Grouping(
        name=found["name"],
        least=None if least is None else number + least,
        most=None if most is None else number + most,
    )
    return grouping, found["rest"]
