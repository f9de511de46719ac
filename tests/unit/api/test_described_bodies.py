"""The OpenAPI description of filters, keys and embeddings agrees with the checks that have the messages."""

import base64
import re
import struct
from typing import Any

import jsonschema
import pytest

from api.schemas.base import FILTER, FILTER_SCHEMAS
from core.documents import KEY_PATTERN, check_key
from core.errors import InvalidInput
from core.filters import parse_filter
from indexer.submission.given_embeddings import decode_embedding, normalise_embeddings

_FILTER = {**FILTER, "components": {"schemas": FILTER_SCHEMAS}}


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"year": 1990, "": None, "a.b$": True},
        {"year": {"$gte": 1990, "$lt": "2024-05-01"}, "tags": {"$in": ["a", 1, None]}},
        {"$or": [{"$key": {"$prefix": "notes/"}}, {"$not": {"lang": {"$exists": False}}}]},
        {"$title": {"$in": ["Ada"], "$exists": True}},
        {"year": {}},
        {"year": {"$gte": None}},
        {"year": [1990]},
        {"year": {"$near": 1990}},
        {"year": {"$in": 1990}},
        {"year": {"$prefix": 1}},
        {"$or": []},
        {"$not": "Ada"},
        {"$key": 1},
        {"$title": {"$eq": None}},
        {"$year": 1990},
    ],
)
def test_filters(source: dict[str, Any]) -> None:
    is_described = jsonschema.Draft202012Validator(_FILTER).is_valid(source)
    assert is_described == _accepts(parse_filter, source)


_KEYS = ("ada", "notes/a b.md", "..a/b..", "a/…", "北京", " a", "", " ", "\x85", "\x1c", "a\nb")
_PATHS = ("/etc", "\\a", "..", "a/../b", "a\\..")


@pytest.mark.parametrize("key", [*_KEYS, *_PATHS])
def test_keys(key: str) -> None:
    assert bool(re.search(KEY_PATTERN, key)) == _accepts(check_key, key)


@pytest.mark.parametrize("numbers", [[1e-310, 0.0], [5e-324], [1.7e308, -1.7e308], [3.0, 4.0]])
def test_each_vector_with_a_direction_is_an_embedding(numbers: list[float]) -> None:
    text = normalise_embeddings({"embedding": numbers, "embedding_model": "m"})["embedding"]
    unit = struct.unpack(f"<{len(numbers)}f", decode_embedding(text))
    assert sum(number * number for number in unit) == pytest.approx(1)


@pytest.mark.parametrize("numbers", [[0.0, -0.0], base64.b64encode(struct.pack("<2f", 1, float("nan"))).decode()])
def test_others_are_none(numbers: list[float] | str) -> None:
    with pytest.raises(InvalidInput, match="embed the text again"):
        normalise_embeddings({"embedding": numbers, "embedding_model": "m"})


def _accepts(check: Any, value: Any) -> bool:
    try:
        check(value)
    except InvalidInput:
        return False
    return True
