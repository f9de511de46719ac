"""Reading of a model's answer: the names and triples that it lists, as they are spelled in the text.

A small model copies a clause where it is asked for a verb: "was launched at the Cologne show in 1982". The subject is
right, and the clause is the text's, so `split_statement` cuts it at its English prepositions: a triple for each phrase.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pydantic import BaseModel, Field

from core.graph import Extraction, Surface, Triple
from core.text.languages import detect_language
from core.text.names import normalise
from core.text.word_lists import CLAUSE_WORDS, DETERMINERS, PREPOSITIONS
from indexer.extractors._grounding import Grounds
from indexer.extractors._occurrences import find_occurrences, find_spellings

_LINE = re.compile(r'"([^"|\n]+\|[^"\n]+)"')


class Statements(BaseModel):
    """The answer. Its items are checked one by one, so that a wrong item does not invalidate the others."""

    entities: list[Any] = Field(json_schema_extra={"items": {"type": "string"}})
    triples: list[Any] = Field(json_schema_extra={"items": {"type": "array", "items": {"type": "string"}}})


class Facts(BaseModel):
    """The answer of a small model: lines `subject | verb | object`, or `subject | clause`."""

    facts: list[Any] = Field(json_schema_extra={"items": {"type": "string"}})


def read_statements(found: Statements, text: str, grounds: Grounds) -> Extraction:
    """Returns what was found, as it is spelled in `text`. A name that the text does not contain counts once.

    Triples that are not three names, or that do not stand in the passage, are left out and counted as malformed.
    """
    names = [name for name in (_read_name(item) for item in found.entities) if name]
    read = [triple for triple in (_read_triple(item) for item in found.triples) if triple is not None]
    checked = grounds.check(read, is_strict=False)
    kept = tuple(dict.fromkeys(triple for triple in checked if triple is not None))
    names += [name for triple in kept for name in (triple.subject, triple.object)]
    malformed = len(found.triples) - len(read) + checked.count(None)
    return Extraction(entities=_count_surfaces(names, text), triples=kept, malformed=malformed)


def find_facts(text: str) -> Facts:
    """Returns the whole lines of an answer that is no JSON object, each once."""
    return Facts(facts=list(dict.fromkeys(_LINE.findall(text))))


def read_facts(found: Facts, text: str, grounds: Grounds) -> Extraction:
    """Returns the triples of the lines, and the names in them. English clauses are cut into triples.

    A line of another form, and a triple that does not stand in a sentence of the passage, count as malformed.
    """
    lines = [_read_line(item) for item in found.facts]
    is_english = detect_language([text]) == "en"
    triples = [
        triple for line in lines if line for triple in (split_statement(*line) if is_english else _make_triples(*line))
    ]
    checked = grounds.check(triples, is_strict=True)
    kept = tuple(dict.fromkeys(triple for triple in checked if triple is not None))
    names = [name for triple in kept for name in (triple.subject, triple.object)]
    malformed = lines.count(None) + checked.count(None)
    return Extraction(entities=_count_surfaces(names, text), triples=kept, malformed=malformed)


def _make_triples(subject: str, relation: str, object_: str = "") -> list[Triple]:
    return [Triple(subject=subject, predicate=relation, object=object_)] if object_ else []


def _read_line(item: object) -> tuple[str, ...] | None:
    parts = item.split("|") if isinstance(item, str) else item
    if not isinstance(parts, list) or not 2 <= len(parts) <= 3:
        return None
    read = tuple(_read_name(part) for part in parts)
    return read if read[0] and read[1] else None


def _count_surfaces(names: Iterable[str], text: str) -> tuple[Surface, ...]:
    normalised = {name: normalise(name) for name in names}
    occurrences = find_occurrences([text], normalised.values())
    forms: dict[str, int] = {}
    for name, key in normalised.items():
        count = occurrences.get(key, {}).get(0, 1)
        for surface in find_spellings(text, name, count):
            forms[surface.form] = max(surface.count, forms.get(surface.form, 0))
    return tuple(Surface(form=form, count=count) for form, count in forms.items())


def _read_triple(item: object) -> Triple | None:
    parts = list(item.values()) if isinstance(item, dict) else item
    if not isinstance(parts, list) or len(parts) != 3:
        return None
    subject, predicate, object_ = (_read_name(part) for part in parts)
    if not (subject and predicate and object_):
        return None
    return Triple(subject=subject, predicate=predicate, object=object_)


def _read_name(item: object) -> str:
    """Returns an item, a text or a number, as a text on one line; '' if the item names nothing."""
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        return ""
    text = " ".join(str(item).split())
    return text if normalise(text) else ""


_MOST_VERB_WORDS = 3
"""Words of a relation that may be a verb with its preposition."""
_LONGEST_RELATION = 8
_MARK = re.compile(r"[,;:()]|\s[-–—]\s|(?<!\b[A-Z])\.(?=\s|$)")
_PLACING = frozenset({"among", "at", "in", "of", "within"})
_LIST = re.compile(r",? (?:and|or) |, ")


def split_statement(subject: str, relation: str, object_: str = "") -> list[Triple]:
    """Returns the triples of a statement. A short relation with an object without prepositions is one triple.

    Left out are objects that are cut off ("tributary of"), and a common word alone that only places something ("borders
    in the east", "was created at a time"), which says nothing without the rest of its phrase.
    """
    return [triple for triple in _cut(subject, relation, object_) if not _is_fragment(triple)]


def _is_fragment(triple: Triple) -> bool:
    words = triple.object.split()
    if words[-1] in PREPOSITIONS or words[-1] == "of":
        return True
    places = triple.predicate.split()[-1] in _PLACING
    return places and len(words) == 1 and words[0].isascii() and words[0].islower() and words[0].isalpha()


def _cut(subject: str, relation: str, object_: str) -> list[Triple]:
    verb, words = relation.split(), object_.split()
    if words and len(verb) <= _MOST_VERB_WORDS and not PREPOSITIONS & set(words):
        return [Triple(subject=subject, predicate=" ".join(verb), object=one) for one in _split_list(" ".join(words))]
    is_clause = len(verb) > _MOST_VERB_WORDS
    phrases = _cut_clause(verb if is_clause else [*verb, *words])
    cut = [Triple(subject=subject, predicate=predicate, object=phrase) for predicate, phrase in phrases]
    if words and (not cut or (is_clause and verb[-1] in PREPOSITIONS)) and len(verb) <= _LONGEST_RELATION:
        cut.append(Triple(subject=subject, predicate=" ".join(verb), object=" ".join(words)))
    return cut


def _split_list(text: str) -> list[str]:
    """Returns the items of a list of three or more names, or the text."""
    items = [item for item in _LIST.split(text) if item]
    return items if len(items) > 2 and all(item[0].isupper() for item in items) else [text]


def _cut_clause(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields the relation and the object of each phrase, up to the first mark or word that may begin another clause."""
    clause = _MARK.split(" ".join(words), maxsplit=1)[0].split()
    head, at = _read(clause, 0, stop=_begins_phrase)
    if not head or not head[0][0].islower():
        return
    while at < len(clause) and clause[at] not in CLAUSE_WORDS - PREPOSITIONS:
        preposition = [clause[at]] if clause[at] in PREPOSITIONS else []
        phrase, at = _read(clause, at + len(preposition), stop=PREPOSITIONS.__contains__)
        object_ = phrase[1:] if phrase and phrase[0].casefold() in DETERMINERS else phrase
        if not object_:
            return
        if len(head) + len(preposition) <= _LONGEST_RELATION:
            yield " ".join((*head, *preposition)), " ".join(object_)
        if not preposition:
            head = [*head, *phrase]  # "is a river in", "offers courses in"


def _read(clause: Sequence[str], at: int, stop: Callable[[str], bool]) -> tuple[list[str], int]:
    """Returns the words from `at` to a word that stops them, and the place of that word. The first never does."""
    end = at + 1 if at < len(clause) and clause[at] not in CLAUSE_WORDS else at
    while at < end < len(clause) and clause[end] not in CLAUSE_WORDS and not stop(clause[end]):
        end += 1
    return list(clause[at:end]), end


def _begins_phrase(word: str) -> bool:
    return word in PREPOSITIONS or word.casefold() in DETERMINERS or word[0].isupper() or word[0].isdigit()
