"""Parses in Universal Dependencies, as the pipelines of languages other than English give them, in the rules' form.

Two things differ beyond the names of roles. A predicate noun is the head of its copula there ("est" hangs on
"capitale"), and a preposition hangs on its noun. Here the copula is the head, and the noun hangs on the preposition.
"""

from collections.abc import Sequence

from indexer.extractors.syntax.words import Word

_ROLES = {
    "nsubj:pass": "nsubjpass",
    "csubj:pass": "csubjpass",
    "aux:pass": "auxpass",
    "aux:tense": "aux",
    "aux:caus": "aux",
    "obj": "dobj",
    "obj:agent": "dobj",
    "flat": "compound",
    "flat:name": "compound",
    "flat:foreign": "compound",
    "acl:relcl": "relcl",
}
_PHRASES = frozenset({"nmod", "obl", "obl:arg", "obl:mod", "obl:agent", "iobj"})
_NEGATIONS = frozenset({"ne", "n'", "n’", "pas", "jamais", "no", "nunca", "non"})
_OF_CLAUSE = frozenset(
    {"nsubj", "nsubjpass", "aux", "auxpass", "neg", "mark", "punct", "advcl", "advmod", "prep", "agent", "npadvmod"}
)
"""Roles that belong to the copula where its predicate noun has them; phrases only if they stand before it."""


def to_rules_form(words: Sequence[Word]) -> None:
    """Gives the words of a sentence the roles and heads that the rules read."""
    for word in words:
        word.role = _ROLES.get(word.role, word.role)
        if word.lower in _NEGATIONS and word.role == "advmod":
            word.role = "neg"
    for word in words:
        if word.role in _PHRASES:
            _hang_on_preposition(word)
    for word in words:
        copula = next((child for child in word.children if child.role == "cop"), None)
        if copula is not None:
            _make_head(copula, word)


def _hang_on_preposition(noun: Word) -> None:
    head = noun.head
    preposition = next((child for child in noun.children if child.role == "case"), None)
    if head is None:
        return
    if preposition is None:
        noun.role = "npadvmod" if head.kind in ("VERB", "AUX", "ADJ") else "nmod"
        return
    preposition.role = "agent" if noun.role == "obl:agent" else "prep"
    noun.role = "pobj"
    noun.children.remove(preposition)
    head.children[head.children.index(noun)] = preposition
    preposition.head, noun.head = head, preposition
    preposition.children.append(noun)


def _make_head(copula: Word, predicate: Word) -> None:
    predicate.children.remove(copula)
    copula.head, copula.role, copula.kind, copula.is_copula = predicate.head, predicate.role, "AUX", True
    if predicate.head is not None:
        siblings = predicate.head.children
        siblings[siblings.index(predicate)] = copula
    for child in list(predicate.children):
        is_phrase = child.role in ("prep", "npadvmod", "advmod", "punct")
        if child.role in _OF_CLAUSE and (not is_phrase or child.place < copula.place):
            predicate.children.remove(child)
            child.head = copula
            copula.children.append(child)
    predicate.head = copula
    predicate.role = "acomp" if predicate.kind == "ADJ" else "attr"
    copula.children.append(predicate)
    copula.children.sort(key=lambda word: word.place)
