"""Reading of a model's answer: the names and triples that it lists, as they are spelled in the text."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from core.graph import Extraction, Surface, Triple
from core.text.names import normalise
from indexer.extractors._occurrences import find_occurrences, find_spellings

__all__ = ["Statements", "read_statements"]


class Statements(BaseModel):
    """The answer. Its items are checked one by one, so that a wrong item does not invalidate the others."""

    entities: list[Any] = Field(json_schema_extra={"items": {"type": "string"}})
    triples: list[Any] = Field(json_schema_extra={"items": {"type": "array", "items": {"type": "string"}}})


def read_statements(found: Statements, text: str) -> Extraction:
    """Returns what was found, as it is spelled in `text`. A name that the text does not contain counts once."""
    names = [name for name in (_read_name(item) for item in found.entities) if name]
    triples = [_read_triple(item) for item in found.triples]
    whole = list(dict.fromkeys(triple for triple in triples if triple is not None))
    names += [name for triple in whole for name in (triple.subject, triple.object)]
    return Extraction(entities=_count_surfaces(names, text), triples=tuple(whole), malformed=triples.count(None))


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
    """Returns the text of an item on one line, of a number as it is written, or '' if the item names nothing."""
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        return ""
    text = " ".join(str(item).split())
    return text if normalise(text) else ""
