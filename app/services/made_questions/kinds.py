"""The kinds of questions: each is a function from the facts or passages of a corpus to candidates.

`MAKERS` is the table. `Sources` tells what a question needs to have one answer. Open this to add a kind.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.services.made_questions.grounding import Grounded, ground_facts
from app.services.made_questions.material import Material, Passage, keyed_hash
from app.services.made_questions.mentions import Mentions
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from core.documents import Span
from core.execution.limits import check_work
from core.passage_context import read_grids
from core.text.answers import is_contained, normalise_answer
from core.text.entity_types import EntityType

__all__ = ["MAKERS", "Sources"]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The facts that can be asked for, with what is needed to see whether a question has one answer."""

    material: Material
    facts: Sequence[Grounded]
    objects: Mapping[tuple[str, str, bool], frozenset[str]]
    """The ends of the facts of a subject, by relation, and by whether they are dates."""
    subjects: Mapping[tuple[str, str], frozenset[str]]
    mentions: Mentions

    @classmethod
    def of(cls, material: Material) -> "Sources":
        facts = ground_facts(material)
        objects: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
        places: dict[tuple[str, str, Span], Grounded] = {}
        subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
        for fact in facts:
            name = normalise_answer(fact.object.name)
            subjects[(fact.relation.key, name)].add(fact.subject.name)
            if fact.relation.key.endswith("where") and not _is_date(fact):
                # "in Basel, Switzerland": one answer, of which the first place is the nearest.
                place = (fact.passage.id, f"{fact.subject.name} {fact.relation.key}", fact.sentence)
                if _starts(fact) > _starts(places.setdefault(place, fact)):
                    continue
                objects_of = objects[(fact.subject.name, fact.relation.key, False)]
                objects_of.discard(normalise_answer(places[place].object.name))
                places[place] = fact
            objects[(fact.subject.name, fact.relation.key, _is_date(fact))].add(name)
        return cls(
            material=material,
            facts=facts,
            objects={key: frozenset(names) for key, names in objects.items()},
            subjects={key: frozenset(names) for key, names in subjects.items()},
            mentions=Mentions(material.passages),
        )

    def has_one_object(self, fact: Grounded) -> bool:
        """Whether the facts of the subject have no other end of this relation and kind."""
        names = self.objects[(fact.subject.name, fact.relation.key, _is_date(fact))]
        return names == {normalise_answer(fact.object.name)}

    def has_one_subject(self, fact: Grounded) -> bool:
        """Whether no other fact has this end, and no other document has it with the word of the relation."""
        name = normalise_answer(fact.object.name)
        if len(self.subjects[(fact.relation.key, name)]) != 1:
            return False
        stated = self.mentions.find_signs(fact.relation.key.split()[0][:_STEM])
        return not any(key in stated for key in self.mentions.find_name(name) if key != fact.passage.key)


_STEM = 5
"""Letters by which a word of a relation is looked for in a text."""


def _is_date(fact: Grounded) -> bool:
    return fact.object.type is EntityType.DATE


def _starts(fact: Grounded) -> int:
    return fact.passage.text.find(_bare(fact.object.name), fact.sentence.start)


def _quote(fact: Grounded) -> Quote:
    return Quote(passage=fact.passage, place=fact.sentence)


def _make_single(sources: Sources) -> Iterator[MadeQuestion]:
    for fact in sources.facts:
        check_work()
        asked = []
        if sources.has_one_object(fact):
            asked.append((fact.relation.ask_object(fact.subject, fact.object), fact.object.name))
        if sources.has_one_subject(fact):
            asked.append((fact.relation.ask_subject(fact.subject, fact.object), fact.subject.name))
        for text, answer in asked:
            if text:
                yield MadeQuestion(kind=Kind.SINGLE, text=text, answer=_bare(answer), quotes=(_quote(fact),))


def _bare(name: str) -> str:
    return name.removeprefix("the ")


def _make_two_hop(sources: Sources) -> Iterator[MadeQuestion]:
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
        return _bare(self.fact.subject.name if self.is_forward else self.fact.object.name)

    @property
    def answer(self) -> str:
        return _bare(self.fact.object.name if self.is_forward else self.fact.subject.name)

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
        quotes=(_quote(first.fact), _quote(second.fact)),
        hops=((first.ask() or f"What is {description}?", first.answer), (second.ask(), second.answer)),
    )


_COMPARED = {
    "born where": "was born",
    "die where": "died",
    "founded where": "was founded",
    "established where": "was established",
    "released where": "was released",
    "published where": "was published",
    "built where": "was built",
    "opened where": "was opened",
    "formed where": "was formed",
    "created where": "was created",
}
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_PAIRS = 3
"""Comparisons that a fact takes part in, at most."""


def _make_comparisons(sources: Sources) -> Iterator[MadeQuestion]:
    """Compares the years of two things of one type, which are not in one document."""
    dated: dict[tuple[str, str], list[tuple[int, Grounded]]] = defaultdict(list)
    for fact in sources.facts:
        check_work()
        years = _YEAR.findall(fact.object.name)
        if fact.relation.key in _COMPARED and _is_date(fact) and len(years) == 1 and sources.has_one_object(fact):
            kind = "Who" if fact.subject.type is EntityType.PERSON else fact.subject.asked
            dated[(fact.relation.key, kind)].append((int(years[0]), fact))
    for (relation, asked), facts in dated.items():
        facts.sort(key=lambda item: keyed_hash(0, item[1].subject.name, item[1].passage.id))
        for at, (year, fact) in enumerate(facts):
            for other_year, other in facts[at + 1 : at + 1 + _PAIRS]:
                if year == other_year or fact.passage.key == other.passage.key:
                    continue
                earlier = fact if year < other_year else other
                yield MadeQuestion(
                    kind=Kind.COMPARISON,
                    text=f"{asked} {_COMPARED[relation]} earlier, {fact.subject.name} or {other.subject.name}?",
                    answer=_bare(earlier.subject.name),
                    quotes=(_quote(fact), _quote(other)),
                )


_LONGEST_LABEL = 60
_NUMBERED = re.compile(r"[\d.,()\s%$€£-]*")


def _make_cells(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks for a cell by the label of its row and the name of its column, which are in one table of the document."""
    for passage in sources.material.passages:
        check_work()
        if "|" not in passage.text:
            continue
        for grid in read_grids(passage.text):
            labels = Counter(row.label for row in grid.rows)
            for row in grid.rows:
                for (start, end), column in zip(row.cells, grid.columns, strict=False):
                    value = passage.text[start:end].strip()
                    if labels[row.label] == 1 and (start, end) != row.named_by and _may_ask(row.label, column, value):
                        place = f"In “{passage.title}”, what" if passage.title else "What"
                        yield MadeQuestion(
                            kind=Kind.CELL,
                            text=f"{place} is the value of {column} for {row.label}?",
                            answer=value,
                            quotes=(Quote(passage=passage, place=Span(start=row.start, end=row.end)),),
                        )


def _may_ask(label: str, column: str, value: str) -> bool:
    is_named = all(name and len(name) <= _LONGEST_LABEL and not _NUMBERED.fullmatch(name) for name in (label,))
    return (
        is_named
        and bool(column)
        and len(column) <= _LONGEST_LABEL
        and any(map(str.isdigit, value))
        and len(value) <= 40
    )


_FEWEST, _MOST = 2, 12
"""Documents that are counted."""


def _make_counts(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks how many documents have a name, as `survey` counts them. Names within longer names are left out."""
    if not sources.material.is_whole:
        return
    mentioned: dict[str, Grounded] = {}
    for fact in sources.facts:
        for id, end in ((fact.subject_id, fact.subject), (fact.object_id, fact.object)):
            if end.type not in (EntityType.DATE, EntityType.AMOUNT) and len(_bare(end.name).split()) > 1:
                mentioned.setdefault(id, fact)
    for id in mentioned:
        check_work()
        name = sources.material.names[id]
        found = sources.mentions.find_name(name)
        if _FEWEST <= len(found) <= _MOST and sources.mentions.count_texts(found.keys()) == len(found):
            yield MadeQuestion(
                kind=Kind.COUNT,
                text=f"How many documents mention {name}?",
                answer=str(len(found)),
                quotes=tuple(_find_mention(passage, name) for passage in found.values()),
            )


def _find_mention(passage: Passage, name: str) -> Quote:
    """Returns the place of a name in a passage; the beginning of the passage if only its title has the name."""
    at = passage.text.casefold().find(name.casefold())
    place = Span(start=at, end=at + len(name)) if at >= 0 else Span(start=0, end=min(len(passage.text), 80))
    return Quote(passage=passage, place=place)


_ABSENT = {
    "born where": ("born", "birth", "("),
    "die where": ("died", "death", "("),
}
"""What shows that a text may say it in other words."""


def _make_unanswerable(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks for the end of a relation that a subject does not have: no passage that names the subject has the words of
    the relation. A corpus of which a part is read has none, since the rest may answer.
    """
    if not sources.material.is_whole:
        return
    by_type: dict[EntityType, list[Grounded]] = defaultdict(list)
    for fact in sources.facts:
        if sources.has_one_object(fact) and fact.subject.type is not None:
            by_type[fact.subject.type].append(fact)
    for facts in by_type.values():
        counts = Counter(fact.relation.key for fact in facts)
        usual = {key for key, count in counts.items() if count >= _USUAL and " of" not in key} - _SAID_OTHERWISE
        models = list({fact.relation.key: fact for fact in facts if fact.relation.key in usual}.values())
        if not models:
            continue
        for fact in {fact.subject.name: fact for fact in facts}.values():
            check_work()
            shift = int.from_bytes(keyed_hash(0, fact.subject.name)) % len(models)
            for model in [*models[shift:], *models[:shift]][:_MODELS]:
                text = "" if _may_say(sources, fact, model) else model.relation.ask_object(fact.subject, model.object)
                if text:
                    yield MadeQuestion(kind=Kind.UNANSWERABLE, text=text, about=fact.passage.key)


_USUAL = 3
"""Facts of a type that have a relation that others may lack. A rarer relation would be absurd of others."""
_SAID_OTHERWISE = frozenset({"located where"})
"""Relations that a text may state without their words: "a village in the region"."""
_MODELS = 3
"""Relations that are tried for a subject."""


def _may_say(sources: Sources, fact: Grounded, model: Grounded) -> bool:
    """Whether a document that has the last word of the name may state the relation."""
    words = _ABSENT.get(model.relation.key) or tuple(
        word[:_STEM] for word in model.relation.key.split() if word not in ("where", "by", "of", "in", "for")
    )
    naming = sources.mentions.find_name(_bare(fact.subject.name).split()[-1]).keys()
    return any(not naming.isdisjoint(sources.mentions.find_signs(word)) for word in words)


MAKERS: Mapping[Kind, Callable[[Sources], Iterable[MadeQuestion]]] = {
    Kind.SINGLE: _make_single,
    Kind.TWO_HOP: _make_two_hop,
    Kind.COMPARISON: _make_comparisons,
    Kind.CELL: _make_cells,
    Kind.COUNT: _make_counts,
    Kind.UNANSWERABLE: _make_unanswerable,
}
