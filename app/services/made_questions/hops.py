"""Questions that describe what they are about instead of naming it: by a fact of the same document, or of another.

A hop is a fact that is walked from one end to the other. The last hop asks, the hops before it describe. Open this to
change how facts are joined.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.services.made_questions.grounding import Grounded
from app.services.made_questions.material import keyed_hash
from app.services.made_questions.questions import Kind, MadeQuestion
from app.services.made_questions.sources import Sources, bare, quote
from core.execution.limits import check_work
from core.text.answers import is_contained

_JOINED = 100
"""Facts that are joined with the same second fact, at most: an entity such as a country has thousands."""
_STUTTER = re.compile(r"\b(\w+) (?:who|that|which) [^,?]{0,60}\b(?:the|a|an) \1\b|\b(\w+) the \2\b")
"""The same noun twice: "the painting the painting that", "the town that is a town in"."""


STRANDED = tuple(f" {word}?" for word in ("of", "by", "to", "with", "for", "as", "in"))
"""Ends that a description makes hard to read: "Which town was the person who founded Orell Press the mayor of?"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """A fact that is walked from its subject to its object (`is_forward`), or from its object to its subject."""

    fact: Grounded
    is_forward: bool

    @property
    def known(self) -> str:
        return bare(self.fact.subject.name if self.is_forward else self.fact.object.name)

    @property
    def known_id(self) -> str:
        return self.fact.subject_id if self.is_forward else self.fact.object_id

    @property
    def answer(self) -> str:
        return bare(self.fact.object.name if self.is_forward else self.fact.subject.name)

    def has_one_answer(self, sources: Sources) -> bool:
        return sources.has_one_object(self.fact) if self.is_forward else sources.has_one_subject(self.fact)

    def ask(self, known: str = "") -> str:
        """Returns the question for the answer, with `known` in place of the name of the known end."""
        subject, object_ = self.fact.subject, self.fact.object
        if self.is_forward:
            subject = replace(subject, name=known or subject.name)
            return self.fact.relation.ask_object(subject, object_)
        object_ = replace(object_, name=known or object_.name)
        return self.fact.relation.ask_subject(subject, object_)

    def describe(self) -> str:
        relation = self.fact.relation
        describe = relation.describe_object if self.is_forward else relation.describe_subject
        return describe(self.fact.subject, self.fact.object)


def walk_to(sources: Sources) -> Mapping[str, Sequence[Hop]]:
    """Returns the hops that describe each entity, by its id; at most `_JOINED` of an entity, in a fixed order."""
    by_end: dict[str, list[Hop]] = defaultdict(list)
    for fact in sources.facts:
        by_end[fact.object_id].append(Hop(fact=fact, is_forward=True))
        by_end[fact.subject_id].append(Hop(fact=fact, is_forward=False))
    for hops in by_end.values():
        hops.sort(key=lambda hop: keyed_hash(0, hop.known, hop.fact.passage.id))
    return {
        id: list(islice((hop for hop in hops if hop.describe() and hop.has_one_answer(sources)), _JOINED))
        for id, hops in by_end.items()
    }


def walk_from(sources: Sources) -> Iterator[Hop]:
    """Yields the hops that can be asked for."""
    for fact in sources.facts:
        check_work()
        for is_forward in (True, False):
            hop = Hop(fact=fact, is_forward=is_forward)
            if hop.ask() and hop.has_one_answer(sources):
                yield hop


def describe_in(question: str, second: Hop, first: Hop) -> bool:
    """Whether a question that describes the known end of `second` by `first` is good English and tells nothing."""
    if not question or _STUTTER.search(question) or question.endswith(STRANDED):
        return False
    return not is_contained(second.known, question) and first.known not in (second.answer, second.known)


def make_two_hop(sources: Sources) -> Iterator[MadeQuestion]:
    """Joins two facts by an entity: the second asks about what the first describes, and no document has both ends."""
    describing = walk_to(sources)
    for second in walk_from(sources):
        for first in describing.get(second.known_id, ()):
            check_work()
            if first.fact.passage.key == second.fact.passage.key or _is_same(first, second):
                continue
            text = second.ask(first.describe())
            if not describe_in(text, second, first) or _in_one_document(sources, first.known, second.answer):
                continue
            yield MadeQuestion(
                kind=Kind.TWO_HOP,
                text=text,
                answer=second.answer,
                quotes=(quote(first.fact), quote(second.fact)),
                hops=((first.ask() or f"What is {first.describe()}?", first.answer), (second.ask(), second.answer)),
            )


def make_described(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks for a fact of something that another fact of the same document describes, so that no title is named."""
    describing = walk_to(sources)
    for second in walk_from(sources):
        for first in describing.get(second.known_id, ()):
            check_work()
            if first.fact.passage.key != second.fact.passage.key or _is_same(first, second):
                continue
            text = second.ask(first.describe())
            if describe_in(text, second, first):
                quotes = tuple(dict.fromkeys((quote(first.fact), quote(second.fact))))
                yield MadeQuestion(kind=Kind.SINGLE, text=text, answer=second.answer, quotes=quotes)


def _is_same(first: Hop, second: Hop) -> bool:
    return first.fact.relation.key == second.fact.relation.key


def _in_one_document(sources: Sources, known: str, answer: str) -> bool:
    return not sources.mentions.find_name(known).keys().isdisjoint(sources.mentions.find_name(answer))
