"""Parts of documents, and things, that are named by a sign: "series D", "step 3", "release 2.6.0", "pump DX-40".

A question may name a part, and headings and rows say which part they are of. Which words name parts is in no list: the
headings tell, since a passage is of another part only if its heading has the same word with another sign. Open it to
change what counts as a sign, or when a heading names a release.

A number that is an amount names nothing: "EUR 500", "aged 16". A bound, "grade 7 and higher", names a part, but what is
within the bound is of no other part: grade 9 is "grade 7 and higher".
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise

from core.documents import HEADING_SEPARATOR
from core.text.value_kinds import find_stems
from core.text.word_lists import CALENDAR_WORDS, SMALL_WORDS, words_of
from core.validity.written_dates import leave_out_dates

_READ = 1000
"""Characters of a question, a heading or a row that are read."""
_VERSION = "version"
RELEASE_WORDS = frozenset(
    {"released", "published", "issued", "dated", "date", "release", "version", "v", "on", "of", "the"}
) | {
    *("erschienen", "veröffentlicht", "freigegeben", "datum", "vom", "am", "publié", "publiée", "sorti", "sortie"),
    *("du", "le"),
}
"""Words beside the name, the number and the date in a heading that says no more than when something was released."""
_OF_ANYTHING = SMALL_WORDS | RELEASE_WORDS | {"versions", "releases", "versionen", "update", "patch", "fassung"}
"""Words before a number of a version that do not say of what it is."""
_SIGN = (
    r"(?:\d{1,4}(?:\.\d{1,4}){0,2}[a-z]?|[A-Za-z]\d{1,3}|(?-i:[A-HJ-Zb-df-hj-npqrv-xz])|(?-i:[IVX]{2,5}))"
    r"(?![\w-]|[.'’]\w|[,:]\d)"
)
"""A number, a letter, or both. Letters that are words are none: "repair a pump", "can I", "Rex y Bello"."""
_PART = re.compile(rf"(?<![\w.-])([^\W\d_]{{3,24}})(?:\s(?:No|Nr|n°)\.?)?[:#]?\s(?P<sign>{_SIGN})", re.IGNORECASE)
_NEXT = re.compile(
    rf"(?:,|\s?[-–/&]|\s(?:and|or|to|than|with|from|against|versus|vs\.?|und|oder|bis|mit|gegen|als|et|ou|à|avec))\s?"
    rf"(?P<sign>{_SIGN})",
    re.IGNORECASE,
)
"""A further sign behind the sign of a part: "series C and D"."""
_CODE = re.compile(
    r"(?<![\w.-])(?:(?P<kind>[A-Za-z]{1,6})-|(?P<glued>[A-Za-z]{2,6}))(?P<sign>\d{1,5}[A-Za-z]{0,2})(?![\w-]|[.,]\d)"
)
"""A code of letters and a number: `DX-40`, `dx40`, `E-214`, `BM-450S`. Its letters are the kind."""
_NO_CODES = frozenset({"q", "h", "fy", "cy", "gj", "kw", "cw", "pre", "post", "mid", "non", "top", "www", "utf"})
"""Letters before a time, or that name no kind."""
_RANGE = re.compile(r"\s?[-–]\s?|\s(?:to|bis|à)\s")
"""Between the first and the last of several parts."""
_NUMBER = re.compile(
    r"(?<![\w.-])(?:(?P<of>[^\W_][\w+-]{0,30})\s(?:v|ver\.\s|version\s|release\s)?)?"
    r"v?(?P<sign>\d{1,4}(?:\.\d{1,4}){1,3}(?:[a-z]{1,5}\d{0,3})?)(?![\w-]|\.\d)",
    re.IGNORECASE,
)
"""A number of a version, with the word before it: "urllib3 2.8.0"."""
_DAY = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)?\d\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W_]+")
_LETTER_I = re.compile(r"(?<=[\w:#] )I(?![\w'’])")
"""The number one in a heading; in a question, it is a pronoun."""
_ROMAN = {
    roman: str(number)
    for number, roman in enumerate(
        ten + digit for ten in ("", "x") for digit in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    )
    if roman
}
"""Roman numbers from `i` to `xix`, and their digits."""
_ZEROS = re.compile(r"(?:\.0){1,3}\Z")
"""What a number of a version may go without: 2.6 is 2.6.0."""
_ASKS_FOR_RELEASE = re.compile(
    r"\b(?:which|welche[rmns]?|quelle?|what)\s(?P<of>(?:\S{1,30}\s){0,3}?)(?:versions?|releases?|Fassung)\b(?!\s?v?\d)"
    r"|\b(?:since|seit|depuis|until|bis|jusqu['’]à)\s(?:when|wann|quand)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document: the stem of the word that names its kind, and its sign in small letters: `seri`, `d`.

    The kind of a release is `version`. `of` is the stem of the word before its number, which may name what it is of.
    `written` is the word with the sign, or the number. `is_bound` tells whether it is an end of several parts: "grade 7
    and higher". `is_code`: it is a code, `DX-40`, which names a thing and seldom a part of a document.
    """

    kind: str
    sign: str
    of: str = ""
    written: str = field(default="", compare=False)
    is_bound: bool = field(default=False, compare=False)
    is_code: bool = field(default=False, compare=False)

    @property
    def is_release(self) -> bool:
        return self.kind == _VERSION


def asks_for_release(question: str) -> bool:
    """Returns whether a question asks which version it is, so that the heading of a release answers it."""
    return _ASKS_FOR_RELEASE.search(question[:_READ]) is not None


def list_parts(question: str) -> tuple[Part, ...]:
    """Returns the parts that a question names. A version of what it asks the version of is none: "Which version brought
    back what 2.0 removed?".
    """
    question = question[:_READ]
    asks = _ASKS_FOR_RELEASE.search(question)
    of = find_stems(asks["of"] or "") if asks else frozenset[str]()
    releases = (part for part in _find_releases(question) if asks is None or (part.of and part.of not in of))
    return tuple(dict.fromkeys((*releases, *find_parts(question))))


def _find_releases(text: str) -> Iterator[Part]:
    for found in _NUMBER.finditer(text):
        if not _DAY.fullmatch(found["sign"]):
            of = (found["of"] or "").casefold()
            is_named = bool(of) and of not in _OF_ANYTHING
            yield Part(
                _VERSION, found["sign"].casefold(), min(find_stems(of), default="") if is_named else "", found["sign"]
            )


def find_parts(text: str) -> Iterator[Part]:
    """Yields what a text names by a code, and then the parts that it names by a word and a sign; amounts and numbers of
    years are no signs.
    """
    text = text[:_READ]
    yield from _find_codes(text)
    for found in _PART.finditer(text):
        word = found[1].casefold()
        kind = min(find_stems(word), default="")
        if not kind or word in _OF_ANYTHING or word in CALENDAR_WORDS:
            continue
        if _is_number(found) and _is_before_amount(word):
            continue
        signs = list(_follow_signs(text, found))
        bound = bool(signs) and is_bound(text, found.start(), signs[-1].end())
        bound |= any(_ends_range(text, before, sign) for before, sign in pairwise(signs))
        for sign in signs:
            if not _YEAR.fullmatch(sign["sign"]) and not _DAY.fullmatch(sign["sign"]):
                yield Part(kind, sign["sign"].casefold(), written=f"{found[1]} {sign['sign']}", is_bound=bound)


def _find_codes(text: str) -> Iterator[Part]:
    codes = list(_CODE.finditer(text))
    ends = {
        code.end()
        for pair in pairwise(codes)
        if _RANGE.fullmatch(text[pair[0].end() : pair[1].start()])
        for code in pair
    }
    for code in codes:
        letters = (code["kind"] or code["glued"]).casefold()
        if letters in _NO_CODES or letters in CALENDAR_WORDS or letters in SMALL_WORDS:
            continue
        bound = code.end() in ends or is_bound(text, code.start(), code.end())
        for sign in _follow_signs(text, code):
            if not _YEAR.fullmatch(sign["sign"]):
                written = code[0] if sign is code else f"{code[0]} … {sign['sign']}"
                yield Part(letters, sign["sign"].casefold(), written=written, is_bound=bound, is_code=True)


def _follow_signs(text: str, first: re.Match[str]) -> Iterator[re.Match[str]]:
    """Yields the sign of a part, and the further signs behind it, up to an amount: "phase 2 – 3 weeks"."""
    following: re.Match[str] | None = first
    while following is not None and not (_is_number(following) and _has_unit_behind(text, following.end())):
        yield following
        following = _NEXT.match(text, following.end())


def _ends_range(text: str, before: re.Match[str], sign: re.Match[str]) -> bool:
    return (
        _is_number(before) == _is_number(sign) and _RANGE.fullmatch(text[before.end() : sign.start("sign")]) is not None
    )


def _is_number(sign: re.Match[str]) -> bool:
    return sign["sign"][0].isdigit()


def find_release(heading: str, name: str) -> tuple[str, str]:
    """Returns the number of the version that a path of headings is of, and the part of the path that says so: `2.6.0`,
    `2.6.0 (2025-12-05)`. Both are "" unless a part says a number, and besides only a date and words of the document's
    `name`: `3.2.1 Installation` is a section.
    """
    names = find_stems(name[:_READ])
    for part in heading[:_READ].split(HEADING_SEPARATOR):
        rest, _ = leave_out_dates(part)
        numbers = [found["sign"] for found in _NUMBER.finditer(rest) if not _DAY.fullmatch(found["sign"])]
        words = _WORD.findall(rest.replace(numbers[0], " ").casefold()) if len(numbers) == 1 else ["?"]
        if all(word in RELEASE_WORDS or (find_stems(word) and find_stems(word) <= names) for word in words):
            return numbers[0].casefold(), part
    return "", ""


def compare_parts(wanted: Sequence[Part], heading: str, name: str, known: Set[str] = frozenset()) -> int:
    """Returns 1 if a path of headings is of one of the wanted parts, -1 if it is of another part of the same kind, and
    0 if it says neither: clause 5 may have what clause 5.1 says.

    `name` is the name of the document, and `known` are the stems of the names of all documents: release 2.0 of what no
    document is called may be in any of them, but another release is a wrong one only in a document of that name.
    """
    names = find_stems(name[:_READ])
    release, _ = find_release(heading, name)
    own = [*find_parts(_LETTER_I.sub("1", heading[:_READ])), *([Part(_VERSION, release)] if release else [])]
    same, other = set[str](), set[str]()
    for part in wanted:
        is_named = not part.of or part.of in names
        for found in own:
            if found.kind == part.kind and names_same(part.sign, found.sign) and (is_named or part.of not in known):
                same.add(part.kind)
            elif found.kind == part.kind and is_named and _excludes(found, part):
                other.add(part.kind)
    return -1 if other - same else int(bool(same))


def has_number(number: str, text: str) -> bool:
    """Returns whether a text has the number of a version whole, with or without its `v`."""
    return re.search(rf"(?<![\w.-])v?{re.escape(number)}(?![\w-]|\.\d)", text, re.IGNORECASE) is not None


def _excludes(found: Part, wanted: Part) -> bool:
    """Returns whether what is of one part is surely of no part with the wanted sign: it is no bound of several parts,
    and no section or series that has the wanted part: `450S` is a variant of `450`.
    """
    is_within = not wanted.is_release and names_same(found.sign, wanted.sign)
    is_within |= wanted.sign.startswith(found.sign) and wanted.sign[len(found.sign) :].isalpha()
    return not (is_within or found.is_bound or wanted.is_bound)


def names_same(wanted: str, sign: str) -> bool:
    """Returns whether a sign is the wanted sign, or the sign of a part of it: `5.1` is in `5`, and in `V`."""
    wanted, sign = _write_digits(wanted), _write_digits(sign)
    return sign.startswith(f"{wanted}.") or _ZEROS.sub("", sign) == _ZEROS.sub("", wanted)


def _write_digits(sign: str) -> str:
    return _ROMAN.get(sign, sign)


_AMOUNTS = words_of("""
    eur usd gbp chf jpy cad aud nzd sek nok dkk pln czk huf inr cny brl euro euros dollar dollars franken pfund pound
    pounds franc francs cent cents yen rupees
    amount amounts value sum total price cost costs age weight betrag wert summe preis kosten alter gewicht montant
    somme prix valeur âge poids
    above below over under exceed exceeds exceeding about around nearly almost least most until till before after
    between within only aged costing weighing earning totalling totaling numbering reaching paying lasting measuring
    averaging including during using having being
    übersteigt beträgt betragen kostet wiegt erreicht mindestens höchstens etwa rund circa knapp unter über zwischen
    binnen dépasse dépassant coûte pèse atteint environ entre moins plus jusque
""")
"""Words before an amount: currencies, what is measured, and words that go before any number."""
_PARTICIPLE = re.compile(r"[^\W\d_]{2,20}[^\W\d_e]ed")
_UNIT_BEHIND = re.compile(
    r"[ \xa0]?(?:[%‰€$£¥°]|(?:eur|usd|gbp|chf|euros?|dollars?|franken|pfund|pounds?|francs?|cents?|percent|prozent"
    r"|tsd|mio|mrd|thousand|millions?|billions?|tausend|millionen|milliarden"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?"
    r"|secondes?|heures?|jours?|semaines?|mois|ans?|années?"
    r"|[kcm]?m|[km]?g|km/h|[mc]?l|[kmg]?w|[kmgt]?wh|[kmgt]b|[kmg]?hz|litres?|liters?|met(?:re|er)s?|kilos?|tonn?e?s?)(?!\w))",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?<!\w)(?:above|below|beyond|exceed(?:s|ing)?|up to|at (?:least|most)|(?:more|less|fewer|higher|lower|older"
    r"|younger|greater|later|earlier) than|bis|ab|mindestens|höchstens|oberhalb|unterhalb"
    r"|(?:mehr|weniger|höher|älter|jünger) als|au (?:moins|plus|delà)|(?:plus|moins) d[eu]|à partir d[eu]"
    r"|jusqu['’](?:à|au)|(?:supérieur|inférieur)e?s? (?:à|au))"
    r"(?:\s[^\W\d_]{1,20}){0,4}\s\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND = re.compile(
    r"(?:\s[^\W\d_]{1,20})?(?:\s?\+|\s(?:(?:and|or|und|oder|et|ou)\s(?:more|less|fewer|higher|lower|above|below|over|under"
    r"|up|upwards?|down|beyond|older|younger|later|earlier|greater|longer|mehr|weniger|höher|niedriger|älter|jünger|später"
    r"|früher|länger|darüber|darunter|plus|moins|au-delà|supérieure?s?|inférieure?s?|suivante?s?)|onwards?|upwards?"
    r"|aufwärts|au-delà)(?!\w))",
    re.IGNORECASE,
)
_WINDOW = 120
"""Characters before a part in which a bound is looked for."""


def _is_before_amount(word: str) -> bool:
    """Returns whether a word, in small letters, goes before numbers that are no signs."""
    return word in _AMOUNTS or _PARTICIPLE.fullmatch(word) is not None


def _has_unit_behind(text: str, end: int) -> bool:
    """Returns whether a unit of measure or a currency stands behind the number that ends at `end`."""
    return _UNIT_BEHIND.match(text, end) is not None


def is_bound(text: str, start: int, end: int) -> bool:
    """Returns whether the words around a part, which is text[start:end], make its sign the end of a range."""
    return _BOUND_BEHIND.match(text, end) is not None or (
        _BOUND_BEFORE.search(text[max(start - _WINDOW, 0) : start]) is not None
    )
