"""Questions of two hops: the second fact asks about what the first describes. Open this to change how facts join."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.services.made_questions.grounding import Grounded
from app.services.made_questions.material import keyed_hash
from app.services.made_questions.questions import Kind, MadeQuestion
from app.services.made_questions.sources import Sources, bare, quote
from core.execution.limits import check_work
from core.text.answers import is_contained

__all__ = ["make_two_hop"]


def make_two_hop(sources: Sources) -> Iterator[MadeQuestion]:
    """Joins two facts by an entity: the second asks about what the first describes, and no document has both ends."""
    by_end: dict[str, list[_Hop]] = defaultdict(list)
    for fact in sources.facts:
        by_end[fact.subject_id].append(_Hop(fact=fact, is_forward=True))
        by_end[fact.object_id].append(_Hop(fact=fact, is_forward=False))
    for hops in by_end.values():
        seconds = [hop for hop in hops if hop.has_one_answer(sources)]
        walked_to = (replace(hop, is_forward=not hop.is_forward) for hop in hops) if seconds else ()
        firsts = [hop for hop in walked_to if hop.has_one_answer(sources)]
        firsts.sort(key=lambda hop: keyed_hash(0, hop.known, hop.fact.passage.id))
        for second in seconds:
            for first in firsts[:_JOINED]:
                check_work()
                if (joined := _join(sources, first, second)) is not None:
                    yield joined


_JOINED = 100
"""Facts that are joined with the same second fact, at most: an entity such as a country has thousands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hop:
    """A fact that is walked from its subject to its object (`is_forward`), or from its object to its subject."""

    fact: Grounded
    is_forward: bool

    @property
    def known(self) -> str:
        return bare(self.fact.subject.name if self.is_forward else self.fact.object.name)

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


_STUTTER = re.compile(r"\b(\w+) the \1\b")
"""Two descriptions in a row: "the painting the painting that"."""


def _join(sources: Sources, first: _Hop, second: _Hop) -> MadeQuestion | None:
    """Returns the question of two hops; None if one document may answer it, or it has no good English."""
    description = first.describe()
    is_other = first.fact.passage.key != second.fact.passage.key and first.fact.relation.key != second.fact.relation.key
    if not is_other or not description:
        return None
    text = second.ask(description)
    if not text or _STUTTER.search(text) or is_contained(second.known, text) or first.known == second.answer:
        return None
    if not sources.mentions.find_name(first.known).keys().isdisjoint(sources.mentions.find_name(second.answer)):
        return None
    return MadeQuestion(
        kind=Kind.TWO_HOP,
        text=text,
        answer=second.answer,
        quotes=(quote(first.fact), quote(second.fact)),
        hops=((first.ask() or f"What is {description}?", first.answer), (second.ask(), second.answer)),
    )
