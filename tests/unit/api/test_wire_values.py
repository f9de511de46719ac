"""Values of the wire: filled from `core`, written as JSON and read from it, and described under their names."""

import dataclasses
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest

import hopweave.wire
from api.schemas.naming import schema_of
from api.schemas.values import dump, dump_json, fill, fill_all, load
from core.documents import Chunk, RevisionState, Span
from core.ports.record import EnqueuedDocument
from core.ports.retrieval import Signals
from hopweave.wire import documents, search
from hopweave.wire.base import Span as WireSpan
from hopweave.wire.corpora import CorpusDetail
from hopweave.wire.questions import SupportChange

_SPAN = Span(start=0, end=9)
_CHUNK = Chunk(id="c1", document_id="d", view_id="v", position=2, text="It is so.", heading="", page=None, span=_SPAN)


def test_a_value_is_filled_from_attributes_of_the_same_names_and_from_given_fields() -> None:
    filled = fill(search.HitChunk, _CHUNK)
    span = WireSpan(start=0, end=9)
    assert filled == search.HitChunk(id="c1", position=2, text="It is so.", page=None, span=span, heading="")
    assert fill_all(search.HitChunk, [_CHUNK]) == (filled,)
    assert load(search.HitChunk, dump(filled)) == filled, "what was written is read"
    found = fill(search.OtherPassage, _CHUNK, score=0.5, page=7)
    assert (found.score, found.page, found.position) == (0.5, 7, 2)


def test_numbers_and_members_of_enumerations_are_those_of_json() -> None:
    signals = fill(search.Signals, Signals(dense=1))
    assert dump_json(signals) == '{"dense":1.0,"sparse":null,"graph":null}'
    assert type(signals.dense) is float
    queued = fill(documents.Queued, EnqueuedDocument(id="d", key="k", state=RevisionState.QUEUED))
    assert type(queued.state) is str


def test_a_field_that_nothing_has_is_an_error() -> None:
    with pytest.raises(AttributeError, match="score"):
        fill(search.OtherPassage, _CHUNK)
    with pytest.raises(TypeError, match="rank"):
        fill(search.HitChunk, _CHUNK, rank=1)


def test_all_values_are_frozen_and_have_names_of_their_own() -> None:
    modules = [import_module(module.name) for module in iter_modules(hopweave.wire.__path__, "hopweave.wire.")]
    members = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    values = {value for value in members if dataclasses.is_dataclass(value)}
    assert len(values) > 80
    assert all(value.__dataclass_params__.frozen and "__slots__" in vars(value) for value in values)
    assert [name for name, count in Counter(value.__name__ for value in values).items() if count > 1] == []


def test_schemas_have_the_names_of_the_description_and_references_that_may_be_null_have_no_title() -> None:
    schema, parts = schema_of(CorpusDetail)
    assert schema["title"] == "CorpusDetailOut"
    assert "description" not in schema, "its docstring is for Python"
    assert schema["properties"]["fine"] == {"$ref": "#/components/schemas/Fine"}
    assert schema["properties"]["embedding"] == {"$ref": "#/components/schemas/EmbeddingOut"}
    assert parts["Fine"]["enum"] == ["auto", "on", "off"]
    schema, _ = schema_of(SupportChange)
    either = [{"$ref": "#/components/schemas/Support"}, {"type": "null"}]
    assert schema["properties"]["before"] == {"anyOf": either}
