"""Values that no table has: the sentence of a report that tells the value of its own period.

"We had 412 employees at the end of the quarter" names no quarter, so each report is asked without the quarters. A
sentence counts if it has all words of the measure and a figure that it says of them.
"""

import re
from collections.abc import Sequence

from core.passage_context.other_words import find_other_words
from core.text.name_spans import find_names
from core.text.periods import asks_over_periods, find_quarters, leave_out_periods
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.families import quarters_of
from reasoning.strategies.extractive.over_periods.rows import find_measure_words, read_asked
from reasoning.strategies.extractive.over_periods.series import asks_for_sum
from reasoning.strategies.extractive.over_periods.single import asks_for_value
from reasoning.strategies.extractive.quoting.units import Unit
from reasoning.strategies.extractive.quoting.wording import speaks_of_outlook

SENTENCES_NOTE = (
    "Each sentence stands in the document that is named before it; no language model read whether it answers."
)
_OF_YEAR = r"(?:,? ?(?:of |in |des jahres |de )?(?:fiscal )?(?:year )?(?:FY ?)?(?:19|20)\d\d)?(?!\d)"
_QUARTER = rf"(?:the )?(?:Q[1-4]|(?:first|second|third|fourth)(?:[ -]quarter)?|[1-4]\. ?quartal){_OF_YEAR}"
_QUARTERS = re.compile(
    rf"\b(?:from|between|von|vom|zwischen|in|for)\s{_QUARTER}\s?(?:to|and|until|through|till|bis|und|–|-)\s?{_QUARTER}"
    r"|\b(?:(?:in|for|of|at the end of|am Ende)\s)?(?:each|every|all|jede[mns]|chaque)\s"
    rf"(?:(?:of the |the )?(?:two|three|four)\s)?(?:fiscal )?(?:quarters?|quartals?|trimestre){_OF_YEAR}"
    r"|\b(?:over|during|throughout|across|in the course of)\s(?:the )?(?:fiscal )?(?:year )?(?:19|20)\d\d(?!\d)"
    rf"|\b(?:in|for|at the end of|at the close of|as of the end of|am Ende des)\s{_QUARTER}",
    re.IGNORECASE,
)
_FULL_YEAR = re.compile(r"\b(?:for the )?(?:full|whole)[ -]year\b", re.IGNORECASE)
_VERB = re.compile(
    r"(\A\W{0,3}how (?:many|much) [^?]{1,80}? (?:did|does|do|has|have|had) [^?]{1,60}?) [^\W\d_]{2,20}\W{0,3}\Z",
    re.IGNORECASE,
)
"""What is done with what is counted: the stores that a company runs, or ran."""
_DATE = (
    r"(?:19|20)\d\d(?!\d|[,.]\d)|\d{1,2}\.? (?:janu|febru|march|märz|april|may\b|mai\b|june|juni|july|juli|august"
    r"|septem|octob|oktob|novem|decem|dezem|janvier|février|mars\b|avril|juin|juillet|août|décem)"
)
_FIGURE = rf"(?!{_DATE})(?:[$€£¥]|EUR |USD |GBP |CHF )? ?-?\(?\d[\d.,]{{0,20}}"
_SAYS = re.compile(
    r"\b(?:was|were|is|are|had|stood at|stands at|amount(?:ed|s) to|came to|comes to|total(?:l?ed|s)|reached|to|of"
    rf"|betrug|betrugen|lag bei|lagen bei|belief sich auf|sank auf|stieg auf|était de|s['’]élevait à|atteint)"
    rf"(?: (?:about|around|approximately|only|just|some|rund|etwa|environ))? {_FIGURE}"
    rf"|: {_FIGURE}",
    re.IGNORECASE,
)
"""What says a figure of the words before it; "rose as we paid $3 million" says it of something else."""
_NUMBER = re.compile(rf"(?<![\w.,]){_FIGURE}")
_CLAUSE = re.compile(
    r"(?:,|;)? (?:and|while|whereas|but|as|und|während|et) (?=(?:the|our|its|a|die|der|das|le|la)\b)|; "
)
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d]|[.,]\d)")
_OTHER_PERIOD = re.compile(
    r"\b(?:prior|previous|last|preceding)[ -](?:year|quarter|period)|\byear (?:earlier|ago|before|to date)\b"
    r"|\b(?:six|nine|twelve) months\b|\b(?:full|whole|half)[ -]year\b|\bvor(?:jahr|quartal)"
    r"|\b(?:sechs|neun|zwölf) Monat|\bprécédent|\b(?:six|neuf|douze) mois\b",
    re.IGNORECASE,
)
_OF_OUTLOOKS = find_stems("full outlook guidance forecast expect expectation plan target budget Ausblick Prognose")
_NO_PARTS = find_stems(
    "January February March April May June July August September October November December Januar Februar März Mai "
    "Juni Juli Oktober Dezember janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "Group Company Corporation Board Konzern Gesellschaft groupe société Q1 Q2 Q3 Q4 EUR USD GBP CHF Mio Mrd Euro"
)
_BESIDE, _COUNTED = 160, 40
"""Characters before a figure in which its measure stands, and behind a number in which stands what it counts."""


def count_reports(question: str) -> int:
    """Returns how many reports at least have to tell the value that a question asks: one for a value of one quarter,
    two for a course over quarters; 0 for any other question.
    """
    if asks_for_sum(question):
        return 0
    if asks_over_periods(question):
        return 2
    quarters = find_quarters(question)
    is_one = quarters is not None and len(quarters.wanted) == 1
    return int(is_one and asks_for_value(read_asked(question).clause))


def leave_out_course(question: str) -> str:
    """Returns a question as it is asked of one report: of "How did the toll change from Q1 to Q4 2025?" what remains is
    "How did the toll change?".
    """
    rest = leave_out_periods(_QUARTERS.sub(" ", _FULL_YEAR.sub(" ", question)))
    return " ".join(rest.split()).replace(" ?", "?")


def find_sentence(question: str, units: Sequence[Unit]) -> Unit | None:
    """Returns the first sentence that tells the value that a question asks of one report; None if none surely does, or
    if a row has the words of the measure, which may tell another value. `question` has no quarters.
    """
    asks_outlook = speaks_of_outlook(question)
    words = find_measure_words(read_asked(_VERB.sub(r"\1", question))) - _OF_OUTLOOKS
    for unit in units if words else ():
        document = unit.hit.document
        measure = words - find_stems(f"{document.title} {document.key}")
        if not measure or not measure <= _find_told(question, unit.text):
            continue
        if unit.is_row and not asks_outlook:
            return None
        if unit.is_row or speaks_of_outlook(unit.text) is not asks_outlook:
            continue
        if any(map(str.isdigit, unit.text)) if asks_outlook else _tells_figure(question, measure, unit):
            return unit
    return None


def _find_told(question: str, text: str) -> frozenset[str]:
    """Returns the stems of a text, and of the terms of the question that it says in other words."""
    stems = find_stems(text)
    others = (term.said for term in find_other_words(question) if term.is_in(stems))
    return stems | frozenset(stem for said in others for stem in said)


def _tells_figure(question: str, words: frozenset[str], unit: Unit) -> bool:
    """Returns whether a sentence says a figure of the measure, for the report's period, or counts what is measured."""
    text = unit.text
    for said in _SAYS.finditer(text):
        clause = _CLAUSE.split(text[max(0, said.start() - _BESIDE) : said.start()])[-1]
        is_told = words <= _find_told(question, clause) and not _names_part(question, clause, unit)
        if is_told and _is_of_own_period(clause, unit):
            return True
    return any(
        words <= _find_told(question, text[counted.end() : counted.end() + _COUNTED])
        and _is_of_own_period(text[: counted.start()], unit)
        and not _names_part(question, text[: counted.end() + _COUNTED], unit)
        for counted in _NUMBER.finditer(text)
    )


def _names_part(question: str, clause: str, unit: Unit) -> bool:
    """Returns whether a clause names something that neither the question names nor the document is called by, such as a
    segment: "Workboats' backlog was …". Its first word is a capital anyway.
    """
    document = unit.hit.document
    known = find_stems(f"{question} {document.title} {document.key}") | _NO_PARTS
    names = [name for name in find_names(clause) if name.start or clause[name.end : name.end + 1] in ("'", "’")]
    others = (find_stems(name.form) - known for name in names)
    return any(map(str.isalpha, "".join(stem for stems in others for stem in stems)))


def _is_of_own_period(text: str, unit: Unit) -> bool:
    """Returns whether what stands before a figure names no other year than the report's, and no longer period."""
    years = {int(year) for year in _YEAR.findall(text)}
    return not years - {year for year, _ in quarters_of(unit.hit.document)} and _OTHER_PERIOD.search(text) is None
