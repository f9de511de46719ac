"""The kinds of questions: each is a function from the facts or passages of a corpus to candidates.

`MAKERS` is the table. `Sources` tells what a question needs to have one answer. Open this to add a kind.

The last kind asks about something that another document mentions: "the film that the text on Ada Lund mentions". The
document that mentions it has one thing of this kind, so the question has one answer, and needs both documents.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from app.services.made_questions.cells import make_cells
from app.services.made_questions.clauses import make_clauses
from app.services.made_questions.grounding import Grounded, read_types
from app.services.made_questions.hops import (
    STRANDED,
    Hop,
    describe_in,
    make_described,
    make_two_hop,
    walk_from,
    walk_to,
)
from app.services.made_questions.material import Passage, keyed_hash
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from app.services.made_questions.sources import STEM, Sources, bare, is_date, quote
from core.documents import Span
from core.execution.limits import check_work
from core.text.answers import is_contained
from core.text.entity_types import EntityType
from core.text.name_spans import find_names


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
                yield MadeQuestion(kind=Kind.SINGLE, text=text, answer=bare(answer), quotes=(quote(fact),))
    yield from make_described(sources)


def _make_two_hops(sources: Sources) -> Iterator[MadeQuestion]:
    yield from make_two_hop(sources)
    yield from _make_mentioned(sources)


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
    """Compares the years of two things of one type, which are not in one document. A thing that a fact of another
    document describes is described, and not named.
    """
    describing = walk_to(sources)
    dated: dict[tuple[str, str], list[tuple[int, Grounded]]] = defaultdict(list)
    for fact in sources.facts:
        check_work()
        years = _YEAR.findall(fact.object.name)
        if fact.relation.key in _COMPARED and is_date(fact) and len(years) == 1 and sources.has_one_object(fact):
            kind = "Who" if fact.subject.type is EntityType.PERSON else fact.subject.asked
            dated[(fact.relation.key, kind)].append((int(years[0]), fact))
    for (relation, asked), facts in dated.items():
        facts.sort(key=lambda item: keyed_hash(0, item[1].subject.name, item[1].passage.id))
        for at, (year, fact) in enumerate(facts):
            for other_year, other in facts[at + 1 : at + 1 + _PAIRS]:
                if year == other_year or fact.passage.key == other.passage.key:
                    continue
                earlier = fact if year < other_year else other
                compared = [_name(fact, other, describing), _name(other, fact, describing)]
                yield MadeQuestion(
                    kind=Kind.COMPARISON,
                    text=f"{asked} {_COMPARED[relation]} earlier, {compared[0][0]} or {compared[1][0]}?",
                    answer=bare(earlier.subject.name),
                    quotes=tuple(dict.fromkeys((*compared[0][1], *compared[1][1]))),
                )


def _name(fact: Grounded, other: Grounded, describing: Mapping[str, Sequence[Hop]]) -> tuple[str, tuple[Quote, ...]]:
    """Returns the words for what is compared, with their quotes: the first description by another document, or the
    name.
    """
    own = Hop(fact=fact, is_forward=True)
    for hop in describing.get(fact.subject_id, ()):
        is_other = hop.fact.passage.key not in (fact.passage.key, other.passage.key)
        if is_other and hop.known != other.subject.name and describe_in(hop.describe(), own, hop):
            return hop.describe(), (quote(hop.fact), quote(fact))
    return fact.subject.name, (quote(fact),)


_FEWEST, _MOST = 2, 12
"""Documents that are counted."""


def _make_counts(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks how many documents have a name, as `survey` counts them. Names within longer names are left out."""
    if not sources.material.is_whole:
        return
    mentioned: dict[str, Grounded] = {}
    for fact in sources.facts:
        for id, end in ((fact.subject_id, fact.subject), (fact.object_id, fact.object)):
            if end.type not in (EntityType.DATE, EntityType.AMOUNT) and len(bare(end.name).split()) > 1:
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
        asked = {fact.relation.key for fact in facts if fact.relation.ask_object(fact.subject, fact.object)}
        usual = {
            key for key, count in counts.items() if count >= _USUAL and key in asked and " of" not in key
        } - _SAID_OTHERWISE
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
        word[:STEM] for word in model.relation.key.split() if word not in ("where", "by", "of", "in", "for")
    )
    naming = sources.mentions.find_name(bare(fact.subject.name).split()[-1]).keys()
    return any(not naming.isdisjoint(sources.mentions.find_signs(word)) for word in words)


MAKERS: Mapping[Kind, Callable[[Sources], Iterable[MadeQuestion]]] = {
    Kind.SINGLE: _make_single,
    Kind.TWO_HOP: _make_two_hops,
    Kind.COMPARISON: _make_comparisons,
    Kind.CELL: make_cells,
    Kind.CLAUSE: make_clauses,
    Kind.COUNT: _make_counts,
    Kind.UNANSWERABLE: _make_unanswerable,
}


_MOST_MENTIONING = 12
"""Documents that mention a name of which everybody writes describe nothing."""
_FROM_ONE = 3
"""Questions of a fact, at most."""
_WORD = re.compile(r"\w+")


def _make_mentioned(sources: Sources) -> Iterator[MadeQuestion]:
    """Asks for a fact of something that the document of another title mentions, and names that title only."""
    types, _ = read_types(sources.material)
    kinds = _Kinds({name.casefold(): types.get(id) for id, name in sources.material.names.items()})
    for hop in walk_from(sources):
        noun = _noun(hop)
        mentioning = sources.mentions.find_name(hop.known)
        if not noun or len(mentioning) > _MOST_MENTIONING:
            continue
        answering = sources.mentions.find_name(hop.answer).keys()
        made = 0
        for passage in sorted(mentioning.values(), key=lambda passage: keyed_hash(0, hop.known, passage.id)):
            check_work()
            if passage.key in answering or passage.key == hop.fact.passage.key or made == _FROM_ONE:
                continue
            if not _is_title(passage.title, hop) or not kinds.is_only(passage, hop, noun):
                continue
            text = hop.ask(f"the {noun} that the text on {passage.title} mentions")
            at = passage.text.find(hop.known)
            if at >= 0 and not is_contained(hop.known, text) and not text.endswith(STRANDED):
                made += 1
                place = Span(start=at, end=at + len(hop.known))
                yield MadeQuestion(
                    kind=Kind.TWO_HOP,
                    text=text,
                    answer=hop.answer,
                    quotes=(Quote(passage=passage, place=place), quote(hop.fact)),
                    hops=(
                        (f"Which {noun} does the text on {passage.title} mention?", hop.known),
                        (hop.ask(), hop.answer),
                    ),
                )


def _noun(hop: Hop) -> str:
    end = hop.fact.subject if hop.is_forward else hop.fact.object
    return end.noun or ("person" if end.type is EntityType.PERSON else "")


def _is_title(title: str, hop: Hop) -> bool:
    """Whether a title names something else than what is asked about, and tells nothing of the answer."""
    return bool(title) and not any(
        is_contained(a, b) for a, b in ((title, hop.known), (hop.known, title), (hop.answer, title))
    )


class _Kinds:
    """What the names of a corpus are, by their names in small letters."""

    def __init__(self, types: dict[str, EntityType | None]) -> None:
        self._types = types

    def is_only(self, passage: Passage, hop: Hop, noun: str) -> bool:
        """Whether a passage mentions nothing else of the kind: a name of the type, of several words for a person, or
        the noun twice.
        """
        end = hop.fact.subject if hop.is_forward else hop.fact.object
        words = _WORD.findall(passage.text.casefold())
        if end.type is not EntityType.PERSON:
            return words.count(noun) + words.count(f"{noun}s") <= 1
        own = {hop.known.casefold(), passage.title.casefold()}
        others = {bare(span.form) for span in find_names(passage.text)}
        return not any(self._may_be_person(name) for name in others if not _is_part(name.casefold(), own))

    def _may_be_person(self, name: str) -> bool:
        type = self._types.get(name.casefold())
        return type is EntityType.PERSON or (type is None and len(name.split()) in (2, 3))


def _is_part(name: str, own: set[str]) -> bool:
    return any(name in known or known in name for known in own)
