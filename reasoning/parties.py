"""Names in a question that an agreement replaces by terms of its own, such as `Daniel Okonjo (the “Employee”)`.

The opening of a contract defines who its parties are, and no clause has their names again: `Can Okonjo take a second
job?` is answered by "The Employee may not perform paid work for others". So the question is asked again in the words of
the contract: `Consider Contract of Employment of Okonjo; can the Employee take a second job?`
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.ports.retrieval import Hit
from core.text.lead_in import find_naming
from core.text.name_spans import find_names

__all__ = ["Restated", "restate_parties"]

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
    r"(?:[(\[]|\b(?:hereinafter|hereafter|referred to as|called|known as|designated as|nachfolgend|folgenden|ci-après)"
    r"\b)"
    r"[^()\[\]\"“”„«»\n]{0,40}[\"“„«] ?(?:(?P<article>the|der|die|das|le|la) )?"
    r"(?P<term>[A-ZÀ-ÖØ-Þ][\w-]{1,30}(?: [A-ZÀ-ÖØ-Þ][\w-]{1,30}){0,2}) ?[\"“”»]",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\b(?:between|among|by|zwischen|entre)\b[\s:]{1,4}", re.IGNORECASE)
_BREAK = re.compile(r"\n\s?\n|[.;] (?=[A-ZÀ-ÖØ-Þ])")
_ADDRESS = re.compile(r"(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herrn?|Frau|Mme|M)\.? )+\Z")
"""Forms of address before a name."""
_FORMS_OF_ADDRESS = frozenset(["Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Herr", "Herrn", "Frau", "Mme", "M"])
_GERMAN_NOUN = re.compile(
    r"\b(?:der|die|das|den|dem|des|(?:ein|kein|sein|ihr)(?:e[mnrs]?)?|im|am|zum|zur|beim|vom|mit|ohne|für) \Z",
    re.IGNORECASE,
)
"""What stands before a noun of German, which has a capital and is mostly no name."""
_WORD = re.compile(r"[\w&-]+")
_TITLE_ENDS = re.compile(r"[;:?!\n]")


@dataclass(frozen=True, kw_only=True)
class Restated:
    """A question in the words of a document: the `text`, the ids of the `documents`, and a sentence for the trace."""

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


def restate_parties(question: str, hits: Sequence[Hit]) -> Restated | None:
    """Returns the question with the terms of the agreement that defines its names, as far as the hits have its opening.

    None if the question names its document already, if no agreement defines all of its names, or if several do: then it
    is not known which of them is meant.
    """
    if len(question) > _LONGEST_QUESTION or find_naming(question) is not None:
        return None
    names = list(_list_names(question))
    defined: dict[str, dict[_Name, str]] = {}
    titles: dict[str, str] = {}
    for hit in hits:
        definitions = list(_list_definitions(hit.chunk.text[:_READ]))
        if len(definitions) < _FEWEST_DEFINITIONS:
            continue
        for name in names:
            term = next((term for words, term in definitions if name.words <= words), None)
            if term is not None:
                defined.setdefault(hit.document.id, {}).setdefault(name, term)
                titles.setdefault(hit.document.id, hit.document.title or hit.document.key)
    wanted = {name for name in names if name.start or len(name.words) > 1}  # the first word has a capital in any case
    whole = {document: terms for document, terms in defined.items() if wanted <= terms.keys()}
    return _restate(question, whole, titles)


def _restate(question: str, defined: dict[str, dict[_Name, str]], titles: dict[str, str]) -> Restated | None:
    if not defined or len(defined) > _MOST_DOCUMENTS:
        return None
    terms = next(iter(defined.values()))
    if any(other != terms for other in defined.values()):
        return None
    rest, end = "", 0
    for name, term in sorted(terms.items(), key=lambda item: item[0].start):
        rest += question[end : name.start] + term
        end = name.end
    rest += question[end:]
    title = _TITLE_ENDS.split(titles[next(iter(defined))][:_LONGEST_TITLE])[0].strip()
    named = [name.written for name in terms if not name.words <= set(_WORD.findall(title))]
    about = f"{title} of {' and '.join(named)}" if named else title
    text = f"Consider {about}; {rest[:1].lower()}{rest[1:]}"
    return Restated(text=text, documents=frozenset(defined), note=f"read as “{text}”, by the opening of “{title}”")


def _list_names(question: str) -> Iterator[_Name]:
    """Yields the names of a question. Acronyms may say a post or a kind of document, and German nouns are no names."""
    for found in find_names(question):
        start, end = found.start, found.end
        if question[start:end].isupper() or _GERMAN_NOUN.search(question, 0, start):
            continue
        words = list(_WORD.finditer(question, start, end))
        if start == 0 and len(words) > 1 and words[1][0] in _FORMS_OF_ADDRESS:
            words = words[1:]  # the verb of a question that a language begins with
        while len(words) > 1 and words[0][0] in _FORMS_OF_ADDRESS:
            words = words[1:]
        begin = words[0].start()
        address = _ADDRESS.search(question, 0, begin)
        yield _Name(
            written=question[begin:end],
            words=frozenset(word[0] for word in words),
            start=address.start() if address else begin,
            end=end,
        )


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
        if gaps := list(_BREAK.finditer(before)):
            before = before[gaps[-1].end() :]
        begin = definition.end()
        name = before.lstrip(" ,;)\n").partition(",")[0]
        words, term = frozenset(_WORD.findall(name)), definition["term"]
        if term[0].isupper() and words.isdisjoint(_WORD.findall(term)):
            yield words, f"{definition['article'] or 'the'} {term}"
