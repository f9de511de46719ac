"""Forms that are no names, although they have capitals, digits or quotation marks. Used by `core.text.name_evidence`.

The words of `words.txt` are common: a dictionary has them without a capital. Its sources are in `NOTICE.txt`.
"""

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from core.text.word_lists import (
    AUXILIARIES,
    CALENDAR_WORDS,
    COMPANIES,
    CONNECTIVES,
    FUNCTION_WORDS,
    INSTITUTIONS,
    PRONOUNS,
    ROLES,
)

_TIME = re.compile(
    r"\d{1,4}(?:[-/.]\d{1,2}){1,2}(?:T\d{0,2}(?::?\d\d)*)?Z?"  # 2024-03-06T10
    r"|\d{1,4}(?:[:.]\d{1,2}){0,2}(?:Z|[AaPp]\.?[Mm]\.?|h|Uhr)"  # 00Z, 04:59PM
    r"|\d+(?:\.\d+)*(?:st|nd|rd|th)?"
    r"|\d+\.[IVXA-Z]{1,4}\.[\da-z]{1,2}|\d{1,2}\.[A-Z][a-z]+"  # 18.I.b; `3.If`, the number of an item
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?"
    r"|\d{8}T\d{4,6}Z?|(?:\d+\s)?[AaPp]\.[Mm]\.?(?:\s[A-Z]{3,4})?|(?:EX-)?\d{1,3}\.[A-Za-z]{1,3}"
    r"|[QH][1-4](?:(?:\s|\s?['’])\d{2,4})?|[A-Z]\.\d{1,2}(?:\.\d{1,2})?|[A-Z]\d-\d{1,2}|FY\s?\d{2,4}"
    r"|\d{1,2}-[A-Z][a-z]{2}-\d{2,4}(?:\s\d\d)?"
    r"|\d+(?:\.\d+)*\.[xX]|[IVX]{1,5}\.[A-Z](?:\.\d{1,2}){0,2}"  # 2.7.X, and XI.B.1, a place in a text
    r"|0x[\da-fA-F]+|\d+\.\d+e[+-]?\d+|[\dA-F]{4}(?:\s+[\dA-F]{4}){3,}"
    r"|(?=(?:[A-F]{0,8}\d){3})(?=\d{0,16}[A-F])[\dA-F]{8,40}"  # 2B2173FF68, the number of a message
)
_AMOUNT = re.compile(
    r"(?<![\d.,])(?:\d++(?:[.,]\d++)*+(?:st|nd|rd|th|er|[kKMGTP]i?[Bb]|[kMG]?Hz|[km]?[VWAJN]|[kcmnµ]?m|[km]?g|m?l|dB|px|pt|x|%)"
    r"|(?:Mio\.?|Mrd\.?|Millionen|Milliarden|[MBmb]illions?)\s(?:Euro|Franken|[A-Z]{3}|[a-z]*[Dd]ollars?)"
    r"|\d{2,}+[KMB]|\d++(?:[.,]\d++)++[KMB]|(?:EUR|USD|GBP|CHF|JPY)\s\d[\d.,]*+)"
)
"""A number with a unit. `3M` and `5G` are none."""
_PART = (
    r"(?:items?|notes?|parts?|sections?|sect|chapters?|clauses?|articles?|appendix|appendices|annex|attachments?|exhibits?"
    r"|pages?|lines?|tables?|figures?|fig|steps?|rows?|columns?|paragraphs?|schedules?|footnotes?|questions?|examples?"
    r"|volumes?|bugs?|level|recitals?|contents|subsections?|weeks?|days?|quarters?|phases?|milestones?|stages?|tiers?|severity"
    r"|top|abschnitte?|kapitel|zeilen?|seiten?|tabellen?|abbildung|abb|anhang|anlage|artikel|absatz|schritt|punkt|fußnote"
    r"|chapitres?|lignes?|tableaux?|annexe|étapes?|fascicule)"
)
_NUMERAL = "(?:one|two|three|four|five|six|seven|eight|nine|ten)"
_PLACE = re.compile(rf"{_PART}\.?\s(?:[A-Z]\.?|[IVX]{{1,5}}|{_NUMERAL}|(?:[A-Z][.-]?)?\d[\w.,/–-]*+)", re.IGNORECASE)
_BEGINS_WITH_PLACE = re.compile(rf"{_PART}\.?\s\d[\w.]*+[.:]?\s+(?!of\b)(?=\S)", re.IGNORECASE)
_PLACE_OF = re.compile(rf"{_PART}\.?\s+(?:[A-Z]|[IVXL]{{1,6}}|\d[\w.()]*+)\s+of\s+(?:the\s+|this\s+)?", re.IGNORECASE)
_ALONE = re.compile(rf"(?:{_PART}|forms?|rules?|regulations?|titles?|headings?)\.?", re.IGNORECASE)
_UNIT = (
    r"(?:[fpnuµmk]?(?:A|V|W|F|H|Hz|N|J|K|Ω|Wh|VA|Ah|Pa)|[MG](?:W|Wh|VA|Pa)|[MGT](?:Hz|bps)|dB[a-z]{0,2}|[kMGT]?bps"
    r"|(?i:kilo|mega|giga|tera|peta|exa)(?:ops|flops|FLOPS|bits?|bytes?|hertz|watts?|volts?))"
)
"""A unit of measurement with its prefix: `uA`, `dB`, `Petaops`, and in `K/W`."""
_SIGNS = re.compile(
    r"(?i:Inc|Incorporated|Ltd|Limited|LLC|L\.L\.C|LLP|PLLC|Corp|Corporation|Co|GmbH|AG|plc|S\.A|N\.V|Mr|Mrs|Ms|Sirs?|Madam|Dr|Messrs|Esq"
    r"|Jr|Sr|Tel|Fax|Phone|Telephone|Facsimile|Attn|Att|Attention|Cc|Bcc|Re|TBD|TBA|N/A|I\.e|E\.g|Yes|No|OK|Etc|Ph\.?D|M\.?D|J\.?D|M\.?B\.?A)\.?"
    rf"|{_UNIT}(?:[/·]{_UNIT})?"
    r"|[KMGT]i?B|IDs?|(?:[A-Z]{2}|D\.C\.)\s\d{5}(?:-\d{4})?|[QA]\.?"
)
"""Legal forms, forms of address, labels of forms, units, and American postal codes."""
_ROMAN = re.compile(r"[IVX]{2,6}")
_COMMAND = re.compile(
    r"[^\w\s'’(¿¡&@#+.-]|-\w|[\w.-]+\s--?[A-Za-z]|[./~](?!\w*\s[A-Z])\S|.*(?:\w\[|[|<>{}=;\\*$_@]|::|//|\(\)|\w\((?!e?s\))|%[sd])",
    re.DOTALL,
)
_LEAST_SHOUTED = 4
"""The fewest letters of a word in capitals that is looked up: shorter words are abbreviations."""
_MOST_TERM_WORDS = 3
_LEAST_TERM = 3
_MOST_TITLE_WORDS = 5
_DERIVED = re.compile(r"\w{2,}(?:ed|ing|ly|als?|ions?|ments?|ity|ness|[ae]nces?|[ai]ble|ive|ous|ez|ons)")
_LEAST_RANDOM = 10
"""Characters of a word that may be drawn at random, as in keys and masked addresses."""
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|er|e|\.)?")
_PLAIN = re.compile(r"[^\W\d_]++(?:[-‐‑][^\W\d_]++)*+")
_ADJECTIVE = re.compile(
    r"[A-Z][\w/]*+[-‐‑](?:[a-z\d]+[-‐‑])*(?P<last>[a-z]+)|(?:[Nn]on|multi|pre|post|per|anti|inter|cross)[-‐‑][\w.]+"
)
_JOINED = re.compile(r"[a-z]{4,}(?=[-‐‑][A-Z])")
_CLAUSE = PRONOUNS | AUXILIARIES
_ROLES = ROLES | {"", "of", "the", "and"}
_SPOKEN = FUNCTION_WORDS - CONNECTIVES - {"and"}
_FILE = re.compile(
    r"[\w.-]+\.(?:[cho]|cc|cpp|py|pl|sh|js|css|txt|html?|xml|json|png|gif|jpg|db|conf|cf|log|exe|dll|zip|gz|pem|crt|key|csr|toml|ya?ml|ini|md|rst|csv|pdf|tar|deb|service)"
    r"|[\da-z._-]*+(?:/[\da-z._-]*+)+"
    r"|[\w.-]*\bexample\.(?:com|net|org)"  # hosts that stand for any host
)
_LEAST_OF_SENTENCE = 4
_RULE = re.compile(r"(?=\d*[A-Za-z-])\d+[\w.-]*[\dA-Z]")
_PREFIX = re.compile(
    r"(?:inter|counter|macro|multi|anti|semi|poly)-?(?=\w{5})|(?:un|non-?|re|mis|dis|over|sub|pre|co|in|im)(?=\w{4})"
)
_PARTICLE = re.compile(r"(?:on|up|down|out|off|over|back)(\w{4,})|(\w{3,})(?:out|over|down|up|off)s?")
"""A word of a verb and a particle: `rollout`, `onboarding`."""
_SUFFIXES = (
    ("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("ability", "able"),
    ("ability", ""), ("ification", "ify"), ("able", ""), ("able", "e"), ("ly", ""), ("ment", ""), ("ation", "e"),
)  # fmt: skip
_LINK = re.compile(r"\s(?:of|for|on|in|de|the|to)\s", re.IGNORECASE)
"""Between the main noun of a name and the rest of it."""


@lru_cache(maxsize=1)
def _load_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("words.txt").read_text("utf-8").split())


@lru_cache(maxsize=1 << 14)
def is_common(word: str) -> bool:
    """Whether all parts of a word (`Self-driving`) are common words."""
    parts = _WORD.findall(word.casefold())
    return bool(parts) and all(part in _load_words() or part in FUNCTION_WORDS for part in parts)


def is_plain(word: str) -> bool:
    """Whether a word has its first letter as its only capital, and no digit: no acronym, no brand."""
    if not word[:1].isupper() or _PLAIN.fullmatch(word) is None:
        return False
    return word[1:].islower() or all(len(part) > 1 and part[1:].islower() for part in re.split("[-‐‑]", word))


def is_calendar(word: str) -> bool:
    """Whether a word is a month, a day of the week or a number."""
    folded = word.rstrip(".").casefold()
    if "/" in folded or "-" in folded:
        return all(part in CALENDAR_WORDS for part in re.split("[/-]", folded))
    return folded in CALENDAR_WORDS or folded.endswith("days") or _NUMBER.fullmatch(word) is not None


def is_adjective(word: str) -> bool:
    """Whether a word is a name with a hyphen and a common word: `XML-based`, `several-Kbyte`."""
    joined = _JOINED.match(word)
    if joined is not None and is_common(joined[0]):
        return True
    match = _ADJECTIVE.fullmatch(word)
    return match is not None and (match["last"] is None or is_common(match["last"]))


def is_derived(word: str) -> bool:
    """Whether a word ends like a derived word, which a dictionary may lack (`Unallocated`)."""
    return _DERIVED.fullmatch(word) is not None


@lru_cache(maxsize=1 << 14)
def is_inflected(word: str) -> bool:
    """Whether a word in small letters is a common word with a prefix or an ending (`unrealized`, `payables`)."""
    bare = _PREFIX.sub("", word, count=1)
    if bare != word and (is_common(bare) or is_inflected(bare)):
        return True
    particle = _PARTICLE.fullmatch(word)
    if particle is not None and is_common(particle[1] or particle[2]):
        return True
    if word.endswith("ables") and is_inflected(word[:-1]):
        return True
    return any(
        word.endswith(end) and len(word) > len(end) + 3 and is_common(word[: -len(end)] + base)
        for end, base in _SUFFIXES
    )


@lru_cache(maxsize=1 << 12)
def is_verb(word: str) -> bool:
    """Whether a common word in small letters has the forms of a verb: `add`, `adding`, `added`."""
    words = _load_words()
    stem = word.removesuffix("e")
    past = (f"{stem}ed", f"{word[:-1]}ied", f"{word}{word[-1:]}ed")
    return not words.isdisjoint((f"{stem}ing", f"{word}{word[-1:]}ing")) and not words.isdisjoint(past)


def is_random(word: str) -> bool:
    """Whether a word is long, has digits, and changes between small letters and others again and again."""
    changes = sum(one.islower() != other.islower() for one, other in pairwise(word))
    return len(word) >= _LEAST_RANDOM and sum(map(str.isdigit, word)) > 1 and 3 * changes > len(word)


def is_shouted(form: str) -> bool:
    """Whether a form is common words in capitals, as in headings and markup (`NAME`), or a Roman number."""
    words = form.split()
    if not form.isupper() or _ROMAN.fullmatch(form):
        return form.isupper()
    if len(words) >= _LEAST_OF_SENTENCE and any(word.casefold() in _SPOKEN for word in words):
        return True
    letters = [word for word in _WORD.findall(form) if len(word) > 1]
    if any(map(str.isdigit, form)) or not letters:
        return False
    if len(words) == 1 and len(form) < _LEAST_SHOUTED:
        return form.casefold() in FUNCTION_WORDS
    return all(is_common(word) or (is_derived(word.casefold()) and is_inflected(word.casefold())) for word in letters)


def is_place_or_time(form: str) -> bool:
    """Whether a form is a time, a number with a unit, or a place in the text itself (`Section 16.2`, `Note 9`)."""
    form = " ".join(form.split())
    return any(pattern.fullmatch(form) for pattern in (_TIME, _AMOUNT, _PLACE))


def is_institution(form: str) -> bool:
    """Whether the main noun of a form (`Bank of America`) is a kind of institution, law or place, or the form has the
    number of a law or a standard (`Rule 10b-5`).
    """
    if _RULE.fullmatch(form.rsplit(maxsplit=1)[-1]):
        return True
    head = [word.casefold().strip(".,") for word in _LINK.split(form, maxsplit=1)[0].split()]
    return bool(head) and (head[-1] in INSTITUTIONS or (len(head) > 1 and head[-1] in COMPANIES))


def is_service(form: str) -> bool:
    """Whether the main noun of a form is services (`Managed Services`), which contracts define."""
    return _LINK.split(form, maxsplit=1)[0].rsplit(maxsplit=1)[-1].casefold() == "services"


def is_role(form: str) -> bool:
    """Whether a form is the title of an office (`Chief Executive`, `Board of Directors`) or means anybody (`Third
    Party`).
    """
    before, _, last = form.casefold().rpartition(" ")
    if before and last in ("party", "parties") and FUNCTION_WORDS.issuperset(before.split()):
        return True
    return all(word.casefold().strip(".,&") in _ROLES for word in form.split())


def is_part_of_text(form: str) -> bool:
    """Whether a form alone is a kind of part of a text (`Exhibit`), a legal form, a label or a unit (`Inc.`, `Fax`)."""
    form = " ".join(form.split())
    return _ALONE.fullmatch(form) is not None or _SIGNS.fullmatch(form) is not None


def without_place(form: str) -> str:
    """Returns a form without a place in the text that it begins with: `Item 2. Properties`."""
    match = _BEGINS_WITH_PLACE.match(form)
    return form[match.end() :] if match else form


def behind_place(form: str) -> str:
    """Returns what a place in a text belongs to: the agreement of `Section 3 of the Agreement`."""
    match = _PLACE_OF.match(form)
    return form[match.end() :] if match else form


def is_enumerator(word: str) -> bool:
    """Whether a word is a letter that counts the items of a list."""
    return len(word) == 1 and word.isupper()


def is_command(form: str) -> bool:
    """Whether what is quoted is a path, an option, a message or a piece of code."""
    return _COMMAND.match(form) is not None or _FILE.fullmatch(form) is not None


def is_term(form: str) -> bool:
    """Whether what is quoted consists of common words without a capital, or is a part of a sentence."""
    if not form.islower() or not form.isascii():
        small = sum(word[0].islower() for word in form.split())
        return (form[:1].islower() and small >= _MOST_TERM_WORDS) or small >= _MOST_TITLE_WORDS
    words = form.split()
    return (
        len(form) < _LEAST_TERM
        or len(words) > _MOST_TERM_WORDS
        or (all(map(is_common, words)) and form.replace(" ", "").isalpha())
    )


def is_message(form: str) -> bool:
    """Whether what is quoted is an acronym or a number before common words: `421 Server busy errors`."""
    first, *rest = form.split()
    small = [word for word in rest if word.islower()]
    return not first[1:].islower() and len(small) > 1 and all(map(is_common, rest))


def is_in_small_letters(form: str) -> bool:
    """Whether more than half of the words of a form have no capital."""
    words = form.split()
    return 2 * sum(word[0].islower() for word in words) > len(words)


def is_sentence(form: str) -> bool:
    """Whether what is quoted is said by somebody: it has a pronoun or an auxiliary verb, and one capital."""
    words = form.replace("’", "'").split()
    if len(words) < _LEAST_OF_SENTENCE or sum(word[0].isupper() for word in words) > 1:
        return False
    return any(word in _CLAUSE for word in words[1:])
