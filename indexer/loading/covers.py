"""Titles from covers: of a filing with a regulator, whose own title is often the name of a file (`hd-20230730`).

The cover of a filing with the SEC has the company's name above a line that says so, the number of the form, and the
period that it reports on.
"""

import re

from core.text.titles import find_marks, one_line

_COVER = 8000
"""Characters of a document in which its cover stands."""
_REGISTRANT = re.compile(
    r"([^\n]{2,120})\n(?:[ \t_-]{0,80}\n)?\s{0,80}\(?exact name of (?:the )?(?:registrant|company|issuer)s? as "
    r"(?:it )?(?:is |appears? )?(?:specified|set forth|stated|in) ",
    re.IGNORECASE,
)
_FORM = re.compile(r"\bform[\s|]{1,6}(\d{1,2}-[A-Z]{1,2}(?:/A)?)(?!\w)", re.IGNORECASE)
_DATE = r"\s{1,20}([a-z]{3,9})\.?\s{1,5}(\d{1,2}),\s{0,3}((?:19|20)\d\d)(?!\d)"
_QUARTER = re.compile(rf"\bfor the quarter(?:ly period)?[ -]ended:?{_DATE}", re.IGNORECASE)
_YEAR = re.compile(rf"\bfor the (?:fiscal )?year[ -]ended:?{_DATE}", re.IGNORECASE)
_REPORTED = re.compile(rf"\bdate of report\b[^\n]{{0,60}}:?{_DATE}", re.IGNORECASE)
_PERIODS = ((_QUARTER, "quarter ended "), (_YEAR, "year ended "), (_REPORTED, ""))
_QUARTERS = frozenset({"q1", "q2", "q3", "q4"})


def read_cover(text: str, file_name: str) -> str:
    """Returns the company, the form and the period of a filing, such as `The Home Depot, Inc. Form 10-Q, quarter ended
    July 30, 2023`; '' if the text does not begin with such a cover.

    A quarter in the file's name is told instead of the dates: the first quarter of 2023 may end in December 2022.
    """
    cover = text[:_COVER]
    registrant, form = _REGISTRANT.search(cover), _FORM.search(cover)
    name = one_line(registrant[1].replace("|", " ")).strip(" _-*") if registrant else ""
    if form is None or not any(map(str.isalpha, name)):
        return ""
    title = f"{name} Form {form[1].upper()}"
    if not _QUARTERS & find_marks(file_name):
        title += next(
            (_write_period(found, kind) for pattern, kind in _PERIODS if (found := pattern.search(cover))), ""
        )
    return tell_apart(title, file_name)


def _write_period(found: re.Match[str], kind: str) -> str:
    month, day, year = found.groups()
    return f", {kind}{month.capitalize()} {int(day)}, {year}"


def tell_apart(title: str, file_name: str) -> str:
    """Returns the title with the file's name, if that has a year, a quarter or a version that the title lacks."""
    return f"{title} ({file_name})" if title and find_marks(file_name) - find_marks(title) else title
