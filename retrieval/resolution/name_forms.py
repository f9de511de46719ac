"""What a name consists of, for the comparison of two: its words, titles, legal forms, numbers, qualifier and initials.

Letters of other scripts are transliterated, and diacritics left out: `Łódź` is `lodz`, `Путин` is `putin`.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from core.text.word_lists import CONNECTIVES

LONGEST_NAME = 100
"""Characters of a name. Longer names are not compared, which bounds the time of a comparison."""

_LATIN = str.maketrans({
    "ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i",
    "а": "a", "б": "b", "в": "v", "г": "g", "ґ": "g", "д": "d", "е": "e", "ё": "e", "є": "ye", "ж": "zh", "з": "z",
    "и": "i", "і": "i", "ї": "yi", "й": "y", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r",
    "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "",
    "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k", "λ": "l",
    "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s", "τ": "t", "υ": "y", "φ": "f",
    "χ": "ch", "ψ": "ps", "ω": "o",
})  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUALIFIER = re.compile(r"\(([^()]{1,60})\)")
_ROMAN = re.compile(r"(?:x{1,2}|x{0,2}(?:i{2,3}|i[vx]|vi{0,3}))")
_TITLES = frozenset(
    """
    mr mrs ms miss mister dr doctor prof professor sir dame lord lady rev reverend hon capt captain col colonel gen
    general lt lieutenant sgt sergeant maj major adm admiral sen senator gov governor president chancellor king
    queen pope emperor empress prince princess herr frau madame monsieur mme mlle senor senora
    """.split()  # noqa: SIM905  # as lists of words are written elsewhere
)
_BEFORE_LAST_NAMES = frozenset(["mr", "mister", "dr", "doctor", "prof", "professor", "herr", "monsieur", "senator"])
"""Titles after which a single word is a last name. `King Vidor` and `Queen Victoria` are names as they are."""
_JOINTS = frozenset({"of", "in", "for", "and", "on", "at", "to", "by"})
LEGAL_FORMS = frozenset(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag kg kgaa sa sas sarl spa srl nv
    bv oy oyj ab asa pty kk pvt
    """.split()  # noqa: SIM905  # as lists of words are written elsewhere
)
_BEFORE_LEGAL_FORMS = frozenset({"public", "private"})
_HONOURS = frozenset(
    "obe mbe kbe dbe cbe cie kcie cmg kcmg gcmg kcb gcb cvo kcvo dso frs phd".split()  # noqa: SIM905  # as the lists above
)
"""Behind a person's name of two or more words."""
_NUMBERED = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "elder": "sr", "younger": "jr"}
GENERATIONS = frozenset({"jr", "sr", "junior", "senior", "ii", "iii", "iv"})
_ARTICLES = frozenset({"the", "a", "an"})
_SHORT_FORMS = {
    ("us",): ("united", "states"),
    ("u", "s"): ("united", "states"),
    ("usa",): ("united", "states", "of", "america"),
    ("u", "s", "a"): ("united", "states", "of", "america"),
    ("uk",): ("united", "kingdom"),
    ("u", "k"): ("united", "kingdom"),
    ("u", "n"): ("united", "nations"),
    ("e", "u"): ("european", "union"),
    ("ussr",): ("soviet", "union"),
}
_LONGEST_SHORT_FORM = 3
_LONGEST_ACRONYM = 7
_FEWEST_INITIALS = 2


@dataclass(frozen=True)
class NameForm:
    """A name's parts. `all_words` are its transliterated words, `words` those without titles, legal forms and articles.

    `numbers` are its figures, Roman numerals and generations (`jr`), `qualifier` the words in its brackets, which are
    not among its words. `acronym` is set if the name can be one; `initials` are the initials of the words, with and
    without small words such as `of`. `words_before_comma` is 0 without a comma. `has_owner`: a word has a possessive
    ending and others follow, as in `UK's Channel 4`.
    """

    all_words: tuple[str, ...]
    words: tuple[str, ...]
    numbers: frozenset[str]
    qualifier: frozenset[str]
    acronym: str
    words_before_comma: int
    has_owner: bool

    @cached_property
    def letters(self) -> str:
        return "".join(self.words)

    @cached_property
    def all_letters(self) -> str:
        return "".join(self.all_words)

    @cached_property
    def initials(self) -> frozenset[str]:
        if len(self.words) < _FEWEST_INITIALS:
            return frozenset()
        main = [word[0] for word in self.words if word not in CONNECTIVES and word != "and"]
        return frozenset({"".join(word[0] for word in self.words), "".join(main)} if len(main) > 1 else ())


def make_form(name: str) -> NameForm:
    """Returns the parts of a name, as it is written or normalised."""
    bare = _QUALIFIER.sub(" ", name)
    qualifier = frozenset(word for inner in _QUALIFIER.findall(name) for word in _split(inner))
    all_words = _split(bare)
    if not all_words:
        all_words, qualifier = _split(name), frozenset()
    written, all_words = all_words, _expand(all_words)
    words = _strip(all_words)
    joined = "".join(written)
    is_short = 1 < len(joined) <= _LONGEST_ACRONYM and (len(written) == 1 or all(len(word) == 1 for word in written))
    return NameForm(
        all_words=all_words,
        words=words,
        numbers=_numbers(words),
        qualifier=qualifier,
        acronym=joined if is_short else "",
        words_before_comma=len(_strip(_expand(_split(bare.partition(",")[0])))) if "," in bare else 0,
        has_owner="'s " in bare or "’s " in bare,
    )


def skeleton_of(letters: str) -> str:
    """Returns the consonants of transliterated letters, each once in a row: equal for `Tchaikovsky` and
    `Chaykovskiy`.
    """
    text = letters.replace("tch", "c").replace("ch", "c").replace("kh", "h").replace("ts", "s").replace("w", "v")
    kept = [letter for letter in text if letter not in "aeiouyj"]
    return "".join(letter for at, letter in enumerate(kept) if at == 0 or kept[at - 1] != letter)


def _split(text: str) -> tuple[str, ...]:
    folded = text.replace("&amp;", "&").replace("&", " and ").casefold().translate(_LATIN)
    marked = unicodedata.normalize("NFKD", folded)
    plain = "".join(letter for letter in marked if not unicodedata.combining(letter)).translate(_LATIN)
    found = (word.replace("’", "'").removesuffix("'s").replace("'", "") for word in _WORD.findall(plain))
    return tuple(word for word in found if word)


def _expand(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the words with short forms of states and unions in full: `U.S. Navy`, `United States Navy`."""
    found: list[str] = []
    at = 0
    while at < len(words):
        lengths = range(_LONGEST_SHORT_FORM, 0, -1)
        size = next((size for size in lengths if words[at : at + size] in _SHORT_FORMS), 0)
        found += _SHORT_FORMS[words[at : at + size]] if size else [words[at]]
        at += size or 1
    return tuple(found)


def _strip(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the words without titles and articles before them and legal forms behind; never none of them."""
    if not words:
        return words
    start, end = 0, len(words)
    while start < end - 1 and words[start] in _ARTICLES:
        start += 1
    while start < end - 1 and _is_title(words[start:end]):
        start += 1
    while end > start + 2 and words[end - 1] in _HONOURS:
        end -= 1
    while end > start + 1 and (
        words[end - 1] in LEGAL_FORMS or (end < len(words) and words[end - 1] in _BEFORE_LEGAL_FORMS)
    ):
        end -= 1
    return words[start:end]


def _is_title(words: tuple[str, ...]) -> bool:
    """Whether the first of two or more words is a title; the President of India has none."""
    if words[0] not in _TITLES or words[1] in _JOINTS:
        return False
    return len(words) > 2 or words[0] in _BEFORE_LAST_NAMES


def _numbers(words: tuple[str, ...]) -> frozenset[str]:
    found = {word for word in words if any(letter.isdigit() for letter in word)}
    found |= {word for word in words[1:] if _ROMAN.fullmatch(word)}
    found |= {_NUMBERED[word] for word in words[1:] if word in _NUMBERED}
    if len(words) > 1 and words[-1] in {"i", "v", "x"}:
        found.add(words[-1])
    return frozenset(found)
