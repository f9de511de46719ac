"""Periods: whether a question asks how a value goes over several of them, and which period the name of a column says.

"How has revenue changed over time?" wants a value of each report, and "in Q3 2023" wants the value of one. Columns are
named `Three Months Ended July 1, 2023`, `31.12.2024`, `2023` or `Q2 2024`. English, German and French.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from core.text.titles import asks_for_older, find_wanted_marks, order_of_marks

_LONGEST = 1000
"""Characters of a question that are read; a longer question tells a story."""
_PERIODS = (
    r"(?:quarters|periods|years|months|reports|filings|versions|editions|releases|10-[KQ]s"
    r"|Quartalen?|Zeiträumen?|Perioden|Jahren?|Monaten?|Berichten?|Versionen|Fassungen|Ausgaben"
    r"|trimestres|périodes|années|exercices|rapports|versions|éditions|mois|ans)"
)
_OVER = re.compile(
    r"\b(?:over|across|during|through|throughout|between|in|for|from|to|with|of|against|than|among|per"
    r"|über|während|in|im|zwischen|mit|von|den|gegenüber|aller?|der"
    r"|sur|pendant|durant|entre|dans|pour|aux?|des|ces|cours des|cours de ces)\s"
    r"(?:(?:the|these|those|all|its|their|our|each|of|several|four|three|two|last|past|reported|reporting|previous|prior"
    r"|earlier|preceding|fiscal|quarterly|annual|recent|different|various|successive|consecutive|disclosed|available|new"
    r"|die|den|der|diese[nr]?|alle[nr]?|letzten|vergangenen|früheren|vorigen|berichteten|einzelnen|verschiedenen"
    r"|les|ces|des|ses|tous|toutes|différent[e]?s|derni[eè]re?s)\s){0,4}" + _PERIODS + r"\b"
    r"|\bover time\b|\b(?:each|every|per) (?:report(?:ed|ing) |fiscal )?(?:quarter|period|year|month|report|version)\b"
    r"|\b(?:quarter|year|month|period|version)[ -](?:by|on|over|to|after)[ -](?:quarter|year|month|period|version)\b"
    r"|\bfrom (?:one|each) (?:quarter|year|month|period|report|version|edition) to\b|\b(?:the )?reporting period\b"
    r"|\bim (?:zeitverlauf|laufe? der (?:zeit|jahre|quartale|monate))\b|\bvon (?:quartal|jahr|monat) zu\b"
    r"|\b(?:jedes|pro|je|jedem) (?:quartal|jahr|monat|bericht|zeitraum)\b"
    r"|\büber die (?:zeit|jahre|quartale|versionen)\b"
    r"|\bau (?:fil|cours) d(?:u temps|es)\b"
    r"|\bd['’]un(?:e)? (?:trimestre|année|période|exercice|rapport|version) à(?: l['’]autre)?\b"
    r"|\b(?:chaque|par) (?:trimestre|année|période|exercice|mois|version)\b",
    re.IGNORECASE,
)
"""Periods that the question is about, all of them together."""
_GOES = re.compile(
    r"\b(?:has|have|had|did|does|do|is|are|was|were)\s(?:[^\s?.]{1,40}\s){1,12}"
    r"(?:changed?|evolved?|develop(?:ed)?|trend(?:ed|ing)?|fluctuat(?:ed?|ing)|var(?:y|ied)|mov(?:ed?|ing)|risen|rise"
    r"|grow[n]?|fallen|fall|increased?|decreased?|declined?|shift(?:ed)?|progress(?:ed)?)\b"
    r"|\b(?:trends?|trajectory|evolution|development|course|history|movement|progression)\s"
    r"(?:be\s|can\s)?(?:of|in|for|identified)\b|\btrends?\b"
    r"|\b(?:hat|haben)\ssich\b[^?]{0,200}\b(?:entwickelt|verändert|geändert|bewegt)\b"
    r"|\b(?:entwickelte|veränderte|änderte)n?\ssich\b|\b(?:entwicklung|verlauf)\s(?:de[rs]|von)\b"
    r"|\b(?:ist|sind)\b[^?]{0,200}\b(?:gestiegen|gesunken|gefallen|gewachsen)\b"
    r"|\b(?:évolué|évoluent|évolue|changé|varié|progressé|augmenté|diminué|baissé|fluctué)e?s?\b"
    r"|\bévolution\s(?:d[eu]|des)\b|\btendances?\b",
    re.IGNORECASE,
)
"""How a value goes; a change may also be asked of one report, so only a family of documents or a table decides."""
_FROM_TO = re.compile(
    r"\b(?:from|between|von|vom|zwischen|de|entre|depuis)\s[^?]{1,60}?(?:\b(?:to|and|until|through|till|bis|und|à|et|au)\s|–)",
    re.IGNORECASE,
)
_THROUGH = re.compile(r"\s?(?:to|through|until|till|bis|jusqu['’]à|–|—|-)\s?", re.IGNORECASE)
"""Between two quarters, all of which are meant: `Q1–Q4 2023`."""
_UNTIL = re.compile(r"\b(?:until|bis|depuis)\b", re.IGNORECASE)
"""Alone, "until 2024" asks for what was before."""
NO_END = "9999"
"""The newest year of "since 2021"."""
_SINCE = re.compile(
    r"\b(since|after|seit|nach|depuis|après)\s(?:(?:the|fiscal|year|dem|jahr|l['’]année|l['’]exercice)\s){0,2}"
    r"((?:19|20)\d\d)(?![\d.,-]\d|\d)",
    re.IGNORECASE,
)
_QUARTERS_OF = re.compile(
    r"\b(?:quarters|months|(?:each|every|which|what) (?:fiscal )?(?:quarter|month)|Quartalen?|Monaten?"
    r"|(?:jede|welche)[ms] (?:Quartal|Monat)|trimestres|quel (?:trimestre|mois)|mois)\s"
    r"(?:of|in|von|des Jahres|im Jahr|de|d['’])\s?"
    r"(?:fiscal\s|year\s){0,2}"
    r"((?:19|20)\d\d)(?![\d.,-]\d|\d)",
    re.IGNORECASE,
)
"""All parts of one year: "the four quarters of 2025", or one of them: "in which quarter of 2025 …"."""
_COURSE = re.compile(
    r"\b(?:over|during|throughout|across|in the course of|im (?:Laufe?|Verlauf)(?: des Jahres| von)?"
    r"|über das Jahr|während(?: des Jahres)?|au cours de|pendant|durant)\s"
    r"(?:(?:the|fiscal|year|l['’]année|l['’]exercice)\s){0,3}((?:19|20)\d\d)(?![\d.,/-]\d|\d)",
    re.IGNORECASE,
)
"""A year in whose course a value went up and down: "has developed over 2025"."""
_AFTER = frozenset({"after", "nach", "après"})
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("two zwei deux", "three drei trois", "four vier quatre", "five fünf cinq", "six sechs", "seven sieben sept",
         "eight acht huit", "nine neun neuf", "ten zehn dix"),
        start=2,
    )
    for word in words.split()
}  # fmt: skip
_NEWEST = re.compile(
    rf"\b(?:(?:last|past|letzten|vergangenen)\s(?P<count>{'|'.join(_NUMBERS)}|\d{{1,2}})"
    rf"|(?P<number>{'|'.join(_NUMBERS)}|\d{{1,2}})\sderni[eè]re?s)\s(?:(?:fiscal|reported|full)\s)?(?P<of>{_PERIODS})\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?:which|what) (?:of the )?(?:fiscal |reported |reporting )?(?:quarter|period|year|month|report)s?\b"
    r"|\bwhen (?:was|were|did)\b|\bwelche[mnrs]? (?:Quartal|Zeitraum|Jahr|Monat|Bericht)\b|\bwann war(?:en)?\b"
    r"|\bquel(?:le)? (?:trimestre|période|année|exercice|mois)\b",
    re.IGNORECASE,
)
"""Asks for a period, of several if the highest or the lowest value is wanted."""
_QUARTER = re.compile(
    r"\b(?:(?P<before>(?:19|20)\d\d)[ -])?"
    r"(?:Q(?P<number>[1-4])|(?P<word>first|second|third|fourth)[ -]quarter|(?P<digit>[1-4])\. ?quartals?"
    r"|(?P<wort>erste|zweite|dritte|vierte)[nsmr]? quartals?|quartal (?P<behind>[1-4]))\b"
    r"(?:,? ?/?(?:of |des jahres )?(?:the )?(?:fiscal )?(?:year )?(?:FY ?)?(?P<year>(?:19|20)\d\d)(?!\d|[.,]\d))?",
    re.IGNORECASE,
)
_NUMBER_OF_QUARTER = {
    word: str(number)
    for number, words in enumerate(("first erste", "second zweite", "third dritte", "fourth vierte"), start=1)
    for word in words.split()
}
_PRIOR_YEAR = re.compile(
    r"\b(?:year[ -](?:over|on)[ -]year|yoy|y/y|(?:prior|previous|last|preceding)[ -]year(?:['’]s)?(?:[ -]quarter)?"
    r"|(?:same|corresponding|comparable) (?:quarter|period) (?:of |in )?(?:the |a )?"
    r"(?:(?:prior|previous|last|preceding)[ -]year|year (?:before|earlier|ago))"
    r"|(?:a |one )?year (?:earlier|ago|before)|year-ago(?: quarter| period)?|vorjahr[^\W\d_]{0,12}"
    r"|(?:même trimestre de )?l['’]année précédente)(?!\w)",
    re.IGNORECASE,
)
"""Compares a quarter with the same quarter of the year before."""
_SEQUENTIAL = re.compile(
    r"\b(?:sequential(?:ly)?|quarter[ -](?:over|on|to)[ -]quarter|qoq|q/q|(?:prior|previous|preceding)[ -]quarter"
    r"|vorquartal[s]?|trimestre précédent)(?!\w)",
    re.IGNORECASE,
)
"""Compares a quarter with the quarter before."""
_MOST_QUARTERS = 8
"""Names of quarters in a question; a question with more is a list."""
_QUARTERS_A_YEAR = 4
_YEARS = ("year", "jahr", "ann", "ans", "exerc")
_EXPLAINS = re.compile(
    r"\s*(?:(?:what|which)\b[^?]{0,60}\b(?:factors|reasons?|drivers?|causes?|caused|drove|role|impact|risks?|policies)\b"
    r"|why\b|warum\b|weshalb\b|wieso\b|pourquoi\b|summari[sz]e\b|explain\b|describe\b|analy[sz]e\b|erkläre?\b|explique"
    r"|(?:welche|was)\b[^?]{0,60}\b(?:gründe|faktoren|ursachen?)\b"
    r"|quel(?:le)?s?\b[^?]{0,60}\b(?:facteurs|raisons|causes)\b)",
    re.IGNORECASE,
)
"""Who asks for reasons wants sentences."""
_EXTREMES = re.compile(
    r"\b(?:highest|lowest|peak(?:ed)?|most(?!\srecent)|(?<!at\s)least|largest|smallest|maximum|minimum|fluctuat\w{0,4}|range|best|worst"
    r"|höchste[nrs]?|niedrigste[nrs]?|größte[nrs]?|kleinste[nrs]?|schwank\w{0,6}"
    r"|plus (?:haut|bas|élevé|faible|grand|petit)e?s?|fluctué\w{0,3}|maximum|minimum)\b",
    re.IGNORECASE,
)
_MONTHS = {
    "jan": 1, "feb": 2, "fév": 2, "fev": 2, "mar": 3, "mär": 3, "apr": 4, "avr": 4, "may": 5, "mai": 5, "jun": 6,
    "juin": 6, "jul": 7, "juil": 7, "aug": 8, "aoû": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12,
    "dez": 12, "déc": 12,
}  # fmt: skip
_MONTH = r"(?P<month>jan|feb|fév|fev|mar|mär|apr|avr|may|mai|juin|jun|juil|jul|aug|aoû|sep|oct|okt|nov|dec|dez|déc)"
_YEAR = r"(?<![\d.,])(?P<year>(?:19|20)\d\d)(?![\d.,]\d|\d)"
_DATES = (
    re.compile(rf"{_YEAR}-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>\d\d))?(?!\d)"),
    re.compile(r"\b(?P<day>\d{1,2})[./](?P<number>0?[1-9]|1[0-2])[./](?P<year>(?:19|20)\d\d)\b"),
    re.compile(rf"\b{_MONTH}[^\W\d_]{{0,7}}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}", re.IGNORECASE),
    re.compile(
        rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? )?\b{_MONTH}[^\W\d_]{{0,7}}\.?,? {_YEAR}", re.IGNORECASE
    ),
    re.compile(
        rf"\b(?:Q|quarter |quartal )(?P<quarter>[1-4])(?:[ /,-]{{1,2}}| of )?(?:fiscal |FY ?)?{_YEAR}", re.IGNORECASE
    ),
    re.compile(rf"{_YEAR}[ /-]{{0,3}}(?:Q|quarter |quartal )(?P<quarter>[1-4])(?!\w)", re.IGNORECASE),
    re.compile(rf"\b(?P<quarter>[1-4])\. quartal {_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<![^\W_])(?:FY ?)?{_YEAR}(?![^\W_])"),
)
"""What a date looks like, the most exact first."""
_LENGTHS = (
    re.compile(
        r"\b(?:three[ -]months?|3[ -]months?|thirteen weeks|13 weeks|drei monaten?|3 monaten?|trois mois|3 mois)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:six[ -]months?|6[ -]months?|twenty-six weeks|26 weeks|sechs monaten?|6 monaten?|six mois|6 mois)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:nine[ -]months?|9[ -]months?|thirty-nine weeks|39 weeks|neun monaten?|9 monaten?|neuf mois|9 mois)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:twelve[ -]months?|12[ -]months?|5[23] weeks|fifty-(?:two|three) weeks|zwölf monaten?|douze mois)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:half[ -]year|first half|halbjahr|semestre)\b", re.IGNORECASE),
    re.compile(r"\b(?:quarter(?:s|ly)?|quartale?n?|trimestres?|Q[1-4])\b", re.IGNORECASE),
    re.compile(r"\b(?:(?:fiscal )?years? ended|full[ -]year|geschäftsjahr|exercice)\b", re.IGNORECASE),
)
_MONTHS_OF_LENGTHS = (3, 6, 9, 12, 6, 3, 12)


@dataclass(frozen=True, kw_only=True, slots=True)
class Newest:
    """How many of the newest periods a question asks for, "the last three years", and whether these are years."""

    count: int
    are_years: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Quarters:
    """The quarters that a question asks about, `(2025, 3)`, in the order of time.

    `is_range`: the question names the first and the last. `is_prior_year` and `is_sequential`: it names the last, and
    compares it with the same quarter of the year before, or with the quarter before.
    """

    wanted: tuple[tuple[int, int], ...]
    is_range: bool = False
    is_prior_year: bool = False
    is_sequential: bool = False

    @property
    def are_named(self) -> bool:
        """Whether the question names several, and each of them."""
        return len(self.wanted) > 1 and not (self.is_range or self.is_prior_year or self.is_sequential)


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """The last day of a period, as far as a name says it, and its months; 0 for what is not said. `name` says it."""

    year: int
    month: int = 0
    day: int = 0
    months: int = 0
    name: str = ""

    @property
    def end(self) -> tuple[int, int, int]:
        """The last day, in the order of time. A year without a month ends last."""
        return self.year, self.month or 12, self.day or 31


def asks_over_periods(question: str) -> bool:
    """Returns whether a question asks how something goes over several periods or versions. A question that names one
    period or version, asks for what was before, or asks for reasons, does not.
    """
    if len(question) > _LONGEST or _EXPLAINS.match(question):
        return False
    quarters = find_quarters(question)
    if find_range(question) is not None or (quarters is not None and len(quarters.wanted) > 1):
        return True
    if (of_year := _find_year(question)) is not None:
        question = question[: of_year.start(1)] + question[of_year.end(1) :]
    if asks_for_older(question) or find_wanted_marks(question):
        return False
    if _WHICH.search(question) is not None and asks_for_extremes(question):
        return True
    return _OVER.search(question) is not None or _GOES.search(question) is not None


def find_quarters(question: str) -> Quarters | None:
    """Returns the quarters that a question names: all of "from Q1 2024 to Q2 2025", both of "Q1 2025 with Q3 2025", and
    of "in Q3 2025 compared to the prior-year quarter" both. None if it names none, or a quarter without a year.
    """
    names = list(_QUARTER.finditer(question[:_LONGEST]))
    years = [name["year"] or name["before"] for name in names]
    if not any(years) or len(names) > _MOST_QUARTERS:
        return None
    for place in reversed(range(len(years) - 1)):  # "Q1 and Q3 2025"
        years[place] = years[place] or years[place + 1]
    if not all(years):
        return None
    wanted = sorted({(int(year), _number_of(name)) for name, year in zip(names, years, strict=True)})
    if len(wanted) == 1:
        return _with_earlier(question, wanted[0])
    between = question[names[0].end() : names[-1].start()]
    is_range = len(wanted) == 2 and (_FROM_TO.search(question) or _THROUGH.fullmatch(between)) is not None
    if is_range:
        first, last = (year * _QUARTERS_A_YEAR + quarter - 1 for year, quarter in wanted)
        wanted = [(at // _QUARTERS_A_YEAR, at % _QUARTERS_A_YEAR + 1) for at in range(first, last + 1)]
    return Quarters(wanted=tuple(wanted), is_range=is_range)


def list_quarters(text: str) -> list[tuple[int, int]]:
    """Returns each quarter that a text names with its year, as often as it does."""
    names = [name for name in _QUARTER.finditer(text) if name["year"] or name["before"]]
    return [(int(name["year"] or name["before"]), _number_of(name)) for name in names]


def _number_of(name: re.Match[str]) -> int:
    said = name["number"] or name["digit"] or name["behind"]
    return int(said or _NUMBER_OF_QUARTER[(name["word"] or name["wort"]).lower()])


def _with_earlier(question: str, quarter: tuple[int, int]) -> Quarters | None:
    """Returns a quarter and the quarter that it is compared with; None if it is compared with both."""
    year, number = quarter
    is_prior_year, is_sequential = (pattern.search(question) is not None for pattern in (_PRIOR_YEAR, _SEQUENTIAL))
    if is_prior_year and is_sequential:
        return None
    if is_prior_year:
        return Quarters(wanted=((year - 1, number), quarter), is_prior_year=True)
    if is_sequential:
        before = (year, number - 1) if number > 1 else (year - 1, _QUARTERS_A_YEAR)
        return Quarters(wanted=(before, quarter), is_sequential=True)
    return Quarters(wanted=(quarter,))


def _find_year(question: str) -> re.Match[str] | None:
    """Returns where a question says the one year over whose parts it asks, with the year as its group."""
    goes = _GOES.search(question)
    return _QUARTERS_OF.search(question) or (_COURSE.search(question) if goes else None)


def find_range(question: str) -> tuple[str, str] | None:
    """Returns the oldest and the newest mark of the years or versions that a question names: "from 2021 to 2024". None
    if it names fewer than two, or marks of several kinds.
    """
    if not _FROM_TO.search(question):
        return None
    marks = find_wanted_marks(_UNTIL.sub("and", question))
    if len(marks) < 2 or len(set(map(_kind_of, marks))) > 1:
        return None
    return min(marks, key=_order_of), max(marks, key=_order_of)


def find_bounds(question: str) -> tuple[str, str] | None:
    """Returns what `find_range` does; of "since 2021" the year and `NO_END`, of "the quarters of 2025" 2025 twice."""
    if of_year := _find_year(question):
        return of_year[1], of_year[1]
    since = _SINCE.search(question)
    if since is None:
        return find_range(question)
    return str(int(since[2]) + (since[1].lower() in _AFTER)), NO_END


def find_newest(question: str) -> Newest | None:
    """Returns how many of the newest periods a question asks for: "over the last four quarters"."""
    found = _NEWEST.search(question)
    if found is None:
        return None
    number = (found["count"] or found["number"]).lower()
    return Newest(
        count=int(number) if number.isdigit() else _NUMBERS[number], are_years=found["of"].lower().startswith(_YEARS)
    )


def is_within(marks: Collection[str], bounds: tuple[str, str]) -> bool:
    """Returns whether a document with these marks is between the oldest and the newest that `find_range` returned."""
    first, last = map(_order_of, bounds)
    return any(first <= _order_of(mark) <= last for mark in marks if _kind_of(mark) == _kind_of(bounds[0]))


def _kind_of(mark: str) -> str:
    return "year" if mark.isdigit() else mark.rstrip("0123456789.")


def _order_of(mark: str) -> tuple[tuple[int, ...], ...]:
    return order_of_marks(frozenset({mark}))


def leave_out_periods(question: str) -> str:
    """Returns the question without the words by which it asks over periods: `over the reported quarters`."""
    question = question[:_LONGEST]
    if find_quarters(question) is not None:
        question = _QUARTER.sub(" ", _SEQUENTIAL.sub(" ", _PRIOR_YEAR.sub(" ", question)))
    return _OVER.sub(" ", question)


def asks_for_extremes(question: str) -> bool:
    """Returns whether a question over periods wants the highest and the lowest value, too."""
    return _EXTREMES.search(question[:_LONGEST]) is not None


def find_months(text: str) -> int:
    """Returns how many months a period has, by a text such as `Nine Months Ended`; 0 if the text does not tell."""
    return next(
        (months for pattern, months in zip(_LENGTHS, _MONTHS_OF_LENGTHS, strict=True) if pattern.search(text)), 0
    )


def read_period(name: str) -> Period | None:
    """Returns the period that the name of a column says; None if it says none, or several."""
    for pattern in _DATES:
        found = list(pattern.finditer(name))
        if not found:
            continue
        if len(found) > 1:
            return None
        parts = found[0].groupdict()
        month = int(parts.get("number") or 0) or _MONTHS.get((parts.get("month") or "").lower(), 0)
        return Period(
            year=int(parts["year"]),
            month=month or 3 * int(parts.get("quarter") or 0),
            day=int(parts.get("day") or 0),
            months=find_months(name),
            name=name,
        )
    return None
