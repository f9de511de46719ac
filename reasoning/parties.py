"""Names in a question that an agreement calls by terms of its own, such as `Daniel Okonjo (the “Employee”)`.

The opening of a contract defines who its parties are, and no clause has their names again: `Can Okonjo take a second
job?` is answered by "The Employee may not perform paid work for others". So the question is asked again in the words of
the contract: `Consider Contract of Employment of Okonjo; can the Employee take a second job?`
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.ports.retrieval import Hit
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from core.text.terms import split_words
from core.validity.agreements import read_amended_title
from reasoning.openings import WORD, find_pronoun, read_definitions, read_words

_LONGEST_QUESTION = 500
_MOST_DOCUMENTS = 2
"""Documents that may define the same names: an agreement and its amendment. More are the agreements of one party."""
_MOST_AGREEMENTS = 4
"""Agreements with other parties or roles that may define the same name. Of more, none is meant."""
_LONGEST_TITLE = 100

_ADDRESS = re.compile(r"(?:(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herrn?|Frau|Mme|M)\.?|[A-ZÀ-ÖØ-Þ]\.) ){1,5}\Z")
"""Forms of address and initials before a name."""
_FORMS_OF_ADDRESS = frozenset(["Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "Herr", "Herrn", "Frau", "Mme", "M"])
_GERMAN_NOUN = re.compile(
    r"\b(?:der|die|das|den|dem|des|(?:ein|kein|sein|ihr)(?:e[mnrs]?)?|im|am|zum|zur|beim|vom|mit|ohne|für) \Z",
    re.IGNORECASE,
)
"""What stands before a noun of German, which has a capital and is mostly no name."""
_ABOUT_PARTY = re.compile(
    r"(?<!by )(?<!via )(?<!per )\b(?:e-?mail|phone|telephone|fax|address|born|birth|registered office|Adresse|Telefon"
    r"|geboren|adresse|téléphone|né|née)\b",
    re.IGNORECASE,
)
"""What the opening says of a party itself."""
_IS = re.compile(r"\W{0,3}(?:who|what|wer|was|qui)\s(?:is|are|was|were|ist|sind|war|est)\W{0,3}\Z", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had|war|waren|hatte|wurde|wurden)\b", re.IGNORECASE)
_INFLECTED = (
    (re.compile(r"\byou['’]s?(?!\w)"), "your"),
    (re.compile(r"\bwe['’]s?(?!\w)"), "our"),
    (re.compile(r"(?<=\b(?:of|to|by) )we\b|(?<=\bfor )we\b|(?<=\b(?:from|with) )we\b"), "us"),
    (re.compile(r"\b(?i:does)(?= (?:you|we)\b)"), "do"),
    (re.compile(r"\b(?i:has)(?= (?:you|we)\b)"), "have"),
    (re.compile(r"\b(?i:is)(?= (?:you|we)\b)"), "are"),
    (re.compile(r"\b(?i:was)(?= (?:you|we)\b)"), "were"),
    (re.compile(r"\bà le (?=[A-Z])"), "au "),
    (re.compile(r"\bde le (?=[A-Z])"), "du "),
)
"""What becomes of words around a term in the place of a name."""
_AMENDMENT = re.compile(r"(?:deed of variation|variation|supplement|avenant|amending)\b", re.IGNORECASE)
_BEHIND_ARTICLE = re.compile(
    r"\b(?:the|an?|this|that|its|our|your|der|die|das|den|dem|des|eine?[mnrs]?|le|la|les|un|une|du|ce|cette) \Z",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\A(?:(?:the|der|die|das|le|la) |l['’])")
_KINDS = r"(?:agreement|contract|lease|licen[cs]e|loan|deed|contrat|bail)"
_AGREEMENT_OF = re.compile(
    rf"\b(?P<article>the|an?|this|le|du|au) (?:(?!(?:the|an?|this|le|du|au) )[\w-]{{1,20}} ){{0,4}}?"
    rf"(?P<kind>[\w-]{{0,20}}?{_KINDS}) (?:of|with|for|de|avec) (?:the |la |le )?\Z",
    re.IGNORECASE,
)
"""What stands before a name that only tells which agreement is meant: "the severance agreement of"."""
_IS_JOINED = re.compile(r",? (?:and|or|und|oder|et|ou|&) ")
_OWN_AGREEMENT = re.compile(rf" (?:[a-z-]{{1,20}} ){{0,2}}{_KINDS}\b")
"""What stands behind such a name: "the Marn" of "the Marn loan"."""
_TO_YOU = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
_TITLE_ENDS = re.compile(r"[;:?!\n]")


@dataclass(frozen=True, kw_only=True)
class Reworded:
    """A question in the words of a document: the `text`, its `rest` without the lead-in, the words of the `names` that
    are replaced, in small letters, how many `parties` they are of, the ids of the `documents`, and a note on it.
    `is_past`: it asks what a party did or had, which an agreement seldom tells.
    """

    text: str
    rest: str
    names: frozenset[str]
    parties: int
    is_past: bool
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
    """A document that defines names: its title, what it defines, and the texts and words of its passages."""

    title: str
    words: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    definitions: set[tuple[frozenset[str], str]] = field(default_factory=set)

    @property
    def is_amendment(self) -> bool:
        return bool(read_amended_title(self.title)) or _AMENDMENT.match(self.title) is not None

    def find_terms(self, names: Sequence[_Name]) -> Mapping[_Name, str]:
        """Returns the term for each name that is defined; {} if one has several: of two persons with one surname, none
        is meant.
        """
        fitting = {name: {term for words, term in self.definitions if name.words <= words} for name in names}
        if any(len(terms) > 1 for terms in fitting.values()):
            return {}
        return {name: self._address(term) for name, terms in fitting.items() for term in terms}

    def _address(self, term: str) -> str:
        """Returns "you" or "we" for a role that an agreement in the form of a letter does not write."""
        text = "\n".join(self.texts)
        is_written = term in text or f"{term[:1].upper()}{term[1:]}" in text
        is_letter = not is_written and _TO_YOU.search(text) is not None
        return (find_pronoun(term) if is_letter else "") or term

    def is_one_with(self, other: "_Agreement") -> bool:
        """Returns whether both are of the same parties in the same roles: an agreement and its amendment."""
        mine, others = _by_term(self.definitions), _by_term(other.definitions)
        return mine.keys() == others.keys() and all(mine[term] & others[term] for term in mine)


def _by_term(definitions: Collection[tuple[frozenset[str], str]]) -> dict[str, frozenset[str]]:
    terms = {term for _, term in definitions}
    return {term: frozenset[str]().union(*(words for words, other in definitions if other == term)) for term in terms}


def list_parties(question: str) -> tuple[str, ...]:
    """Returns the names of a question that an agreement may define; none if its lead-in names a document."""
    if len(question) > _LONGEST_QUESTION or split_lead_in(question)[0] or _ABOUT_PARTY.search(question):
        return ()
    return tuple(dict.fromkeys(name.written for name in _list_names(question)))


def reword_parties(question: str, hits: Sequence[Hit]) -> tuple[Reworded, ...]:
    """Returns the question in the terms of each agreement that defines its names, as far as hits have its opening.

    () if the question has a lead-in or asks who a party is, or if no agreement defines its names. If many
    agreements do, it is not known which of them is meant, unless the question has words of one title.
    """
    if not list_parties(question):
        return ()
    names = list(_list_names(question))
    agreements: dict[str, _Agreement] = {}
    for hit in hits:
        if hit.url is not None:
            continue  # a page of the web does not decide how documents are read
        document = hit.document
        agreement = agreements.setdefault(document.id, _Agreement(title=document.title or document.key))
        agreement.words |= read_words(f"{document.key} {document.title} {hit.chunk.text}")
        agreement.texts.add(hit.chunk.text)
        agreement.definitions |= read_definitions(hit.chunk.text)
    defining = {id: agreement for id, agreement in agreements.items() if _defines(agreement, names)}
    groups = _group(_keep_titled(question, defining))
    reworded = [_reword(question, names, group) for group in groups if len(group) <= _MOST_DOCUMENTS]
    return tuple(found for found in reworded if found is not None) if len(groups) <= _MOST_AGREEMENTS else ()


def _defines(agreement: _Agreement, names: Sequence[_Name]) -> bool:
    """Returns whether an agreement defines a name of a question, and has all the others: the question may be about a
    thing of the contract, and else compares a party with somebody.
    """
    terms = agreement.find_terms(names)
    known = {name.end for name in terms} | {name.end for name in names if name.words <= agreement.words}
    first_words = {name.end for name in names if not name.start and len(name.words) == 1}
    return bool(terms) and {name.end for name in names} <= known | first_words


def _group(defining: Mapping[str, _Agreement]) -> list[dict[str, _Agreement]]:
    """Returns the agreements, each with its amendments behind it."""
    groups: list[dict[str, _Agreement]] = []
    for id, agreement in sorted(defining.items(), key=lambda item: item[1].is_amendment):
        same = next((group for group in groups if agreement.is_one_with(next(iter(group.values())))), None)
        if same is None:
            groups.append({id: agreement})
        else:
            same[id] = agreement
    return groups


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


def _reword(question: str, names: Sequence[_Name], group: Mapping[str, _Agreement]) -> Reworded | None:
    agreement = next(iter(group.values()))
    terms = agreement.find_terms(names)
    taken: list[_Name] = []
    rest, end = "", 0
    for name, term in sorted(terms.items(), key=lambda item: item[0].start):
        if name.start >= end:  # else it is a part of the name before
            taken.append(name)
            rest, end = _call(f"{rest}{question[end : name.start]}", term, question[name.end :]), name.end
    before = question[: min(name.start for name in terms)]
    if (_IS.fullmatch(before) or not before.strip()) and not question[end:].strip(" ?"):
        return None
    rest += question[end:]
    for pattern, inflected in _INFLECTED:
        rest = pattern.sub(inflected, rest)
    title = _clean_title(agreement.title)
    named = [name.written for name in taken if not name.words <= read_words(title)]
    about = f"{title} of {' and '.join(named)}" if named else title
    rest = f"{rest[:1].lower()}{rest[1:]}"
    text = f"Consider {about}; {rest}"
    note = f"Read as “{text}”: so the opening of “{title}” calls the name."
    written = frozenset(word.casefold() for name in terms for word in name.words)
    return Reworded(
        text=text,
        rest=rest,
        names=written,
        parties=len(taken),
        is_past=_PAST.search(before) is not None,
        documents=frozenset(group),
        note=note,
    )


def _call(before: str, term: str, after: str) -> str:
    """Returns what stands before a name, with the term for it, or without if the name only tells which agreement is
    meant, and with an article once.
    """
    of_agreement = _AGREEMENT_OF.search(before)
    if of_agreement and not _IS_JOINED.match(after):
        return f"{before[: of_agreement.start()]}{of_agreement['article']} {of_agreement['kind']}"
    if not _BEHIND_ARTICLE.search(before):
        return f"{before}{term}"
    return before.rstrip() if _OWN_AGREEMENT.match(after) else f"{before}{_ARTICLE.sub('', term)}"


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
        words = list(WORD.finditer(question, start, end))
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
        words=read_words(question[begin:end]),
        start=address.start() if address else begin,
        end=end,
    )
