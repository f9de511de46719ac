"""Titles of documents: derived from a key, cleaned, as names of entities, and the versions that they tell apart.

`10-Q 2023 Q3 AAPL` and `10-Q 2022 Q3 AAPL` are a family, as are `policy-4.6.1` and `policy-4.6.2`: their names are the
same without the marks of a version, which are years, quarters and versions.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import unquote

from core.ids import entity_id
from core.text.names import normalise

_OPENING, _CLOSING = "(（", ")）"
_MARK = re.compile(
    r"(?<![^\W_])(?<!\d\.)(?:(?:version|release|revision|rev|fassung)[ ._-]{1,2})?(?:v|fy)?"
    r"((?:19|20)\d\d|q[1-4]|\d{1,2}(?:\.\d{1,3}){1,2}|\d{1,2}\.\d{1,3}\.\d{1,3}[a-z])(?![^\W_])(?!\.\d)",
    re.IGNORECASE,
)
"""A year, a quarter or a version; `2401.18059` is none."""
_MAJOR = re.compile(
    r"(?<![^\W_])(?:v|(?:version|release|revision|révision|rev|ver|fassung)[ ._-]{0,2}v?)(\d{1,3})(?![^\W_])(?!\.\d)"
    r"|(?<![^\W_])(\d{1,2})(?:st|nd|rd|th|e|\.)[ _-]{1,2}(?:edition|auflage|ausgabe|édition)(?![^\W_])",
    re.IGNORECASE,
)
"""A version of one number, which a word or a `v` tells from a plain number."""
_LETTER = re.compile(
    r"(?<![^\W_])(?:(?:revision|révision|rev|issue|ausgabe|fassung|version)(?:[ ._-]{1,2}(?-i:[A-HJ-Z])|[._-][a-hj-z])"
    r"|(?:revision|révision|rev) [b-hj-z]|rev a|(?-i:[Rr]ev[A-HJ-Z]))(?![^\W_])(?!\.\s?[^\W_])",
    re.IGNORECASE,
)
"""A revision by letter, its last character; `issue a refund`, `version I` and `Rev. J. Smith` are none."""
_AMENDMENT = re.compile(
    r"(?<![^\W_])(?:(first|second|third|fourth|erste[rnsm]?|zweite[rnsm]?|dritte[rnsm]?|vierte[rnsm]?|premier|deuxième"
    r"|troisième|quatrième|\d{1,2}(?:st|nd|rd|th|\.|e))[ ._-]{1,2})?"
    r"(?:amendment|addendum|nachtrag|änderungsvertrag|änderungsvereinbarung|zusatzvereinbarung|avenant)"
    r"(?:[ ._-]{0,2}(?:no|nr|n)?[ .°º_-]{0,2}(\d{1,2}))?(?![^\W_])(?!\.\d)"
    r"(?:[ ._-]{1,2}(?:to|of|zum|zur|zu|au|à|du)(?:[ ._-]{1,2}(?:the|dem|der|la|le))?(?![^\W_]))?",
    re.IGNORECASE,
)
_GLUED_YEAR = re.compile(r"(?<![^\W_])([^\W\d_]{3,40})((?:19|20)\d\d)(?![^\W_])")
_DESIGNATIONS = frozenset({"iso", "iec", "din", "ieee", "ansi", "astm", "nist", "rfc", "form", "room", "part", "model"})
"""Words behind which a number is a name, as in `ISO2024`."""
_GLUED_MARK = re.compile(
    r"(?<![^\W_])(?:((?:19|20)\d\d)(?=[^\W\d_]{3}|q[1-4](?!\d))|(q[1-4])(?=[^\W\d_]{3})|(v\d{1,3})(?=final|draft|entwurf))",
    re.IGNORECASE,
)
_BEFORE_MARK = re.compile(r"(?<=[a-z]{3})(?=(?:Q[1-4]|FY\d\d|V\d{1,3}|Rev[A-Z\d]|rev\d)(?![^\W_]))")
_FISCAL = re.compile(r"(?<![^\W_])fy[ '’_-]?(\d\d)(?![^\W_])", re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.])(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?(?![^\W_])(?!\.\d)")
_MONTH = re.compile(
    r"(?<![^\W_])(jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[ée]v(?:rier)?|mar(?:ch|s)?|m[äa]rz?|apr(?:il)?|avr(?:il)?"
    r"|may|mai|june?|juni|juin|july?|juli|juil(?:let)?|aug(?:ust)?|ao[ûu]t|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?"
    r"|nov(?:ember|embre)?|de[cz](?:ember)?|d[ée]c(?:embre)?)\.?[ ._-]{1,2}(?=(?:19|20)\d\d(?!\d))",
    re.IGNORECASE,
)
"""The name of a month before a year, in English, German or French."""
_MONTHS = {
    "jan": 1, "feb": 2, "fév": 2, "fev": 2, "mar": 3, "mär": 3, "apr": 4, "avr": 4, "may": 5, "mai": 5, "jun": 6,
    "jui": 7, "jul": 7, "aug": 8, "aoû": 8, "aou": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
    "déc": 12,
}  # fmt: skip
_QUARTER = re.compile(
    r"\b(?:(first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter|quarter ([1-4])"
    r"|(erste[nsmr]?|zweite[nsmr]?|dritte[nsmr]?|vierte[nsmr]?|[1-4]\.) ?quartal|quartal ([1-4])"
    r"|(premier|deuxième|second|troisième|quatrième|1er|[2-4]e) trimestre)\b",
    re.IGNORECASE,
)
_ORDINALS = (
    ("first", "erste", "premier", "1"),
    ("second", "zweite", "deuxième", "2"),
    ("third", "dritte", "troisième", "3"),
    ("fourth", "vierte", "quatrième", "4"),
)
_STATUS = re.compile(
    r"(?<![^\W_])(?:(draft|entwurf|brouillon)|(final|endfassung)|(amended(?: and restated)?|restated))(?![^\W_])",
    re.IGNORECASE,
)
_STATUSES = {"draft": -1, "final": 1, "amended": 2}
"""From the oldest to the newest; a document without a status counts 0."""
_BESIDE = re.compile(
    r"\b(since|after|before|until|prior to|seit|nach|vor|bis|depuis|après|avant)\s{1,3}"
    r"(?:(?:the\s)?(?:upgrad|updat|migrat|mov|switch)(?:ing|e|ion)\s(?:from\s\S{1,30}\s)?(?:to|of)\s"
    r"|the\srelease\sof\s|dem\s(?:umstieg|wechsel|update)\sauf\s)?"
    r"(?:(?!version|release|q[1-4])[^\W\d_]{1,20}\s)?(?:version\s|release\s)?"
    r"(?:q[1-4](?:\s(?:19|20)\d\d)?|(?:fy|v)?\d[\w.]{0,9})",
    re.IGNORECASE,
)
"""Something that begins or ends at a version is in another version."""
_UNTIL = frozenset({"before", "until", "prior to", "vor", "bis", "avant"})
_ORIGINAL = re.compile(r"\b(?:original|ursprüngliche[nrms]?|contrat initial)\b", re.IGNORECASE)
_EARLIER = re.compile(
    r"\b(?:previous|prior|earlier|preceding|past|older)\s{1,2}(?:(?:two|three|four|fiscal|quarterly|annual)\s){0,2}"
    r"(?:quarters|periods|years|reports|filings|versions|releases|editions|ones)\b"
    r"|\b(?:früheren?|früherer|vorigen|vorherigen|vorangegangenen|älteren?)\s"
    r"(?:quartalen?|berichten?|jahren?|versionen|fassungen)\b"
    r"|\b(?:trimestres|rapports|exercices|versions|éditions)\s(?:précédente?s|antérieure?s)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compar\w{1,8}|changed?|changes|trends?|trended|versus|vs|against|differ\w{0,8}"
    r"|vergl[ei]\w{1,10}|gegenüber|verändert|unterschied\w{0,4}|par rapport|changé|évolué)\b",
    re.IGNORECASE,
)
"""Who compares with earlier versions wants these, too; `the prior year` stands in the same report."""
_PLACE = re.compile(
    r"(?:\b(?:section|chapter|article|clause|paragraph|figure|table|step|page|item|abschnitt|kapitel|artikel|absatz"
    r"|ziffer|tabelle|seite|chapitre|paragraphe|tableau)s?\s{0,3}|§{1,2}\s{0,3})\d{1,4}(?:\.\d{1,4}){0,4}",
    re.IGNORECASE,
)
"""A place in a document, whose number is no version."""
_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent|currently|neueste[nrs]?|aktuell(?:ste[nrs]?)?|jüngste[nrs]?|plus récente?s?"
    r"|actuellement)\b|\b(?:now|today|jetzt|heute)\s{0,2}\?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?<![^\W_])([^\W\d_]{2,30})[ -](\d{1,3})(?![^\W_])(?!\.\d)")
_LONG = 5
"""A word of capitals that is shorter may be part of a number, such as `CR2032`."""
_DIGIT = re.compile(r"\d")
_MARK_WORDS = (
    "quarter",
    "quartal",
    "trimestre",
    "draft",
    "entwurf",
    "brouillon",
    "final",
    "endfassung",
    "amended",
    "restated",
    "rev",
    "issue",
    "ausgabe",
    "fassung",
    "version",
    "amendment",
    "addendum",
    "nachtrag",
    "änderungsv",
    "zusatzv",
    "avenant",
)
_FOLDED = str.maketrans("İıſ", "iis")
"""Letters that a pattern takes for `i` or `s`, and of which no small letter is either."""
_MOST_WANTED = 32
_LONGEST_TITLE = 300
"""Characters of a title that are read for marks."""
_NAMES_KEPT = 1 << 14
"""Names of which the family and the marks are in memory: one search after another has the same documents."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"[^\W\d_]+")
_HOST = re.compile(r"https?://([^/]{1,253})/", re.IGNORECASE)
_SUFFIX = re.compile(r"(?<=[^/])\.[A-Za-z]\w{0,4}\Z")


def one_line(title: str) -> str:
    """Returns the title with white space collapsed."""
    return " ".join(title.split())


def stem_of(key: str) -> str:
    """`reports/2024 summary.md` → `2024 summary`, and `https://host/2024%20summary.md`, too."""
    stem = PurePosixPath(key.replace("\\", "/")).stem
    try:
        decoded = unquote(stem, errors="strict")
    except UnicodeDecodeError:  # a name with a sign of percent that is not of an address
        decoded = stem
    return one_line(decoded if decoded.isprintable() and decoded.strip() else stem)


def find_name_words(key: str, title: str) -> str:
    """Returns the title and the name of the file, with white space for its signs."""
    name = key.replace("\\", "/").rpartition("/")[2]
    return f"{title}\n{name.replace('_', ' ').replace('-', ' ').replace('.', ' ')}"


def bare_title(title: str) -> str:
    """Returns the title without its final parenthesis: `Mercury (planet)` → `Mercury`. A lone parenthesis stays."""
    title = title.strip()
    if not title.endswith(tuple(_CLOSING)):
        return title
    start = max(title.rfind(character) for character in _OPENING)
    if start < 0 or any(character in title[start:-1] for character in _CLOSING):
        return title
    return title[:start].rstrip() or title


def title_names(title: str, heading: Sequence[str]) -> tuple[str, ...]:
    """Returns the entity ids of the bare title and the bare last part of the heading path, each once."""
    names = [normalise(bare_title(part)) for part in (title, *heading[-1:])]
    return tuple(dict.fromkeys(entity_id(name) for name in names if name))


def find_marks(name: str) -> frozenset[str]:
    """Returns what tells a version in a name: a year `2023`, a quarter `q3`, a month `m03`, a day `d06`, a version
    `4.6.2` or `v6`, and `draft`, `final` or `amended`.
    """
    if not _may_have_marks(name):
        return frozenset()
    name = _separate(name.translate(_FOLDED))
    marks = {f"rev-{found.group()[-1].lower()}" for found in _LETTER.finditer(name)}
    for ordinal, number in _AMENDMENT.findall(name):
        marks |= {"amendment", f"amendment-{number or _number_of(ordinal)}"}
    name = _AMENDMENT.sub(" ", name)
    marks |= {mark.lower() for mark in _MARK.findall(name)}
    marks |= {f"v{int(one or other)}" for one, other in _MAJOR.findall(name)}
    marks |= {f"m{_number_of_month(word):02}" for word in _MONTH.findall(name)}
    for year, _, month, day in _DATE.findall(name):
        marks |= {year, f"m{month}"} | ({f"d{day}"} if day else set())
    marks |= {_quarter("".join(found)) for found in _QUARTER.findall(name)}
    for found in _STATUS.findall(name):
        marks |= {status for status, word in zip(_STATUSES, found, strict=True) if word}
    return frozenset(marks)


def _separate(name: str) -> str:
    """Returns a name in which marks are words: `report2023` is `report 2023`, and `FY23` is `2023`."""
    name = _GLUED_YEAR.sub(_separate_year, _BEFORE_MARK.sub(" ", name))
    name = _GLUED_MARK.sub(lambda found: f"{found.group()} ", name)
    return _FISCAL.sub(lambda found: f"{20 if found[1] < '70' else 19}{found[1]}", name)


def _separate_year(found: re.Match[str]) -> str:
    """Returns the word and its year apart; `ISO2024` and `CR2032` stay."""
    word = found[1]
    is_sign = word.lower() in _DESIGNATIONS or (word.isupper() and len(word) < _LONG)
    return found.group() if is_sign else f"{word} {found[2]}"


def _number_of(ordinal: str) -> str:
    """Returns the number of an amendment. An amendment without an ordinal is the first."""
    digits = ordinal.strip(".stndrhe")
    return digits if digits.isdigit() else _quarter(ordinal)[1:] if ordinal else "1"


def _may_have_marks(name: str) -> bool:
    """Returns whether the patterns of marks can match; most names have none, and a search reads two hundred."""
    lower = name.lower()
    return _DIGIT.search(name) is not None or any(word in lower for word in _MARK_WORDS)


def _number_of_month(word: str) -> int:
    word = word.lower()
    return 6 if word == "juin" else _MONTHS[word[:3]]  # beside `juillet`


def _quarter(words: str) -> str:
    words = words.lower()
    return next(f"q{n}" for n, ordinals in enumerate(_ORDINALS, start=1) if words.startswith(ordinals))


def find_wanted_marks(question: str) -> frozenset[str]:
    """Returns the marks of the versions that a question is about: `in the third quarter of 2023`, not `since 2023`, nor
    `section 3.1`. A question with more marks than are asked for, such as a pasted list of versions, is about none.
    """
    marks = find_marks(_PLACE.sub(" ", _BESIDE.sub(" ", question)))
    return marks if len(marks) <= _MOST_WANTED else frozenset()


def find_numbered_names(question: str) -> frozenset[tuple[str, str]]:
    """Returns words with the number behind them, `(npm, v8)`, which is a version if a family's name has the word."""
    text = _PLACE.sub(" ", _BESIDE.sub(" ", question))
    return frozenset((word.lower(), f"v{int(number)}") for word, number in _NUMBERED.findall(text))


def asks_for_newest(question: str) -> bool:
    """Returns whether the question asks for the newest of several versions, in English, German or French."""
    return _NEWEST.search(question) is not None


def compares_with_earlier(question: str) -> bool:
    """Returns whether the question compares a version with earlier versions, in English, German or French."""
    return _EARLIER.search(question) is not None and _COMPARES.search(question) is not None


def asks_for_older(question: str) -> bool:
    """Returns whether the question is about what was before a version, in English, German or French."""
    return _ORIGINAL.search(question) is not None or any(word.lower() in _UNTIL for word in _BESIDE.findall(question))


@lru_cache(maxsize=_NAMES_KEPT)
def family_of(key: str, title: str) -> tuple[str, frozenset[str]]:
    """Returns the family of a document, '' if its name tells none, and the marks of the document in it.

    The key of a file, which has a suffix, tells the family, with its folders; else the title does. Pages of different
    hosts are no family, whatever their titles say.
    """
    title = title[:_LONGEST_TITLE]
    host = _HOST.match(key)
    name = _name_of_file(key) or (f"{host[1]}/{title}" if host and _words_of(title) else title)
    folder, _, own = name.rpartition("/")
    if "amendment" in find_marks(own) and not _words_of(own):  # `amendment-1.pdf` tells not of what
        name = f"{folder}/{title}" if _words_of(title) else ""
    return _words_of(name), find_marks(name) | find_marks(title)


@lru_cache(maxsize=_NAMES_KEPT)
def series_of(key: str) -> str:
    """Returns what the documents of all versions have in common if a folder is a version: `docs` of `docs/1.7/a.md`, as
    of `docs/1.8/b.md`; '' if none is. Years are no versions here: letters of two years are no versions of one another.
    """
    folders = _name_of_file(key).split("/")[:-1]
    for depth, folder in enumerate(folders, start=1):
        if any(_numbers_of(mark) or mark.startswith("rev-") for mark in find_marks(folder)):
            return f"{_words_of('/'.join(folders[:depth]))}/"
    return ""


def _name_of_file(key: str) -> str:
    """Returns the path of a file without its suffix; '' if the key has none, and so is no name of a file."""
    path = key.replace("\\", "/")
    suffix = _SUFFIX.search(path)
    return path[: suffix.start()] if suffix else ""


def _words_of(name: str) -> str:
    """Returns the words of a name without marks, in lower case."""
    if _may_have_marks(name):
        name = _separate(name)
        for pattern in (_AMENDMENT, _LETTER, _DATE, _MONTH, _MAJOR, _MARK, _QUARTER, _STATUS):
            name = pattern.sub(" ", name)
    return " ".join(_WORD.findall(name.lower()))


def _numbers_of(mark: str) -> tuple[int, ...]:
    """Returns the numbers of a version, `(4, 6, 2)`; () for another mark."""
    numbers = mark.removeprefix("v").split(".")
    if not mark.startswith("v") and len(numbers) == 1:
        return ()
    letter = (ord(numbers[-1][-1]) - ord("a") + 1,) if numbers[-1][-1].isalpha() else ()
    return (*(int(number.rstrip(_LETTERS)) for number in numbers), *letter)


def count_met(wanted: frozenset[str], versions: Sequence[frozenset[str]]) -> list[int]:
    """Returns how many wanted marks each of several versions of one document has.

    `8.0` is met by `8.0.4`, and `8.0.2` is, too, unless another version is nearer; `v8` is met by all of `8`.
    """
    met = [len(wanted & marks - {mark for mark in marks if _numbers_of(mark)}) for marks in versions]
    for numbers in {_numbers_of(mark) for mark in wanted} - {()}:
        near = [max((_nearness(numbers, _numbers_of(mark)) for mark in marks), default=(0, 0)) for marks in versions]
        nearest = max(near, default=(0, 0))
        met = [count + (nearest > (0, 0) and one == nearest) for count, one in zip(met, near, strict=True)]
    return met


def _nearness(wanted: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, int]:
    """Returns how many numbers two versions have in common, from the first on, and 1 if there are no others; (0, 0) if
    they are different versions.
    """
    common = next(
        (at for at, (one, other) in enumerate(zip(wanted, numbers, strict=False)) if one != other),
        min(len(wanted), len(numbers)),
    )
    if common == 0 or common < min(len(wanted), len(numbers), 2):
        return 0, 0
    return common, int(wanted == numbers)


@lru_cache(maxsize=_NAMES_KEPT)
def order_of_marks(marks: frozenset[str]) -> tuple[tuple[int, ...], ...]:
    """Returns a value that is greater for a newer version: amendments by their numbers, then years, then quarters,
    months and days, then versions by their numbers, letters, then `draft`, `final` and `amended`.
    """
    years = [(int(mark),) for mark in marks if mark.isdigit()]
    periods = [(int(mark[1:]) * (3 if mark[0] == "q" else 1),) for mark in marks if mark[0] in "qm"]
    letters = [(ord(mark[-1]),) for mark in marks if mark.startswith("rev-")]
    amendments = [(int(mark.removeprefix("amendment-")),) for mark in marks if mark.startswith("amendment-")]
    days = [(int(mark[1:]),) for mark in marks if mark[0] == "d" and mark not in _STATUSES]
    versions = [_numbers_of(mark) for mark in marks]
    statuses = [(_STATUSES[mark],) for mark in marks & _STATUSES.keys()]
    return tuple(
        max(found, default=()) for found in (amendments, years, periods, days, versions, letters, statuses or [(0,)])
    )


def has_status(marks: frozenset[str]) -> bool:
    """Returns whether a document is called a draft, final, amended or an amendment, so that a document without a mark
    is a version, too.
    """
    return "amendment" in marks or not marks.isdisjoint(_STATUSES)
