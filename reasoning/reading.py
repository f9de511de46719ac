"""What code does before and after a small model reads passages.

- Before: the values of passages that can answer a question: names, dates, numbers, or the sides of a choice.
- After: the passages that an answer stands on, and whether one of them says all that the question asks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from core.passage_context import split_units
from core.passage_context.other_words import find_other_words
from core.passage_context.windows import stems_of
from core.ports.retrieval import Hit
from core.text.answers import is_contained, normalise_answer
from core.text.languages import detect_language
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from core.text.shortening import shorten
from core.text.terms import split_words
from core.text.value_kinds import GENERIC, ValueKind, find_digits, find_kind, has_value
from reasoning.asking_words import find_report_words
from reasoning.citations.held import find_unheld, is_document_named, is_judgement
from reasoning.citations.neighbours import find_lone_digits, find_neighbour
from reasoning.citations.quotes import passage_text

COMPARED = 2
"""Names of a question that compares them."""
_MOST_CANDIDATES = 60
_LONGEST = 80
_LONGEST_QUESTION = 1000
"""Characters of a question that a few words may answer. A longer text tells a story, and is costly to take apart."""

_BEGINNINGS = {
    ("yes", "no"): re.compile(
        r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|shall)\b", re.IGNORECASE
    ),
    ("ja", "nein"): re.compile(
        r"(?:ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|wird|werden|darf|dürfen|muss|müssen|gibt)\b",
        re.IGNORECASE,
    ),
    ("oui", "non"): re.compile(r"(?:est-ce|est-elle|est-il|a-t-il|a-t-elle)\b", re.IGNORECASE),
    ("sí", "no"): re.compile(r"¿?(?:es|son|está|hay|fue|era|tiene)\b", re.IGNORECASE),
}
"""How a question begins that is answered by these words."""
_ENGLISH_OR_GERMAN = re.compile(r"was\b", re.IGNORECASE)
_ASKED_FOR = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what|how (?:many|much|long|far|old|often|tall|high|big|large)"
    r"|wer|wem|wen|wessen|wann|wo|woher|wohin|welche[nmrs]?|wie ?(?:viele?n?|lange|alt|hoch|groß|oft|weit)"
    r"|qui|quand|où|quel(?:le)?s?|combien|quién(?:es)?|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
_NO_NOUN = (
    r"(?<!\bthe\s)(?<!\ba\s)(?<!\bthis\s)(?<!\bthat\s)(?<!\bany\s)(?<!\bhis\s)(?<!\bher\s)(?<!\bwhose\s)(?<!['’]s\s)"
)
"""Stands before French and Spanish words that are nouns in English: "the comment"."""
_TOLD = re.compile(
    r"\b(?:why|how (?:do|does|did|can|could|should|is|are|was|were|has|have|to)|explain|describe|summari[sz]e"
    r"|(?:(?<!\w\s)(?<![\w-][-/])|(?<=please\s)|(?<=and\s)|(?<=you\s)|(?<=to\s)|(?<=then\s))list"
    r"|an? (?:\w+ )?list of"
    r"|compar(?:e|ing)|discuss|outline|analy[sz]e|evaluate|assess|combine"
    r"|what (?:happens|are the|were the|is the difference)"
    r"|warum|weshalb|erkläre|beschreibe|fasse|nenne|vergleiche|wie (?:kann|wird|funktioniert|werden)"
    rf"|pourquoi|{_NO_NOUN}(?:comment|resume)|explique[rz]?|décri[svrez]+|résume[rz]?|liste[rz]?|por qué"
    r"|cómo|explica)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:and|und|et|y) (?:if (?:so|not)|to what extent|how|why|what|which|when|where|wie|warum|welche[nmrs]?|wann"
    r"|wo|comment|pourquoi|quel(?:le)?s?|quand|où|cómo|qué|cuándo)\b"
    r"|\bwh(?:at|ich) (?:\w+ ){0,4}(?:changes|trends|factors|reasons|risks|measures|proceedings|steps|effects)\b"
    r"|\b(?:correlation|relationship|trends|breakdown|implications?)\b"
    r"|\bthe (?:\w+ ){0,2}(?:drivers?|contributors?|rationale|impact (?:of|on))\b",
    re.IGNORECASE,
)
"""A question in two parts, or for a list or a relation: "yes", or one name, is no answer to it."""
_OF_RULE = re.compile(
    r"\bwh(?:at|ich) (?:(?:types?|kinds?|sorts?|categor(?:y|ies)) of )?(?:\w+ ){0,2}"
    r"(?:(?:information|data)(?!\s(?:cent(?:er|re)|base|set|sheet|system)s?\b)|details|rights|obligations|duties|conditions"
    r"|exceptions|remedies|restrictions|requirements)\b"
    r"|\bwho (?:else )?(?:can|may|must|shall|(?:has|have|gets?) access"
    r"|(?:is|are) (?:allowed|permitted|entitled|required|responsible|liable))\b"
    r"|\bwelche[nr]? (?:\w+ ){0,2}(?:informationen|daten|rechte|pflichten|bedingungen|ausnahmen|einschränkungen)\b"
    r"|\bwer (?:darf|kann|muss|haftet|hat zugriff|ist (?:berechtigt|verpflichtet|verantwortlich))\b"
    r"|\bquel(?:le)?s (?:\w+ ){0,2}(?:informations|données|droits|obligations|conditions|exceptions|restrictions)\b"
    r"|\bqui (?:peut|doit|a accès|est (?:autorisé|tenu|responsable))\b",
    re.IGNORECASE,
)
"""A question for what is allowed or due, or for what is known of somebody: a sentence with its exceptions tells it."""
_OR = re.compile(r"(?<=\s)(?:or|oder|ou)(?=\s)")

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember"
    "|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\.?\s)?(?:{_MONTHS})(?:\s\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\s\d{{4}})?\b"
    r"|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b(?:1\d|20)\d\d(?:\s?[–-]\s?(?:(?:1\d|20)?\d\d))?\b"
)
_AMOUNT = re.compile(r"(?:[$€£¥]\s?|\b(?:USD|EUR|CHF)\s)?\d[\d.,]{0,20}(?:\s?%|(?:\s[a-zäöüß]{2,20}){0,2})")


class Form(StrEnum):
    """The form of a question's answer."""

    JUDGEMENT = "judgement"
    """Yes or no."""
    CHOICE = "choice"
    """One of the sides that the question names."""
    VALUE = "value"
    """A date, a number, a name or a few words."""


def find_form(question: str) -> Form:
    if list_sides(question):
        return Form.CHOICE
    return Form.JUDGEMENT if list_judgements(question) else Form.VALUE


def is_short_answer_asked(question: str) -> bool:
    """Returns whether a few words answer a question: it asks who, when, which or how many, or whether something is so,
    nothing in it asks for an explanation, a list, a summary, a rule or a second thing, and it is no longer than 1,000
    characters.
    """
    if are_sentences_asked(question):
        return False
    return bool(list_judgements(question)) or _ASKED_FOR.search(question) is not None


def is_judgement_asked(question: str) -> bool:
    """Returns whether a question asks for yes or no about one thing, or about a document that its lead-in names.

    Without a lead-in, two names are compared, and "yes" says all.
    """
    lead_in, asked = split_lead_in(question)
    if report := find_report_words(asked):  # its name is compared with nothing
        asked = f"{asked[: report.start()]} {asked[report.end() :]}"
    return find_form(question) is Form.JUDGEMENT and (bool(lead_in) or len(find_names(asked)) < COMPARED)


def are_sentences_asked(question: str) -> bool:
    """Returns whether a question asks for an explanation, a list, a comparison, a rule, or two things, or is a long
    text.
    """
    if len(question) > _LONGEST_QUESTION:
        return True
    return any(asks.search(question) is not None for asks in (_TOLD, _SEVERAL, _OF_RULE))


def list_judgements(question: str) -> tuple[str, ...]:
    """Returns yes and no in the language of a question that is answered by them; empty for any other."""
    _, asked = split_lead_in(question)
    if _ENGLISH_OR_GERMAN.match(asked.lstrip()) and detect_language([asked]) == "de":
        return ()  # "Was bedeutet das?"
    return next((words for words, beginning in _BEGINNINGS.items() if beginning.match(asked.lstrip())), ())


def list_sides(question: str) -> tuple[str, ...]:
    """Returns the names of the question between which it offers a choice; empty if it offers none."""
    names = find_names(question)
    for choice in _OR.finditer(question):
        left = [name for name in names if name.end <= choice.start()]
        right = [name for name in names if name.start >= choice.end()]
        if left and right and choice.start() - left[-1].end < 3 and right[0].start - choice.end() < 6:
            return (left[-1].form, right[0].form)
    return ()


def list_candidates(question: str, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Returns the values of the requested kind in the hits, in their order, each once.

    A name in the question is left out, unless the question chooses between names.
    """
    found: Iterator[str]
    match find_kind(question):
        case ValueKind.DATE:
            found = (value.group() for hit in hits for value in _DATE.finditer(hit.chunk.text))
        case ValueKind.NUMBER | ValueKind.DURATION:
            found = (value.group() for hit in hits for value in _AMOUNT.finditer(hit.chunk.text))
        case _:
            found = _names(question, hits, with_digits=find_kind(question) is ValueKind.NONE)
    return _distinct(found)


def _names(question: str, hits: Sequence[Hit], *, with_digits: bool) -> Iterator[str]:
    asked = f" {normalise_answer(question)} "
    for hit in hits:
        for name in (_without_addition(hit.document.title), *(span.form for span in find_names(hit.chunk.text))):
            is_asked = f" {normalise_answer(name)} " in asked
            if not is_asked and (with_digits or not any(map(str.isdigit, name))):
                yield name


def _without_addition(title: str) -> str:
    """`Green (album)` is called Green."""
    return re.sub(r"\s\([^()]*\)\Z", "", title)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    candidates: dict[str, str] = {}
    for text in texts:
        value = text.strip(" ,.;:")
        if value and len(value) <= _LONGEST and (known := normalise_answer(value)):
            candidates.setdefault(known, value)
        if len(candidates) == _MOST_CANDIDATES:
            break
    return tuple(candidates.values())


_MOST_CITED = 3
_MOST_READ = 50
"""Hits among which evidence is looked for, the best ones: each costs a millisecond."""
_LONGEST_VALUE = 12
"""Words of an answer that is a value; a longer answer is sentences."""
_LONGEST_READ = 1000
"""Characters of a question whose names and nouns are looked for."""
_COVERED = 0.7
"""The part of the question's words that must stand beside the answer, in its sentence or the title."""
_WH = r"(?:who|whom|what|which|wer|was(?= ist| war)|welche[nmrs]?|qui|quel(?:le)?s?|quién|cuál)"
_RELATION = re.compile(
    rf"\b{_WH}\s(?:\w+\s)?(?:is|was|are|were|ist|war|est|était|es|era)\s(?:(?:the|der|die|das|le|la|el)\s|l['’]\s?)"
    r"((?:[\w-]+\s){0,3}?[\w-]+)\s(?:of|to|for|in|der|des|von|de|du|del)\b",
    re.IGNORECASE,
)
"""The noun that is asked for in `Who is the wife of …?`."""
_KIND = re.compile(
    rf"\b{_WH}\s((?:[\w-]+\s){{0,2}}?[\w-]+)\s(?:is|was|are|were|did|does|do|has|had|of)\b", re.IGNORECASE
)
"""The noun that is asked for in `Which unit of …?`."""
_COUNTED = re.compile(
    r"\b(?:how many|wie ?viele|combien d(?:e |['’]))\s*((?:[\w-]+\s){0,2}?[\w-]+)\s"
    r"(?:is|was|are|were|did|does|do|has|have|had|can|may|must|there|gibt|gab|hat|haben|sind|waren)\b",
    re.IGNORECASE,
)
"""The noun that is counted in `How many accidents were there?`."""
_LARGE = re.compile(r"(?<![\w.,])\d{3,15}(?![\w%])")
_OF_QUESTION = ("a value that the question does not have itself",)
_LONGEST_PLACE = 120
_KINDS = {ValueKind.DATE: "a date", ValueKind.NUMBER: "a number", ValueKind.DURATION: "a duration"}
_BEGINS = re.compile(
    r"(?:(?:in|on|at|since|until|by|from)\s)?"
    r"(?:when|(?:what|which) (?:year|date|day|month)s?|how (?:many|much|long|old|far|tall|high)"
    r"|wann|wie ?(?:viele?n?|lange|alt|hoch)|quand|combien|cuándo|cuánt[oa]s?)\b",
    re.IGNORECASE,
)


def find_evidence(answer: str, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Returns the hits that an answer stands on, in their order, at most three; none if no hit holds the answer.

    The first chosen hit holds the answer and has most words of the question. Sentences are held by any hit with their
    names and numbers, so theirs has most of their words. Further hits follow while they hold names
    of the question that the chosen hits lack, and are linked to a chosen hit: the title of one stands in the other. A
    judgement, such as yes, stands on the hits with the names that it is about.
    """
    hits = hits[:_MOST_READ]
    texts = {hit.chunk.id: passage_text(hit) for hit in hits}
    words = {id: _stems(text) for id, text in texts.items()}
    asked = stems_of(question)
    judges = is_judgement(answer)
    holding = [hit for hit in hits if judges or not find_unheld(answer, [texts[hit.chunk.id]], question)]
    if not holding:
        return ()
    said = _stems(answer) if len(answer.split()) > _LONGEST_VALUE else frozenset[str]()
    chosen = [max(holding, key=lambda hit: (len(said & words[hit.chunk.id]), len(asked & words[hit.chunk.id])))]
    missing = _missing_names(question, words[chosen[0].chunk.id])
    while missing and len(chosen) < _MOST_CITED:
        more = [
            hit
            for hit in hits
            if hit not in chosen and (judges or any(_are_linked(hit, cited, texts) for cited in chosen))
        ]
        helping = {hit.chunk.id: sum(_stems(name) <= words[hit.chunk.id] for name in missing) for hit in more}
        if not any(helping.values()):
            break
        chosen.append(max(more, key=lambda hit: helping[hit.chunk.id]))
        missing = [name for name in missing if not _stems(name) <= words[chosen[-1].chunk.id]]
    return tuple(hit for hit in hits if hit in chosen)


def find_unlinked(answer: str, question: str, evidence: Sequence[str]) -> tuple[str, ...]:
    """Returns what a question asks for and no passage says together with the answer; empty if a passage says it all.

    A passage must have the names of the question, the noun that is asked for (`spouse` in "Who is the spouse of …?",
    unless it tells only a kind of thing), and most words of the question beside the answer. An answer to "When …?" must
    have a date, and to "How many …?" a number. It is a strict test, for models that read badly and take the first
    value that they meet: a passage may say it in other words, and then the answer counts as inferred.
    """
    question = question[:_LONGEST_READ]
    if _is_of_question(answer, question):
        return _OF_QUESTION
    holding = [text for text in evidence if not find_unheld(answer, [text], question)]
    missing = [_missing_in(text, answer, question) for text in holding or evidence]
    return min(missing, key=len, default=(question,))


def find_beside(answer: str, question: str, evidence: Sequence[str]) -> tuple[str, ...]:
    """Returns what the value of an answer belongs to instead of what is asked, in each passage that holds it; empty if
    one of them may mean what is asked. It is the part of `find_unlinked` that holds for models that read well, too.
    """
    question = question[:_LONGEST_READ]
    if list_judgements(question):
        return ()
    if _is_of_question(answer, question):
        return _OF_QUESTION
    holding = [text for text in evidence if not find_unheld(answer, [text], question)]
    places = [find_neighbour(answer, question, text, sure=True) for text in holding]
    return (_format_place(places[0]),) if places and all(places) else ()


def _format_place(place: str) -> str:
    return f"it of what is asked, but of “{shorten(place, _LONGEST_PLACE)}”"


def _is_of_question(answer: str, question: str) -> bool:
    """Whether a number or date is asked for, and the answer is a year or large number of the question, which offers no
    choice: the year of "the revenue in 2024" is not the revenue.
    """
    is_asked = find_kind(question) in _KINDS and not _OR.search(question) and not list_judgements(question)
    numbers = find_digits(answer)
    return is_asked and bool(numbers) and numbers <= {*_LARGE.findall(question)}


def _missing_in(text: str, answer: str, question: str) -> tuple[str, ...]:
    lead_in, question = split_lead_in(question)
    stems = _with_terms(_stems(text), question)
    missing = _missing_names(question, stems)
    if lead_in and not is_document_named(lead_in, text):
        missing.append(lead_in)
    missing += [noun for noun in _nouns_asked(question) if not _stems(noun) & stems]
    kind, digits = find_kind(question), find_lone_digits(question)
    if (
        kind in _KINDS
        and _BEGINS.match(question.lstrip())
        and not has_value(kind, answer, stems=stems_of(question), digits=digits)
    ):
        missing.append(_KINDS[kind])
    if not missing and is_judgement(answer):
        missing.append("a yes or no")
    if not missing:
        missing += _uncovered(text, answer, question)
    if not missing and (place := find_neighbour(answer, question, text)):
        missing.append(_format_place(place))
    return tuple(dict.fromkeys(missing))


def _uncovered(text: str, answer: str, question: str) -> list[str]:
    """Returns the words of the question that the best sentence with the answer lacks, if they are too many."""
    there = stems_of(question)
    asked = {
        word.stem: question[word.start : word.end]
        for word in split_words(question)
        if word.stem in there and not GENERIC.fullmatch(question[word.start : word.end])
    }
    title, _, body = text.partition("\n")
    best = list(asked)
    for start, end in split_units(body):
        if is_contained(answer, body[start:end]) or is_contained(answer, title):
            said = _with_terms(stems_of(f"{title} {body[start:end]}"), question) - stems_of(answer)
            best = min(best, [stem for stem in asked if stem not in said], key=len)
    return [asked[stem] for stem in best] if len(best) > (1 - _COVERED) * len(asked) else []


def _with_terms(stems: frozenset[str], question: str) -> frozenset[str]:
    """Returns the stems of a text, and the stems of the question's terms that it says in other words."""
    said = (term.said for term in find_other_words(question) if term.is_in(stems))
    return stems.union(*said)


def _nouns_asked(question: str) -> list[str]:
    """Returns the last word of each phrase that a question asks for, except words that only tell a kind of thing."""
    phrases = [phrase[1] for pattern in (_RELATION, _KIND, _COUNTED) for phrase in pattern.finditer(question)]
    nouns = (phrase.split()[-1] for phrase in phrases)
    return [noun for noun in nouns if not GENERIC.fullmatch(noun) and noun.islower() and len(noun) > 2]


def _missing_names(question: str, stems: frozenset[str]) -> list[str]:
    """Returns the names of the question that a text, given by its stems, does not have in full."""
    names = dict.fromkeys(name.form for name in find_names(question))
    return [name for name in names if not _stems(name) <= stems]


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(text))


def _are_linked(hit: Hit, other: Hit, texts: dict[str, str]) -> bool:
    return is_contained(hit.document.title, texts[other.chunk.id]) or is_contained(
        other.document.title, texts[hit.chunk.id]
    )
