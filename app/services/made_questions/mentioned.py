"""Questions about something that another document mentions: "the film that the text on Ada Lund mentions".

The document that mentions it has one thing of this kind, so the question has one answer, and needs both documents.
Open this to change when a mention describes.
"""

import re
from collections.abc import Iterator

from app.services.made_questions.grounding import read_types
from app.services.made_questions.hops import STRANDED, Hop, walk_from
from app.services.made_questions.material import Passage, keyed_hash
from app.services.made_questions.questions import Kind, MadeQuestion, Quote
from app.services.made_questions.sources import Sources, bare, quote
from core.documents import Span
from core.execution.limits import check_work
from core.text.answers import is_contained
from core.text.entity_types import EntityType
from core.text.name_spans import find_names

_MOST_MENTIONING = 12
"""Documents that mention a name of which everybody writes describe nothing."""
_FROM_ONE = 3
"""Questions of a fact, at most."""
_WORD = re.compile(r"\w+")


def make_mentioned(sources: Sources) -> Iterator[MadeQuestion]:
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
