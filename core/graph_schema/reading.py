"""Reads `schema.toml`. What is wrong is told in one message, with the line, the key, and what is allowed."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NoReturn

from core.errors import InvalidInput
from core.graph_schema.values import GraphSchema, SchemaRelation, SchemaType, make_phrase_key, make_word_key
from core.text.entity_types import EntityType
from core.text.names import normalise

MAX_BYTES = 100_000
_MOST_TYPES = 200
_MOST_RELATIONS = 500
_MOST_ENTRIES = 500
"""Entries of one list."""
_LONGEST_ENTRY = 200
"""Characters of an entry, as of a name that has a type."""
_LONGEST_WORDS = 4
_DESCRIPTION = 500

_TOP = ("strict", "types", "relations")
_TYPE_KEYS = ("description", "words", "names", "includes", "colour")
_RELATION_KEYS = ("description", "from", "to", "synonyms", "inverse")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_NAME_RULE = "1 to 40 of a-z, 0-9, '-' and '_', beginning with a letter"
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_HEADER = re.compile(r"\s*\[\s*([^\[\]]{1,200})\]")
_KEY = re.compile(r"\s*([\w\"'-]{1,100})\s*=")
_DEEPEST = 10
_BEFORE_KEY = re.compile(r"[,{]")
_BUILT_IN = tuple(kind.value for kind in EntityType)


@lru_cache(maxsize=64)
def read_graph_schema(text: str) -> GraphSchema:
    """Returns the schema that the text of a `schema.toml` states.

    Raises `InvalidInput` if the text is not such a file: with the line of what is wrong, and what is allowed.
    """
    return _Reader(text).read()


class _Reader:
    """Reads one file. `_lines` has the lines of tables and of their keys, for messages."""

    def __init__(self, text: str) -> None:
        self._text = text
        if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
            self._refuse((), f"it has {size:,} bytes, and at most {MAX_BYTES:,} are allowed")
        self._lines = _find_lines(text)

    def read(self) -> GraphSchema:
        top = self._parse()
        self._check_keys((), top, _TOP)
        strict = top.get("strict", False)
        if not isinstance(strict, bool):
            self._refuse(("strict",), "strict is true or false")
        types = {name: self._read_type(name, table) for name, table in self._tables(top, "types", _MOST_TYPES)}
        relations = {
            name: self._read_relation(name, table, types)
            for name, table in self._tables(top, "relations", _MOST_RELATIONS)
        }
        return GraphSchema(
            text=self._text,
            strict=strict,
            types=types,
            relations=relations,
            named=self._index("name", ((("types", one.name, "names"), one.names) for one in types.values()), normalise),
            worded=self._index(
                "word", ((("types", one.name, "words"), one.words) for one in types.values()), make_word_key
            ),
            included=self._index(
                "type", ((("types", one.name, "includes"), _included(one)) for one in types.values()), str
            ),
            phrased=self._index_phrases(relations.values()),
        )

    def _parse(self) -> dict[str, Any]:
        if self._text.count("[") + self._text.count("{") > _DEEPEST:
            self._check_depth()
        self._check_dots()
        try:
            return tomllib.loads(self._text)
        except ValueError as error:  # TOMLDecodeError, or of a number with thousands of digits
            raise InvalidInput(f"the schema is not TOML: {str(error)[:200]}") from error

    def _check_depth(self) -> None:
        """Refuses nested brackets, in which a parser would descend. Brackets in strings count, too."""
        depth = 0
        for number, line in enumerate(self._text.splitlines(), 1):
            for sign in line:
                depth += (sign in "[{") - (sign in "]}")
                if depth > _DEEPEST:
                    raise InvalidInput(f"the schema, line {number}: lists are nested more than {_DEEPEST} deep")
            depth = max(depth, 0)

    def _check_dots(self) -> None:
        """Refuses keys of many parts, `a.a.a…`, for which a parser takes quadratic time."""
        for number, line in enumerate(self._text.splitlines(), 1):
            header, *values = line.split("=")
            if any(_BEFORE_KEY.split(part)[-1].count(".") > _DEEPEST for part in (header, *values[:-1])):
                raise InvalidInput(f"the schema, line {number}: a key has more than {_DEEPEST} dots")

    def _refuse(self, place: tuple[str, ...], what: str) -> NoReturn:
        """Raises `InvalidInput` with the line of a key, or of the table that has it."""
        at = next((self._lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self._lines), None)
        line = f", line {at}" if at else ""
        table = f", [{'.'.join(place[:2])}]" if len(place) > 1 else ""
        raise InvalidInput(f"the schema{line}{table}: {what}")

    def _check_keys(self, place: tuple[str, ...], table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
        for key in table:
            if key not in allowed:
                self._refuse((*place, key), f"{_shorten(key)!r} is not a key here; allowed are {', '.join(allowed)}")

    def _tables(self, top: Mapping[str, Any], key: str, most: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
        tables = top.get(key, {})
        if not isinstance(tables, dict):
            self._refuse((key,), f"{key} are tables such as [{key}.company]")
        if len(tables) > most:
            self._refuse((key,), f"there are {len(tables):,} {key}, and at most {most} are allowed")
        for name, table in tables.items():
            if not _NAME.fullmatch(name):
                self._refuse((key, name), f"{_shorten(name)!r} is not a name: use {_NAME_RULE}")
            if not isinstance(table, dict):
                self._refuse((key, name), f"{name} is a table: [{key}.{name}]")
            yield name, table

    def _read_type(self, name: str, table: Mapping[str, Any]) -> SchemaType:
        place = ("types", name)
        self._check_keys(place, table, _TYPE_KEYS)
        words = self._read_list(place, table, "words")
        for word in words:
            if not 1 <= len(make_word_key(word)) <= _LONGEST_WORDS:
                self._refuse((*place, "words"), f"{_shorten(word)!r} has not 1 to {_LONGEST_WORDS} words")
        includes = self._read_list(place, table, "includes")
        self._check_types((*place, "includes"), includes, _BUILT_IN)
        colour = self._read_text(place, table, "colour").lower()
        if colour and not _COLOUR.fullmatch(colour):
            self._refuse((*place, "colour"), f"{_shorten(colour)!r} is not a colour such as '#3366cc'")
        return SchemaType(
            name=name,
            description=self._read_text(place, table, "description"),
            words=words,
            names=self._read_list(place, table, "names"),
            includes=includes,
            colour=colour,
        )

    def _read_relation(self, name: str, table: Mapping[str, Any], types: Mapping[str, object]) -> SchemaRelation:
        place = ("relations", name)
        self._check_keys(place, table, _RELATION_KEYS)
        ends = {key: self._read_list(place, table, key) for key in ("from", "to")}
        for key, given in ends.items():
            self._check_types((*place, key), given, tuple(dict.fromkeys([*types, *_BUILT_IN])))
        return SchemaRelation(
            name=name,
            description=self._read_text(place, table, "description"),
            subjects=ends["from"],
            objects=ends["to"],
            synonyms=self._read_list(place, table, "synonyms"),
            inverse=self._read_list(place, table, "inverse"),
        )

    def _read_text(self, place: tuple[str, ...], table: Mapping[str, Any], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str) or len(value) > _DESCRIPTION:
            self._refuse((*place, key), f"{key} is a text of at most {_DESCRIPTION} characters")
        return value

    def _read_list(self, place: tuple[str, ...], table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        values = table.get(key, [])
        if not isinstance(values, list) or len(values) > _MOST_ENTRIES:
            self._refuse((*place, key), f"{key} is a list of at most {_MOST_ENTRIES} texts")
        for value in values:
            if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_ENTRY:
                self._refuse(
                    (*place, key), f"an entry of {key} is not a text of 1 to {_LONGEST_ENTRY} characters: {value!r:.60}"
                )
        return tuple(values)

    def _check_types(self, place: tuple[str, ...], given: Iterable[str], known: tuple[str, ...]) -> None:
        for name in given:
            if name not in known:
                listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
                self._refuse(place, f"there is no type {_shorten(name)!r}; there are {listed}")

    def _index(
        self, what: str, entries: Iterable[tuple[tuple[str, ...], Iterable[str]]], key_of: Any
    ) -> dict[Any, str]:
        """Returns the types by the keys of their entries. Refuses an entry of two types, which would say nothing."""
        index: dict[Any, str] = {}
        for place, values in entries:
            for value in values:
                key = key_of(value)
                if index.setdefault(key, place[1]) != place[1]:
                    self._refuse(
                        place, f"the {what} {_shorten(value)!r} is of the type {index[key]!r} already; keep it in one"
                    )
        return index

    def _index_phrases(self, relations: Iterable[SchemaRelation]) -> dict[tuple[str, ...], tuple[str, bool]]:
        """Returns the relations by their phrases. Refuses a phrase of two relations, also the name of another one, and
        a phrase that states a relation in both directions.
        """
        index: dict[tuple[str, ...], tuple[str, bool]] = {}
        relations = list(relations)
        named = (((one.name,), one, False) for one in relations)
        stated = (((one.synonyms, one, False), (one.inverse, one, True)) for one in relations)
        for phrases, relation, is_inverse in chain(named, *stated):
            place = ("relations", relation.name, "inverse" if is_inverse else "synonyms")
            for phrase in phrases:
                key = make_phrase_key(phrase)
                if not key:
                    self._refuse(place, f"the phrase {_shorten(phrase)!r} has no words")
                known, inverse = index.setdefault(key, (relation.name, is_inverse))
                if (known, inverse) != (relation.name, is_inverse):
                    meant = f"of the relation {known!r}" + (" in the other direction" if known == relation.name else "")
                    self._refuse(place, f"the phrase {_shorten(phrase)!r} is {meant} already; keep it in one")
        return index


def _included(type: SchemaType) -> tuple[str, ...]:
    """A type of the schema with the name of a type without one is that type."""
    return tuple(dict.fromkeys([*type.includes, *([type.name] if type.name in _BUILT_IN else [])]))


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


def _find_lines(text: str) -> dict[tuple[str, ...], int]:
    """Returns the lines of tables and keys, counted from 1, as far as each stands on a line of its own."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            for end in range(1, len(table) + 1):
                lines.setdefault(table[:end], number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1].strip("\"'")), number)
    return lines


NO_SCHEMA = read_graph_schema("")
"""The schema of a corpus without one: entities have their derived types, and facts the phrases of their texts."""
