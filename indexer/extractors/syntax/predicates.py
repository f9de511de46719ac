"""Predicates in the words of the text: verbs with auxiliaries, the infinitives that they lead to, and subjects."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from indexer.extractors.syntax.lists import HEDGES, NEGATIVES, RELATIVES
from indexer.extractors.syntax.words import SUBJECTS, Word, find_children, has_child, in_order

_VERBS = ("VERB", "AUX")
_SUBJECTS = (*SUBJECTS, "csubj", "csubjpass", "expl")
_MOST_DEPTH = 6
_MARKS = frozenset({",", ";", ":", ".", "--", "—", "-", "–"})
_PAIRS = (frozenset({'"'}), frozenset({"“", "”"}), frozenset({"(", ")"}), frozenset({"[", "]"}))
_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM")
_HAVE = frozenset({"have", "has", "had", "having", "been"})
_BE = frozenset({"is", "are", "was", "were", "been"})
_NO_ARGUMENTS = frozenset(
    {*_SUBJECTS, "punct", "cc", "conj", "mark", "aux", "auxpass", "neg", "prt", "preconj", "intj", "dep", "parataxis"}
)


@dataclass(frozen=True, slots=True)
class PredicateWords:
    """A predicate: its `verbs` and adjectives ("was able to buy"), the `words` of its relation, and the heads of its
    arguments. `implied` is a word that the text leaves out: "be" in "a book written by".
    """

    verbs: Sequence[Word]
    words: Sequence[Word]
    arguments: Sequence[Word]
    implied: str = ""


def grow(head: Word, left_out: Collection[Word] = ()) -> list[Word]:
    """Returns the words of the phrase of a head, in order, without relative clauses and appositions behind nouns."""
    words, stack = [head], [head]
    while stack:
        top = stack.pop()
        for child in top.children:
            is_aside = child.role in ("relcl", "appos") and child.place > top.place
            if not is_aside and child not in left_out:
                words.append(child)
                stack.append(child)
    return in_order(words)


def trim(words: Sequence[Word]) -> list[Word]:
    """Returns the words without marks, half a pair of brackets, and conjunctions other than "neither" at the ends."""
    texts = [word.text for word in words]
    marks = _MARKS | {text for pair in _PAIRS if sum(map(texts.count, pair)) % 2 for text in pair}
    start, end = 0, len(words)
    while end > start and words[end - 1].text in marks:
        end -= 1
    while start < end and (words[start].text in marks or _joins(words[start])):
        start += 1
    return list(words[start:end])


def _joins(word: Word) -> bool:
    return word.role in ("cc", "preconj") and word.lower not in NEGATIVES


def conjuncts_of_noun(head: Word) -> list[Word]:
    """Returns a head and the nouns, names, numbers and adjectives that "and" or commas join to it."""
    if any(child.lower in NEGATIVES | {"or"} for child in head.children):
        return [head]
    joined = [child for child in head.children if child.role == "conj" and child.kind in (*_NOMINAL, "ADJ")]
    return [head, *(member for child in joined for member in conjuncts_of_noun(child))]


def find_subjects(verb: Word, depth: int = 0) -> tuple[list[Word], str]:
    """Returns the heads of what a verb is said of, and how they were found: a role, or "own".

    "own": the verb has them; "conj": the verb before it has; "relcl" and "acl": the noun before it; others: the verb
    above.
    """
    own = find_children(verb, *_SUBJECTS)
    named = [word for word in own if verb.role != "relcl" or word.lower not in RELATIVES]
    if named:
        there = [word for word in named if word.role == "expl"]
        return (there, "expl") if there and verb.is_be else (named, "own")
    head = verb.head
    if head is None or depth > _MOST_DEPTH:
        return [], ""
    if is_in_chain(verb):
        above = head if head.kind in _VERBS else head.head
        return find_subjects(above, depth + 1) if above is not None else ([], "")
    if verb.role in ("relcl", "acl"):
        return _subjects_before(verb, head, own)
    if verb.role == "conj" and head.kind in _VERBS:
        heads, manner = find_subjects(head, depth + 1)
        return heads, manner if manner in ("acl", "to", "pcomp") else "conj"
    return _subjects_above(verb, head, depth)


def _subjects_before(verb: Word, noun: Word, own: Sequence[Word]) -> tuple[list[Word], str]:
    if verb.role == "relcl":
        return ([noun], "relcl") if own else ([], "")
    return ([noun], "to" if _is_infinitive(verb) else "acl") if noun.kind in _NOMINAL else ([], "")


def _subjects_above(verb: Word, head: Word, depth: int) -> tuple[list[Word], str]:
    if verb.role == "xcomp" and has_child(head, "dobj"):
        return find_children(head, "dobj")[:1], "to" if _is_infinitive(verb) else "xcomp"
    if verb.role in ("advcl", "xcomp", "pcomp") and head.kind in (*_VERBS, "ADJ"):
        return find_subjects(head, depth + 1)[0], "to" if _is_infinitive(verb) else verb.role
    if verb.role == "pcomp" and head.head is not None and head.head.kind in _VERBS:
        return find_subjects(head.head, depth + 1)[0], "pcomp"
    return [], ""


def _is_infinitive(verb: Word) -> bool:
    return any(word.lower == "to" for word in find_children(verb, "aux"))


def is_in_chain(verb: Word) -> bool:
    """Whether a verb is read with the predicate above it: "buy" in "wants to buy" and "is able to buy"."""
    head = verb.head
    if verb.role != "xcomp" or head is None or has_child(verb, *_SUBJECTS):
        return False
    return not has_child(head, "dobj") if head.kind in _VERBS else head.kind == "ADJ" and head.role == "acomp"


def _chain(verb: Word) -> list[Word]:
    """Returns a verb and the adjectives and infinitives that it leads to."""
    chain = [verb]
    for _ in range(_MOST_DEPTH):
        verb = chain[-1]
        following = [word for word in find_children(verb, "xcomp") if word.kind in _VERBS and is_in_chain(word)]
        following += [word for word in find_children(verb, "acomp") if any(map(is_in_chain, word.children))]
        if not following or following[0].place < verb.place:
            break
        chain.append(following[0])
    return chain


def _group(word: Word) -> list[Word]:
    """Returns a verb with auxiliaries, negation, particles and the adverbs among them; an adjective with adverbs."""
    kept = [word, *find_children(word, "aux", "auxpass", "neg", "prt")]
    first = min(other.place for other in kept) if word.kind in _VERBS else 0
    for other in find_children(word, "advmod"):
        if first < other.place < word.place and (not other.children or other.lower in HEDGES):
            kept += [*other.children, other]
    return in_order(kept)


def _shared(verb: Word, depth: int = 0) -> list[Word]:
    """Returns what a joined verb has of the predicate before: "was" of "was built and opened", "wants to" of "wants to
    buy and sell".
    """
    head = verb.head
    if verb.role != "conj" or head is None or head.kind not in _VERBS or depth > _MOST_DEPTH:
        return []
    if is_in_chain(head) and verb.tag in ("VB", "VBG"):
        return _before_in_chain(head, depth)
    if has_child(verb, "aux", "auxpass"):
        return []
    own = [word for word in find_children(head, "aux", "auxpass", "neg") if _fits(word, verb)]
    return own or _shared(head, depth + 1)


def _before_in_chain(verb: Word, depth: int) -> list[Word]:
    top: Word | None = verb
    while top is not None and top.head is not None and (is_in_chain(top) or top.role == "acomp"):
        top = top.head
    chain = _chain(top) if top is not None else []
    if verb not in chain:
        return []
    to = [word for word in find_children(verb, "aux") if word.lower == "to"]
    return [*_shared(chain[0], depth + 1), *(word for v in chain[: chain.index(verb)] for word in _group(v)), *to]


def _fits(auxiliary: Word, verb: Word) -> bool:
    """Whether an auxiliary or a negation can stand before the form of a verb."""
    if auxiliary.role == "neg":
        return verb.tag in ("VB", "VBN", "VBG")
    if auxiliary.role == "auxpass":
        return verb.tag == "VBN"
    return {"VBN": auxiliary.lower in _HAVE, "VBG": auxiliary.lower in _BE, "VB": True}.get(verb.tag, False)


def read_predicate(verb: Word, manner: str) -> PredicateWords:
    """Returns the predicate of a verb whose subjects were found in a `manner` of `find_subjects`."""
    chain, shared = _chain(verb), _shared(verb)
    words = in_order(tuple(dict.fromkeys([*shared, *(word for member in chain for word in _group(member))])))
    used = {*words, *chain}
    arguments = [
        child for member in chain for child in member.children if child not in used and child.role not in _NO_ARGUMENTS
    ]
    is_bare = verb.tag in ("VBN", "VBG") and not shared and not has_child(verb, "aux", "auxpass")
    implied = "be" if is_bare and manner in ("acl", "advcl", "pcomp") else ""
    return PredicateWords(chain, words, in_order(arguments), implied)
