"""What passages hold of an answer: its numbers, dates, names and words. No model is asked.

An answer is `stated` only if what it cites holds all of it (`reasoning.actions.replies.grade`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.passage_context.other_words import find_other_words
from core.passage_context.windows import stems_of
from core.text.answers import is_contained, normalise_answer
from core.text.languages import detect_language
from core.text.lead_in import split_lead_in
from core.text.name_spans import begins_sentence, find_names
from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS
from reasoning.asking_words import leave_out_asking
from reasoning.citations.polarity import OF_PERMISSION

_JUDGEMENTS = frozenset(
    [
        "yes",
        "no",
        "partly",
        "teilweise",
        "en partie",
        "en parte",
        "true",
        "false",
        "ja",
        "nein",
        "oui",
        "non",
        "sí",
        "si",
        "vrai",
        "faux",
        "wahr",
        "falsch",
        "both",
        "neither",
        "equal",
        "same",
    ]
)
"""Answers that no passage holds literally. What they judge are the names of the question."""
_OF_ANSWERING = frozenset(
    word
    for words in (
        "answer question passage passages context source text article according based stated",
        "antwort frage laut réponse selon respuesta pregunta según",
    )
    for word in words.split()
)
"""Words of an answer that speak of the answer: `the answer is …, according to passage 2`."""
_OF_ASKING = frozenset(
    {"given", "give", "gives", "else", "anyone", "anybody", "someone", "some", "any", "including", "includes", "e.g"}
    | {"i.e", "potential", "possible", "possibly", "able", "either", "even", "ever"}
)
"""Words of a question that tell nothing of what it asks for."""
_MOST_SAID = 4
_LONGEST = 20_000
"""Characters of an answer that is compared, which takes a tenth of a second. Longer texts are no answers."""
_SHORT = 12
"""Words up to which an answer is taken for a value in the words of a passage."""
_GERMAN_NAME = 2
"""Capitalised words in a row that are a name in German, too, where a single such word may be any noun."""
_ROOT, _ENDING = 4, 3
"""The least number of letters that two forms of a word share, and the greatest number of letters of an ending."""
_WORDS_HELD = 0.6
_WORDS_BESIDE = 0.3
"""The part of the words of a short answer that must be held, and of its words beside names and numbers, which may
paraphrase: `Hinton wrote it` of `a novel by Hinton`.
"""
_PARAPHRASE = 2
"""Words beside names and numbers that need not be held at all."""
_SHORTEST = 3
"""Letters of a word that tells documents apart."""
_KIND = re.compile(
    r"(?:non|mutual|standard|general|template|disclosure|confidentiality|privacy|agreements?|nda|eula|msa|sla|dpa|contracts?|lease|deed"
    r"|polic(?:y|ies)|terms|conditions|licen[cs]e|documents?|reports?|manual|guide|handbook|annual|quarterly|form"
    r"|vertrag|vereinbarung|mietvertrag|richtlinie|bericht|handbuch|contrat|accord|politique|rapport|contrato|acuerdo)"
)
"""Words that tell the kind of a document, which many documents share."""
_JUDGED = 0.5
"""The part of a question's words that one text must have if the question names the document that it is about."""

_SPACE = " \u00a0\u202f\u2009'’"
_GROUPED = {",": re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)"), ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?!\d)")}
_NUMBER = re.compile(rf"(?<![\w.,])\d+(?:[.,{_SPACE}]\d{{3}}(?!\d))*(?:[.,]\d+)?|\d+")
_SCALES = {
    1_000: "thousand thousands tausend mille mil k tsd",
    1_000_000: "million millions millionen mn mio mill m",
    1_000_000_000: "billion billions milliarde milliarden milliard milliards bn mrd",
    1_000_000_000_000: "trillion trillions billionen",
}
_SCALE = {word: float(scale) for scale, words in _SCALES.items() for word in words.split()}
_SCALE_WORD = re.compile(r"[\s\u00a0\u202f-]?([^\W\d_]+)")
_COUNTING = """
    zero null zéro;one eins ein eine einen einem un une uno una;two zwei deux dos;three drei trois tres
    four vier quatre cuatro;five fünf cinq cinco;six sechs seis;seven sieben sept siete;eight acht huit ocho
    nine neun neuf nueve;ten zehn dix diez;eleven elf onze once;twelve zwölf douze doce;thirteen dreizehn treize
    fourteen vierzehn quatorze;fifteen fünfzehn quinze;sixteen sechzehn seize;seventeen siebzehn;eighteen achtzehn
    nineteen neunzehn;twenty zwanzig vingt
"""
_TENS = """
    thirty dreißig trente;forty vierzig quarante;fifty fünfzig cinquante;sixty sechzig soixante;seventy siebzig
    eighty achtzig;ninety neunzig;hundred hundert cent
"""


def _number_words(lines: str, first: int = 0) -> dict[str, int]:
    """Returns the numbers of words, which stand in groups, separated by lines and semicolons, from `first` on."""
    groups = [group for line in lines.strip().splitlines() for group in line.split(";")]
    return {word: number for number, group in enumerate(groups, start=first) for word in group.split()}


_WORD_NUMBERS = {word: float(number) for word, number in _number_words(_COUNTING).items()}
_WORD_NUMBERS |= {word: 10.0 * number for word, number in _number_words(_TENS, 3).items()}
_ARTICLES = frozenset(["ein", "eine", "einen", "einem", "un", "une", "uno", "una", "one", "once"])
"""Words that are mostly no number: they count in passages, and not in answers."""
_MONTH = _number_words(
    """
    january jan januar janvier enero;february feb februar février febrero;march mar märz mars marzo
    april apr avril abril;may mai mayo;june jun juni juin junio;july jul juli juillet julio;august aug août agosto
    september sep sept septembre septiembre;october oct oktober okt octobre octubre;november nov novembre noviembre
    december dec dezember dez décembre diciembre
    """,
    1,
)
_NO_MONTHS = frozenset({"may", "mar", "march", "mars", "mai"})
"""Months that are other words, too: they are taken for months beside a number alone."""
_DATE = re.compile(r"(?<!\d)(?:(\d{4})[-./](\d{1,2})[-./](\d{1,2})|(\d{1,2})[-./](\d{1,2})[-./](\d{2,4}))(?!\d)")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class _Text:
    """A text as what is compared."""

    text: str

    @cached_property
    def numbers(self) -> frozenset[float]:
        found = {value for match in _NUMBER.finditer(self.text) for value in _values(match)}
        found |= {float(part) for date in _DATE.finditer(self.text) for part in date.groups() if part}
        return frozenset(found | {_WORD_NUMBERS[word] for word in self.words if word in _WORD_NUMBERS})

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_LETTERS.findall(self.text.casefold()))

    @cached_property
    def months(self) -> frozenset[int]:
        named = {_MONTH[word] for word in self.words if word in _MONTH}
        written = (match.groups() for match in _DATE.finditer(self.text))
        return frozenset(named.union(*({int(n) for n in (a[1], a[3], a[4]) if n} for a in written)))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in split_words(self.text))

    @cached_property
    def _of_root(self) -> Mapping[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for stem in self.stems:
            found[stem[:_ROOT]].append(stem)
        return dict(found)

    def has_stem(self, stem: str) -> bool:
        """Whether a word of the text has this stem, or differs in an ending only: Monat and Monaten."""
        if stem in self.stems or len(stem) < _ROOT:
            return stem in self.stems
        others = (other for other in self._of_root.get(stem[:_ROOT], ()) if abs(len(stem) - len(other)) <= _ENDING)
        return any(stem.startswith(other) or other.startswith(stem) for other in others)


def find_numbers(text: str) -> frozenset[float]:
    """Returns the values of the numbers of a text, also of those in words; a number that is written so that it may have
    two values has both.
    """
    return _Text(unicodedata.normalize("NFKC", text)).numbers


def is_judgement(answer: str) -> bool:
    """Returns whether an answer (without markers) is yes, no or another word that no passage holds literally."""
    return normalise_answer(answer) in _JUDGEMENTS


def find_unheld(answer: str, evidence: Sequence[str], question: str) -> tuple[str, ...]:
    """Returns the parts of an answer (without markers) that no text of the evidence holds; empty if all is held.

    - Numbers are compared as values: `3.2 million`, `3,200,000` and `3 200 000` are equal, and so are `three` and `3`.
    - Terms that say the same (`core.passage_context.other_words`) hold each other.
    - Months are compared in any form, names by their words within one text.
    - Of a short answer, most other words must be held, too.
    - Words of the question need no evidence, unless the answer has no other words.
    - A judgement, such as yes, is held if the names that the question asks about are held. If a lead-in names a
      document (`split_lead_in`), it is held if a text of that document has half of the words of the question: a
      document may name its parties otherwise than the question does (`EFCA agrees …`, of a Receiving Party).
    - Of a judgement with a reason ("yes: …"), both must be held.
    """
    if len(answer) > _LONGEST:
        return (f"all of its {len(answer):,} characters",)
    answer = unicodedata.normalize("NFKC", answer)
    texts = [_Text(text) for text in _say_terms(answer, [unicodedata.normalize("NFKC", text) for text in evidence])]
    asked = _Text(unicodedata.normalize("NFKC", question))
    is_german = detect_language([asked.text, answer]) == "de"
    if is_judgement(answer):
        return _missing_of_judgement(asked.text, texts, is_german=is_german)
    judgement, colon, reason = answer.partition(":")
    if colon and is_judgement(judgement):
        unjudged = _missing_of_judgement(asked.text, texts, is_german=is_german)
        return tuple(dict.fromkeys([*unjudged, *find_unheld(reason.strip() or judgement, evidence, question)]))
    given = _Text(answer)
    said = [word for word in _words_of(answer) if word.casefold() not in _OF_ANSWERING | _JUDGEMENTS]
    if not said and not any(map(str.isdigit, answer)):  # a letter, as in vitamin C, or nothing at all
        return () if any(is_contained(answer, text.text) for text in texts) else (answer,)
    names = _names(answer, is_german=is_german)
    is_new = not frozenset(word.stem for word in split_words(" ".join(said))) <= asked.stems
    numbers_of = [*texts, asked] if is_new else texts
    unheld = [*_missing_numbers(answer, numbers_of), *_missing_months(answer, numbers_of)]
    unheld += [name for name in names if not _holds_name(name, [*texts, asked] if is_new else texts)]
    if len(answer.split()) <= _SHORT:
        unheld += _missing_words(given, names, [*texts, asked] if is_new else texts)
    if not texts and not unheld:
        unheld.append(answer)
    return tuple(dict.fromkeys(unheld))


def _say_terms(answer: str, texts: Sequence[str]) -> list[str]:
    """Returns the texts, each with the terms of the answer that it says in other words (`Q4` and fourth quarter)."""
    terms = find_other_words(answer)
    if not terms:
        return list(texts)
    stems = [{word.stem for word in split_words(text)} for text in texts]
    return [
        "\n".join([text, *(" ".join(term.said) for term in terms if term.is_in(there))])
        for text, there in zip(texts, stems, strict=True)
    ]


def is_document_named(lead_in: str, text: str) -> bool:
    """Returns whether a text, which begins with its title, is of the document that a lead-in names.

    The title, or else the text with it, must have all words of the lead-in's names, except words for kinds of
    documents. A title may be the name of a file, so a longer word may be a part of a word of the title
    (`EFCAConfidentialityAgreement`). True if the lead-in names nothing.
    """
    names = [name.form for name in find_names(lead_in)] or [lead_in]
    words = {word for name in names for word in re.findall(r"\w+", name.casefold()) if len(word) >= _SHORTEST}
    words = {word for word in words - SMALL_WORDS if not _KIND.fullmatch(word)}
    title, _, body = text.casefold().partition("\n")
    in_title = set(re.findall(r"[^\W\d_]+|\d+", title))
    if all(word in in_title or (len(word) > _SHORTEST and word in title) for word in words):
        return True
    return words <= {*re.findall(r"\w+", body), *in_title}


def _missing_of_judgement(question: str, texts: Sequence[_Text], *, is_german: bool) -> tuple[str, ...]:
    lead_in, asked = split_lead_in(question)
    names = [] if lead_in else _names(question, is_german=is_german)
    if names:
        return tuple(name for name in names if not _holds_name(name, texts))
    of_document = [text for text in texts if is_document_named(lead_in, text.text)]
    if not of_document:
        return (lead_in or question,)
    words = [word for word in _words_of(leave_out_asking(asked)) if word.casefold() not in SMALL_WORDS]
    missing = [[word for word in words if not _holds_name(word, [text])] for text in of_document]
    fewest = min(missing, key=len)
    return (_say_lacking(fewest),) if len(fewest) > (1 - _JUDGED) * len(words) else ()


def _say_lacking(words: Sequence[str]) -> str:
    """Returns what tells a reader which words of a question no text has; words that only ask are left out."""
    telling = [word for word in words if word.casefold() not in _OF_ASKING and not stems_of(word) <= OF_PERMISSION]
    return f"what the question calls {', '.join(f'“{word}”' for word in (telling or words)[:_MOST_SAID])}"


def _words_of(text: str) -> list[str]:
    return [text[word.start : word.end] for word in split_words(text)]


def _missing_numbers(answer: str, texts: Sequence[_Text]) -> list[str]:
    there = frozenset[float]().union(*(text.numbers for text in texts))
    written = [(match.group(), _values(match)) for match in _NUMBER.finditer(answer)]
    words = (word for word in _LETTERS.findall(answer.casefold()) if word not in _ARTICLES)
    written += [(word, {_WORD_NUMBERS[word]}) for word in words if word in _WORD_NUMBERS]
    return [shown for shown, values in written if not values & there]


def _missing_months(answer: str, texts: Sequence[_Text]) -> list[str]:
    there = frozenset[int]().union(*(text.months for text in texts))
    words = _LETTERS.findall(answer.casefold())
    return [word for word in words if word in _MONTH and word not in _NO_MONTHS and _MONTH[word] not in there]


def _missing_words(given: _Text, names: Sequence[str], texts: Sequence[_Text]) -> list[str]:
    """Returns the words of a short answer beside names and numbers, if too few of them are held."""
    of_names = {word.stem for name in names for word in split_words(name)}
    others = [
        word
        for word in split_words(given.text)
        if word.stem not in of_names
        and not _is_value(written := given.text[word.start : word.end])
        and written.casefold() not in _OF_ANSWERING
    ]
    missing = [
        given.text[word.start : word.end] for word in others if not any(text.has_stem(word.stem) for text in texts)
    ]
    has_values = bool(names) or any(_is_value(word) for word in given.text.split() if word.casefold() not in _NO_MONTHS)
    needed = _WORDS_BESIDE if has_values else _WORDS_HELD
    if has_values and len(others) <= _PARAPHRASE:
        return []
    return missing if len(others) - len(missing) < needed * len(others) else []


def _is_value(word: str) -> bool:
    folded = word.casefold()
    return any(letter.isdigit() for letter in word) or folded in _WORD_NUMBERS or folded in _MONTH or folded in _SCALE


def _names(text: str, *, is_german: bool) -> list[str]:
    """Returns the names in a text. A capital marks no name at the beginning of a sentence, nor in German, where every
    noun has a capital: such words are compared as other words are.
    """
    is_prose = len(text.split()) > _SHORT
    names: list[str] = []
    for name in find_names(text):
        words = name.form.split()
        if not name.quoted and not any(map(str.isdigit, name.form)):
            if is_prose and begins_sentence(text, name.start) and not any(map(str.isupper, words[0][1:])):
                words = words[1:]
            if is_german and (len(words) < _GERMAN_NAME or not all(word[0].isupper() for word in words)):
                continue
        if words and not all(_is_value(word) for word in words):
            names.append(" ".join(words))
    return names


def _holds_name(name: str, texts: Iterable[_Text]) -> bool:
    stems = {word.stem for word in split_words(name) if not _is_value(name[word.start : word.end])}
    return not stems or any(all(map(text.has_stem, stems)) for text in texts)


def _values(match: re.Match[str]) -> set[float]:
    """Returns the values that a written number may have: `3,200` is 3200 or 3.2, and `3.2 million` 3.2 or 3200000."""
    written = match.group()
    plain = "".join(character for character in written if character not in _SPACE)
    values = {float(run) for run in re.findall(r"\d+", plain)} if not re.search("[.,]", plain) else set()
    for decimal, thousands in ((".", ","), (",", ".")):
        if thousands in plain and not _GROUPED[thousands].match(plain):
            continue  # 4.2 is not 42
        whole, _, fraction = plain.replace(thousands, "").partition(decimal)
        if whole.isdigit() and (fraction.isdigit() or not fraction):
            values.add(float(f"{whole}.{fraction or 0}"))
    if plain.count(".") > 1 or plain.count(",") > 1 or re.fullmatch(r"\d{1,3}[.,]\d{3}", plain):
        values.add(float(re.sub("[.,]", "", plain)))
    scale = _SCALE_WORD.match(match.string, match.end())
    factor = _SCALE.get(scale[1].casefold()) if scale else None
    return values | ({round(value * factor, 6) for value in values} if factor else set())
