"""Reading of a model's answer: the names and triples that it lists, as they are spelled in the text."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from core.graph import Extraction, Surface, Triple
from core.text.languages import detect_language
from core.text.names import normalise
from indexer.extractors._clauses import split_statement
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
