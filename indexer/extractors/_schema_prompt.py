"""What a model that extracts is told of the schema of a corpus: the names of types, and relations with their ends."""

from collections.abc import Iterable

from core.graph_schema import GraphSchema

MOST_CHARACTERS = 2_000
"""Characters of the types and relations. Each call pays for them; what comes later in the file is left out."""

_RELATIONS = """\
Relations that matter here, as name (subject -> object). Where the passage states one of them, the predicate is its \
name, with the ends in this order. It is not stated where it is denied, or only possible or allowed. Write down all \
other statements as before."""
_RELATIONS_SMALL = """\
Look for facts of these kinds above all, as name (subject -> object). Keep the words of the text for the verb."""
_TYPES = "Names of these types matter above all:"


def describe_schema(schema: GraphSchema, *, is_small: bool) -> str:
    """Returns the lines for the model; '' for a schema without types and relations.

    Only names and ends are told, so that another synonym, colour or description pays for no passage again. A small
    model keeps the words of the text: its facts have to stand in one sentence.
    """
    relations = [
        f"{one.name} ({' or '.join(one.subjects) or 'any'} -> {' or '.join(one.objects) or 'any'})"
        for one in schema.relations.values()
    ]
    told, room = _fit(relations, MOST_CHARACTERS)
    types, _ = _fit(schema.types, room)
    parts = []
    if types:
        parts.append(f"{_TYPES} {', '.join(types)}.")
    if told:
        parts.append("\n".join([_RELATIONS_SMALL if is_small else _RELATIONS, *(f"- {one}" for one in told)]))
    return "\n".join(parts)


def _fit(items: Iterable[str], room: int) -> tuple[list[str], int]:
    """Returns the first items that fit, and the characters that are left."""
    kept: list[str] = []
    for item in items:
        room -= len(item) + 2
        if room < 0:
            return kept, 0
        kept.append(item)
    return kept, room
