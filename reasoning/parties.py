"""Names in a question that an agreement calls by terms of its own, such as `Daniel Okonjo (the “Employee”)`.

The opening of a contract defines who its parties are, and no clause has their names again: `Can Okonjo take a second
job?` is answered by "The Employee may not perform paid work for others". So the question is asked again in the words of
the contract: `Consider Contract of Employment of Okonjo; can the Employee take a second job?`
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.ports.retrieval import Hit
from core.text.lead_in import find_naming
from core.text.name_spans import find_names
from core.text.terms import split_words
from core.validity.agreements import read_amended_title

__all__ = ["Reworded", "list_parties", "reword_parties"]

_LONGEST_QUESTION = 500
_READ = 4000
"""Characters of a passage in which definitions are looked for."""
_FEWEST_DEFINITIONS = 2
"""Definitions of a passage that make it the opening of an agreement: a report may define `the “Company”`, too."""
_LONGEST_NAME = 300
"""Characters before a definition in which the name stands, with its address."""
_MOST_DOCUMENTS = 2
"""Documents that may define the same names: an agreement and its amendment. More are the agreements of one party."""
_LONGEST_TITLE = 100

_DEFINITION = re.compile(
    r"(?:[(\[]|\b(?:hereinafter|hereafter|referred to as|called|known as|designated as|nachfolgend|folgenden"
    r"|ci-après)\b)"
    r"[^()\[\]\"“”„«»‘\n]{0,40}?(?:\b(?P<before>the|der|die|das|le|la)\s)?"
    r"[\"“„«‘]\s?[*_]{0,3}(?:(?P<article>the|der|die|das|le|la) |l['’])?"
    r"(?P<term>[A-ZÀ-ÖØ-Þ][\w-]{1,30}(?: [A-ZÀ-ÖØ-Þ][\w-]{1,30}){0,2})[*_]{0,3}\s?[\"“”»’]",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"nachfolgend|folgenden|ci-après", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?:\b(?:between|among|parties|zwischen|entre)\b|^by\b"
    r"|\b(?:made|entered|given|granted|agreed|undertaking|agreement|deed|contract|lease)\b"
    r"(?:(?!between|represented|acting)[^.\n]){0,60}?\bby\b)[\s:*_]{1,6}",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\((?:\d{1,2}|[a-z])\)")
_LONGEST_PARTY = 9
"""Words of the name of a party, with "and" and its form of address. More are several names."""
_NAME_ENDS = re.compile(
    r"[,(]|\b(?:represented by|acting (?:by|through)|vertreten durch|représentée? par|born|geboren|née?|whose|having"
    r"|with|residing|located|registered|wohnhaft|mit Sitz|demeurant|dont)\b|\bof (?=\d)"
    r"|\ba (?:company|corporation|partnership)\b",
    re.IGNORECASE,
)
"""What follows the name of a party: its address, its form, and who acts for it."""
_BREAK = re.compile(r"\n\s?\n|(?<!\d)[.;] (?=[A-ZÀ-ÖØ-Þ])")
_ADDRESS = re.compile(r"(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herrn?|Frau|Mme|M)\.? ){1,4}\Z")
"""Forms of address before a name."""
_FORMS_OF_ADDRESS = frozenset(["Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Herr", "Herrn", "Frau", "Mme", "M"])
_GERMAN_NOUN = re.compile(
    r"\b(?:der|die|das|den|dem|des|(?:ein|kein|sein|ihr)(?:e[mnrs]?)?|im|am|zum|zur|beim|vom|mit|ohne|für) \Z",
    re.IGNORECASE,
)
"""What stands before a noun of German, which has a capital and is mostly no name."""
_ABOUT_PARTY = re.compile(
    r"\b(?:e-?mail|phone|telephone|fax|address|born|birth|registered office|Adresse|Telefon|geboren|adresse|téléphone"
    r"|né|née)\b",
    re.IGNORECASE,
)
"""What the opening says of a party itself."""
_IS = re.compile(r"\W{0,3}(?:who|what|wer|was|qui)\s(?:is|are|was|were|ist|sind|war|est)\W{0,3}\Z", re.IGNORECASE)
_CONTRACTED = (
    (re.compile(r"\bà le (?=[A-Z])"), "au "),
    (re.compile(r"\bde le (?=[A-Z])"), "du "),
)
_WORD = re.compile(r"[\w&-]+")
_TITLE_ENDS = re.compile(r"[;:?!\n]")


@dataclass(frozen=True, kw_only=True)
class Reworded:
    """A question in the words of a document: the `text`, the ids of the `documents`, and a note on it."""

    text: str
    documents: frozenset[str]
    note: str


@dataclass(frozen=True, kw_only=True)
class _Name:
    """A name in a question, from `start` to `end` with the form of address before it."""

    written: str
    words: frozenset[str]
    start: int
    end: int


@dataclass(kw_only=True)
class _Agreement:
    """A document that defines names: its title, the terms that fit each name, and the words of its passages."""

    title: str
    fitting: dict[_Name, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    @property
    def is_clear(self) -> bool:
        """Whether each name has one term: of two persons with one surname, none is meant."""
        return bool(self.fitting) and all(len(terms) == 1 for terms in self.fitting.values())

    @property
    def terms(self) -> dict[_Name, str]:
        return {name: min(terms) for name, terms in self.fitting.items()}


def list_parties(question: str) -> tuple[str, ...]:
    """Returns the names of a question that an agreement may define; none if the question names its document already."""
    if len(question) > _LONGEST_QUESTION or find_naming(question) is not None or _ABOUT_PARTY.search(question):
        return ()
    return tuple(dict.fromkeys(name.written for name in _list_names(question)))


def reword_parties(question: str, hits: Sequence[Hit]) -> Reworded | None:
    """Returns the question with the terms of the agreement that defines its names, as far as the hits have its opening.

    None if the question names its document already or asks who a party is, if no agreement defines its names, or if
    several agreements do: then it is not known which of them is meant, unless the question has words of one title.
    """
    if not list_parties(question):
        return None
    names = list(_list_names(question))
    agreements: dict[str, _Agreement] = {}
    for hit in hits:
        if hit.url is not None:
            continue  # a page of the web does not decide how documents are read
        document = hit.document
        agreement = agreements.setdefault(document.id, _Agreement(title=document.title or document.key))
        agreement.words |= _read_words(hit.chunk.text)
        definitions = list(_list_definitions(hit.chunk.text[:_READ]))
        if len(definitions) >= _FEWEST_DEFINITIONS:
            for name in names:
                if fitting := {term for words, term in definitions if name.words <= words}:
                    agreement.fitting.setdefault(name, set()).update(fitting)
    defining = {id: agreement for id, agreement in agreements.items() if _defines(agreement, names)}
    return _reword(question, _keep_titled(question, defining))


def _defines(agreement: _Agreement, names: Sequence[_Name]) -> bool:
    """Returns whether an agreement defines a name of a question, and has all the others: the question may be about a
    thing of the contract, and else compares a party with somebody.
    """
    ends = {name.end for name in agreement.fitting}
    known = ends | {name.end for name in names if name.words <= agreement.words}
    first_words = {name.end for name in names if not name.start and len(name.words) == 1}
    return agreement.is_clear and {name.end for name in names} <= known | first_words


def _keep_titled(question: str, defining: Mapping[str, _Agreement]) -> Mapping[str, _Agreement]:
    """Returns the agreements whose titles have most words of the question, apart from names: `lease` in `break the
    lease`.
    """
    if len(defining) < 2:
        return defining
    asked = {word.stem for word in split_words(question) if question[word.start].islower()}
    titles = {id: {word.stem for word in split_words(agreement.title)} for id, agreement in defining.items()}
    held = {id: len(asked & title) for id, title in titles.items()}
    return {id: agreement for id, agreement in defining.items() if held[id] == max(held.values())}


def _reword(question: str, defining: Mapping[str, _Agreement]) -> Reworded | None:
    if not defining or len(defining) > _MOST_DOCUMENTS:
        return None
    agreements = sorted(defining.values(), key=lambda agreement: bool(read_amended_title(agreement.title)))
    terms = agreements[0].terms
    if any(agreement.terms != terms for agreement in agreements):
        return None
    rest, end = "", 0
    for name, term in sorted(terms.items(), key=lambda item: item[0].start):
        if name.start >= end:
            rest += question[end : name.start] + term
            end = name.end
    before = question[: min(name.start for name in terms)]
    if (_IS.fullmatch(before) or not before.strip()) and not question[end:].strip(" ?"):
        return None
    rest += question[end:]
    for pattern, contracted in _CONTRACTED:
        rest = pattern.sub(contracted, rest)
    title = _clean_title(agreements[0].title)
    named = [name.written for name in terms if not name.words <= _read_words(title)]
    about = f"{title} of {' and '.join(named)}" if named else title
    text = f"Consider {about}; {rest[:1].lower()}{rest[1:]}"
    return Reworded(
        text=text, documents=frozenset(defining), note=f"Read as “{text}”: so the opening of “{title}” calls the name."
    )


def _clean_title(title: str) -> str:
    """Returns a title for a lead-in: of an amendment the title of what it amends, and no name of a file."""
    line = _TITLE_ENDS.split((read_amended_title(title) or title)[:_LONGEST_TITLE])[0].strip().removeprefix("the ")
    return line if line[:1].isupper() and "_" not in line else "agreement"


def _list_names(question: str) -> Iterator[_Name]:
    """Yields the names of a question. Acronyms may say a post or a kind of document, and German nouns are no names.

    The first word of a question has a capital in any case, so a name there is also yielded without it.
    """
    for found in find_names(question):
        start, end = found.start, found.end
        if question[start:end].isupper() or _GERMAN_NOUN.search(question, 0, start):
            continue
        words = list(_WORD.finditer(question, start, end))
        if words:
            yield _make_name(question, words, end)
        if start == 0 and len(words) > 1:
            yield _make_name(question, words[1:], end)


def _make_name(question: str, words: Sequence[re.Match[str]], end: int) -> _Name:
    while len(words) > 1 and words[0][0] in _FORMS_OF_ADDRESS:
        words = words[1:]
    begin = words[0].start()
    address = _ADDRESS.search(question, 0, begin)
    return _Name(
        written=question[begin:end],
        words=_read_words(question[begin:end]),
        start=address.start() if address else begin,
        end=end,
    )


def _read_words(text: str) -> frozenset[str]:
    """Returns the words of a text; `HALDEN` counts as `Halden`."""
    return frozenset(word.capitalize() if word.isupper() else word for word in _WORD.findall(text))


def _list_definitions(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yields the words of the name before each definition of the opening of an agreement, and the term with its
    article. The address behind a name is no part of it.
    """
    between = _BETWEEN.search(text)
    if between is None:
        return
    begin = between.end()
    for definition in _DEFINITION.finditer(text, begin):
        before = text[max(begin, definition.start() - _LONGEST_NAME) : definition.start()]
        parts = [part.lstrip(' ,;)*_\n–-”’"“') for part in _BREAK.split(_NUMBER.sub(" ", before))]
        name = _NAME_ENDS.split(next((part for part in reversed(parts) if _WORD.search(part)), ""), maxsplit=1)[0]
        begin = definition.end()
        words, term = _read_words(name), definition["term"]
        if term[0].isupper() and len(words) <= _LONGEST_PARTY and words.isdisjoint(_read_words(term)):
            article = definition["article"] or definition["before"] or ("" if _FOREIGN.search(definition[0]) else "the")
            yield words, f"{article} {term}".strip()
