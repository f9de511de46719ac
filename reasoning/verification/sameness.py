"""What masking a document did to the answer: whether two answers say the same, and the role of the document.

`compare_answers` decides by the texts of the answers, as far as they decide it.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from core.ports.reasoning import Support
from core.text.shortening import shorten
from core.text.word_lists import ARTICLES, CONNECTIVES
from core.verification import AnswerWithout, DocumentRole, Located
from reasoning.shared.wording import find_missing_words
from reasoning.verification.given import CitedDocument, GivenAnswer

_NAMES = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTHS = {form: at for at, name in enumerate(_NAMES.split("|"), start=1) for form in (name, name[:3])} | {"sept": 9}
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_NUMBERS = {word: str(number) for number, word in enumerate(_WORDS.split())}

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_DAY_FIRST = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)? )?([a-z]+)\.? (\d{4})", re.ASCII)
_MONTH_FIRST = re.compile(r"([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)? (\d{4})", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?", re.ASCII)

_JOINING = ARTICLES | CONNECTIVES | {"at", "by", "from", "in", "on", "to", "with"}
"""Words that may stand beside a name without changing what is named."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))", re.ASCII)
_HYPHEN = re.compile(r"(?<=[^\W\d])-(?=[^\W\d])")
_PUNCTUATION = re.compile(r"[,;:!?'\"’“”„«»()\[\]{}…、。，；：！？（）「」《》]|\.(?!\d)")
_BRACKETED = re.compile(r"(?<!\s)\s*+(?:\([^()]*+\)|（[^（）]*+）)")
_END = ".!?。！？ \t\n"


def compare_answers(answer: str, other: str) -> bool | None:
    """Returns whether two answers without markers say the same; None if their texts do not decide it.

    - Answers with equal normalised texts say the same.
    - Two dates, two numbers, and yes and no are compared.
    - A text that contains the other as a whole name, with only prepositions, articles and brackets beside it, says the
      same.
    - Not decided are words after a comma, which may be another item of a list, and a name beside a part of it.
    """
    first, second = _clean(answer), _clean(other)
    if not first or not second:
        return None
    if _normalise(first) == _normalise(second):
        return True
    for read in (_read_decision, _read_number):
        values = read(first), read(second)
        if values[0] is not None and values[1] is not None:
            return values[0] == values[1]
    date, other_date = _read_date(first), _read_date(second)
    if date is not None and other_date is not None:
        return all(a == b or not a or not b for a, b in zip(date, other_date, strict=True))
    return True if _is_whole_name(first, second) or _is_whole_name(second, first) else None


def _clean(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).strip(_END + '"“”„«»')


def _normalise(text: str) -> str:
    """Returns the text case-folded, without articles, punctuation and thousands separators, with numbers as digits.

    Signs such as `+`, `#` and `-` stay, so that `C++` is not `C`, and -5 not 5.
    """
    plain = _THOUSANDS.sub("", text.casefold().replace("–", "-"))
    words = _PUNCTUATION.sub(" ", _HYPHEN.sub(" ", plain)).split()
    kept = [word for word in words[:-1] if word not in ARTICLES] + words[-1:]  # the last of "vitamin A" is a name
    return " ".join(_NUMBERS.get(word, word) for word in kept) or plain


def _read_decision(text: str) -> str | None:
    """Returns the `yes` or `no` that is the answer, or that begins it before a comma or a full stop."""
    word = re.match(r"(yes|no)(?=$|[,.;:])", text.casefold())
    return word[1] if word else None


def _read_date(text: str) -> tuple[int, int, int] | None:
    """Returns year, month and day (0: not given) of an answer that is a date or a year."""
    plain = re.sub(r"^(on|in|since|the) ", "", text.casefold().replace(",", "").replace(" of ", " "))
    if found := _ISO.fullmatch(plain):
        return int(found[1]), int(found[2]), int(found[3])
    if (found := _DAY_FIRST.fullmatch(plain)) and found[2] in _MONTHS:
        return int(found[3]), _MONTHS[found[2]], int(found[1] or 0)
    if (found := _MONTH_FIRST.fullmatch(plain)) and found[1] in _MONTHS:
        return int(found[3]), _MONTHS[found[1]], int(found[2])
    return (int(plain), 0, 0) if _YEAR.fullmatch(plain) else None


def _read_number(text: str) -> str | None:
    """Returns the number that an answer consists of, in one form."""
    plain = _NUMBERS.get(text.casefold(), text)
    if not _NUMBER.fullmatch(plain):
        return None
    digits = plain.replace(",", "").lstrip("+")
    return f"{float(digits):.12g}"


def _is_whole_name(name: str, text: str) -> bool:
    """Whether the text is the name with prepositions, articles or brackets beside it, and nothing else."""
    bare = _BRACKETED.sub("", text).strip()
    at = bare.casefold().find(name.casefold())
    if at < 0 or len(bare.casefold()) != len(bare) or len(name.casefold()) != len(name):
        return False
    before, after = bare[:at], bare[at + len(name) :]
    if (before and before[-1].isalnum()) or (after and after[0].isalnum()):
        return False
    return all(word in _JOINING for word in f"{before} {after}".strip(_END).split())


_SHOWN = 200
_WEAKER = {Support.QUOTED: "only quoted", Support.INFERRED: "only inferred", Support.MEMORY: "only the model's memory"}


def is_lost(given: GivenAnswer, without: AnswerWithout) -> bool:
    """Whether there is no answer any more, or an answer with less support than before."""
    return without.abstained or without.support.rank < given.support.rank


def decide_role(
    given: GivenAnswer, without: AnswerWithout, same: bool | None, replaced_by: Sequence[Located]
) -> tuple[DocumentRole, str]:
    """Returns the role, and why in a sentence. `same` tells whether both answers say the same; None: not known.

    If the answer without the document differs and is not stated, the document is `needed`: only an answer that passages
    state contradicts.
    """
    said = f"“{shorten(without.answer, _SHOWN)}”"
    if without.abstained:
        return DocumentRole.NEEDED, "Without it, no answer is given."
    if is_lost(given, without):
        return DocumentRole.NEEDED, f"Without it, the answer is {_WEAKER[without.support]}: {said}."
    if same:
        return DocumentRole.REDUNDANT, describe_redundant(replaced_by)
    if same is None:
        return DocumentRole.UNCLEAR, f"Without it, the answer is {said}; whether that is the same was not found out."
    if without.support is Support.STATED:
        return DocumentRole.CONTRADICTS, f"Without it, passages state another answer: {said}."
    return DocumentRole.NEEDED, f"Without it, another answer is given, which no passage states: {said}."


def describe_redundant(replaced_by: Sequence[Located]) -> str:
    """Returns why a document is redundant: what the answer stands on without it."""
    titles = ", ".join(f"“{document.document.title or document.document.key}”" for document in replaced_by)
    return f"The same answer stands without it{f', on {titles}' if titles else ''}."


def compare_quotes(question: str, given: GivenAnswer, document: CitedDocument, quotes: Collection[str]) -> bool | None:
    """Whether an answer that only quotes says the same without a document; None: nobody read it, so it is not known.

    The answer stands on the quotes with most words of the question. `quotes` are the quotes of the answer without the
    document: it is the same if they hold all quotes that the answer stands on.
    """
    lacking = {
        quote: len(find_missing_words(question, quote, cited.located.document.title))
        for cited in given.documents
        for quote in cited.quotes
    }
    least = min(lacking.values())
    own = [quote for quote in document.quotes if lacking[quote] == least]
    needed = own or [quote for quote, count in lacking.items() if count == least]
    return True if all(any(compare_answers(quote, other) for other in quotes) for quote in needed) else None
