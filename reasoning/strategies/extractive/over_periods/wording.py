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

_WHO = r"(?P<who>[^?,]{2,60}?)"
_PROFIT = r"(?:profit|loss)(?: or (?:an? )?(?:profit|loss))?"
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
    (re.compile(r"\bsales figures?\b", re.IGNORECASE), "revenue"),
    (re.compile(r"\b(?:total|overall) sales\b(?! (?:tax|volume|force|staff))", re.IGNORECASE), "total revenue"),
    (re.compile(r"\b(?:stock levels?|levels? of stocks?|stocks? of goods)\b", re.IGNORECASE), "inventories"),
    (re.compile(r"\bby (?:what|which|how many) (?:percentage|percent)\b", re.IGNORECASE), "by how much"),
    (re.compile(r"\bum wie ?viel prozent\b", re.IGNORECASE), "wie"),
    (
        re.compile(
            rf"\A(?:did|does|has|have) {_WHO} (?:make|made|report|reported|post|posted|record|recorded|book|booked|turn"
            rf"|turned) (?:an? |any )?(?:net |overall )?{_PROFIT}\b(?! (?:before|from|on|per|of|after|margin|warning))",
            re.IGNORECASE,
        ),
        r"What was the net income of \g<who>",
    ),
    (
        re.compile(
            rf"\A(?:is|was|were|has|have) {_WHO} (?:been )?(?:profitable|unprofitable|loss-making)\b", re.IGNORECASE
        ),
        r"What was the net income of \g<who>",
    ),
    (
        re.compile(rf"\AHat {_WHO} (?:einen )?(?:Gewinn|Verlust) (?:gemacht|erzielt|erwirtschaftet)\b", re.IGNORECASE),
        r"Wie hoch war der Nettogewinn von \g<who>",
    ),
    (re.compile(rf"(?<=\bhow much ){_PROFIT}(?= (?:did|does|has|have|was) )", re.IGNORECASE), "net income"),
    (re.compile(r"\bnet loss(?:es)?\b(?! ratio)", re.IGNORECASE), "net income"),
)
"""What people say, and what rows are called. A turnover of staff is another thing, and a loss is a negative income."""
_MARGIN = re.compile(
    r"\b(?:(?P<gross>gross (?:profit margins?|margins (?=quarter)|margin (?:percentages?|percent|rates?|ratios?|in %"
    r"|in percent)))|(?P<operating>(?:operating|EBIT)(?: profit| income)?[ -]margins?|EBIT-Margen?|operativen? Margen?)"
    r"|(?P<net>net (?:profit |income )?margins?|Nettomargen?|Umsatzrenditen?)"
    r"|(?P<adjusted>(?:adjusted|underlying|bereinigte[nrs]?) EBITD?A[ -]mar(?:gins?|gen?))"
    r"|(?P<ebitda>EBITDA[ -]mar(?:gins?|gen?))|(?P<ebita>EBITA[ -]mar(?:gins?|gen?))"
    r"|(?P<cash>free[ -]cash[ -]flow margins?)"
    r"|(?P<roh>Bruttomargen?|Rohertragsmargen?))(?: percentages?| in percent| in Prozent)?(?!\w)",
    re.IGNORECASE,
)
_BARE_MARGIN = re.compile(r"\bgross margins?\b(?! (?:percent|rate|ratio|in (?:percent|%)))", re.IGNORECASE)
_OF_MARGINS = {
    "gross": "gross profit",
    "operating": "operating income",
    "net": "net income",
    "adjusted": "adjusted EBITDA",
    "ebitda": "EBITDA",
    "ebita": "EBITA",
    "cash": "free cash flow",
    "roh": "Bruttoergebnis",
}
_REST = (
    r"(?P<rest>(?:,? (?:in|for|over|during|im) (?:the |each |every )?"
    r"(?:Q[1-4]\b|first|second|third|fourth|[1-4]\.|jede|quarter|\d{4})[^?]{0,60})?)"
)
_OF = r"\b(?:what|which) (?:percentage|percent|share|proportion|fraction|portion) of (?P<whole>[^?]{2,80}?) "
_END = r"\s?\??\s?\Z"
_MAKE_UP = r"(?:make up|account for|represent|contribute|generate|constitute|comprise|bring in|produce|deliver)"
_GIVEN = (
    r"(?:generated|contributed|produced|earned|brought in|made|driven|provided|delivered|accounted for|represented)"
)
_SHARES = (
    re.compile(
        rf"{_OF}(?:is|are|was|were) (?:{_GIVEN} (?:by|from|through|with)|derived from|attributable to|due to|made up of"
        rf"|made up by|spent on|invested in|used for) (?P<part>[^?]{{2,60}}?){_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_OF}(?:comes?|came|stems?|stemmed|results?|resulted|derives?|derived|originates?|originated) from "
        rf"(?P<part>[^?]{{2,60}}?){_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_OF}(?:is|are|was|were|does|do|did) (?P<part>[^?]{{2,60}}?)(?: {_MAKE_UP})?{_REST}{_END}", re.IGNORECASE
    ),
    re.compile(
        r"\b(?:what|which) (?:percentage|share|proportion|fraction|portion) (?:does|do|did) (?P<part>[^?]{2,60}?) "
        rf"(?:contribute|have|hold|make up|account for|represent) (?:to|of|in|for) (?P<whole>[^?]{{2,80}}?)"
        rf"{_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bwhat (?:is|are|was|were) (?P<part>[^?]{2,60}?)(?:['’]s?)? (?:percentage |percent )?"
        rf"(?:share|proportion|percentage|contribution) (?:of|to|in) (?P<whole>[^?]{{2,80}}?){_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:what|how (?:much|high|large)) (?:is|are|was|were) (?P<part>[^?]{2,60}?),? (?:expressed |measured )?"
        rf"as (?:a|an) (?:share|percentage|percent|proportion|fraction) of (?P<whole>[^?]{{2,80}}?){_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bhow much of (?P<whole>[^?]{{2,80}}?) (?:(?:is|are|was|were) {_GIVEN} by|comes? from|came from) "
        rf"(?P<part>[^?]{{2,60}}?)(?:,? (?:in percent|in %|as a percentage))?{_REST}{_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:wie ?viel prozent|welche[nr]? anteil) (?:der|des|vom|am|von) (?P<whole>[^?]{2,80}?) "
        r"(?:entfallen auf|entfällt auf|entfielen auf|entfiel auf|(?:kommen|kommt|kamen|kam|stammen|stammt|stammten"
        r"|stammte) (?:aus|von)|erwirtschaftet(?:e|en)?|erzielt(?:e|en)?|mach(?:t|en|te|ten)|hat(?:te|ten)?|haben"
        rf"|sind|ist|waren|war) (?P<part>[^?]{{2,60}}?)(?: aus)?{_REST}{_END}",
        re.IGNORECASE,
    ),
)
"""Questions for a share, the most exact first: of several that match, the first counts."""
_COMPARE = r"(?:compare[ds]? (?:to|with|against)|measure up (?:to|against)|stack up against)"
_BESIDE = (
    r"(?:relative to|versus|vs\.?|against|compared (?:to|with)|in relation to|in comparison (?:to|with)"
    r"|in proportion to|im Verhältnis zu[mr]?|im Vergleich zu[mr]?|verglichen mit|gemessen am?)"
)
_COMPARISONS = (
    re.compile(
        rf"\bhow (?:does|do|did|is|are|was|were) (?P<part>[^?]{{2,80}}?) {_COMPARE} (?P<whole>[^?]{{2,60}}?){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:what|how (?:much|high|large)|wie (?:hoch|groß)) (?:is|are|was|were|ist|sind|war|waren) "
        rf"(?P<part>[^?]{{2,80}}?) {_BESIDE} (?P<whole>[^?]{{2,60}}?){_END}",
        re.IGNORECASE,
    ),
    re.compile(rf"\Acompare (?P<part>[^?]{{2,80}}?) (?:to|with|against) (?P<whole>[^?]{{2,60}}?){_END}", re.IGNORECASE),
)
"""Questions that compare two measures."""
_OF_TIME = (
    r"(?:the |its |their |dem |der |den |le |la )?(?:fiscal )?"
    r"(?:Q[1-4]|(?:first|second|third|fourth)[ -]quarter|[1-4]\. ?quartal|(?:erste|zweite|dritte|vierte)[nsmr]? quartal"
    r"|quartal [1-4])(?:,? ?/?(?:of |des jahres )?(?:the )?(?:fiscal )?(?:year )?(?:FY ?)?(?:19|20)\d\d)?"
    r"|(?:the |its |their |dem |der |den )?(?:most recent|latest|newest|same|that|this"
    r"|(?:neueste|jüngste|aktuelle)[nmrs]?) (?:fiscal |reported |quarterly |annual )?"
    r"(?:quarter|period|report|filing|year|10-[KQ]|Quartal|Bericht|Jahr|Zeitraum|Quartalsbericht)"
    r"|(?:the )?(?:fiscal |year |fiscal year |FY ?|Geschäftsjahr )?(?:19|20)\d\d(?![\d.,]\d)"
)
_WHEN = re.compile(
    rf"(?:,? ?\b(?:in|for|during|as of|im|für|des|of)\b ?)(?P<when>{_OF_TIME})"
    r"(?: (?:10-[KQ]|reports?|filings?|Quartalsbericht))?(?!\w)(?:,(?= ))?",
    re.IGNORECASE,
)
"""The period that a question asks about, wherever it stands."""
_SAME = re.compile(r"\b(?:same|that|this)\b", re.IGNORECASE)
_DETERMINERS = re.compile(
    r"\A(?:(?:the|its|their|our|total|overall|whole|die|den|das|der|dem|des|(?:seine|ihre)[nmrs]?"
    r"|(?:the )?company['’]s)\s){1,3}",
    re.IGNORECASE,
)
_OWNER = re.compile(r"\A((?:the )?[^\s,]{1,40}(?: [^\s,]{1,40}){0,2}?['’]s?) (?=\S)", re.IGNORECASE)
_KIND_OF_PART = re.compile(
    r"(?:\s(?:reportable |reporting |operating |business |product )?(?:segment|division|business(?: unit)?|unit|market"
    r"|category|product line|sparte|segments|bereich))\Z"
    r"|\A(?:segment|geschäftsbereich|sparte|bereich|division|geschäftsfeld)\s",
    re.IGNORECASE,
)
"""What kind of part a name is of: "the Services segment"."""
_ROWS_OF_PARTS = re.compile(
    r"\A(?P<head>[^?]{1,160}?\b(?:of|for|in|from|by|von|der|des|für) (?:(?:the|its|their|die|den) )?"
    r"(?:[^\s,?]{1,40}(?: [^\s,?]{1,40})?['’]s? )?)"
    r"(?P<first>[^\s,?]{1,40}(?: [^\s,?]{1,40}){0,3}?),? (?:and|und) (?:(?:the|its|their) )?"
    r"(?P<second>[^\s,?]{1,40}(?: [^\s,?]{1,40}){0,3}?) "
    r"(?P<kind>segments|divisions|businesses|business units|units|markets|categories|product lines|lines of business)"
    r"(?P<tail>[^?]{0,80}\??)\Z",
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
    are words that the label of the part has; an empty set if the part is a known measure. `is_comparison`: both are
    known measures that the question compares, and the first may be more than the second.
    """

    part: str
    whole: str
    may_be_negative: bool = False
    own: frozenset[str] = frozenset()
    is_comparison: bool = False


def say_as_rows(question: str) -> str:
    """Returns the question in the words of rows: `turnover` is `revenue`, and `stock levels` are `inventories`."""
    for pattern, words in _AS_ROWS:
        question = pattern.sub(words, question)
    return question


def find_bare_margin(question: str) -> Share | None:
    """Returns the two questions whose values make the gross margin that a question asks for, which some reports tell as
    an amount in a row of its own; None if it asks for none.
    """
    percentage = _BARE_MARGIN.sub("gross margin percentage", question)
    return find_share(percentage) if percentage != question else None


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
    if margins:
        return None
    body, rest = _move_period(question)
    share = _search(_SHARES, body)
    if share is None:
        return None
    rest = f"{share['rest']}{rest}"
    part, whole = _DETERMINERS.sub("", share["part"]), share["whole"]
    if (owner := _OWNER.match(part)) and not find_said_labels(owner[1]):
        part = part[owner.end() :]
        whole = whole if owner[1] in whole else f"{owner[1]} {whole}"
    # a part that is no measure by itself is a row below the whole: `Services` below `Net sales`
    if find_said_labels(part):
        return Share(part=f"{part}{rest}", whole=f"{whole}{rest}")
    part = _KIND_OF_PART.sub("", part)
    return Share(part=f"{part} {whole}{rest}", whole=f"{whole}{rest}", own=find_stems(part) - find_stems(whole))


def find_comparison(question: str) -> Share | None:
    """Returns the two questions of a comparison of two known measures of one period: "How did operating expenses
    compare to its revenue in Q1 2023?"; None for another question.
    """
    if len(question) > _LONGEST:
        return None
    body, rest = _move_period(question)
    found = _search(_COMPARISONS, body)
    if found is None:
        return None
    first, second = found["part"], _DETERMINERS.sub("", found["whole"])
    if not _is_measure(second) or not find_said_labels(first) or find_said_labels(first) & find_said_labels(second):
        return None
    return Share(part=f"{first}{rest}", whole=f"{second}{rest}", is_comparison=True)


def _search(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    """Returns the match of the first pattern that matches."""
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def _move_period(question: str) -> tuple[str, str]:
    """Returns the question without the period that it asks about, and the period, to be put behind a measure: `For Q3
    2023, what share …`. A question with two different periods stays.
    """
    periods = {found["when"].lower(): found[0].strip(" ,") for found in _WHEN.finditer(question)}
    named = [found for when, found in periods.items() if not _SAME.search(when)]
    if len(named) != 1:
        return question, ""
    return " ".join(_WHEN.sub(" ", question).split()).replace(" ?", "?"), f" {named[0]}"


def split_parts(question: str) -> Sequence[str]:
    """Returns a question for each of two parts that are joined: "sales of its gaming and automotive segments"; else the
    question.
    """
    found = _ROWS_OF_PARTS.match(question) if len(question) <= _LONGEST else None
    if found is None:
        return (question,)
    return tuple(f"{found['head']}{found[name]}{found['tail']}" for name in ("first", "second"))


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
