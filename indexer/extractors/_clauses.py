"""Statements of a small model, cut into triples.

A small model copies a clause where it is asked for a verb: "was launched at the Cologne show in 1982". The subject is
right, and the clause is the text's, so the clause is cut at its English prepositions: a triple for each phrase.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from core.graph import Triple
from core.text.word_lists import CLAUSE_WORDS, DETERMINERS, PREPOSITIONS

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
